//! What is known about a filter: the core's `Stats`, and details that only some kinds or formats have.

use super::StoredFilter;
use crate::Format;
use mayhap_core::plan::classic::{ClassicPlan, rate_from_set_bits};
use mayhap_core::{AnyFilter, Bloom, ClassicBloom, CountingBloom, HashScheme, Kind, Scheme, Stats};
use std::borrow::Borrow;

/// A layer of a filter: a part of its bits that is filled on its own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayerFill {
    /// The share of the filter's words that belong to the layer.
    pub share: f64,
    /// The share of its bits that are set when it has as many keys as it was planned for.
    pub fill_at_capacity: Option<f64>,
}

/// What is known about a filter.
#[derive(Clone, PartialEq, Debug)]
pub struct Description {
    /// The format.
    pub format: Format,
    /// Kind, size, fill and rates. Values that the format does not store are `None`.
    pub stats: Stats,
    /// What this kind or format adds.
    pub details: Vec<(&'static str, Detail)>,
}

/// A value that only some filters have.
#[derive(Clone, PartialEq, Debug)]
pub enum Detail {
    /// A whole number.
    Number(u64),
    /// A word.
    Text(String),
    /// Yes or no.
    Flag(bool),
}

impl StoredFilter {
    /// What is known about the filter. Reads all of it.
    pub fn describe(&self) -> Description {
        match self {
            Self::Native(filter) => native(filter),
            Self::Bits { format, filter } => Description::flat_bits(*format, filter),
            Self::Foreign(filter) => filter.describe(),
        }
    }

    /// The share of bits that are set in each of that many parts of the filter, front to back, or in fewer parts if there are not
    /// as many words; `None` for filters that do not consist of bits.
    pub fn fills(&self, parts: usize) -> Option<Vec<f64>> {
        let words = self.bit_words()?;
        let part = words.len().div_ceil(parts.max(1)).max(1);
        let fill = |words: &[u64]| {
            let set: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
            set as f64 / (64 * words.len()) as f64
        };
        Some(words.chunks(part).map(fill).collect())
    }

    /// The layers of a filter that consists of bits, in the order of [`StoredFilter::fills`]: one, unless it grows or has a window.
    pub fn layer_fills(&self) -> Vec<LayerFill> {
        let blooms: Vec<&Bloom> = match self {
            Self::Native(AnyFilter::Growing(filter)) => filter.layers().collect(),
            Self::Native(AnyFilter::Window(filter)) => {
                let layers = filter.generations().flat_map(|(_, _, layers)| layers);
                layers.collect()
            }
            Self::Native(_) | Self::Bits { .. } | Self::Foreign(_) => Vec::new(),
        };
        if blooms.is_empty() {
            let stats = self.describe().stats;
            let (capacity, bits) = (stats.capacity, stats.bits);
            let shape = capacity.zip(bits).zip(stats.probes);
            let full = shape.map(|((keys, bits), probes)| fill_of(bits, keys, probes));
            return vec![LayerFill {
                share: 1.0,
                fill_at_capacity: full,
            }];
        }
        let all: u64 = blooms.iter().map(|layer| layer.plan().size_bits()).sum();
        let layer_fill = |layer: &&Bloom| {
            let plan = layer.plan();
            LayerFill {
                share: plan.size_bits() as f64 / all as f64,
                fill_at_capacity: Some(fill_of(plan.size_bits(), plan.capacity(), plan.probes())),
            }
        };
        blooms.iter().map(layer_fill).collect()
    }
}

/// The expected share of bits that are set after `keys` keys, each of which sets `probes` bits.
fn fill_of(bits: u64, keys: u64, probes: u32) -> f64 {
    -(-f64::from(probes) * keys as f64 / bits as f64).exp_m1()
}

pub(super) fn native_words(filter: &AnyFilter) -> Option<Vec<u64>> {
    Some(match filter {
        AnyFilter::Bloom(filter) => filter.words().collect(),
        AnyFilter::Classic(filter) => filter.words().collect(),
        AnyFilter::Retouched(filter) => filter.as_classic().words().collect(),
        AnyFilter::Growing(filter) => filter.layers().flat_map(Bloom::words).collect(),
        AnyFilter::Window(filter) => {
            let layers = filter.generations().flat_map(|(_, _, layers)| layers);
            layers.flat_map(Bloom::words).collect()
        }
        AnyFilter::Excepting(filter) => native_words(filter.base())?,
        AnyFilter::Counting(_)
        | AnyFilter::Cuckoo(_)
        | AnyFilter::Fuse(_)
        | AnyFilter::Ribbon(_)
        | AnyFilter::GrowingCuckoo(_)
        | AnyFilter::CountingCuckoo(_)
        | AnyFilter::WindowCuckoo(_) => return None,
    })
}

impl Description {
    /// A description without details.
    pub(crate) fn new(format: Format, stats: Stats) -> Self {
        Self {
            format,
            stats,
            details: Vec::new(),
        }
    }

