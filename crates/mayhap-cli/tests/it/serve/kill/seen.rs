//! A change that one client saw in a reply survives a kill, even if the client that made it still waits for its own reply.

use crate::serve::process::Home;
use crate::serve::rounds;
use mayhap_testkit::client::{Client, ParsedReply};
use std::thread;

/// A change, and how others see it.
struct Case {
    before: &'static str,
    change: &'static str,
    asked: &'static str,
    shows: fn(&ParsedReply) -> bool,
}

const CASES: [Case; 5] = [
    Case {
        before: "BF.RESERVE k 0.01 100",
        change: "BF.ADD k x",
        asked: "BF.EXISTS k x",
        shows: |reply| reply.number() == Some(1),
    },
    Case {
        before: "SET k x",
        change: "DEL k",
        asked: "EXISTS k",
        shows: |reply| reply.number() == Some(0),
    },
    // What would change something finds nothing to do.
    Case {
        before: "SET k x",
        change: "DEL k",
        asked: "EXPIRE k 100",
        shows: |reply| reply.number() == Some(0),
    },
    // An error tells as well.
    Case {
        before: "PING",
        change: "SET k x",
        asked: "BF.INFO k",
        shows: |reply| reply.is_error("WRONGTYPE"),
    },
    Case {
        before: "SET k x",
        change: "FLUSHALL",
        asked: "DBSIZE",
        shows: |reply| reply.number() == Some(0),
    },
];

/// Questions that take a while, behind the change in one round of the server.
const DELAY: usize = 3000;

/// Asks until the change shows.
fn wait_for(client: &mut Client, case: &Case) {
    while !(case.shows)(&client.call_line(case.asked)) {}
}

#[test]
fn a_kill_does_not_undo_what_a_reply_showed() {
    for fsync in ["everysec", "no", "always"] {
        for _ in 0..rounds(2, 40) {
            for case in &CASES {
                let home = Home::new();
                let mut server = home.start(&format!("--fsync {fsync}"));
                // Connections go to the two workers by turns.
                let (mut one, mut other) = (server.client(), server.client());
                assert!(!matches!(one.call_line(case.before), ParsedReply::Error(_)));
                other.call_line("PING");
                let mut bytes = format!("{}\r\n", case.change).into_bytes();
                bytes.extend(b"KEYS z\r\n".repeat(DELAY));
                thread::scope(|scope| {
                    // It ends when the server does.
                    let sending = scope.spawn(move || {
                        one.send(&bytes)?;
                        while one.read().is_ok() {}
                        std::io::Result::Ok(())
                    });
                    wait_for(&mut other, case);
                    server.kill();
                    let _ = sending.join();
                });
                drop(server);
                let server = home.start("");
                let actual = server.client().call_line(case.asked);
                assert!(
                    (case.shows)(&actual),
                    "--fsync {fsync}: {} showed {}, and after a kill it is {actual:?}",
                    case.asked,
                    case.change
                );
            }
        }
    }
}
