//! Many threads on many keys and on the same ones, while snapshots are taken one after the other: after an orderly end everything is
//! there again, to the byte.

use crate::{Running, folder};
use mayhap_testkit::raw_client::request;
use std::collections::BTreeMap;
use std::ops::Range;
use std::thread;

const THREADS: usize = 8;
const ROUNDS: usize = 500;
/// Rounds that begin together with a snapshot.
const A_SNAPSHOT: usize = 100;

/// What one thread does in one round: on keys that all have, on its own, and from one to the other.
fn lines(thread: usize, round: usize) -> Vec<String> {
    let own = format!("own{thread}");
    let item = format!("item{thread}-{round}");
    let mut lines = vec![
        format!("BF.ADD same:bf {item}"),
        format!("CF.ADD same:cf {item}"),
        format!("CBF.ADD same:cb {item}"),
        format!("BF.ADD same:window {item}"),
        format!("SET same:text {item}"),
        format!("BF.MADD {own}:bf {item} {item}a {item}b {item}c"),
        format!("CF.ADD {own}:cf {item}"),
        format!("CF.ADD {own}:cf gone"),
        format!("CF.DEL {own}:cf gone"),
        format!("EXPIRE {own}:cf {}", 1_000_000 + round),
        format!("SET {own}:text{} {item}", round % 7),
        format!("BF.ADD same:small{} {item}", round % 5),
    ];
    match round % 6 {
        0 => lines.push(format!("RENAME {own}:text0 {own}:moved")),
        1 => lines.push(format!("COPY {own}:bf {own}:copied REPLACE")),
        2 => lines.push(format!("BF.MERGE same:merged {own}:copied")),
        3 => lines.extend([
            "MULTI".to_owned(),
            format!("CF.ADD same:cf {item}-exec"),
            format!("COPY same:cf {own}:cf2 REPLACE"),
            format!("RENAME {own}:cf2 same:cf2"),
            "EXEC".to_owned(),
        ]),
        4 => lines.push(format!("DEL {own}:moved")),
        _ => lines.push("COPY same:bf same:bf2 REPLACE".to_owned()),
    }
    lines
}

fn work(server: &Running, thread: usize, rounds: Range<usize>) {
    let mut client = server.client();
    for round in rounds {
        let lines = lines(thread, round);
        let words = lines.iter().map(|line| line.split(' ').collect::<Vec<_>>());
        let bytes: Vec<u8> = words.flat_map(|words| request(&words)).collect();
        client.send(&bytes);
        for line in &lines {
            let reply = client.reply();
            // Where a source is missing so early, or the filters have grown apart.
            let may_fail = line.starts_with("RENAME") || line.starts_with("BF.MERGE");
            let is_error = reply.starts_with(b"-") && !may_fail;
            assert!(!is_error, "{line}: {}", String::from_utf8_lossy(&reply));
        }
    }
}

/// All keys with what they hold and when they go.
fn everything(server: &Running) -> BTreeMap<Vec<u8>, (Vec<u8>, Vec<u8>)> {
    let mut client = server.client();
    let names = String::from_utf8(client.raw(&["KEYS", "*"])).expect("plain names");
    let names = names.lines().filter(|line| !line.starts_with(['*', '$']));
    let mut held = |name: &str| {
        let dump = client.raw(&["DUMP", name]);
        (dump, client.raw(&["PEXPIRETIME", name]))
    };
    names
        .map(|name| (name.as_bytes().to_vec(), held(name)))
        .collect()
}

#[test]
fn concurrent_clients_and_snapshots_leak_nothing() {
    let (_folder, mut options) = folder();
    // A snapshot that is waited for keeps one of them busy.
    options.workers = 4;
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("BF.WINDOW same:window 0.01 10000 3600", "+OK\r\n");
    client.expect("CBF.RESERVE same:cb 0.01 10000", "+OK\r\n");
    for number in 0..4 {
        // A snapshot takes its time.
        let line = format!("BF.RESERVE ballast{number} 0.01 4000000");
        client.expect(&line, "+OK\r\n");
    }
    for number in 0..5 {
        let line = format!("BF.RESERVE same:small{number} 0.01 4");
        client.expect(&line, "+OK\r\n");
    }
    for rounds in (0..ROUNDS).step_by(A_SNAPSHOT) {
        thread::scope(|scope| {
            for number in 0..THREADS {
                let server = &server;
                scope.spawn(move || work(server, number, rounds..rounds + A_SNAPSHOT));
            }
            client.expect("SAVE", "+OK\r\n");
        });
    }
    let before = everything(&server);
    assert!(before.len() > 10 * THREADS, "{}", before.len());
    server.end();
    // From the last snapshot and the log behind it; then from a snapshot of that.
    for _ in 0..2 {
        let server = Running::with(&options);
        let after = everything(&server);
        let names = |all: &BTreeMap<Vec<u8>, _>| all.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&after), names(&before));
        for (name, held) in &before {
            let name = String::from_utf8_lossy(name);
            assert!(after[name.as_bytes()] == *held, "{name} has changed");
        }
        let mut client = server.client();
        for (thread, round) in (0..THREADS).flat_map(|thread| (0..ROUNDS).map(move |r| (thread, r)))
        {
            let item = format!("item{thread}-{round}");
            for key in ["same:bf", "same:window", &format!("own{thread}:bf")] {
                client.expect(&format!("BF.EXISTS {key} {item}"), ":1\r\n");
            }
            client.expect(&format!("CF.EXISTS same:cf {item}"), ":1\r\n");
            client.expect(&format!("CBF.EXISTS same:cb {item}"), ":1\r\n");
        }
        client.expect("SAVE", "+OK\r\n");
        server.end();
    }
}
