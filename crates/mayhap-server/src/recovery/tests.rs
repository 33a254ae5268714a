//! Logs and snapshots that a server would write, and what comes back of them.

use super::Replay;
use crate::keyspace::Keyspace;
use crate::record::{self, Changes};
use mayhap_command::{Command, Config, Context, Replication};
use mayhap_core::{SipKey, Timestamp};
use mayhap_log::{Lsn, Recovered};

const NOW: u64 = 1_700_000_000_000;

/// A log and a snapshot of it in the making: commands are applied to keys, and logged as the server logs them.
struct Log {
    keys: Keyspace,
    records: Vec<Vec<u8>>,
    entries: Vec<(Lsn, Vec<u8>)>,
    /// The records of the log that goes with the snapshot come after this one.
    switched: usize,
}

fn words(line: &str) -> Vec<&[u8]> {
    line.split(' ').map(str::as_bytes).collect()
}

fn context(config: &Config) -> Context<'_> {
    Context {
        config,
        now: Timestamp(NOW),
        secret: SipKey::new([7; 16]),
        max_bytes: u64::MAX,
    }
}

impl Log {
    fn new() -> Self {
        Self {
            keys: Keyspace::new(),
            records: Vec::new(),
            entries: Vec::new(),
            switched: 0,
        }
    }

    fn log<W: AsRef<[u8]>>(&mut self, commands: &[Vec<W>]) {
        let mut changes = Changes::default();
        for command in commands {
            changes.push(command);
        }
        self.records.push(changes.bytes().to_vec());
    }

    /// A command of a filter.
    fn run(&mut self, line: &str) {
        let config = Config::default();
        let words = words(line);
        let Ok(Command::Write(write)) = Command::parse(&words, &config) else {
            panic!("{line}");
        };
        let outcome = self.keys.replace(write.key(), |place| {
            super::apply(&write, place, &[], &context(&config)).1
        });
        match outcome.replication {
            Replication::None => panic!("{line}: {:?}", outcome.reply),
            Replication::Unchanged => {}
            Replication::Verbatim => self.log(&[words]),
            Replication::Rewritten(commands) => self.log(&commands),
        }
    }

    fn run_all(&mut self, lines: &[&str]) {
        for line in lines {
            self.run(line);
        }
    }

    fn del(&mut self, key: &str) {
        self.keys.replace(key.as_bytes(), |place| *place = None);
        self.log(&[vec![&b"DEL"[..], key.as_bytes()]]);
    }

    /// From here on the log goes with the snapshot.
    fn switch(&mut self) {
        self.switched = self.records.len();
    }

    /// The snapshot gets to a key.
    fn entry(&mut self, key: &str) {
        let lsn = self.records.len() as Lsn;
        let entry = self.keys.read(key.as_bytes(), 0, |body| {
            record::entry(key.as_bytes(), body.expect("a key"))
        });
        self.entries.push((lsn, entry));
    }

    fn replay<'k>(&self, keys: &'k Keyspace) -> Replay<'k> {
        let mut replay = Replay::new(keys, SipKey::new([7; 16]));
        for (lsn, body) in &self.entries {
            let lsn = *lsn;
            let taken = replay.take(&Recovered::Entry { lsn, body });
            taken.expect("an entry");
        }
        for (at, body) in self.records.iter().enumerate().skip(self.switched) {
            let lsn = at as Lsn + 1;
            let time = NOW;
            let taken = replay.take(&Recovered::Record { lsn, time, body });
            taken.expect("a record");
        }
        replay
    }

    /// What is replayed is what there was, to the byte.
    #[track_caller]
    fn comes_back(&self) {
        let keys = Keyspace::new();
        let finished = self.replay(&keys).finish(false);
        assert_eq!(finished, Ok(0));
        assert_eq!(all(&keys), all(&self.keys));
    }

    #[track_caller]
    fn is_refused(&self, with: &str) {
        let keys = Keyspace::new();
        let finished = self.replay(&keys).finish(false);
        let error = finished.expect_err("it does not come back");
        assert!(error.contains(with) && !error.contains('\n'), "{error}");
    }
}

/// All keys with what they hold.
fn all(keys: &Keyspace) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    for shard in 0..keys.shards() {
        keys.for_each_in_shard(shard, |key, body| {
            all.push((key.to_vec(), record::entry(key, body)));
        });
    }
    all.sort();
    all
}

#[test]
fn a_record_with_a_time_is_applied_once() {
    let mut log = Log::new();
    log.run_all(&["CF.RESERVE k 100", "CF.ADD k x", "CF.ADD k x", "CF.ADD k x"]);
    log.switch();
    log.run(&format!("MAYHAP.AT {NOW} CF.DEL k x"));
    log.run(&format!("mayhap.at {NOW} CF.ADD k y"));
    log.entry("k");
    log.run(&format!("MAYHAP.AT {NOW} CF.DEL k x"));
    log.comes_back();
}

