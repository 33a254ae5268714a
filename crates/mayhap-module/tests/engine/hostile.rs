//! Hostile input: the engine replies with errors, survives, and allocates no memory for unchecked lengths.

use crate::Engine;
use mayhap_testkit::random_commands::for_each_argument;
use mayhap_testkit::raw_client::{RawClient, request};
use mayhap_testkit::{Random, is_soak};

/// The memory limit of a filter in this test.
const MAX_BYTES: &str = "1048576";

/// Creates keys of every kind, in interesting states.
fn create_kinds(client: &mut RawClient) -> Vec<String> {
    let mut keys = Vec::new();
    for layout in ["native", "redisbloom"] {
        client.expect(&format!("CONFIG SET mayhap.layout {layout}"), "+OK\r\n");
        for line in [
            format!("BF.RESERVE {layout}-empty 0.01 10"),
            format!("BF.RESERVE {layout}-full 0.01 2 NONSCALING"),
            format!("CF.RESERVE {layout}-fixed 4 EXPANSION 0"),
            format!("CF.RESERVE {layout}-cf 4 EXPANSION 2"),
        ] {
            client.expect(&line, "+OK\r\n");
        }
        for number in 0..60 {
            for (command, key) in [
                ("BF", "full"),
                ("CF", "fixed"),
                ("CF", "cf"),
                ("BF", "grown"),
            ] {
                client.call(&format!("{command}.ADD {layout}-{key} {number}"));
            }
        }
        keys.extend(["empty", "full", "fixed", "cf", "grown"].map(|key| format!("{layout}-{key}")));
    }
    client.expect("BF.WINDOW window 0.01 10 1000", "+OK\r\n");
    client.call("BF.MADD window a b c d e f g");
    client.expect("CBF.RESERVE counting 0.01 10", "+OK\r\n");
    client.call("CBF.MADD counting a b b");
    client.expect("SET other x", "+OK\r\n");
    keys.extend(["window", "counting", "other"].map(str::to_owned));
    keys
}

/// Sends requests in a pipeline, and returns how many replies are errors.
fn errors(client: &mut RawClient, requests: &[Vec<u8>]) -> usize {
    let mut errors = 0;
    for some in requests.chunks(1000) {
        client.send(&some.concat());
        errors += some
            .iter()
            .filter(|_| client.reply().starts_with(b"-"))
            .count();
    }
    errors
}

#[test]
fn every_command_survives_every_argument_on_every_kind_of_key() {
    let engine = Engine::start(&["max-filter-bytes", MAX_BYTES], &[]);
    let mut client = engine.client();
    let kinds = create_kinds(&mut client);
    let names = mayhap_command::COMMANDS
        .each_ref()
        .map(|command| command.spec.name);
    let mut requests = Vec::new();
    for kind in &kinds {
        for_each_argument(&names, |words| {
            // Start again with a fresh copy after every few commands.
            if requests.len() % 64 == 0 {
                requests.push(request(&["DEL", "k"]));
                requests.push(request(&["COPY", kind.as_str(), "k"]));
            }
            requests.push(request(words));
        });
        let refused = errors(&mut client, &requests);
        assert!(refused > 1000 && refused < requests.len(), "{refused}");
        requests.clear();
        engine.expect_health();
    }
    let peak = engine.info("used_memory_peak");
    assert!(peak < 256 << 20, "{peak} bytes");
}

/// CRC-64 of Redis. Damaged payloads get a valid checksum, so that they reach the module.
fn crc64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, &byte| {
        (0..8).fold(sum ^ u64::from(byte), |sum, _| {
            let is_odd = sum & 1 == 1;
            (sum >> 1) ^ if is_odd { 0x95ac_9329_ac4b_c9b5 } else { 0 }
        })
    })
}

fn seal(payload: &mut [u8]) {
    if let Some(end) = payload.len().checked_sub(8) {
        let sum = crc64(&payload[..end]).to_le_bytes();
        payload[end..].copy_from_slice(&sum);
    }
}

