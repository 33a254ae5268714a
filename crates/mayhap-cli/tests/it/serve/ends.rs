//! An orderly end, asked for while clients write: exit code 0, and everything that was acknowledged is there.

use crate::serve::kill::{Writer, write_until_the_end};
use crate::serve::process::{Home, Server};

fn ends(how: &str, end: impl Fn(&Server<'_>)) {
    let home = Home::new();
    let mut writers: Vec<Writer> = (0..3).map(|number| Writer::new(number, number)).collect();
    for round in 0..5 {
        let mut server = home.start("--fsync always");
        write_until_the_end(&server, &mut writers, || end(&server));
        assert_eq!(
            server.ended().code(),
            Some(0),
            "{how}: {}",
            home.stderr_text()
        );
        drop(server);
        let mut server = home.start("");
        let mut client = server.client();
        for writer in &mut writers {
            let actual = writer.verify(&mut client);
            actual.unwrap_or_else(|error| panic!("{how}, round {round}: {error}"));
        }
        assert!(
            server.actual.contains("records of the log"),
            "{}",
            server.actual
        );
        assert!(!server.actual.contains("cut off"), "{}", server.actual);
        server.signal("TERM");
        assert_eq!(server.ended().code(), Some(0));
    }
    assert!(writers.iter().all(|writer| writer.acknowledged > 0));
}

#[test]
fn a_signal_stops_it_cleanly() {
    ends("SIGTERM", |server| server.signal("TERM"));
}

#[test]
fn a_signal_during_a_snapshot_stops_it_cleanly() {
    ends("SIGTERM", |server| {
        server.client().call_line("BGSAVE");
        server.signal("TERM");
    });
}

#[test]
fn shutdown_stops_it_cleanly() {
    for words in ["SHUTDOWN", "SHUTDOWN SAVE"] {
        ends(words, |server| {
            // There is no answer, or it is lost with the connection.
            let _ = server.client().call(&mayhap_testkit::client::words(words));
        });
    }
}
