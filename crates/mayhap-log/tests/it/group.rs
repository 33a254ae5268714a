//! Many threads at once.

use mayhap_log::simulated::{DiskCall, SimulatedDisk};
use mayhap_log::{Disk, Fsync, Journal, JournalOptions, Lsn, Recovered};
use std::io;
use std::sync::{Barrier, Condvar, Mutex};
use std::thread;

const THREADS: u64 = 4;
const COMMITS: u64 = 500;

fn options() -> JournalOptions {
    JournalOptions::default()
        .fsync(Fsync::Always)
        .background(false)
}

fn body(lsn: Lsn) -> Vec<u8> {
    format!("record of thread and turn {lsn:08}").into_bytes()
}

/// Each commit that returned has its record's bytes written before, and a sync of that file between the write and the return.
#[test]
fn a_sync_lies_between_each_write_and_its_acknowledgement() {
    let disk = SimulatedDisk::new();
    disk.trace();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (journal, disk) = (&journal, &disk);
            scope.spawn(move || {
                for turn in 0..COMMITS {
                    let tag = number * COMMITS + turn;
                    let lsn = journal.append(tag, &body(tag)).unwrap();
                    journal.commit(lsn).unwrap();
                    disk.record(tag);
                }
            });
        }
        // Logs are switched meanwhile.
        scope.spawn(|| {
            for _ in 0..20 {
                let mut snapshot = journal.begin_snapshot().unwrap();
                snapshot.entry(journal.last_lsn(), b"an entry").unwrap();
                snapshot.finish().unwrap();
            }
        });
    });
    let events = disk.events();
    let mut acknowledged = 0;
    for (at, event) in events.iter().enumerate() {
        let DiskCall::Note(tag) = event.call else {
            continue;
        };
        let needle = body(tag);
        let written = events[..at].iter().position(|event| match &event.call {
            DiskCall::Write { bytes, .. } => {
                bytes.windows(needle.len()).any(|window| window == needle)
            }
            _ => false,
        });
        let written = written.expect("a record was acknowledged that nobody wrote");
        let DiskCall::Write { file, .. } = &events[written].call else {
            unreachable!()
        };
        let synced = events[written..at]
            .iter()
            .any(|event| matches!(&event.call, DiskCall::Sync { file: synced } if synced == file));
        assert!(synced, "record {tag} was acknowledged before it was synced");
        acknowledged += 1;
    }
    assert_eq!(acknowledged, THREADS * COMMITS);
}

/// A disk whose syncs return when a gate is open.
struct Slow {
    disk: SimulatedDisk,
    gate: Mutex<bool>,
    opened: Condvar,
}

impl Slow {
    fn open_gate(&self) {
        *self.gate.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

struct Gated(std::sync::Arc<Slow>);

impl Disk for Gated {
    type File = <SimulatedDisk as Disk>::File;

    fn list(&self) -> io::Result<Vec<String>> {
        self.0.disk.list()
    }
    fn create(&self, name: &str) -> io::Result<Self::File> {
        self.0.disk.create(name)
    }
    fn open(&self, name: &str) -> io::Result<Self::File> {
        self.0.disk.open(name)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.disk.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.disk.remove(name)
    }
    fn sync_folder(&self) -> io::Result<()> {
        self.0.disk.sync_folder()
    }
    fn sync_path(&self) -> io::Result<()> {
        self.0.disk.sync_path()
    }
    fn length(&self, file: &Self::File) -> io::Result<u64> {
        self.0.disk.length(file)
    }
    fn read_at(&self, file: &Self::File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.disk.read_at(file, offset, buffer)
    }
    fn write_at(&self, file: &Self::File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.disk.write_at(file, offset, bytes)
    }
    fn set_length(&self, file: &Self::File, length: u64) -> io::Result<()> {
        self.0.disk.set_length(file, length)
    }
    fn sync(&self, file: &Self::File) -> io::Result<()> {
        self.0.disk.sync(file)?;
        let mut is_open = self.0.gate.lock().unwrap();
        while !*is_open {
            is_open = self.0.opened.wait(is_open).unwrap();
        }
        Ok(())
    }
}

/// Whoever commits first writes and syncs for all who have appended: sixteen commits take one sync.
#[test]
fn waiting_commits_share_a_sync() {
    const WAITING: usize = 16;
    let slow = std::sync::Arc::new(Slow {
        disk: SimulatedDisk::new(),
        gate: Mutex::new(true),
        opened: Condvar::new(),
    });
    let (journal, _) = Journal::open(Gated(slow.clone()), options(), |_| Ok(())).unwrap();
    for round in 0..20 {
        *slow.gate.lock().unwrap() = false;
        let before = slow.disk.syncs();
        let all_appended = Barrier::new(WAITING + 1);
        thread::scope(|scope| {
            for _ in 0..WAITING {
                scope.spawn(|| {
                    let lsn = journal.append(round, b"a change").unwrap();
                    all_appended.wait();
                    journal.commit(lsn).unwrap();
                });
            }
            all_appended.wait();
            slow.open_gate();
        });
        assert_eq!(
            slow.disk.syncs() - before,
            1,
            "all had been appended before the first sync"
        );
    }
    // Without a gate, threads come as they like: never more syncs than commits, and all of it is there.
    let before = slow.disk.syncs();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for turn in 0..COMMITS {
                    let lsn = journal.append(turn, b"a change").unwrap();
                    journal.commit(lsn).unwrap();
                }
            });
        }
    });
    assert!(slow.disk.syncs() - before <= THREADS * COMMITS);
    assert_eq!(journal.state().synced, journal.last_lsn());
}

