//! A transaction that is not in the log yet is in no snapshot either, whichever of its commands were done.

use super::aim::{self, is_half_snapshot, newest};
use crate::serve::process::Home;
use crate::serve::rounds;
use mayhap_testkit::client::{Client, ParsedReply, words};
use std::thread;

const KEYS: u64 = 100;
/// Questions that take a while, inside of the transaction.
const DELAY: usize = 20_000;

/// All of the transaction but its EXEC.
fn queue(client: &mut Client) {
    let mut lines = vec![words("MULTI"), words("FLUSHALL")];
    lines.resize(2 + DELAY, words("KEYS z"));
    lines.push(words("SET done 1"));
    let replies = client.pipeline(&lines).expect("replies");
    let is_queued = |reply: &ParsedReply| reply.text() == "QUEUED";
    assert!(replies.iter().skip(1).all(is_queued));
}

/// Begins a transaction while a snapshot is taken, and kills the server as soon as that has got its name.
fn kill_in_the_middle(home: &Home, options: &str) {
    let mut server = home.start(options);
    let mut client = server.client();
    aim::ballast(&mut client);
    for key in 0..KEYS {
        assert!(client.call_line(&format!("SET k{key} x")).is_ok());
    }
    let mut other = server.client();
    queue(&mut other);
    thread::scope(|scope| {
        let before = newest(&home.files(), "snapshot-");
        client.call_line("BGSAVE");
        aim::wait(|| home.files().iter().any(|name| is_half_snapshot(name)));
        scope.spawn(move || other.call(&["EXEC"]).is_ok());
        aim::wait(|| newest(&home.files(), "snapshot-") > before);
        server.kill();
    });
}

fn count(client: &mut Client) -> u64 {
    let there = |key: &u64| {
        let reply = client.call(&words(&format!("EXISTS k{key}")));
        reply.expect("a reply").number() == Some(1)
    };
    (0..KEYS).filter(there).count() as u64
}

#[test]
fn a_transaction_is_atomic() {
    let options = "--fsync everysec";
    for _ in 0..rounds(4, 60) {
        let home = Home::new();
        kill_in_the_middle(&home, options);
        let server = home.start(options);
        let mut client = server.client();
        let is_done = client.call_line("EXISTS done").number() == Some(1);
        let expected = if is_done { 0 } else { KEYS };
        assert_eq!(count(&mut client), expected, "done: {is_done}");
    }
}
