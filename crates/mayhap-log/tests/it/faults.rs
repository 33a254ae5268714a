//! A disk that fails at every call in turn.

use crate::simulation::{Op, Simulation};
use mayhap_log::Fsync;
use mayhap_log::simulated::{Fault, FaultKind};

/// What is done while the disk fails, by name.
fn workloads() -> Vec<(&'static str, Vec<Op>)> {
    use Op::{Append, Begin, Close, Commit, Crash, Entry, Finish, GiveUp, Restart, Sync, Tick};
    let group = [Append, Append, Append, Commit];
    let snapshot = [Begin, Append, Entry, Append, Entry, Commit, Entry, Finish];
    vec![
        ("groups", [group, group, group, group].concat()),
        (
            "snapshots",
            [&group[..], &snapshot, &group, &snapshot, &group].concat(),
        ),
        (
            "given up",
            [
                &group[..],
                &[Begin, Entry, GiveUp],
                &group,
                &snapshot,
                &group,
            ]
            .concat(),
        ),
        (
            "every second",
            [
                &[Op::SetFsync(Fsync::EverySecond)][..],
                &group,
                &[Tick, Tick],
                &group,
                &snapshot,
                &group,
                &[Tick, Sync, Close],
            ]
            .concat(),
        ),
        (
            "openings",
            [
                &group[..],
                &[Append, Crash, Append],
                &group,
                &[Close, Append],
                &snapshot,
                &group,
                &[Append, Restart, Append],
                &group,
            ]
            .concat(),
        ),
    ]
}

fn run(ops: &[Op], fault: Option<Fault>, seed: u64) -> Simulation {
    let mut simulation = Simulation::new(7);
    simulation.disk.set_seed(seed);
    if let Some(fault) = fault {
        simulation.disk.fail(fault);
    }
    simulation.open_or_panic();
    for op in ops {
        simulation.apply(*op);
    }
    simulation
}

/// Whatever call fails, what was promised is there afterwards; an error is told, unless the promises are those of a sound disk.
#[test]
fn a_failure_of_any_call_is_reported_and_loses_nothing() {
    let mut cases = 0;
    for (name, ops) in workloads() {
        let sound = run(&ops, None, 0);
        assert_eq!(sound.errors, 0);
        for at in 0..sound.disk.calls() {
            for way in 0..32 {
                let error = [FaultKind::Eio, FaultKind::Enospc][way % 2];
                let stays = way / 2 % 2 == 1;
                let after = [Op::Crash, Op::Restart][way / 4 % 2];
                let case = format!("{name}, call {at}, {error:?}, stays: {stays}, {after:?}");
                let seed = at + 1000 * (way as u64 / 8);
                let mut simulation = run(&ops, Some(Fault { at, error, stays }), seed);
                if simulation.errors == 0 {
                    assert_eq!(simulation.safe, sound.safe, "{case}");
                }
                simulation.apply(after);
                simulation.open_or_panic();
                // And it goes on.
                for op in [Op::Append, Op::Commit, Op::Crash] {
                    simulation.apply(op);
                }
                simulation.open_or_panic();
                cases += 1;
            }
        }
    }
    assert!(cases > 5000, "{cases}");
}

/// Once there is room again, a snapshot makes a broken log whole, without a restart.
#[test]
fn a_snapshot_repairs_the_log_after_any_failure() {
    let mut heals = 0;
    for (name, ops) in workloads() {
        let sound = run(&ops, None, 0);
        for at in 0..sound.disk.calls() {
            for error in [FaultKind::Eio, FaultKind::Enospc] {
                let stays = true;
                let mut simulation = run(&ops, Some(Fault { at, error, stays }), at);
                simulation.disk.clear_faults();
                let errors = simulation.errors;
                for op in [Op::GiveUp, Op::Begin, Op::Finish, Op::Append, Op::Commit] {
                    simulation.apply(op);
                }
                let last = simulation.history.last().map_or(0, |change| change.lsn);
                assert_eq!(simulation.errors, errors, "{name}, call {at}, {error:?}");
                assert_eq!(simulation.safe, last, "{name}, call {at}, {error:?}");
                heals += simulation.heals;
                simulation.apply(Op::Crash);
                simulation.open_or_panic();
            }
        }
    }
    assert!(heals > 50, "{heals}");
}
