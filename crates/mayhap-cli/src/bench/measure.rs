//! Measures one filter: fills it, queries it, and compares it with memory speed.
//!
//! Everything is timed several times and the minimum counts, because other activity on the machine only adds time. Queries and
//! plain loads alternate within each round, so that a slow moment affects both.

use super::bench_filters::{BenchFilter, BuildBench, InsertBench, TimedWindow, all_hashes};
use super::query_keys::{QueryKeys, key};
use indicatif::ProgressBar;
use mayhap_core::memory_probe;
use mayhap_core::plan::BloomPlan;
use mayhap_core::{
    Bloom, ClassicBloom, CountingBloom, CountingCuckoo, Cuckoo, Fuse, GrowingBloom, GrowingCuckoo,
    HashScheme, Kind, PlanError, Ribbon, WindowBloom, WindowCuckoo,
};
use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

const ROUNDS: u64 = 9;

/// The number of hashes that are prepared and then inserted while timed.
const CHUNK: usize = 4096;

/// Filters of up to this many keys are refilled in every round. Larger ones are filled once: so many keys one by one and the
/// rest in batches, in ranges that are timed separately.
const REFILLED_KEYS: u64 = 4_000_000;
const SINGLE_RANGES: u64 = 4;

/// The minimum number of keys per round, enough for the resolution of the clock.
const MIN_KEYS: u64 = 1_000_000;

/// The maximum number of query keys; with their answers they take `OVERHEAD_BYTES`.
const MAX_QUERIES: u64 = 1 << 22;
pub(super) const OVERHEAD_BYTES: u64 = 16 * MAX_QUERIES;

const CHASED_LINES: usize = 250_000;

/// The prefetch distances of the memory probe, in keys; 0 is best for filters in cache.
const DISTANCES: [usize; 7] = [0, 16, 32, 48, 64, 96, 128];

/// What to measure.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) kind: Kind,
    pub(super) keys: u64,
    pub(super) rate: f64,
}

/// Nanoseconds are per key, except `floor_chased_ns`, which is per line.
pub(super) struct Measured {
    pub(super) size_bytes: u64,
    pub(super) rate: f64,
    /// For kinds that are filled key by key.
    pub(super) insert_single_ns: Option<f64>,
    /// For static kinds.
    pub(super) insert_batch_ns: f64,
    pub(super) query_single_ns: f64,
    pub(super) query_batch_ns: f64,
    pub(super) floor_chased_ns: f64,
    pub(super) floor_prefetched_ns: f64,
    pub(super) floor_distance: usize,
}