/// Others append while one syncs: appending waits for no disk. Nor does a commit of what is as safe as it has to be.
#[test]
fn appending_does_not_wait_for_a_sync() {
    let slow = std::sync::Arc::new(Slow {
        disk: SimulatedDisk::new(),
        gate: Mutex::new(true),
        opened: Condvar::new(),
    });
    let (journal, _) = Journal::open(Gated(slow.clone()), options(), |_| Ok(())).unwrap();
    let first = journal.append(0, b"first").unwrap();
    *slow.gate.lock().unwrap() = false;
    let syncs = slow.disk.syncs();
    thread::scope(|scope| {
        scope.spawn(|| journal.commit(first).unwrap());
        // The commit has written, and syncs: it has the lock that writing takes.
        while slow.disk.syncs() == syncs {
            thread::yield_now();
        }
        journal.set_fsync(Fsync::EverySecond);
        journal.commit(first).unwrap();
        for number in 0..100 {
            journal.append(number, b"meanwhile").unwrap();
        }
        assert_eq!(journal.state().synced, 0);
        slow.open_gate();
    });
    assert_eq!(journal.state().synced, first);
}

/// What is written while a snapshot begins is synced before the next log says that it follows: otherwise a crash would look like
/// damage.
#[test]
fn a_log_is_synced_before_the_next_one_starts() {
    for seed in 0..50 {
        let slow = std::sync::Arc::new(Slow {
            disk: SimulatedDisk::new(),
            gate: Mutex::new(true),
            opened: Condvar::new(),
        });
        let options = options().fsync(Fsync::No);
        let (journal, _) = Journal::open(Gated(slow.clone()), options, |_| Ok(())).unwrap();
        journal.append(1, b"before").unwrap();
        *slow.gate.lock().unwrap() = false;
        let before = slow.disk.syncs();
        thread::scope(|scope| {
            scope.spawn(|| journal.begin_snapshot().map(drop).unwrap());
            while slow.disk.syncs() == before {
                thread::yield_now();
            }
            let late = journal.append(2, &[2; 2000]).unwrap();
            journal.commit(late).unwrap();
            slow.open_gate();
        });
        drop(journal);
        let mut records = 0;
        Journal::open(slow.disk.crash(seed), options, |_| {
            records += 1;
            Ok(())
        })
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(records, 2);
    }
}

/// Bodies of all threads are there after a crash, each thread's in its own order.
#[test]
fn commits_of_many_threads_come_back_in_order() {
    let disk = SimulatedDisk::new();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    thread::scope(|scope| {
        for number in 0..THREADS {
            let journal = &journal;
            scope.spawn(move || {
                for turn in 0..COMMITS {
                    let body = [number.to_le_bytes(), turn.to_le_bytes()].concat();
                    let lsn = journal.append(turn, &body).unwrap();
                    journal.commit(lsn).unwrap();
                }
            });
        }
    });
    let mut turns = [0; THREADS as usize];
    Journal::open(disk.crash(5), options(), |what| {
        if let Recovered::Record { time, body, .. } = what {
            let turn = &mut turns[usize::from(body[0])];
            assert_eq!(time, *turn);
            *turn += 1;
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(turns, [COMMITS; THREADS as usize]);
}

/// Threads share a journal, and a snapshot may be written by another thread than began it.
#[test]
fn journals_are_shared_and_snapshots_move() {
    fn is_shared<T: Send + Sync>() {}
    fn moves<T: Send>() {}
    is_shared::<Journal<SimulatedDisk>>();
    is_shared::<Journal<mayhap_log::Folder>>();
    moves::<mayhap_log::Snapshot<SimulatedDisk>>();
    moves::<mayhap_log::Snapshot<mayhap_log::Folder>>();
}
