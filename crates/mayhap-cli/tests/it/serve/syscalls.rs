//! What the server asks of the system: with `--fsync always` a change is written and synced before its reply is sent.

use crate::serve::process::Home;
use mayhap_testkit::client::Client;
use std::collections::HashMap;
use std::fs;
use std::process::Command;
use std::thread;

/// Calls of interest, and the names of what they are about.
const OPTIONS: [&str; 7] = [
    "strace",
    "-f",
    "-y",
    "-s",
    "1000000",
    "-e",
    "trace=write,pwrite64,writev,pwritev,sendto,sendmsg,fsync,fdatasync",
];
const CLIENTS: u64 = 4;
const CHANGES: u64 = 40;

fn is_permitted() -> bool {
    let traced = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .output();
    let is_permitted = traced.as_ref().is_ok_and(|output| output.status.success());
    if !is_permitted {
        eprintln!("not run, strace is missing or not permitted: {traced:?}");
    }
    is_permitted
}

/// A call that has returned; for its beginning and its end the numbers of the lines.
struct Call {
    name: String,
    /// The file or the socket.
    about: String,
    text: String,
    began: usize,
    ended: usize,
}

/// strace may report a call in two lines, with those of other threads in between.
fn calls(trace: &str) -> Vec<Call> {
    let mut begun: HashMap<&str, (usize, &str)> = HashMap::new();
    let mut calls = Vec::new();
    for (at, line) in trace.lines().enumerate() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        if let Some(start) = rest.strip_suffix("<unfinished ...>") {
            begun.insert(thread, (at, start));
            continue;
        }
        let (began, start, end) = match rest.split_once(" resumed>") {
            Some((_, end)) => match begun.remove(thread) {
                Some((began, start)) => (began, start, end),
                None => continue,
            },
            None => (at, rest, rest),
        };
        let about = start
            .split_once('<')
            .and_then(|(_, rest)| rest.split_once('>'));
        let (Some((name, _)), Some((about, _))) = (start.split_once('('), about) else {
            continue;
        };
        // Failed calls did nothing.
        let is_done = end
            .rsplit_once("= ")
            .is_some_and(|(_, result)| !result.starts_with('-'));
        if is_done {
            calls.push(Call {
                name: name.to_owned(),
                about: about.to_owned(),
                text: start.to_owned(),
                began,
                ended: at,
            });
        }
    }
    calls
}

fn mark(client: u64, change: u64) -> String {
    format!("client{client}change{change:04}")
}

#[test]
fn a_change_is_synced_before_its_reply_is_sent() {
    if !is_permitted() {
        return;
    }
    let home = Home::new();
    let trace = tempfile::NamedTempFile::new().expect("a file");
    let path = trace.path().to_string_lossy().into_owned();
    let mut before = OPTIONS.to_vec();
    before.extend(["-o", &path]);
    let mut server = match home.try_start_behind(&before, "--fsync always") {
        Ok(server) => server,
        Err(stderr_text) => panic!("{stderr_text}"),
    };
    // So strict that no new item is taken for one that is in.
    assert!(
        server
            .client()
            .call_line("BF.RESERVE key 0.000000001 1000")
            .is_ok()
    );
    let address = server.address;
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            scope.spawn(move || {
                let mut client = Client::connect(address).expect("it listens");
                // In the trace, tells whose socket it is.
                client.call_line(&format!("ECHO socket-of-{number}."));
                for change in 0..CHANGES {
                    let reply = client.call_line(&format!("BF.ADD key {}", mark(number, change)));
                    assert_eq!(reply.number(), Some(1));
                }
            });
        }
    });
    let _ = server.client().call(&["SHUTDOWN"]);
    assert_eq!(server.ended().code(), Some(0));

    let trace = fs::read_to_string(trace.path()).expect("a trace");
    let calls = calls(&trace);
    let is_log = |call: &&Call| call.about.contains("/store/log-");
    let writes: Vec<&Call> = calls
        .iter()
        .filter(is_log)
        .filter(|call| call.name.contains("write"))
        .collect();
    let syncs: Vec<&Call> = calls
        .iter()
        .filter(is_log)
        .filter(|call| call.name.contains("sync"))
        .collect();
    let is_reply = |call: &&Call| call.about.starts_with("socket") || call.about.starts_with("TCP");
    let replies: Vec<&Call> = calls.iter().filter(is_reply).collect();
    let mut checked = 0;
    for number in 0..CLIENTS {
        let greeting = format!("socket-of-{number}.");
        let socket = replies.iter().find(|call| call.text.contains(&greeting));
        let socket = &socket.expect("a greeting").about;
        let own = replies.iter().filter(|call| call.about == *socket);
        let own: Vec<_> = own
            .skip_while(|call| !call.text.contains(&greeting))
            .skip(1)
            .collect();
        assert_eq!(own.len() as u64, CHANGES, "a reply for each change");
        for (change, reply) in own.iter().enumerate() {
            let mark = mark(number, change as u64);
            let written = writes.iter().find(|call| call.text.contains(&mark));
            let written = written.unwrap_or_else(|| panic!("{mark} is not in the log"));
            let is_synced = syncs
                .iter()
                .any(|sync| written.ended <= sync.began && sync.ended <= reply.began);
            assert!(is_synced, "{mark} was acknowledged before it was synced");
            checked += 1;
        }
    }
    assert_eq!(checked, CLIENTS * CHANGES);
    let (writes, syncs) = (writes.len(), syncs.len());
    eprintln!("{checked} changes acknowledged after {writes} writes and {syncs} syncs of the log");
}
