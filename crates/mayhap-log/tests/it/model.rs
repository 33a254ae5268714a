//! Any sequence of calls, crashes and failures, by seed.

use crate::simulation::{Op, Simulation};
use mayhap_log::Fsync;
use mayhap_log::simulated::{Fault, FaultKind};

fn any_op(simulation: &mut Simulation) -> Op {
    match simulation.random.below(100) {
        0..45 => Op::Append,
        65..67 => Op::Sync,
        67..70 => Op::Tick,
        70..74 => Op::SetFsync(match simulation.random.below(4) {
            0 => Fsync::EverySecond,
            1 => Fsync::No,
            _ => Fsync::Always,
        }),
        74..79 => Op::Begin,
        79..87 => Op::Entry,
        87..91 => Op::Finish,
        91..92 => Op::GiveUp,
        92..95 => Op::Crash,
        95..97 => Op::Restart,
        97..98 => Op::Close,
        _ => Op::Commit,
    }
}

fn soak(short: u64, long: u64) -> u64 {
    if std::env::var_os("MAYHAP_SOAK").is_some() {
        long
    } else {
        short
    }
}

/// What is promised is there after every crash, in order and once, and nothing that nobody appended.
#[test]
fn no_acknowledged_record_is_ever_lost() {
    let mut sums = [0; 4];
    for seed in 0..soak(4000, 200_000) {
        let mut simulation = Simulation::new(seed);
        for _ in 0..200 {
            let op = any_op(&mut simulation);
            simulation.apply(op);
        }
        simulation.apply(Op::Crash);
        simulation.open_or_panic();
        assert_eq!(simulation.errors, 0, "seed {seed}");
        sums[0] += simulation.history.len() as u64;
        sums[1] += simulation.snapshots;
        sums[2] += simulation.torn;
    }
    assert!(
        sums[0] > 100_000 && sums[1] > 4000 && sums[2] > 1000,
        "{sums:?}"
    );
}

/// The same on a disk that fails now and then, for a moment or until it is repaired.
#[test]
fn no_acknowledged_record_is_lost_on_a_failing_disk() {
    let mut sums = [0; 4];
    for seed in 0..soak(4000, 200_000) {
        let mut simulation = Simulation::new(seed);
        for _ in 0..200 {
            if simulation.random.below(25) == 0 {
                let kind = simulation.random.below(4);
                simulation.disk.set_seed(simulation.random.next_u64());
                simulation.disk.fail(Fault {
                    at: simulation.disk.calls() + simulation.random.below(12),
                    error: if kind < 2 {
                        FaultKind::Eio
                    } else {
                        FaultKind::Enospc
                    },
                    stays: kind.is_multiple_of(2),
                });
            }
            if simulation.random.below(25) == 0 {
                simulation.disk.clear_faults();
            }
            let op = any_op(&mut simulation);
            simulation.apply(op);
        }
        simulation.apply(Op::Crash);
        simulation.open_or_panic();
        sums[0] += simulation.history.len() as u64;
        sums[1] += simulation.snapshots;
        sums[2] += simulation.errors;
        sums[3] += simulation.heals;
    }
    assert!(
        sums[0] > 50_000 && sums[1] > 2000 && sums[2] > 10_000 && sums[3] > 200,
        "{sums:?}"
    );
}
