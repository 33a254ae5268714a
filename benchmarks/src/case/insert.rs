//! Inserting hashed keys: one by one, in a batch, and from two threads at once. Every round fills a fresh filter; making it
//! is not timed.

use super::rounds_for;
use crate::clock::{cpu_ns, wall_ns};
use crate::figure::{Case, Figure, name};
use crate::measure::{Contender, alternate};
use crate::peers;
use fastbloom::BloomFilter;
use mayhap::{Bloom, KeyHash, SharedBloom};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// The filters of the last round, for the queries.
pub struct Filled {
    pub mayhap: Bloom,
    pub fastbloom: BloomFilter,
    pub sbbf: sbbf_rs_safe::Filter,
}

pub fn one_thread(keys: &[KeyHash], rate: f64, rounds: usize) -> (Filled, Vec<Figure>) {
    let count = keys.len() as u64;
    let (mut single, mut batch, mut fastbloom, mut sbbf) = (None, None, None, None);
    let mut contenders = [
        Contender::new(name::MAYHAP, |_| {
            drop(single.take());
            let filter = single.insert(peers::mayhap(count, rate));
            cpu_ns(|| insert_each(keys, filter, |filter, key| _ = filter.insert_hash(key)))
        }),
        Contender::new(name::BATCH, |_| {
            drop(batch.take());
            let filter = batch.insert(peers::mayhap(count, rate));
            cpu_ns(|| filter.insert_hashes(keys))
        }),
        Contender::new(name::FASTBLOOM, |_| {
            drop(fastbloom.take());
            let filter = fastbloom.insert(peers::fastbloom(count, rate));
            cpu_ns(|| {
                insert_each(keys, filter, |filter, key| {
                    _ = filter.insert_hash(key.to_u64())
                })
            })
        }),
        Contender::new(name::SBBF, |_| {
            drop(sbbf.take());
            let filter = sbbf.insert(peers::sbbf(count, rate));
            cpu_ns(|| {
                insert_each(keys, filter, |filter, key| {
                    _ = filter.insert_hash(key.to_u64())
                })
            })
        }),
    ];
    let figures = measure(&mut contenders, Case::Insert, count, rate, rounds);
    drop(contenders);
    assert!(
        single == batch,
        "mayhap's filter filled in a batch differs from the one filled key by key"
    );
    let filled = Filled {
        mayhap: single.expect("there is a round"),
        fastbloom: fastbloom.expect("there is a round"),
        sbbf: sbbf.expect("there is a round"),
    };
    (filled, figures)
}

/// `filled` holds the same keys, filled by one thread: the two must be equal bit for bit.
pub fn two_threads(keys: &[KeyHash], filled: &Bloom, rate: f64, rounds: usize) -> Vec<Figure> {
    let count = keys.len() as u64;
    let shared = || SharedBloom::from_bloom(peers::mayhap(count, rate));
    let check = |filter: SharedBloom| {
        assert!(
            filter.freeze() == *filled,
            "mayhap's filter filled by two threads differs from the one filled by one"
        );
    };
    let mut contenders = [
        Contender::new(name::MAYHAP, |_| {
            let filter = shared();
            let ns = wall_of_two(keys, |keys| {
                for key in keys {
                    filter.insert_hash(*key);
                }
            });
            check(filter);
            ns
        }),
        Contender::new(name::BATCH, |_| {
            let filter = shared();
            let ns = wall_of_two(keys, |keys| filter.insert_hashes(keys));
            check(filter);
            ns
        }),
        Contender::new(name::FASTBLOOM, |_| {
            let filter = peers::fastbloom_atomic(count, rate);
            let ns = wall_of_two(keys, |keys| {
                for key in keys {
                    filter.insert_hash(key.to_u64());
                }
            });
            let mut sample = keys.iter().step_by(61);
            assert!(
                sample.all(|key| filter.contains_hash(key.to_u64())),
                "fastbloom, filled by two threads, does not know a key that is in"
            );
            ns
        }),
    ];
    measure(&mut contenders, Case::InsertTwoThreads, count, rate, rounds)
}

/// The loop of everybody who inserts one key at a time, compiled once for each. A function of its own, so that the compiler
/// knows that nobody else touches the filter meanwhile.
#[inline(never)]
fn insert_each<F>(keys: &[KeyHash], filter: &mut F, insert: impl Fn(&mut F, KeyHash)) {
    for key in keys {
        insert(filter, *key);
    }
}

fn measure(
    contenders: &mut [Contender<'_>],
    case: Case,
    count: u64,
    rate: f64,
    rounds: usize,
) -> Vec<Figure> {
    let least = alternate(rounds_for(rounds, count), contenders);
    let figure = |(contender, ns): (&Contender<'_>, f64)| Figure {
        ns: Some(ns / count as f64),
        ..Figure::new(case, count, rate, contender.name)
    };
    contenders.iter().zip(least).map(figure).collect()
}

/// Wall time of two threads that work on half of the keys each. They wait for one another by spinning, so that both start at
/// the same moment also when the work takes only microseconds.
fn wall_of_two(keys: &[KeyHash], work: impl Fn(&[KeyHash]) + Sync) -> f64 {
    let ready = AtomicUsize::new(0);
    let run = |keys: &[KeyHash]| {
        ready.fetch_add(1, Ordering::SeqCst);
        while ready.load(Ordering::SeqCst) < 2 {
            std::hint::spin_loop();
        }
        let start = Instant::now();
        work(keys);
        (start, Instant::now())
    };
    let (left, right) = keys.split_at(keys.len() / 2);
    thread::scope(|threads| {
        let other = threads.spawn(|| run(right));
        let ours = run(left);
        wall_ns(&[ours, other.join().expect("the other thread ends well")])
    })
}
