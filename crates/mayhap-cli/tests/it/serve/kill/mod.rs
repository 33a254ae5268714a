//! The server is killed at chosen moments and started again on the same folder: what was acknowledged is there.

mod aim;
mod filler;
mod half_done;
mod seen;
mod writer;

use crate::serve::process::{Home, Server};
use crate::serve::rounds;
use aim::{PHASES, PHASES_ALONE, Phase};
use filler::Filler;
use mayhap_testkit::Random;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
pub(crate) use writer::Writer;

const WRITERS: u64 = 3;
/// A folder is used for so many rounds, so that recoveries recover what others have recovered.
const ROUNDS_A_FOLDER: u64 = 5;
/// A round that misses its phase is repeated.
const MAX_TRIES: u64 = 30;

/// Messages between threads.
#[derive(Default)]
struct Round {
    /// Whoever writes ends after the pipeline that it is at.
    stops: AtomicBool,
    /// Pipelines that were acknowledged.
    done: AtomicU64,
}

impl Round {
    /// Returns when everybody has probably begun.
    fn wait_for_some<T>(&self, threads: &[ScopedJoinHandle<'_, T>]) {
        let is_at_work = || threads.iter().any(|thread| !thread.is_finished());
        while self.done.load(Ordering::Relaxed) < 2 * WRITERS && is_at_work() {
            thread::yield_now();
        }
    }
}

/// Writes until the server has ended, which is for `end` to see to.
pub(crate) fn write_until_the_end(server: &Server<'_>, writers: &mut [Writer], end: impl FnOnce()) {
    let (address, round) = (server.address, &Round::default());
    thread::scope(|scope| {
        let spawn = |writer| scope.spawn(move || Writer::write(writer, address, round));
        let threads: Vec<_> = writers.iter_mut().map(spawn).collect();
        round.wait_for_some(&threads);
        end();
    });
}

/// Writes until the server is killed, which happens in the phase if it can be hit.
fn kill_while_writing(
    server: &mut Server<'_>,
    home: &Home,
    phase: Phase,
    writers: &mut [Writer],
    filler: &mut Filler,
) -> bool {
    let (address, round) = (server.address, &Round::default());
    thread::scope(|scope| {
        let spawn = |writer| scope.spawn(move || Writer::write(writer, address, round));
        let threads: Vec<_> = writers.iter_mut().map(spawn).collect();
        let aimed = filler.name().to_owned();
        let filling = scope.spawn(move || filler.fill(address, round));
        round.wait_for_some(&threads);
        if phase == Phase::Idle {
            round.stops.store(true, Ordering::Relaxed);
            for thread in threads {
                thread.join().expect("a writer");
            }
            filling.join().expect("a filler");
        }
        let hit = aim::hit(phase, server, home, &aimed);
        round.stops.store(true, Ordering::Relaxed);
        hit
    })
}

/// Who writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Company {
    Several,
    /// One, who now and then removes everything.
    One,
}

fn keeps_its_word(fsync: &str, company: Company, rounds: u64, seed: u64) {
    let phases: &[Phase] = match company {
        Company::Several => &PHASES,
        Company::One => &PHASES_ALONE,
    };
    let mut hits: BTreeMap<Phase, u64> = BTreeMap::new();
    let (mut misses, mut acknowledged, mut flushes) = (0, 0, 0);
    let mut random = Random::new(seed);
    for folder in 0..rounds.div_ceil(ROUNDS_A_FOLDER) {
        let home = Home::new();
        // The filters of a folder have one layout, but for windows, which are native.
        let layout = ["native", "redisbloom"][folder as usize % 2];
        let options = format!("--fsync {fsync} --layout {layout}");
        let mut server = home.start(&options);
        aim::ballast(&mut server.client());
        let mut writers: Vec<Writer> = match company {
            Company::Several => (0..WRITERS)
                .map(|number| Writer::new(number, random.next_u64()))
                .collect(),
            Company::One => vec![Writer::new(0, random.next_u64()).without_company()],
        };
        for round in folder * ROUNDS_A_FOLDER..rounds.min((folder + 1) * ROUNDS_A_FOLDER) {
            let phase = phases[round as usize % phases.len()];
            for attempt in 0.. {
                assert!(
                    attempt < MAX_TRIES,
                    "{phase:?} was never hit in round {round}"
                );
                let mut filler = Filler::new(phase, &format!("{round}-{attempt}"));
                filler.prepare(&mut server.client());
                let hit = kill_while_writing(&mut server, &home, phase, &mut writers, &mut filler);
                drop(server);
                server = home.start(&options);
                let mut client = server.client();
                for writer in &mut writers {
                    let actual = writer.verify(&mut client);
                    actual.unwrap_or_else(|error| panic!("round {round}, {phase:?}: {error}"));
                }
                let actual = filler.verify(&mut client);
                actual.unwrap_or_else(|error| panic!("round {round}, {phase:?}: {error}"));
                if hit {
                    *hits.entry(phase).or_default() += 1;
                    break;
                }
                misses += 1;
            }
        }
        acknowledged += writers
            .iter()
            .map(|writer| writer.acknowledged)
            .sum::<u64>();
        flushes += writers.iter().map(|writer| writer.flushes).sum::<u64>();
    }
    eprintln!(
        "--fsync {fsync}, {company:?}: killed {hits:?}, {misses} missed; {acknowledged} commands were acknowledged, {flushes} removed everything"
    );
    assert!(
        phases.iter().all(|phase| hits.contains_key(phase)),
        "{hits:?}"
    );
    assert_eq!(flushes > 0, company == Company::One);
}

#[test]
fn no_acknowledged_change_is_lost() {
    keeps_its_word("always", Company::Several, rounds(40, 1000), 1);
}

#[test]
fn no_acknowledged_change_is_lost_by_a_kill_with_everysec() {
    keeps_its_word("everysec", Company::Several, rounds(10, 200), 2);
}

#[test]
fn no_acknowledged_change_is_lost_with_flushall() {
    keeps_its_word("everysec", Company::One, rounds(10, 200), 3);
}
