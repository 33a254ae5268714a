//! What a child tells its parent, one JSON line a figure, and how the parent looks figures up. Ratios are formed inside a
//! child, where both sides met the same machine; the parent takes the median over children.

use crate::machine::Machine;
use serde::{Deserialize, Serialize};

/// What was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    Query,
    Insert,
    InsertTwoThreads,
    UrlQuery,
    Space,
}

/// The names under which contenders appear in figures and tables.
pub mod name {
    pub const MAYHAP: &str = "mayhap";
    pub const BATCH: &str = "mayhap, batch";
    pub const FASTBLOOM: &str = "fastbloom";
    pub const SBBF: &str = "sbbf-rs-safe";
    pub const OUR_FUSE: &str = "mayhap Fuse";
    pub const OUR_FUSE_BATCH: &str = "mayhap Fuse, batch";
    pub const RIBBON: &str = "mayhap Ribbon";
    pub const RIBBON_BATCH: &str = "mayhap Ribbon, batch";
    pub const FUSE: &str = "xorf BinaryFuse8";
    pub const OUR_CUCKOO: &str = "mayhap Cuckoo";
    pub const OUR_CUCKOO_BATCH: &str = "mayhap Cuckoo, batch";
    pub const CUCKOO: &str = "cuckoofilter";
    pub const QFILTER: &str = "qfilter";
    pub const SET: &str = "hash set";
    pub const PREFETCHED: &str = "memory, prefetched";
    pub const DEPENDENT: &str = "memory, dependent";
}

/// One contender in one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    pub case: Case,
    pub keys: u64,
    /// The rate asked for.
    pub rate: f64,
    pub name: String,
    /// Nanoseconds per key or query.
    pub ns: Option<f64>,
    pub bits_per_key: Option<f64>,
    pub measured_rate: Option<f64>,
    /// What a reader of the number should know, or why there is none.
    pub note: Option<String>,
}

impl Figure {
    pub fn new(case: Case, keys: u64, rate: f64, name: &str) -> Self {
        Self {
            case,
            keys,
            rate,
            name: name.to_owned(),
            ns: None,
            bits_per_key: None,
            measured_rate: None,
            note: None,
        }
    }
}

/// All figures of a run.
#[derive(Serialize, Deserialize)]
pub struct Run {
    pub machine: Machine,
    pub children: Vec<Vec<Figure>>,
}

/// Median, lowest and highest over the children.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (&low, &high) = (values.first()?, values.last()?);
        let (left, right) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        Some(Self {
            median: (left + right) / 2.0,
            low,
            high,
        })
    }
}

/// A place in the results, without the contender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    pub case: Case,
    pub keys: u64,
    pub rate: f64,
}

impl Run {
    /// A number of one contender, over the children that have it.
    pub fn spread(
        &self,
        place: Place,
        name: &str,
        number: impl Fn(&Figure) -> Option<f64>,
    ) -> Option<Spread> {
        let find = |child: &Vec<Figure>| find(child, place, name).and_then(&number);
        Spread::of(self.children.iter().filter_map(find))
    }

    /// Nanoseconds per key.
    pub fn ns(&self, place: Place, name: &str) -> Option<Spread> {
        self.spread(place, name, |figure| figure.ns)
    }

    /// How many times as long `slower` takes as `faster`.
    pub fn ratio(&self, place: Place, slower: &str, faster: &str) -> Option<Spread> {
        let ratio = |child: &Vec<Figure>| {
            Some(find(child, place, slower)?.ns? / find(child, place, faster)?.ns?)
        };
        Spread::of(self.children.iter().filter_map(ratio))
    }

    /// How many times the bits of `smaller` that `larger` takes.
    pub fn bits_ratio(&self, place: Place, larger: &str, smaller: &str) -> Option<Spread> {
        let ratio = |child: &Vec<Figure>| {
            let bits = |name| find(child, place, name)?.bits_per_key;
            Some(bits(larger)? / bits(smaller)?)
        };
        Spread::of(self.children.iter().filter_map(ratio))
    }

    /// The first child's figures: they name all places and contenders.
    pub fn first(&self) -> &[Figure] {
        self.children.first().map_or(&[], Vec::as_slice)
    }

    /// Sizes that a case was measured at, in order.
    pub fn sizes(&self, case: Case) -> Vec<u64> {
        let mut sizes: Vec<u64> = self
            .first()
            .iter()
            .filter(|figure| figure.case == case)
            .map(|figure| figure.keys)
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

fn find<'a>(child: &'a [Figure], place: Place, name: &str) -> Option<&'a Figure> {
    child.iter().find(|figure| {
        let here = Place {
            case: figure.case,
            keys: figure.keys,
            rate: figure.rate,
        };
        here == place && figure.name == name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_between_lowest_and_highest() {
        let spread = Spread::of([3.0, 1.0, 2.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (1.0, 2.0, 3.0));
        assert_eq!(Spread::of([1.0, 2.0]).unwrap().median, 1.5);
        assert_eq!(Spread::of([]), None);
    }
}