/// Why a measurement failed.
pub(super) enum MeasureError {
    /// The filter cannot be made.
    Plan(PlanError),
    /// The filter gave a wrong answer.
    Wrong(&'static str),
}

impl From<PlanError> for MeasureError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl Measured {
    pub(super) fn batch_per_floor(&self) -> f64 {
        self.query_batch_ns / self.floor_prefetched_ns
    }
}

/// The amount of work, in the units of `measure`'s progress: about 10 ns.
pub(super) fn work(case: &Case) -> u64 {
    fill_work(case.keys) + ROUNDS * round_work(case.keys)
}

fn fill_work(keys: u64) -> u64 {
    if keys <= REFILLED_KEYS {
        ROUNDS * 2 * keys.max(MIN_KEYS)
    } else {
        keys
    }
}

fn round_work(keys: u64) -> u64 {
    12 * query_count(keys) * passes(keys)
}

/// Makes a filter of the keys `0..keys` and measures it.
pub(super) fn measure(case: Case, progress: &ProgressBar) -> Result<Measured, MeasureError> {
    match case.kind {
        Kind::Bloom => {
            let mut filter = Bloom::for_hashes(case.keys as usize, case.rate)?;
            let times = fill(&mut filter, case.keys, progress);
            measure_queries(&filter, &filter, times, case, progress)
        }
        Kind::Classic | Kind::Retouched => inserted::<ClassicBloom>(case, progress),
        Kind::Counting => inserted::<CountingBloom>(case, progress),
        Kind::Growing => inserted::<GrowingBloom>(case, progress),
        Kind::Window => inserted::<TimedWindow<WindowBloom>>(case, progress),
        Kind::WindowCuckoo => inserted::<TimedWindow<WindowCuckoo>>(case, progress),
        Kind::Cuckoo => inserted::<Cuckoo>(case, progress),
        Kind::GrowingCuckoo => inserted::<GrowingCuckoo>(case, progress),
        Kind::CountingCuckoo => inserted::<CountingCuckoo>(case, progress),
        Kind::Fuse => measure_build::<Fuse>(case, progress),
        Kind::Ribbon => measure_build::<Ribbon>(case, progress),
    }
}

fn inserted<S: InsertBench>(case: Case, progress: &ProgressBar) -> Result<Measured, MeasureError> {
    let mut filter = S::empty(case.keys, case.rate)?;
    let times = fill(&mut filter, case.keys, progress);
    measure_queries(
        &filter,
        &memory_lines(filter.size_bytes())?,
        times,
        case,
        progress,
    )
}

fn measure_build<S: BuildBench>(
    case: Case,
    progress: &ProgressBar,
) -> Result<Measured, MeasureError> {
    let hashes = all_hashes(case.keys);
    let rounds = if case.keys <= REFILLED_KEYS {
        ROUNDS
    } else {
        2
    };
    let mut best = MinTimes::new();
    let mut filter = None;
    for _ in 0..rounds {
        let clock = Instant::now();
        filter = Some(S::build(&hashes, case.rate)?);
        best.record(clock.elapsed(), case.keys, ());
        progress.inc(fill_work(case.keys) / rounds);
    }
    drop(hashes);
    let filter = filter.ok_or(MeasureError::Wrong("nothing was built"))?;
    let times = Times {
        single: None,
        batch: best,
    };
    measure_queries(
        &filter,
        &memory_lines(filter.size_bytes())?,
        times,
        case,
        progress,
    )
}

/// Memory of the filter's size, to measure the cost of loading one line per key.
fn memory_lines(size_bytes: u64) -> Result<Bloom, PlanError> {
    let plan = BloomPlan::largest_within(size_bytes.max(64), 0.05)?;
    let mut filter = Bloom::from_plan(plan, HashScheme::Caller)?;
    // Touched, so that the pages are really allocated.
    filter.clear();
    Ok(filter)
}

fn measure_queries<S: BenchFilter>(
    filter: &S,
    ruler: &Bloom,
    times: Times,
    case: Case,
    progress: &ProgressBar,
) -> Result<Measured, MeasureError> {
    let asked = query(filter, ruler, case.keys, progress).map_err(MeasureError::Wrong)?;
    Ok(Measured {
        size_bytes: filter.size_bytes(),
        rate: absent_key_rate(filter, case),
        insert_single_ns: times.single.map(|best| best.ns),
        insert_batch_ns: times.batch.ns,
        query_single_ns: asked.single.ns,
        query_batch_ns: asked.batch.ns,
        floor_chased_ns: asked.chased.ns,
        floor_prefetched_ns: asked.fetched.ns,
        floor_distance: asked.fetched.with,
    })
}

/// The times of filling.
struct Times {
    single: Option<MinTimes>,
    batch: MinTimes,
}

/// The minimum time per key, and the distance that reached it.
struct MinTimes<T = ()> {
    ns: f64,
    with: T,
}

impl<T: Default> MinTimes<T> {
    fn new() -> Self {
        Self {
            ns: f64::INFINITY,
            with: T::default(),
        }
    }

