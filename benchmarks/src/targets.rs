//! What the core is to reach, and how far a run came. A target is a bound on a ratio, or on bits per key; the median over the
//! processes decides.

use crate::case::{space, url};
use crate::figure::{Case, Place, Run, Spread, name};
use crate::peers::{RATES, STRICT};

#[derive(Clone, Copy)]
pub enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

/// A target, and what was found.
pub struct Verdict {
    pub what: &'static str,
    pub against: &'static str,
    pub keys: u64,
    pub rate: f64,
    pub bound: Bound,
    pub found: Spread,
    pub unit: Unit,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    /// How many times.
    Times,
    BitsPerKey,
    /// Percent fewer.
    Fewer,
}

impl Verdict {
    /// By how many percent of the target it was missed, if it was.
    pub fn missed_by(&self) -> Option<f64> {
        let (short, bound) = match self.bound {
            Bound::AtLeast(bound) => (bound - self.found.median, bound),
            Bound::AtMost(bound) => (self.found.median - bound, bound),
        };
        (short > 0.0).then_some(100.0 * short / bound)
    }
}

/// The sizes at which a filter is taken to be in a core's caches: 0.15 and 1.5 MB.
const IN_CACHE: [u64; 2] = [100_000, 1_000_000];
const LARGE: [u64; 2] = [10_000_000, 100_000_000];

/// Every target that the run has figures for.
pub fn verdicts(run: &Run) -> Vec<Verdict> {
    let mut all = Vec::new();
    for group in [
        single_queries,
        batch_queries,
        inserts,
        two_threads,
        urls,
        deletable_queries,
        fuse,
        ribbon,
    ] {
        for rate in RATES {
            group(run, rate, &mut all);
        }
    }
    bits(run, &mut all);
    deletable_bits(run, &mut all);
    all
}

struct Race {
    what: &'static str,
    case: Case,
    ours: &'static str,
    theirs: &'static str,
}

impl Race {
    /// Ours is to be at least `bound` times faster.
    fn at_least(&self, run: &Run, keys: u64, rate: f64, bound: f64, all: &mut Vec<Verdict>) {
        let case = self.case;
        let ratio = run.ratio(Place { case, keys, rate }, self.theirs, self.ours);
        all.extend(ratio.map(|found| Verdict {
            what: self.what,
            against: self.theirs,
            keys,
            rate,
            bound: Bound::AtLeast(bound),
            found,
            unit: Unit::Times,
        }));
    }
}

fn single_queries(run: &Run, rate: f64, all: &mut Vec<Verdict>) {
    let race = |theirs| Race {
        what: "single query",
        case: Case::Query,
        ours: name::MAYHAP,
        theirs,
    };
    for keys in IN_CACHE.into_iter().chain(LARGE) {
        race(name::SBBF).at_least(run, keys, rate, 1.0, all);
    }
    let bounds = [5.0, 5.0, 3.0, 4.5];
    for (keys, bound) in IN_CACHE.into_iter().chain(LARGE).zip(bounds) {
        race(name::FASTBLOOM).at_least(run, keys, rate, bound, all);
    }
}

fn batch_queries(run: &Run, rate: f64, all: &mut Vec<Verdict>) {
    let race = |theirs| Race {
        what: "batch query",
        case: Case::Query,
        ours: name::BATCH,
        theirs,
    };
    for keys in IN_CACHE {
        race(name::MAYHAP).at_least(run, keys, rate, 1.0, all);
    }
    let (sbbf, fastbloom) = if rate == STRICT {
        ([2.5, 1.6], [8.0, 7.0])
    } else {
        ([1.5, 1.5], [6.0, 6.0])
    };
    for (keys, bound) in LARGE.into_iter().zip(sbbf) {
        race(name::SBBF).at_least(run, keys, rate, bound, all);
    }
    for (keys, bound) in LARGE.into_iter().zip(fastbloom) {
        race(name::FASTBLOOM).at_least(run, keys, rate, bound, all);
    }
    if rate == STRICT {
        for (theirs, bound) in [(name::SBBF, 1.8), (name::FASTBLOOM, 8.0)] {
            let stretch = Race {
                what: "batch query (stretch)",
                ..race(theirs)
            };
            stretch.at_least(run, LARGE[1], rate, bound, all);
        }
    }
    let place = Place {
        case: Case::Query,
        keys: LARGE[1],
        rate,
    };
    let over_floor = run.ratio(place, name::BATCH, name::PREFETCHED);
    all.extend(over_floor.map(|found| Verdict {
        what: "batch query",
        against: name::PREFETCHED,
        keys: place.keys,
        rate,
        bound: Bound::AtMost(1.15),
        found,
        unit: Unit::Times,
    }));
}

fn inserts(run: &Run, rate: f64, all: &mut Vec<Verdict>) {
    let peers = [(name::FASTBLOOM, 4.0, 9.0), (name::SBBF, 1.2, 2.0)];
    for (theirs, in_cache, large) in peers {
        let race = |what, ours| Race {
            what,
            case: Case::Insert,
            ours,
            theirs,
        };
        for keys in IN_CACHE {
            race("insert", name::MAYHAP).at_least(run, keys, rate, in_cache, all);
        }
        for keys in IN_CACHE {
            race("batch insert", name::BATCH).at_least(run, keys, rate, in_cache, all);
        }
        for keys in LARGE {
            race("batch insert", name::BATCH).at_least(run, keys, rate, large, all);
        }
    }
}

