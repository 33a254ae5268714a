//! Somebody who uses the log as the server does: keys whose contents are the changes made to them, so that a change that is lost,
//! invented, out of order or applied twice shows.

use mayhap_log::simulated::SimulatedDisk;
use mayhap_log::{
    Fsync, Journal, JournalError, JournalOptions, Lsn, Recovered, Snapshot, SnapshotError,
};
use mayhap_testkit::Random;
use std::collections::BTreeMap;

pub(crate) const KEYS: u8 = 5;

/// A change, as it was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoggedChange {
    pub(crate) lsn: Lsn,
    key: u8,
    number: u64,
    filling: usize,
}

impl LoggedChange {
    fn time(&self) -> u64 {
        self.number * 10
    }

    fn body(&self) -> Vec<u8> {
        let mut body = vec![self.key];
        body.extend(self.number.to_le_bytes());
        body.extend((0..self.filling).map(|at| (self.number as usize + at) as u8));
        body
    }
}

/// What replay makes of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RecoveredContents {
    keys: BTreeMap<u8, (Lsn, Vec<u64>)>,
    last: Lsn,
}

impl RecoveredContents {
    pub(crate) fn take(&mut self, what: Recovered<'_>) {
        match what {
            Recovered::Entry { lsn, body } => {
                assert_eq!(self.last, 0, "an entry after a record");
                let numbers = body[1..].as_chunks::<8>().0.iter();
                let numbers = numbers.map(|bytes| u64::from_le_bytes(*bytes)).collect();
                let before = self.keys.insert(body[0], (lsn, numbers));
                assert!(before.is_none(), "an entry twice");
            }
            Recovered::LargeEntry { .. } => unreachable!("a few bytes"),
            Recovered::Record { lsn, time, body } => {
                assert!(lsn > self.last, "record {lsn} after {}", self.last);
                self.last = lsn;
                let change = LoggedChange {
                    lsn,
                    key: body[0],
                    number: u64::from_le_bytes(body[1..9].try_into().unwrap()),
                    filling: body.len() - 9,
                };
                assert_eq!(body, change.body(), "a body that nobody appended");
                assert_eq!(time, change.time());
                let (known, numbers) = self.keys.entry(change.key).or_default();
                if lsn > *known {
                    numbers.push(change.number);
                }
            }
        }
    }

    fn from_history(history: &[LoggedChange]) -> BTreeMap<u8, Vec<u64>> {
        let mut keys = BTreeMap::new();
        for change in history {
            keys.entry(change.key)
                .or_insert_with(Vec::new)
                .push(change.number);
        }
        keys
    }
}

pub(crate) struct Simulation {
    pub(crate) disk: SimulatedDisk,
    pub(crate) journal: Option<Journal<SimulatedDisk>>,
    snapshot: Option<(Snapshot<SimulatedDisk>, u8)>,
    pub(crate) history: Vec<LoggedChange>,
    /// Promised to outlive a crash.
    pub(crate) safe: Lsn,
    /// Promised to outlive a kill.
    committed: Lsn,
    changes: u64,
    pub(crate) random: Random,
    pub(crate) errors: u64,
    pub(crate) snapshots: u64,
    pub(crate) heals: u64,
    pub(crate) torn: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Append,
    Commit,
    Sync,
    Tick,
    SetFsync(Fsync),
    Begin,
    Entry,
    Finish,
    GiveUp,
    Crash,
    Restart,
    Close,
}