    fn record(&mut self, elapsed: Duration, count: u64, with: T) {
        let ns = elapsed.as_secs_f64() * 1e9 / count as f64;
        if ns < self.ns {
            *self = Self { ns, with };
        }
    }
}

fn fill<S: InsertBench>(filter: &mut S, keys: u64, progress: &ProgressBar) -> Times {
    let (mut single, mut batch) = (MinTimes::new(), MinTimes::new());
    let mut timed = |filter: &mut S, numbers: Range<u64>, passes: u64, one_by_one: bool| {
        let count = (numbers.end - numbers.start) * passes;
        let time = insert(filter, numbers, passes, one_by_one);
        if one_by_one { &mut single } else { &mut batch }.record(time, count, ());
        progress.inc(count);
    };
    if keys <= REFILLED_KEYS {
        // Few keys are inserted repeatedly, until the time can be measured.
        let passes = MIN_KEYS.div_ceil(keys);
        for _ in 0..ROUNDS {
            timed(filter, 0..keys, passes, true);
            timed(filter, 0..keys, passes, false);
        }
    } else {
        let singles = REFILLED_KEYS.min(keys / 2);
        for numbers in split_range(0..singles, SINGLE_RANGES) {
            timed(filter, numbers, 1, true);
        }
        for numbers in split_range(singles..keys, ROUNDS) {
            timed(filter, numbers, 1, false);
        }
    }
    Times {
        single: Some(single),
        batch,
    }
}

/// Splits a range into `count` ranges of about equal length.
fn split_range(numbers: Range<u64>, count: u64) -> impl Iterator<Item = Range<u64>> {
    let length = numbers.end - numbers.start;
    let step = length.div_ceil(count);
    (0..count).map(move |at| {
        let bound = |at| numbers.start + length.min(at * step);
        bound(at)..bound(at + 1)
    })
}

/// Inserts the keys with these indexes and returns the time, without generating the hashes. Starts with an empty filter if the
/// range starts at 0.
fn insert<S: InsertBench>(
    filter: &mut S,
    numbers: Range<u64>,
    passes: u64,
    one_by_one: bool,
) -> Duration {
    let mut hashes = Vec::with_capacity(CHUNK);
    let mut elapsed = Duration::ZERO;
    for _ in 0..passes {
        if numbers.start == 0 {
            filter.clear();
        }
        for start in numbers.clone().step_by(CHUNK) {
            hashes.clear();
            let end = numbers.end.min(start + CHUNK as u64);
            hashes.extend((start..end).map(key));
            let clock = Instant::now();
            if one_by_one {
                black_box(filter.insert_single(&hashes, start));
            } else {
                filter.insert_batch(&hashes, start);
            }
            elapsed += clock.elapsed();
        }
    }
    elapsed
}

/// Two or three per line, so that the whole filter is used: with fewer, the second pass would find its lines in cache.
fn query_count(keys: u64) -> u64 {
    (keys / 16).clamp(1 << 16, MAX_QUERIES)
}

fn passes(keys: u64) -> u64 {
    (MIN_KEYS / query_count(keys)).max(1)
}

/// The times of queries and plain loads.
struct QueryTimes {
    single: MinTimes,
    batch: MinTimes,
    chased: MinTimes,
    fetched: MinTimes<usize>,
}

fn query<S: BenchFilter>(
    filter: &S,
    ruler: &Bloom,
    keys: u64,
    progress: &ProgressBar,
) -> Result<QueryTimes, &'static str> {
    let questions = QueryKeys::new(keys, query_count(keys));
    let hashes = questions.hashes.as_slice();
    let passes = passes(keys);
    let count = passes * hashes.len() as u64;
    let (mut by_one, mut by_batch) = (vec![false; hashes.len()], vec![false; hashes.len()]);
    let mut best = QueryTimes {
        single: MinTimes::new(),
        batch: MinTimes::new(),
        chased: MinTimes::new(),
        fetched: MinTimes::new(),
    };
    for _ in 0..ROUNDS {
        for distance in DISTANCES {
            let time = timed(passes, || {
                black_box(memory_probe::load_lines(ruler, black_box(hashes), distance));
            });
            best.fetched.record(time, count, distance);
        }
        let time = timed(passes, || filter.contains_batch(hashes, &mut by_batch));
        best.batch.record(time, count, ());
        let time = timed(passes, || {
            for (&hash, found) in hashes.iter().zip(&mut by_one) {
                *found = filter.contains(hash);
            }
        });
        best.single.record(time, count, ());
        let time = timed(1, || {
            black_box(memory_probe::chase_lines(ruler, black_box(CHASED_LINES)));
        });
        best.chased.record(time, CHASED_LINES as u64, ());
        questions.check(&by_one, &by_batch)?;
        by_one.fill(false);
        by_batch.fill(false);
        progress.inc(round_work(keys));
    }
    Ok(best)
}

fn timed(passes: u64, mut work: impl FnMut()) -> Duration {
    let clock = Instant::now();
    for _ in 0..passes {
        work();
    }
    clock.elapsed()
}

/// The measured false-positive rate, over enough keys for an error of about 1 % where that takes at most 1e7.
fn absent_key_rate(filter: &impl BenchFilter, case: Case) -> f64 {
    let strangers = (10_000.0 / case.rate).clamp(1e6, 1e7) as u64;
    let first = case.keys + MAX_QUERIES;
    let mut hashes = Vec::with_capacity(CHUNK);
    let mut found = vec![false; CHUNK];
    let mut wrong = 0;
    for start in (first..first + strangers).step_by(CHUNK) {
        hashes.clear();
        hashes.extend((start..(start + CHUNK as u64).min(first + strangers)).map(key));
        let found = &mut found[..hashes.len()];
        filter.contains_batch(&hashes, found);
        wrong += found.iter().filter(|&&found| found).count();
    }
    wrong as f64 / strangers as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_ranges_cover_the_range_once() {
        for numbers in [0..9, 0..10, 3..3, 5..1_000_000_007] {
            let mut next = numbers.start;
            for stretch in split_range(numbers.clone(), 9) {
                assert_eq!(stretch.start, next);
                next = stretch.end;
            }
            assert_eq!(next, numbers.end);
        }
    }

    #[test]
    fn small_and_large_filters_end_up_with_all_their_keys() {
        for keys in [1000, REFILLED_KEYS + 5] {
            let mut filter = Bloom::for_hashes(keys as usize, 0.01).unwrap();
            fill(&mut filter, keys, &ProgressBar::hidden());
            assert!((0..keys).all(|number| filter.contains_hash(key(number))));
            assert!(!filter.is_over_capacity());
        }
    }
}
