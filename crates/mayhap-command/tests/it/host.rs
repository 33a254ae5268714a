//! A minimal host: keys, a log of what was replicated, and the few commands of Redis that tests need.

use mayhap_codec::native;
use mayhap_command::{Command, Config, Context, Replication, Reply, Slot, find};
use mayhap_core::{
    AnyFilter, CountingBloom, HashScheme, Scheme, SipKey, Timestamp, WindowBloom, plan,
};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) type Words = Vec<Vec<u8>>;

pub(crate) struct Host {
    pub(crate) keys: BTreeMap<Vec<u8>, Slot>,
    pub(crate) config: Config,
    pub(crate) secret: SipKey,
    pub(crate) now: Timestamp,
    pub(crate) max_bytes: u64,
    /// Whether commands are replicated with their times, where these matter.
    pub(crate) replicates_times: bool,
    /// Replicated commands, with their times.
    pub(crate) log: Vec<(Timestamp, Words)>,
}

impl Host {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            keys: BTreeMap::new(),
            config,
            secret: SipKey::new([7; 16]),
            now: Timestamp(1_000_000),
            max_bytes: 1 << 30,
            replicates_times: false,
            log: Vec::new(),
        }
    }

    pub(crate) fn run(&mut self, words: &[&[u8]]) -> Reply {
        if find(words[0]).is_none() {
            return self.own(words);
        }
        let command = match Command::parse(words, &self.config) {
            Ok(command) => command,
            Err(reply) => return reply,
        };
        let context = Context {
            config: &self.config,
            now: self.now,
            secret: self.secret,
            max_bytes: self.max_bytes,
        };
        let key = match &command {
            Command::Query(query) => query.key(),
            Command::Write(write) => write.key(),
        };
        let key = key.to_vec();
        let mut slot = self.keys.remove(&key).unwrap_or_default();
        let reply = match &command {
            Command::Query(query) => query.apply(&slot, &context),
            Command::Write(write) => {
                let sources = write.sources().iter();
                let sources =
                    sources.map(|&source| self.keys.get(source).unwrap_or(&Slot::Missing));
                let sources: Vec<&Slot> = sources.collect();
                let mut outcome = write.apply(&mut slot, &sources, &context);
                if self.replicates_times {
                    outcome = write.with_time(outcome, words, &slot, self.now);
                }
                match outcome.replication {
                    Replication::None | Replication::Unchanged => {}
                    Replication::Verbatim => self.note(words),
                    Replication::Rewritten(commands) => {
                        self.log
                            .extend(commands.into_iter().map(|words| (self.now, words)));
                    }
                }
                outcome.reply
            }
        };
        if !matches!(slot, Slot::Missing) {
            self.keys.insert(key, slot);
        }
        reply
    }

    fn note(&mut self, words: &[&[u8]]) {
        let words = words.iter().map(|word| word.to_vec()).collect();
        self.log.push((self.now, words));
    }

    fn own(&mut self, words: &[&[u8]]) -> Reply {
        match words[0].to_ascii_uppercase().as_slice() {
            b"SET" => {
                self.note(words);
                self.keys.insert(words[1].to_vec(), Slot::Other);
                Reply::OK
            }
            b"DEL" => {
                self.note(words);
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
                    self.note(words);
                    self.keys.insert(words[2].to_vec(), slot);
                    Reply::OK
                }
            },
            other => panic!("{} is not known", String::from_utf8_lossy(other)),
        }
    }

    /// Runs a command given as a line.
    pub(crate) fn run_line(&mut self, line: &str) -> Reply {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        self.run(&words)
    }

    /// Loads a filter into a key.
    pub(crate) fn load(&mut self, key: &str, filter: impl Into<AnyFilter>) {
        let bytes = native::encode(&filter.into()).expect("a file");
        let loaded = self.run(&[b"MAYHAP.LOAD", key.as_bytes(), &bytes, b"REPLACE"]);
        assert_eq!(loaded, Reply::OK, "{key}");
    }

    /// An empty counting Bloom filter, as `CBF.RESERVE` created it in older versions.
    pub(crate) fn load_counting_bloom(&mut self, key: &str, rate: f64, capacity: u64) {
        let plan = plan::counting::CountingPlan::new(capacity, rate, 4).expect("a plan");
        let scheme = HashScheme::Sip13(self.secret);
        let filter = CountingBloom::from_plan(plan, Scheme::EnhancedDoubleHashing, scheme);
        self.load(key, filter.expect("a filter"));
    }

    /// An empty ring of Bloom filters, as `BF.WINDOW` created it in older versions.
    pub(crate) fn load_ring(&mut self, key: &str, rate: f64, capacity: u64, seconds: u64) {
        let plan = plan::WindowPlan::new(capacity, rate, Duration::from_secs(seconds));
        let scheme = HashScheme::Sip13(self.secret);
        let ring = WindowBloom::from_plan(plan.expect("a plan"), scheme, self.now);
        self.load(key, ring.expect("a filter"));
    }

    /// Replays the log of another host, at other times. No command may be rejected: engines treat that as damage.
    pub(crate) fn replay(&mut self, log: &[(Timestamp, Words)], had_times: bool) {
        for (now, words) in log {
            self.now = if had_times {
                Timestamp(u64::from(now.0 % 2 == 0) << 40)
            } else {
                *now
            };
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            let reply = self.run(&words);
            let name = String::from_utf8_lossy(words[0]);
            assert!(!is_refusal(&reply), "{name}: {reply:?}");
        }
    }

    /// The image of every key.
    pub(crate) fn images(&self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let keys = self.keys.iter();
        keys.map(|(key, slot)| (key.clone(), slot.encode()))
            .collect()
    }
}

fn is_refusal(reply: &Reply) -> bool {
    match reply {
        Reply::Error(_) => true,
        Reply::Array(replies) => replies.iter().any(is_refusal),
        _ => false,
    }
}
