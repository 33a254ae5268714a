//! The recorded replies of the real RedisBloom: `golden/redis/transcripts.jsonl.gz`.

use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Commands that one connection sent to an empty server.
pub struct Sequence {
    /// Its name, for messages.
    pub id: String,
    /// The RESP version, 2 or 3.
    pub protocol: u64,
    /// The commands, in order.
    pub steps: Vec<Step>,
}

/// One command and its reply.
pub struct Step {
    /// The command, name first.
    pub words: Vec<Vec<u8>>,
    /// The raw bytes of the reply.
    pub reply: Vec<u8>,
}

/// All sequences, with 27,579 steps in total.
pub fn sequences() -> impl Iterator<Item = Sequence> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/redis/transcripts.jsonl.gz");
    let file = BufReader::new(GzDecoder::new(File::open(path).expect("the transcripts")));
    file.lines().map(|line| {
        let sequence: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let steps = sequence["steps"].as_array().expect("steps").iter();
        Sequence {
            id: sequence["id"].to_string(),
            protocol: sequence["proto"].as_u64().expect("a protocol"),
            steps: steps.map(step).collect(),
        }
    })
}

/// Sends every command and requires the reply that RedisBloom gave. `connect` is called once per sequence, with its RESP version.
pub fn expect_every_reply<C>(
    mut connect: impl FnMut(u64) -> C,
    mut call: impl FnMut(&mut C, &[Vec<u8>]) -> Vec<u8>,
) {
    let mut count = 0;
    for sequence in sequences() {
        let mut connection = connect(sequence.protocol);
        for (at, step) in sequence.steps.iter().enumerate() {
            let reply = call(&mut connection, &step.words);
            assert!(
                reply == step.reply,
                "{} step {at}: {}\n ours   {}\n theirs {}",
                sequence.id,
                step.words.join(&b' ').escape_ascii(),
                reply.escape_ascii(),
                step.reply.escape_ascii(),
            );
            count += 1;
        }
    }
    assert_eq!(count, 27_579);
}

fn step(step: &Value) -> Step {
    let words = step["cmd"].as_array().expect("words").iter();
    let reply = step["reply"].as_str().expect("a reply");
    Step {
        words: words.map(bytes).collect(),
        // Raw bytes, read as Latin-1.
        reply: reply.chars().map(|c| c as u8).collect(),
    }
}

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
