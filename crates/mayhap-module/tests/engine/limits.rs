//! Limits apply to commands of clients, whatever the configuration of the engine, but not to data that was accepted before.

use crate::Engine;
use crate::hostile::bulk;
use mayhap_testkit::raw_client::RawClient;

/// Filters of 1.4 MB in payloads of a few kilobytes, because almost all bytes are zeros.
fn large_payloads(client: &mut RawClient) -> Vec<Vec<u8>> {
    client.expect("CONFIG SET mayhap.layout redisbloom", "+OK\r\n");
    client.expect("BF.RESERVE bloom 0.01 1000000", "+OK\r\n");
    client.expect("CF.RESERVE cuckoo 1000000", "+OK\r\n");
    client.expect("CONFIG SET mayhap.layout native", "+OK\r\n");
    client.expect("BF.RESERVE native 0.01 1000000", "+OK\r\n");
    ["bloom", "cuckoo", "native"]
        .map(|key| bulk(&client.raw(&["DUMP", key])))
        .into()
}

#[test]
fn the_limits_apply_to_restore() {
    let engine = Engine::start(&[], &[]);
    let mut client = engine.client();
    let payloads = large_payloads(&mut client);
    client.expect("CONFIG SET mayhap.max-filter-bytes 1000000", "+OK\r\n");
    for (at, payload) in payloads.iter().enumerate() {
        let restore = [&b"RESTORE"[..], b"k", b"0", payload, b"REPLACE"];
        let reply = client.raw(&restore);
        assert!(
            reply.starts_with(b"-ERR Bad data format"),
            "{at}: {}",
            reply.escape_ascii()
        );
    }
    client.expect("CONFIG SET mayhap.max-filter-bytes 10000000", "+OK\r\n");
    for payload in &payloads {
        let restore = [&b"RESTORE"[..], b"k", b"0", payload, b"REPLACE"];
        assert_eq!(client.raw(&restore), b"+OK\r\n");
    }
    engine.expect_health();
}

#[test]
fn the_memory_limit_applies_if_config_is_renamed() {
    let options = ["--maxmemory", "50mb", "--rename-command", "CONFIG", ""];
    let engine = Engine::start(&[], &options);
    let mut client = engine.client();
    let reply = client.call("BF.RESERVE a 0.01 100000000");
    assert_eq!(reply, "-ERR Insufficient memory to create filter\r\n");
    client.expect("BF.RESERVE a 0.01 1000000", "+OK\r\n");
    engine.expect_health();
}

#[test]
fn copies_and_chunks_are_restored_from_the_append_only_file() {
    let options = [
        "--appendonly",
        "yes",
        "--aof-use-rdb-preamble",
        "no",
        "--enable-debug-command",
        "yes",
    ];
    let engine = Engine::start(&[], &options);
    let mut client = engine.client();
    client.expect("BF.RESERVE k 0.001 5000000", "+OK\r\n");
    for copy in ["l", "m", "n"] {
        client.expect(&format!("COPY k {copy}"), ":1\r\n");
    }
    // Chunks of a filter with keys, loaded into a filter whose header says that it is empty.
    client.expect("CONFIG SET mayhap.layout redisbloom", "+OK\r\n");
    client.expect("CF.RESERVE from 64", "+OK\r\n");
    client.expect("CF.RESERVE to 64", "+OK\r\n");
    client.expect("CF.ADD from item", ":1\r\n");
    let chunk = client.raw(&["CF.SCANDUMP", "from", "1"]);
    let text = String::from_utf8_lossy(&chunk).into_owned();
    let iterator = text.lines().nth(1).and_then(|line| line.strip_prefix(':'));
    let iterator = iterator.expect("an iterator").to_owned();
    let start = text
        .lines()
        .take(2)
        .map(|line| line.len() + 2)
        .sum::<usize>();
    let load = [
        b"CF.LOADCHUNK",
        &b"to"[..],
        iterator.as_bytes(),
        &bulk(&chunk[start..]),
    ];
    assert_eq!(client.raw(&load), b"+OK\r\n");
    client.expect("CF.EXISTS to item", ":1\r\n");
    // A limit below the size of the copies: accepted data is loaded nevertheless.
    client.expect("CONFIG SET maxmemory 20mb", "+OK\r\n");
    client.expect("DEBUG LOADAOF", "+OK\r\n");
    client.expect("EXISTS k l m n", ":4\r\n");
    client.expect("CONFIG SET maxmemory 0", "+OK\r\n");
    client.call("BGREWRITEAOF");
    while engine.info("aof_rewrite_in_progress") + engine.info("aof_rewrite_scheduled") > 0 {}
    client.expect("DEBUG LOADAOF", "+OK\r\n");
    client.expect("EXISTS k l m n", ":4\r\n");
    client.expect("CF.EXISTS to item", ":1\r\n");
    engine.expect_health();
}

#[test]
fn the_time_of_a_merge_is_linear_in_the_number_of_keys() {
    let engine = Engine::start(&[], &[]);
    let mut client = engine.client();
    let mut words = vec!["BF.MERGE".to_owned(), "to".to_owned()];
    words.extend((0..200_000).map(|number| format!("missing:{number}")));
    assert_eq!(client.raw(&words), b"-ERR not found\r\n");
    engine.expect_health();
}
