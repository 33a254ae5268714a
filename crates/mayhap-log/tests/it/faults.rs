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
    let mut world = Simulation::new(7);
    world.disk.set_seed(seed);
    if let Some(fault) = fault {
        world.disk.fail(fault);
    }
    world.open_or_panic();
    for op in ops {
        world.apply(*op);
    }
    world
}

/// Whatever call fails, what was promised is there afterwards; an error is told, unless the promises are those of a sound disk.
#[test]
fn a_failure_of_any_call_is_told_and_loses_nothing() {
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
                let mut world = run(&ops, Some(Fault { at, error, stays }), seed);
                if world.errors == 0 {
                    assert_eq!(world.safe, sound.safe, "{case}");
                }
                world.apply(after);
                world.open_or_panic();
                // And it goes on.
                for op in [Op::Append, Op::Commit, Op::Crash] {
                    world.apply(op);
                }
                world.open_or_panic();
                cases += 1;
            }
        }
    }
    assert!(cases > 5000, "{cases}");
}

/// Once there is room again, a snapshot makes a broken log whole, without a restart.
#[test]
fn a_snapshot_heals_after_any_failure() {
    let mut heals = 0;
    for (name, ops) in workloads() {
        let sound = run(&ops, None, 0);
        for at in 0..sound.disk.calls() {
            for error in [FaultKind::Eio, FaultKind::Enospc] {
                let stays = true;
                let mut world = run(&ops, Some(Fault { at, error, stays }), at);
                world.disk.clear_faults();
                let errors = world.errors;
                for op in [Op::GiveUp, Op::Begin, Op::Finish, Op::Append, Op::Commit] {
                    world.apply(op);
                }
                let last = world.history.last().map_or(0, |change| change.lsn);
                assert_eq!(world.errors, errors, "{name}, call {at}, {error:?}");
                assert_eq!(world.safe, last, "{name}, call {at}, {error:?}");
                heals += world.heals;
                world.apply(Op::Crash);
                world.open_or_panic();
            }
        }
    }
    assert!(heals > 50, "{heals}");
}