/// The snapshot has a key whose name is the time of a record about another.
#[test]
fn a_key_named_like_a_time_does_not_hide_records() {
    let mut log = Log::new();
    let number = NOW.to_string();
    log.run_all(&[&format!("BF.ADD {number} x"), "BF.RESERVE k 0.01 100"]);
    log.switch();
    log.entry("k");
    log.run(&format!("MAYHAP.AT {number} BF.ADD k y"));
    log.run(&format!("MAYHAP.AT {number} BF.MADD k z zz"));
    log.entry(&number);
    log.comes_back();
}

/// It has no entry, and the records before its removal find nothing.
#[test]
fn a_key_that_goes_while_a_snapshot_is_taken_stays_away() {
    for last in ["CF.DEL k x", "CF.ADD k x", "CF.INSERT k ITEMS x y"] {
        let mut log = Log::new();
        log.run_all(&["CF.ADD k x", "CF.ADD k x"]);
        log.switch();
        log.run(last);
        log.log(&[vec![&b"PEXPIREAT"[..], b"k", b"4102444800000"]]);
        log.del("k");
        log.comes_back();
        // And comes again, before the snapshot gets to it or after.
        log.run_all(&["BF.RESERVE k 0.01 10 NONSCALING", "BF.ADD k z"]);
        log.comes_back();
        log.entry("k");
        log.run("BF.ADD k zz");
        log.comes_back();
    }
}

#[test]
fn all_keys_are_removed_up_to_the_record_that_says_so() {
    let mut log = Log::new();
    log.run_all(&["CF.ADD a x", "CF.ADD b x", "CF.ADD c x"]);
    log.switch();
    log.entry("a");
    log.run("CF.DEL c x");
    log.keys.remove_if(|_| true);
    log.log(&[vec![b"FLUSHALL"]]);
    log.run_all(&["CF.ADD b y", "CF.ADD b y"]);
    log.entry("b");
    log.run("CF.DEL b y");
    log.comes_back();
}

/// Items that find a filter full are part of a record, and are refused again.
#[test]
fn what_was_refused_in_part_is_refused_again() {
    for layout in ["native", "redisbloom"] {
        let mut log = Log::new();
        let mut config = Config::default();
        config
            .set("mayhap-layout", layout.as_bytes())
            .expect("a layout");
        let reserve = words("CF.RESERVE k 8 BUCKETSIZE 1 EXPANSION 0");
        let Ok(Command::Write(write)) = Command::parse(&reserve, &config) else {
            panic!("{layout}");
        };
        let outcome = log.keys.replace(b"k", |place| {
            super::apply(&write, place, &[], &context(&config)).1
        });
        let Replication::Rewritten(made) = outcome.replication else {
            panic!("{layout}: {outcome:?}");
        };
        log.log(&made);
        let items: Vec<String> = (0..60).map(|item| format!("i{item}")).collect();
        log.run(&format!("CF.INSERT k ITEMS {}", items.join(" ")));
        log.run("BF.RESERVE b 0.01 4 NONSCALING");
        log.run(&format!("BF.MADD b {}", items.join(" ")));
        log.comes_back();
    }
}

#[test]
fn what_was_applied_once_and_is_not_again_stops_the_start() {
    let mut log = Log::new();
    log.run_all(&["CF.ADD k x", "CF.ADD k x"]);
    log.switch();
    log.run("CF.ADD k y");
    // The snapshot has lost the key.
    log.is_refused("record 3 of the log cannot be applied again to the key \"k\"");
    let keys = Keyspace::new();
    assert_eq!(log.replay(&keys).finish(true), Ok(1));
    // So is what was copied from it, and the key that it was renamed to.
    log.log(&[vec![&b"COPY"[..], b"k", b"copy"], vec![b"DEL", b"k"]]);
    log.is_refused("\"copy\"");
    log.log(&[vec![&b"RENAME"[..], b"copy", b"other"]]);
    log.is_refused("\"other\"");
    log.log(&[vec![b"FLUSHALL"]]);
    log.keys.remove_if(|_| true);
    log.comes_back();
}

#[test]
fn a_filter_without_memory_stops_the_start_and_says_how_much_is_missing() {
    let mut log = Log::new();
    log.run("CF.ADD other x");
    let keys = Keyspace::new();
    let mut replay = log.replay(&keys);
    replay.fail(b"k", super::Failed::NoMemory(1 << 40));
    replay.fail(b"l", super::Failed::NoMemory(1 << 30));
    // Nothing of what follows makes another filter in its place.
    for line in ["BF.ADD k x", "BF.MADD k x y", "PERSIST k"] {
        let mut changes = Changes::default();
        changes.push(&words(line));
        let body = changes.bytes();
        let taken = replay.take(&Recovered::Record {
            lsn: 9,
            time: NOW,
            body,
        });
        assert_eq!(taken, Ok(()));
    }
    assert_eq!(keys.len(), 1);
    let error = replay.finish(true).expect_err("no memory");
    let missing = (1_u64 << 40) + (1 << 30);
    assert!(
        error.contains(&format!("2 keys need {missing} bytes more")),
        "{error}"
    );
}