    /// Bits in a file that contains neither the capacity nor the requested rate.
    pub(crate) fn flat_bits(format: Format, filter: &ClassicBloom) -> Self {
        let plan = filter.plan();
        let stats = Stats {
            bits: Some(plan.bits),
            probes: Some(plan.probes),
            fill: share(filter.set_bits(), plan.bits),
            estimated_keys: known(filter.estimated_keys()),
            estimated_rate: Some(filter.estimated_rate()),
            ..Stats::new(Kind::Classic, plan.bits.div_ceil(8))
        };
        let mut description = Self::new(format, stats);
        description.details.push(("walk", walk(filter.scheme())));
        description
    }

    /// Counters in a file that contains neither the capacity nor the requested rate.
    pub(crate) fn counters(format: Format, filter: &CountingBloom) -> Self {
        let (plan, set) = (filter.plan().classic(), filter.set_counters());
        let stats = Stats {
            bits: Some(plan.bits),
            probes: Some(plan.probes),
            fill: share(set, plan.bits),
            estimated_keys: known(filter.estimated_keys()),
            estimated_rate: Some(rate_from_set_bits(plan.bits, plan.probes, set)),
            ..Stats::new(Kind::Counting, filter.size_bytes())
        };
        Self {
            details: counter_details(filter),
            ..Self::new(format, stats)
        }
    }

    /// Layers of flat bits, of which each may contain a key.
    pub(crate) fn layers<B: Borrow<ClassicBloom>>(
        format: Format,
        layers: impl Iterator<Item = B>,
    ) -> Self {
        let (mut bits, mut set, mut keys, mut no, mut count) = (0, 0, 0_u64, 1.0, 0);
        let mut probes = None;
        for layer in layers {
            let layer = layer.borrow();
            bits += layer.plan().bits;
            set += layer.set_bits();
            keys = keys.saturating_add(layer.estimated_keys());
            no *= 1.0 - layer.estimated_rate();
            probes = Some(layer.plan().probes);
            count += 1;
        }
        let stats = Stats {
            bits: Some(bits),
            probes,
            fill: share(set, bits),
            estimated_keys: known(keys),
            estimated_rate: Some(1.0 - no),
            layers: count,
            ..Stats::new(Kind::Growing, bits.div_ceil(8))
        };
        let mut description = Self::new(format, stats);
        description.details.push(("layers", Detail::Number(count)));
        description
    }
}

/// `part / whole`, if there is a whole.
pub(crate) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A filter whose bits are all set may have any number of keys.
fn known(keys: u64) -> Option<u64> {
    (keys < u64::MAX).then_some(keys)
}

fn native(filter: &AnyFilter) -> Description {
    let has_only_shape = has_only_shape(filter);
    let mut stats = filter.stats();
    if has_only_shape {
        stats = Stats {
            capacity: None,
            false_positive_rate: None,
            is_over_capacity: false,
            keys_until_full: None,
            ..stats
        };
    }
    let mut details = native_details(filter);
    let hash = match filter.scheme() {
        HashScheme::Xxh3 => "xxh3",
        HashScheme::Sip13(_) => "siphash-1-3, keyed",
        HashScheme::Caller => hash_of_caller(filter),
    };
    details.push(("hash", Detail::Text(hash.into())));
    if let Some(key_type) = filter.key_type() {
        details.push(("key_type", Detail::Text(key_type.to_string())));
    }
    if !has_only_shape {
        details.push(("over_capacity", Detail::Flag(stats.is_over_capacity)));
    }
    if !has_only_shape && filter.kind() != Kind::Growing {
        let left = Detail::Number(stats.keys_until_full.unwrap_or(u64::MAX));
        details.push(("keys_until_full", left));
    }
    if let Some(excepting) = filter.excepting() {
        let exceptions = Detail::Number(excepting.exceptions());
        details.push(("exceptions", exceptions));
        // Keys that were inserted since may have made the base accept others.
        let is_exact = Detail::Flag(excepting.keys_inserted() == 0);
        details.push(("exceptions_exact", is_exact));
    }
    Description {
        details,
        ..Description::new(Format::Mayhap, stats)
    }
}

/// The hash of a filter that does not hash keys itself.
fn hash_of_caller(filter: &AnyFilter) -> &'static str {
    let walk = match filter {
        AnyFilter::Classic(filter) => Some(filter.scheme()),
        AnyFilter::Counting(filter) => Some(filter.scheme()),
        AnyFilter::Retouched(filter) => Some(filter.as_classic().scheme()),
        AnyFilter::Excepting(filter) => return hash_of_caller(filter.base()),
        AnyFilter::Bloom(_)
        | AnyFilter::Growing(_)
        | AnyFilter::Window(_)
        | AnyFilter::Cuckoo(_)
        | AnyFilter::Fuse(_)
        | AnyFilter::Ribbon(_)
        | AnyFilter::GrowingCuckoo(_)
        | AnyFilter::CountingCuckoo(_)
        | AnyFilter::WindowCuckoo(_) => None,
    };
    if walk.is_some_and(|walk| !walk.is_native()) {
        "part of the walk"
    } else {
        "by the program that created it"
    }
}

