//! A log that the disk failed, and how it gets well.

use crate::simulation::{Op, Simulation};
use mayhap_log::simulated::{Fault, FaultKind, SimulatedDisk};
use mayhap_log::{
    AppendError, Fsync, Journal, JournalOptions, MAX_BODY_BYTES, Recovered, SnapshotError,
};

fn open(disk: &SimulatedDisk) -> Journal<SimulatedDisk> {
    let options = JournalOptions::default()
        .fsync(Fsync::Always)
        .background(false);
    let opened = Journal::open(disk.clone(), options, |_| Ok(()));
    opened.unwrap().0
}

fn fail_next_but(disk: &SimulatedDisk, calls: u64, error: FaultKind, stays: bool) {
    let at = disk.calls() + calls;
    disk.fail(Fault { at, error, stays });
}

/// One failed sync is for good, although the disk works again: every commit and append says why.
#[test]
fn a_failed_sync_is_not_retried() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    let first = journal.append(1, b"first").unwrap();
    journal.commit(first).unwrap();
    let second = journal.append(2, b"second").unwrap();
    fail_next_but(&disk, 1, FaultKind::Eio, false);
    let broken = journal.commit(second).unwrap_err();
    assert!(broken.reason().contains("syncing the log"), "{broken}");
    let calls = disk.calls();
    assert_eq!(journal.commit(second).unwrap_err(), broken);
    assert_eq!(journal.sync().unwrap_err(), broken);
    assert_eq!(
        journal.append(3, b"third"),
        Err(AppendError::Broken(broken.clone()))
    );
    assert_eq!(journal.last_lsn(), second, "a refused record has no number");
    assert_eq!(disk.calls(), calls, "the disk was asked again");
    // What was promised before stays promised.
    journal.commit(first).unwrap();
    assert_eq!(journal.state().broken, Some(broken.clone()));
    assert_eq!(journal.close().unwrap_err(), broken);
}

/// Whoever has changed something that no record can hold has a snapshot taken before anything else is promised.
#[test]
fn a_caller_can_break_the_log() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    let length = MAX_BODY_BYTES + 1;
    journal.break_log(&AppendError::TooLong { length });
    let refused = journal.append(1, b"not yet").unwrap_err();
    assert!(refused.to_string().contains("too long"), "{refused}");
    let mut snapshot = journal.begin_snapshot().unwrap();
    snapshot.entry(journal.last_lsn(), b"everything").unwrap();
    snapshot.finish().unwrap();
    let lsn = journal.append(2, b"again").unwrap();
    journal.commit(lsn).unwrap();
}

/// Until the snapshot is finished nothing is taken; if it is given up, nothing changes.
#[test]
fn only_a_complete_snapshot_repairs_the_log() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    let lsn = journal.append(1, b"lost to the log").unwrap();
    fail_next_but(&disk, 0, FaultKind::Enospc, false);
    assert!(journal.commit(lsn).is_err());

    let mut snapshot = journal.begin_snapshot().unwrap();
    assert!(matches!(
        journal.begin_snapshot(),
        Err(SnapshotError::Running)
    ));
    snapshot.entry(lsn, b"an entry").unwrap();
    assert!(journal.append(2, b"too early").is_err());
    drop(snapshot);
    assert!(journal.append(2, b"still too early").is_err());
    assert!(disk.names().iter().all(|name| !name.contains("tmp")));

    let mut snapshot = journal.begin_snapshot().unwrap();
    snapshot.entry(lsn, b"an entry").unwrap();
    snapshot.finish().unwrap();
    journal.commit(lsn).unwrap();
    let next = journal.append(3, b"taken").unwrap();
    assert_eq!(next, lsn + 1);
    journal.commit(next).unwrap();

    let mut seen = Vec::new();
    let options = JournalOptions::default().background(false);
    Journal::open(disk.crash(1), options, |what| {
        seen.push(match what {
            Recovered::Entry { lsn, body } | Recovered::Record { lsn, body, .. } => {
                (lsn, body.to_vec())
            }
            Recovered::LargeEntry { .. } => unreachable!("a few bytes"),
        });
        Ok(())
    })
    .unwrap();
    assert_eq!(
        seen,
        [(lsn, b"an entry".to_vec()), (next, b"taken".to_vec())]
    );
}