/// Changes some bytes, or truncates, or repeats a part.
fn damage(random: &mut Random, bytes: &[u8], kept: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let body = bytes.len().saturating_sub(kept).max(1) as u64;
    for _ in 0..=random.below(3) {
        let at = random.below(body) as usize;
        match random.below(8) {
            0 => bytes[at] = random.choose(&[0, 1, 0x7f, 0x80, 0xff]),
            1 => {
                let end = (at + 8).min(body as usize);
                let value = random
                    .choose(&[u64::MAX, 1 << 40, 1 << 63, 0])
                    .to_le_bytes();
                bytes[at..end].copy_from_slice(&value[..end - at]);
            }
            2 => bytes[at] = bytes[at].wrapping_add(1),
            3 if body > 16 && random.one_in(8) => {
                let end = (at + 1 + random.below(16) as usize).min(body as usize);
                bytes.drain(at..end);
                return bytes;
            }
            _ => bytes[at] ^= 1 << random.below(8),
        }
    }
    bytes
}

/// The bytes of a bulk reply.
pub(crate) fn bulk(reply: &[u8]) -> Vec<u8> {
    let start = reply
        .iter()
        .position(|&byte| byte == b'\n')
        .expect("a bulk")
        + 1;
    reply[start..reply.len() - 2].to_vec()
}

#[test]
fn damaged_payloads_are_rejected_or_work() {
    let engine = Engine::start(&["max-filter-bytes", MAX_BYTES], &[]);
    let mut client = engine.client();
    let kinds = create_kinds(&mut client);
    let rounds = if is_soak() { 100_000 } else { 2000 };
    let (mut random, mut refused, mut restored) = (Random::new(7), 0, 0);
    for kind in &kinds {
        let payload = bulk(&client.raw(&["DUMP", kind.as_str()]));
        let mut whole = payload.clone();
        seal(&mut whole);
        assert_eq!(whole, payload, "the checksum is the engine's");
        for _ in 0..rounds {
            let mut payload = damage(&mut random, &payload, 10);
            seal(&mut payload);
            let reply = client.raw(&[&b"RESTORE"[..], b"k", b"0", &payload, b"REPLACE"]);
            if reply.starts_with(b"-") {
                refused += 1;
                continue;
            }
            restored += 1;
            // Every command works on the result.
            for line in [
                "BF.ADD k x",
                "BF.EXISTS k x",
                "BF.INFO k",
                "BF.SCANDUMP k 0",
                "CF.ADD k x",
                "CF.DEL k y",
                "CF.INFO k",
                "CF.COMPACT k",
                "CBF.ADD k x",
                "CBF.INFO k",
                "MEMORY USAGE k",
                "COPY k l REPLACE",
                "DUMP k",
            ] {
                client.call(line);
            }
        }
        engine.expect_health();
    }
    assert!(refused > 1000 && restored > 1000, "{refused} {restored}");
    let peak = engine.info("used_memory_peak");
    assert!(peak < 256 << 20, "{peak} bytes");
}

#[test]
fn damaged_chunks_and_images_are_rejected_or_work() {
    let engine = Engine::start(&["max-filter-bytes", MAX_BYTES], &[]);
    let mut client = engine.client();
    let kinds = create_kinds(&mut client);
    let rounds = if is_soak() { 50_000 } else { 500 };
    let (mut random, mut refused, mut loaded) = (Random::new(8), 0, 0);
    for kind in &kinds {
        for family in ["BF", "CF"] {
            let reply = client.raw(&[format!("{family}.SCANDUMP").as_str(), kind, "0"]);
            if !reply.starts_with(b"*2\r\n:1\r\n$") {
                continue;
            }
            let header = bulk(&reply[8..]);
            for _ in 0..rounds {
                let load = format!("{family}.LOADCHUNK");
                client.call("DEL k");
                let header = damage(&mut random, &header, 0);
                let reply = client.raw(&[load.as_bytes(), b"k", b"1", &header]);
                refused += usize::from(reply.starts_with(b"-"));
                loaded += usize::from(reply.starts_with(b"+"));
                for iterator in ["2", "64", "4294967297", "9223372036854775807", "-1"] {
                    let chunk = vec![0xff; random.below(200) as usize];
                    client.raw(&[load.as_bytes(), b"k", iterator.as_bytes(), &chunk]);
                }
                let image = damage(&mut random, &header, 0);
                client.raw(&[&b"MAYHAP.LOAD"[..], b"k", &image, b"REPLACE"]);
                client.call(&format!("{family}.ADD k x"));
                client.call(&format!("{family}.EXISTS k x"));
                client.call("DUMP k");
            }
        }
        engine.expect_health();
    }
    assert!(refused > 500 && loaded > 500, "{refused} {loaded}");
    let peak = engine.info("used_memory_peak");
    assert!(peak < 256 << 20, "{peak} bytes");
}