fn two_threads(run: &Run, rate: f64, all: &mut Vec<Verdict>) {
    let race = Race {
        what: "two threads, batch insert",
        case: Case::InsertTwoThreads,
        ours: name::BATCH,
        theirs: name::FASTBLOOM,
    };
    let bounds = [2.0, 2.0, 3.0, 3.0];
    for (keys, bound) in IN_CACHE.into_iter().chain(LARGE).zip(bounds) {
        race.at_least(run, keys, rate, bound, all);
    }
}

fn urls(run: &Run, rate: f64, all: &mut Vec<Verdict>) {
    let race = Race {
        what: "URLs, batch query",
        case: Case::UrlQuery,
        ours: name::BATCH,
        theirs: name::SBBF,
    };
    race.at_least(run, url::MAX_KEYS, rate, 3.0, all);
}

/// Filters that keys can be taken out of.
fn deletable_queries(run: &Run, rate: f64, all: &mut Vec<Verdict>) {
    for theirs in [name::CUCKOO, name::QFILTER] {
        for (what, ours) in [
            ("Cuckoo, single query", name::OUR_CUCKOO),
            ("Cuckoo, batch query", name::OUR_CUCKOO_BATCH),
        ] {
            let race = Race {
                what,
                case: Case::Query,
                ours,
                theirs,
            };
            race.at_least(run, LARGE[0], rate, 2.0, all);
        }
    }
}

/// How many times the bits per key of a Cuckoo are the information's limit, log2 of one over the measured rate.
fn deletable_bits(run: &Run, all: &mut Vec<Verdict>) {
    let bounds = [(0.01, 1.39), (STRICT, 1.35), (0.001, 1.30), (0.0001, 1.30)];
    for (rate, bound) in bounds {
        let place = Place {
            case: Case::Space,
            keys: space::KEYS,
            rate,
        };
        let over_limit = run.spread(place, name::OUR_CUCKOO, |figure| {
            Some(figure.bits_per_key? / -figure.measured_rate?.log2())
        });
        all.extend(over_limit.map(|found| Verdict {
            what: "Cuckoo, bits per key",
            against: "log2(1/rate)",
            keys: place.keys,
            rate,
            bound: Bound::AtMost(bound),
            found,
            unit: Unit::Times,
        }));
    }
}

fn fuse(run: &Run, rate: f64, all: &mut Vec<Verdict>) {
    let race = |what, case, ours| Race {
        what,
        case,
        ours,
        theirs: name::FUSE,
    };
    for keys in IN_CACHE.into_iter().chain(LARGE) {
        race("static build", Case::Insert, name::OUR_FUSE).at_least(run, keys, rate, 1.0, all);
    }
    for keys in IN_CACHE.into_iter().chain(LARGE) {
        race("static query", Case::Query, name::OUR_FUSE).at_least(run, keys, rate, 1.0, all);
    }
    let batch = race("static batch query", Case::Query, name::OUR_FUSE_BATCH);
    batch.at_least(run, LARGE[1], rate, 1.25, all);
}

/// A ribbon's query may take three times a fuse's.
fn ribbon(run: &Run, rate: f64, all: &mut Vec<Verdict>) {
    for (what, ours, against) in [
        ("ribbon query", name::RIBBON, name::OUR_FUSE),
        (
            "ribbon batch query",
            name::RIBBON_BATCH,
            name::OUR_FUSE_BATCH,
        ),
    ] {
        for keys in IN_CACHE.into_iter().chain(LARGE) {
            let place = Place {
                case: Case::Query,
                keys,
                rate,
            };
            let ratio = run.ratio(place, ours, against);
            all.extend(ratio.map(|found| Verdict {
                what,
                against,
                keys,
                rate,
                bound: Bound::AtMost(3.0),
                found,
                unit: Unit::Times,
            }));
        }
    }
}

fn bits(run: &Run, all: &mut Vec<Verdict>) {
    let place = |rate| Place {
        case: Case::Space,
        keys: space::KEYS,
        rate,
    };
    for (rate, bound) in [(0.01, 4.0), (STRICT, 5.0)] {
        let ratio = run.bits_ratio(place(rate), name::MAYHAP, name::SBBF);
        let fewer = |part: f64| 100.0 * (1.0 - part);
        all.extend(ratio.map(|part| Verdict {
            what: "fewer bits at the same rate",
            against: name::SBBF,
            keys: space::KEYS,
            rate,
            bound: Bound::AtLeast(bound),
            found: Spread {
                median: fewer(part.median),
                low: fewer(part.high),
                high: fewer(part.low),
            },
            unit: Unit::Fewer,
        }));
    }
    for (rate, bound) in [(0.01, 10.1), (0.001, 15.0), (0.0001, 20.3)] {
        let bits = run.spread(place(rate), name::MAYHAP, |figure| figure.bits_per_key);
        all.extend(bits.map(|found| Verdict {
            what: "bits per key",
            against: "",
            keys: space::KEYS,
            rate,
            bound: Bound::AtMost(bound),
            found,
            unit: Unit::BitsPerKey,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_told_in_percent_of_the_target() {
        let verdict = |bound, median| Verdict {
            what: "",
            against: "",
            keys: 1,
            rate: 0.01,
            bound,
            found: Spread {
                median,
                low: median,
                high: median,
            },
            unit: Unit::Times,
        };
        let close = |missed: Option<f64>, percent: f64| {
            missed.is_some_and(|missed| (missed - percent).abs() < 1e-9)
        };
        assert!(close(verdict(Bound::AtLeast(2.0), 1.5).missed_by(), 25.0));
        assert!(close(verdict(Bound::AtMost(2.0), 2.5).missed_by(), 25.0));
        assert_eq!(verdict(Bound::AtLeast(2.0), 2.0).missed_by(), None);
        assert_eq!(verdict(Bound::AtMost(2.0), 2.0).missed_by(), None);
    }
}