/// Whether only bits and probes of a filter are known: a file of another system does not store the capacity and the rate, and the
/// plan has those for which the number of probes is best. These were not requested, and are not reported.
fn has_only_shape(filter: &AnyFilter) -> bool {
    let plan = match filter {
        AnyFilter::Classic(filter) => filter.plan(),
        AnyFilter::Counting(filter) => filter.plan().classic(),
        AnyFilter::Excepting(filter) => return has_only_shape(filter.base()),
        AnyFilter::Retouched(_)
        | AnyFilter::Bloom(_)
        | AnyFilter::Growing(_)
        | AnyFilter::Window(_)
        | AnyFilter::Cuckoo(_)
        | AnyFilter::Fuse(_)
        | AnyFilter::Ribbon(_)
        | AnyFilter::GrowingCuckoo(_)
        | AnyFilter::CountingCuckoo(_)
        | AnyFilter::WindowCuckoo(_) => return false,
    };
    ClassicPlan::with_bits_and_probes(plan.bits, plan.probes).is_ok_and(|shape| shape == *plan)
}

fn native_details(filter: &AnyFilter) -> Vec<(&'static str, Detail)> {
    match filter {
        AnyFilter::Classic(filter) => vec![("walk", walk(filter.scheme()))],
        AnyFilter::Retouched(filter) => vec![
            ("walk", walk(filter.as_classic().scheme())),
            ("keys_lost", Detail::Number(filter.keys_lost())),
        ],
        AnyFilter::Counting(filter) => counter_details(filter),
        AnyFilter::Growing(filter) => {
            vec![("layers", Detail::Number(filter.layer_count() as u64))]
        }
        AnyFilter::GrowingCuckoo(filter) => {
            vec![("tables", Detail::Number(filter.tables().count() as u64))]
        }
        AnyFilter::CountingCuckoo(filter) => vec![
            ("tables", Detail::Number(filter.tables().len() as u64)),
            ("distinct_keys", Detail::Number(filter.distinct_keys())),
        ],
        AnyFilter::Window(filter) => {
            vec![("window_ms", Detail::Number(filter.plan().window_ms()))]
        }
        AnyFilter::WindowCuckoo(filter) => vec![
            ("tables", Detail::Number(filter.tables().len() as u64)),
            ("window_ms", Detail::Number(filter.plan().window_ms())),
        ],
        AnyFilter::Excepting(filter) => native_details(filter.base()),
        AnyFilter::Bloom(_) | AnyFilter::Cuckoo(_) | AnyFilter::Fuse(_) | AnyFilter::Ribbon(_) => {
            Vec::new()
        }
    }
}

fn counter_details(filter: &CountingBloom) -> Vec<(&'static str, Detail)> {
    let bits = filter.plan().counter_bits();
    let saturated = filter.saturated_counters();
    vec![
        ("walk", walk(filter.scheme())),
        ("counter_bits", Detail::Number(bits.into())),
        ("saturated_counters", Detail::Number(saturated)),
    ]
}

fn walk(scheme: Scheme) -> Detail {
    Detail::Text(format!("{scheme:?}"))
}