/// A snapshot that was begun with a sound log cannot heal: its entries are older than what the log lost.
#[test]
fn a_snapshot_started_before_the_failure_does_not_repair_the_log() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    let mut snapshot = journal.begin_snapshot().unwrap();
    snapshot.entry(0, b"before").unwrap();
    let lsn = journal.append(1, b"after").unwrap();
    fail_next_but(&disk, 0, FaultKind::Eio, false);
    assert!(journal.commit(lsn).is_err());
    assert!(matches!(snapshot.finish(), Err(SnapshotError::Broken(_))));
    assert!(journal.append(2, b"x").is_err());
}

/// The piece that a full disk left is cut off, not read, whatever it looks like.
#[test]
fn a_partial_write_on_a_full_disk_is_not_a_record() {
    for seed in 0..500 {
        let mut simulation = Simulation::new(seed);
        simulation.open_or_panic();
        for op in [
            Op::Append,
            Op::Append,
            Op::Commit,
            Op::Append,
            Op::Append,
            Op::Append,
        ] {
            simulation.apply(op);
        }
        simulation.disk.set_seed(seed);
        fail_next_but(
            &simulation.disk,
            0,
            FaultKind::Enospc,
            seed.is_multiple_of(2),
        );
        simulation.apply(Op::Commit);
        assert_eq!(simulation.errors, 1);
        simulation.apply(Op::Restart);
        simulation.open_or_panic();
        for op in [Op::Append, Op::Commit, Op::Crash] {
            simulation.apply(op);
        }
        simulation.open_or_panic();
    }
}

/// A restart reads pages that no sync will ever write. They are written again, so that a crash later does not leave a hole.
#[test]
fn data_of_a_failed_sync_is_rewritten_after_a_restart() {
    for seed in 0..500 {
        let mut simulation = Simulation::new(seed);
        simulation.open_or_panic();
        for _ in 0..20 {
            simulation.apply(Op::Append);
        }
        simulation.disk.set_seed(seed);
        fail_next_but(&simulation.disk, 1, FaultKind::Eio, false);
        simulation.apply(Op::Commit);
        for op in [Op::Restart, Op::Append, Op::Append, Op::Commit, Op::Crash] {
            simulation.apply(op);
        }
        simulation.open_or_panic();
        assert_eq!(simulation.history.len(), 21, "seed {seed}");
    }
}

/// A body that is too long is refused before anything is copied, and nothing is changed.
#[test]
fn a_body_that_is_too_long_is_rejected() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    let part = vec![0; 1 << 20];
    let parts: Vec<&[u8]> = vec![&part; 4096];
    let length = 4096 << 20;
    assert!(length > MAX_BODY_BYTES);
    assert_eq!(
        journal.append_parts(1, &parts),
        Err(AppendError::TooLong { length })
    );
    assert_eq!(journal.last_lsn(), 0);
    assert_eq!(journal.append_parts(1, &[b"a", b"", b"bc"]), Ok(1));
    journal.commit(1).unwrap();
    let mut bodies = Vec::new();
    let options = JournalOptions::default().background(false);
    Journal::open(disk.crash(3), options, |what| {
        if let Recovered::Record { body, .. } = what {
            bodies.push(body.to_vec());
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(bodies, [b"abc"]);
}

/// Whoever is told may refuse, and the refusal is handed on with the place.
#[test]
fn an_error_of_the_caller_is_passed_on() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    for number in 0..3 {
        journal.append(number, b"a body").unwrap();
    }
    journal.close().unwrap();
    let error = Journal::open(disk, JournalOptions::default(), |what| match what {
        Recovered::Record { lsn: 2, .. } => Err("no such command".into()),
        _ => Ok(()),
    });
    let error = error.err().unwrap().to_string();
    assert!(
        error.contains("log-0000000001") && error.contains("no such command"),
        "{error}"
    );
}
