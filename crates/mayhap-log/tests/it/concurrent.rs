//! Threads that append, commit, tick and take snapshots while the disk fails.

use mayhap_log::simulated::{Fault, FaultKind, SimulatedDisk};
use mayhap_log::{Fsync, Journal, JournalOptions, Recovered};
use mayhap_testkit::Random;
use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;

const WRITERS: u64 = 3;

/// Whatever was acknowledged under `Always` is there after a crash, in whatever order threads and failures came. Which calls
/// meet is up to the machine; what has to hold is not.
#[test]
fn acknowledged_records_of_many_threads_survive_a_failing_disk() {
    let rounds = if std::env::var_os("MAYHAP_SOAK").is_some() {
        20_000
    } else {
        300
    };
    let (mut acknowledged, mut refused) = (0, 0);
    for seed in 0..rounds {
        let (kept, denied) = storm(seed);
        acknowledged += kept;
        refused += denied;
    }
    assert!(
        acknowledged > 10 * rounds && refused > rounds / 2,
        "{acknowledged} kept, {refused} refused"
    );
}

fn storm(seed: u64) -> (u64, u64) {
    let mut random = Random::new(seed);
    let disk = SimulatedDisk::new();
    disk.set_seed(seed);
    let options = JournalOptions::default()
        .fsync(Fsync::Always)
        .background(false);
    let (journal, _) = Journal::open(disk.clone(), options, |_| Ok(())).unwrap();
    disk.fail(Fault {
        at: disk.calls() + random.below(120),
        error: if seed.is_multiple_of(2) {
            FaultKind::Eio
        } else {
            FaultKind::Enospc
        },
        stays: seed % 3 == 1,
    });
    let safe = Mutex::new(Vec::new());
    let refused = Mutex::new(0);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (journal, safe, refused) = (&journal, &safe, &refused);
            scope.spawn(move || {
                for turn in 0..40_u64 {
                    let body = [writer.to_le_bytes(), turn.to_le_bytes()].concat();
                    let done = journal.append(turn, &body).map_err(drop);
                    let done = done.and_then(|lsn| journal.commit(lsn).map_err(drop));
                    match done {
                        Ok(()) => safe.lock().unwrap().push(body),
                        Err(()) => *refused.lock().unwrap() += 1,
                    }
                }
            });
        }
        scope.spawn(|| {
            for turn in 0..30 {
                // As the thread does under `EverySecond`, beside those who commit.
                let _ = journal.sync();
                let _ = journal.tick();
                if turn % 5 == 0 {
                    // Logs are switched; a snapshot that is given up changes nothing.
                    drop(journal.begin_snapshot());
                }
            }
        });
    });
    drop(journal);
    let mut seen: HashMap<Vec<u8>, u64> = HashMap::new();
    Journal::open(disk.crash(seed), options, |what| {
        if let Recovered::Record { lsn, body, .. } = what {
            let before = seen.insert(body.to_vec(), lsn);
            assert!(before.is_none(), "seed {seed}: a record twice");
        }
        Ok(())
    })
    .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let safe = safe.into_inner().unwrap();
    for body in &safe {
        assert!(
            seen.contains_key(body),
            "seed {seed}: an acknowledged record is lost"
        );
    }
    (safe.len() as u64, refused.into_inner().unwrap())
}
