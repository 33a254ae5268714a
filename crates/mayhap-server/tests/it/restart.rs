//! What was acknowledged is there after a restart, with the same answers.

use crate::{Running, folder};
use mayhap_log::{Folder, Journal};

#[test]
fn everything_is_there_again() {
    let (_folder, options) = folder();
    let fill = [
        "SET s hello",
        "SET t gone",
        "DEL t",
        "BF.RESERVE b 0.001 50 EXPANSION 4",
        "BF.RESERVE fixed 0.001 50 NONSCALING",
        "BF.ADD auto x",
        "CF.RESERVE c 100",
        "CF.ADD c x",
        "CF.ADD c x",
        "CF.ADD c y",
        "CF.DEL c y",
        "CF.ADDNX auto2 x",
        "BF.WINDOW w 0.01 100 3600",
        "BF.ADD w x",
        "CBF.RESERVE n 0.01 100",
        "CBF.ADD n x",
        "EXPIRE auto 1000",
        "RENAME auto moved",
        "COPY moved copied",
        "BF.MERGE merged moved copied",
        "BF.ADD merged y",
        "SET e x PX 1",
        "CONFIG SET mayhap-layout redisbloom",
        "BF.ADD r x",
        "CF.ADD rc x",
        "CONFIG SET bf-initial-size 7 cf-bucket-size 3",
    ];
    let many: Vec<String> = (0..400)
        .map(|item| format!("BF.ADD b item{item}"))
        .collect();
    let asked = "s t b fixed moved c auto2 w n copied merged r rc";
    let dump = |server: &Running| {
        let mut client = server.client();
        let dump = |key: &str| client.raw(&["DUMP", key]);
        asked.split(' ').map(dump).collect::<Vec<_>>()
    };
    let server = Running::with(&options);
    let mut client = server.client();
    for line in fill.iter().copied().chain(many.iter().map(String::as_str)) {
        let reply = client.call(line);
        assert!(!reply.starts_with('-'), "{line}: {reply}");
    }
    let before = dump(&server);
    server.end();
    // From the log, from a snapshot and a log, and from a snapshot alone.
    for round in 0..3 {
        let server = Running::with(&options);
        assert!(dump(&server) == before, "round {round}");
        let mut client = server.client();
        client.expect("GET s", "$5\r\nhello\r\n");
        client.expect("CF.COUNT c x", ":2\r\n");
        client.expect("EXISTS e t", ":0\r\n");
        for key in ["moved", "copied"] {
            let left: i64 = client.call(&format!("TTL {key}"))[1..]
                .trim()
                .parse()
                .expect("seconds");
            assert!((1..=1000).contains(&left), "{key} has {left} s");
        }
        for item in 0..400 {
            client.expect(&format!("BF.EXISTS b item{item}"), ":1\r\n");
        }
        if round < 2 {
            client.expect("SAVE", "+OK\r\n");
        }
        server.end();
    }
}

/// Right after a snapshot the log is empty; what it had may have been later than the system's clock is now.
#[test]
fn time_does_not_go_back_across_a_snapshot() {
    let (folder, options) = folder();
    let server = Running::with(&options);
    server.client().expect("SET s hello", "+OK\r\n");
    server.end();
    let later = 4_102_444_800_000;
    let store = Folder::open(folder.path().join("store")).expect("the folder");
    let (journal, _) =
        Journal::open(store, mayhap_log::JournalOptions::default(), |_| Ok(())).expect("a log");
    // A record without a command, of a time to come.
    journal.append(later, b"").expect("appended");
    journal.close().expect("written");
    // The second server reads a record of that time, the third its own snapshot and nothing else.
    for _ in 0..2 {
        let server = Running::with(&options);
        let mut client = server.client();
        let told = client.call("TIME");
        let seconds: u64 = told
            .lines()
            .nth(2)
            .expect("seconds")
            .parse()
            .expect("a number");
        assert!(seconds >= later / 1000, "{told}");
        client.expect("SAVE", "+OK\r\n");
        server.end();
    }
}

/// A command as the log has it.
fn record(words: &[&str]) -> Vec<u8> {
    let mut bytes = (words.len() as u32).to_le_bytes().to_vec();
    for word in words {
        bytes.extend_from_slice(&(word.len() as u32).to_le_bytes());
        bytes.extend_from_slice(word.as_bytes());
    }
    bytes
}

/// A record that does not apply is told and refused; whoever accepts the loss does so once.
#[test]
fn a_record_that_does_not_apply_stops_the_start_until_the_loss_is_accepted() {
    let (folder, mut options) = folder();
    let store = folder.path().join("store");
    let disk = Folder::open(&store).expect("the folder");
    let (journal, _) =
        Journal::open(disk, mayhap_log::JournalOptions::default(), |_| Ok(())).expect("a log");
    let set = record(&["SET", "s", "hello", "0"]);
    let add = record(&["BF.ADD", "lost", "x"]);
    for body in [&set, &add] {
        journal.append(1_700_000_000_000, body).expect("appended");
    }
    journal.close().expect("written");
    let error = mayhap_server::Server::start(&options)
        .err()
        .expect("refused");
    assert!(
        error.contains("record 2 of the log cannot be applied again to the key \"lost\"")
            && error.contains("--accept-loss")
            && !error.contains('\n'),
        "{error}"
    );
    options.accepts_loss = true;
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("GET s", "$5\r\nhello\r\n");
    // A snapshot of what is left takes the place of the record, without being asked for.
    let is_taken = || store.join("snapshot-0000000002").exists();
    assert!((0..100_000).any(|_| {
        client.expect("PING", "+PONG\r\n");
        is_taken()
    }));
    server.end();
    options.accepts_loss = false;
    let server = Running::with(&options);
    server.client().expect("GET s", "$5\r\nhello\r\n");
    server.end();
}

#[test]
fn a_folder_has_one_server() {
    let (_folder, options) = folder();
    let _server = Running::with(&options);
    let error = mayhap_server::Server::start(&options)
        .err()
        .expect("refused");
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn a_public_address_requires_a_password() {
    let (_folder, mut options) = folder();
    options.bind = vec![std::net::Ipv4Addr::UNSPECIFIED.into()];
    let error = mayhap_server::Server::start(&options)
        .err()
        .expect("refused");
    assert!(error.contains("MAYHAP_PASSWORD"), "{error}");
}
