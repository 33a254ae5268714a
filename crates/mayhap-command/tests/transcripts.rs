//! 27,579 commands, good and bad, with the replies of the real RedisBloom: every reply of ours must be the same, byte for byte.

use flate2::read::GzDecoder;
use mayhap::{SipKey, Timestamp};
use mayhap_command::{Command, Config, Context, Layout, Protocol, Reply, Slot, find};
use serde_json::Value;
use std::collections::HashMap;
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

/// A host of the smallest kind: keys, and the commands of Redis's own that the sequences have.
struct Host {
    keys: HashMap<Vec<u8>, Slot>,
    config: Config,
}

impl Host {
    fn run(&mut self, words: &[&[u8]]) -> Reply {
        if find(words[0]).is_some() {
            let command = match Command::parse(words, &self.config) {
                Ok(command) => command,
                Err(reply) => return reply,
            };
            let context = Context {
                config: &self.config,
                now: Timestamp(0),
                secret: SipKey::new([1; 16]),
                most_bytes: 4 << 30,
            };
            let slot = self.keys.entry(command.key().to_vec()).or_default();
            let reply = match &command {
                Command::Ask(ask) => ask.ask(slot, &context),
                Command::Change(change) => change.apply(slot, &[], &context).reply,
            };
            if *slot == Slot::Missing {
                self.keys.remove(command.key());
            }
            return reply;
        }
        match words[0].to_ascii_uppercase().as_slice() {
            b"SET" => {
                self.keys.insert(words[1].to_vec(), Slot::Other);
                Reply::OK
            }
            b"DEL" => {
                let gone = words[1..]
                    .iter()
                    .filter(|key| self.keys.remove(**key).is_some());
                Reply::Integer(gone.map(|_| 1).sum())
            }
            b"TYPE" => {
                let slot = self.keys.get(words[1]).unwrap_or(&Slot::Missing);
                Reply::Simple(slot.type_name().into())
            }
            b"RENAME" => match self.keys.remove(words[1]) {
                None => Reply::error("ERR no such key"),
                Some(slot) => {
                    self.keys.insert(words[2].to_vec(), slot);
                    Reply::OK
                }
            },
            other => panic!("{} is not known", String::from_utf8_lossy(other)),
        }
    }
}

/// Where we differ on purpose: the sequence, the step, and why. None so far.
const DIFFERENT: [(&str, usize, &str); 0] = [];

#[test]
fn every_recorded_reply_is_ours() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/redis/transcripts.jsonl.gz");
    let file = BufReader::new(GzDecoder::new(File::open(path).expect("the recordings")));
    let (mut commands, mut wrong) = (0, Vec::new());
    for line in file.lines() {
        let sequence: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let protocol = match sequence["proto"].as_u64() {
            Some(3) => Protocol::Resp3,
            _ => Protocol::Resp2,
        };
        let id = sequence["id"].to_string();
        let mut host = Host {
            keys: HashMap::new(),
            config: Config {
                layout: Layout::RedisBloom,
                ..Config::default()
            },
        };
        for (number, step) in sequence["steps"]
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
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            let mut ours = Vec::new();
            host.run(&words).write(protocol, &mut ours);
            let theirs = raw(step["reply"].as_str().expect("a reply"));
            commands += 1;
            let is_known = DIFFERENT
                .iter()
                .any(|&(known, at, _)| known == id && at == number);
            if ours != theirs && !is_known {
                wrong.push(format!(
                    "{id} step {number}: {}\n  ours   {}\n  theirs {}",
                    step["cmd"],
                    ours.escape_ascii(),
                    theirs.escape_ascii()
                ));
                // What follows may differ because of this.
                break;
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} sequences differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
    assert_eq!(commands, 27_579);
}