impl Simulation {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            disk: SimulatedDisk::new(),
            journal: None,
            snapshot: None,
            history: Vec::new(),
            safe: 0,
            committed: 0,
            changes: 0,
            random: Random::new(seed),
            errors: 0,
            snapshots: 0,
            heals: 0,
            torn: 0,
        }
    }

    /// Opens the journal and checks what it says.
    pub(crate) fn open(&mut self) -> Result<(), JournalError> {
        let mut contents = RecoveredContents::default();
        let options = JournalOptions::default()
            .fsync(Fsync::Always)
            .background(false);
        let (journal, summary) = Journal::open(self.disk.clone(), options, |what| {
            contents.take(what);
            Ok(())
        })?;
        let last = summary.last_lsn;
        assert!(
            last >= self.safe,
            "{last} is all that is left, {} had been promised",
            self.safe
        );
        assert!(summary.loss.is_empty());
        self.torn += u64::from(summary.torn.is_some());
        self.history.retain(|change| change.lsn <= last);
        // Time does not go back, also when a snapshot has all of these changes and the log none.
        let latest = self.history.iter().map(LoggedChange::time).max();
        assert!(
            summary.last_time >= latest.unwrap_or(0),
            "it was {latest:?} and is {}",
            summary.last_time
        );
        let keys: BTreeMap<_, _> = (contents.keys.into_iter())
            .map(|(key, (_, numbers))| (key, numbers))
            .filter(|(_, numbers)| !numbers.is_empty())
            .collect();
        assert_eq!(keys, RecoveredContents::from_history(&self.history));
        // Readers see it from now on.
        self.safe = last;
        self.committed = last;
        assert_eq!(journal.last_lsn(), last);
        self.journal = Some(journal);
        Ok(())
    }

    /// Opens the journal, if need be after the disk was repaired.
    pub(crate) fn open_or_panic(&mut self) {
        let mut error = self.open().err();
        if matches!(error, Some(JournalError::Io { .. })) {
            self.errors += 1;
            self.disk.clear_faults();
            error = self.open().err();
        }
        if let Some(error) = error {
            panic!("{error}: {error:?}");
        }
    }

    pub(crate) fn apply(&mut self, op: Op) {
        let Some(journal) = &self.journal else {
            return self.open_or_panic();
        };
        match op {
            Op::Append => self.append(),
            Op::Commit => {
                let last = journal.last_lsn();
                let mode = journal.fsync();
                match journal.commit(last) {
                    Ok(()) => {
                        self.committed = last;
                        if mode == Fsync::Always {
                            self.safe = last;
                        }
                    }
                    Err(_) => self.errors += 1,
                }
            }
            Op::Sync => match journal.sync() {
                Ok(()) => self.mark_all_durable(),
                Err(_) => self.errors += 1,
            },
            Op::Tick => match journal.tick() {
                Ok(()) if journal.fsync() == Fsync::EverySecond => self.mark_all_durable(),
                Ok(()) => {}
                Err(_) => self.errors += 1,
            },
            Op::SetFsync(fsync) => journal.set_fsync(fsync),
            Op::Begin => match journal.begin_snapshot() {
                Ok(snapshot) => {
                    assert!(self.snapshot.is_none());
                    self.snapshot = Some((snapshot, 0));
                }
                Err(SnapshotError::Running) => assert!(self.snapshot.is_some()),
                Err(_) => self.errors += 1,
            },
            Op::Entry => self.entry(),
            Op::Finish => self.finish(),
            Op::GiveUp => self.snapshot = None,
            Op::Crash => {
                let seed = self.random.next_u64();
                self.disk = self.disk.crash(seed);
                self.forget();
            }
            Op::Restart => {
                self.disk = self.disk.restart();
                self.safe = self.safe.max(self.committed);
                self.forget();
            }
            Op::Close => self.close(),
        }
    }

    fn append(&mut self) {
        let Some(journal) = &self.journal else { return };
        // Some are as long as several sectors.
        let filling = match self.random.below(12) {
            0 => 300 + self.random.below(3000),
            _ => self.random.below(60),
        };
        let mut change = LoggedChange {
            lsn: 0,
            key: self.random.below(KEYS.into()) as u8,
            number: self.changes,
            filling: filling as usize,
        };
        match journal.append(change.time(), &change.body()) {
            Ok(lsn) => {
                change.lsn = lsn;
                self.changes += 1;
                self.history.push(change);
            }
            Err(_) => self.errors += 1,
        }
    }

    fn mark_all_durable(&mut self) {
        let last = self.journal.as_ref().map_or(0, Journal::last_lsn);
        self.safe = last;
        self.committed = last;
    }

    fn entry(&mut self) {
        let Some((snapshot, key)) = &mut self.snapshot else {
            return;
        };
        if *key == KEYS {
            return;
        }
        let last = self.journal.as_ref().map_or(0, Journal::last_lsn);
        let mut body = vec![*key];
        let changes = self.history.iter().filter(|change| change.key == *key);
        body.extend(changes.flat_map(|change| change.number.to_le_bytes()));
        *key += 1;
        if snapshot.entry(last, &body).is_err() {
            self.errors += 1;
        }
    }

    fn finish(&mut self) {
        while self.snapshot.as_ref().is_some_and(|(_, key)| *key < KEYS) {
            self.entry();
        }
        let (Some((snapshot, _)), Some(journal)) = (self.snapshot.take(), &self.journal) else {
            return;
        };
        let was_broken = journal.state().broken.is_some();
        match snapshot.finish() {
            Ok(_) => {
                self.snapshots += 1;
                self.heals += u64::from(was_broken);
                assert!(journal.state().broken.is_none());
                self.mark_all_durable();
            }
            Err(_) => self.errors += 1,
        }
    }

    fn close(&mut self) {
        self.snapshot = None;
        let Some(journal) = self.journal.take() else {
            return;
        };
        let last = journal.last_lsn();
        match journal.close() {
            Ok(()) => {
                self.safe = last;
                self.committed = last;
            }
            Err(_) => self.errors += 1,
        }
        self.disk = self.disk.restart();
    }

    /// What is open after a crash is of no use.
    fn forget(&mut self) {
        self.journal = None;
        self.snapshot = None;
    }
}
