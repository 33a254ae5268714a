//! 27,579 commands, good and bad, with the replies of the real RedisBloom: the server's must be the same, byte for byte.

use crate::{Running, folder, redisbloom};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

fn bytes(word: &Value) -> Vec<u8> {
    match word {
        Value::String(text) => text.as_bytes().to_vec(),
        word => {
            let hex = word["hex"].as_str().expect("hex");
            (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex"))
                .collect()
        }
    }
}

/// Raw bytes, read as Latin-1.
fn raw(reply: &str) -> Vec<u8> {
    reply.chars().map(|letter| letter as u8).collect()
}

#[test]
fn every_reply_is_that_of_redisbloom() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/redis/transcripts.jsonl.gz");
    let file = File::open(path).expect("the transcripts");
    let (_folder, mut options) = folder();
    redisbloom(&mut options);
    let server = Running::with(&options);
    let mut count = 0;
    for line in BufReader::new(GzDecoder::new(file)).lines() {
        let sequence: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let id = &sequence["id"];
        let mut client = server.client();
        client.ask(&format!("HELLO {}", sequence["proto"]));
        client.expect("FLUSHALL", "+OK\r\n");
        for (at, step) in sequence["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .enumerate()
        {
            let words: Vec<Vec<u8>> = step["cmd"]
                .as_array()
                .expect("words")
                .iter()
                .map(bytes)
                .collect();
            let expected = raw(step["reply"].as_str().expect("a reply"));
            let reply = client.raw(&words);
            assert!(
                reply == expected,
                "{id} step {at}: {}\n ours   {}\n theirs {}",
                step["cmd"],
                reply.escape_ascii(),
                expected.escape_ascii(),
            );
            count += 1;
        }
    }
    assert_eq!(count, 27_579);
}
