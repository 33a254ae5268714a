//! What is known of a filter: its shape, how full it is, and what it says about keys that are not in.

use super::Filter;
use crate::{Format, bip37, redis};
use mayhap_core::plan::classic::rate_from_set_bits;
use mayhap_core::{AnyFilter, ClassicBloom, CountingBloom, HashScheme, Kind, Scheme};

/// What is known of a filter. A format that does not say leaves a field empty.
#[derive(Clone, PartialEq, Debug)]
pub struct Description {
    /// The format.
    pub format: Format,
    /// The kind, by the name that `--kind` has for it; of other systems the nearest one.
    pub kind: &'static str,
    /// Keys that it was made for.
    pub capacity: Option<u64>,
    /// Bits, or counters, or what else holds keys, in bits.
    pub bits: Option<u64>,
    /// Bits that a key sets.
    pub probes: Option<u32>,
    /// Bytes of what holds keys.
    pub size_bytes: u64,
    /// The share of bits that are set, of counters that count, or of cells that are taken.
    pub fill: Option<f64>,
    /// About how many keys are in.
    pub estimated_keys: Option<u64>,
    /// The rate that was asked for.
    pub false_positive_rate: Option<f64>,
    /// The rate now.
    pub estimated_rate: Option<f64>,
    /// What this kind or format adds.
    pub details: Vec<(&'static str, Detail)>,
}

/// A value that only some filters have.
#[derive(Clone, PartialEq, Debug)]
pub enum Detail {
    /// A whole number.
    Number(u64),
    /// A share or rate.
    Share(f64),
    /// A word.
    Text(String),
    /// Yes or no.
    Flag(bool),
}

impl Filter {
    /// What is known of the filter. Reads all of it.
    pub fn describe(&self) -> Description {
        let mut found = self.described();
        // A filter whose bits are all set may have any number of keys.
        found.estimated_keys = found.estimated_keys.filter(|&keys| keys < u64::MAX);
        found
    }

    fn described(&self) -> Description {
        let format = self.format();
        match self {
            Self::Native(filter) => native(filter),
            Self::Bits { filter, .. } => bits(format, filter),
            Self::Terms { filter, ngram } => {
                let mut found = bits(format, filter);
                if let Some(n) = ngram {
                    found.details.push(("ngram", Detail::Number(*n as u64)));
                }
                found
            }
            Self::Column { distinct, filter } => Description {
                capacity: Some(*distinct),
                false_positive_rate: Some(filter.plan().false_positive_rate),
                ..bits(format, filter)
            },
            Self::Bip37(filter) => {
                let mut found = bits(format, &filter.filter);
                let flags = Detail::Number(filter.flags.into());
                found.details.push(("flags", flags));
                found
            }
            Self::Counting(filter) => counting(format, filter),
            Self::Retouched(filter) => Description {
                kind: "retouched",
                ..bits(format, filter.as_classic())
            },
            Self::Dynamic(filter) => rows(
                format,
                (0..filter.rows()).filter_map(|row| filter.row(row)),
                &[
                    ("keys_a_row", i64::from(filter.keys_a_row())),
                    ("keys_in_last_row", i64::from(filter.keys_in_last())),
                ],
            ),
            Self::Redis { filter, .. } => redis(format, filter),
            Self::Ribbon(filter) => Description {
                size_bytes: filter.size_bytes(),
                bits: Some(8 * filter.size_bytes()),
                estimated_rate: Some(filter.estimated_rate()),
                ..empty(format, "ribbon")
            },
            Self::Nothing(_) => Description {
                estimated_keys: Some(0),
                estimated_rate: Some(0.0),
                ..empty(format, "classic")
            },
            Self::Everything(_) => Description {
                estimated_rate: Some(1.0),
                ..empty(format, "classic")
            },
        }
    }
}

impl Filter {
    /// The share of bits that are set in each of so many parts of the filter, front to back, or in fewer where there are not so
    /// many words; `None` for filters that are no bits.
    pub fn fills(&self, parts: usize) -> Option<Vec<f64>> {
        let words: Vec<u64> = match self {
            Self::Bits { filter, .. }
            | Self::Terms { filter, .. }
            | Self::Column { filter, .. }
            | Self::Bip37(bip37::Bip37 { filter, .. }) => filter.words().collect(),
            Self::Retouched(filter) => filter.as_classic().words().collect(),
            Self::Native(filter) => {
                match filter.excepting().map_or(filter, |filter| filter.base()) {
                    AnyFilter::Bloom(filter) => filter.words().collect(),
                    AnyFilter::Classic(filter) => filter.words().collect(),
                    AnyFilter::Retouched(filter) => filter.as_classic().words().collect(),
                    AnyFilter::Growing(filter) => filter
                        .layers()
                        .flat_map(mayhap_core::Bloom::words)
                        .collect(),
                    AnyFilter::Window(filter) => {
                        let layers = filter.generations().flat_map(|(_, _, layers)| layers);
                        layers.flat_map(mayhap_core::Bloom::words).collect()
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        let part = words.len().div_ceil(parts.max(1)).max(1);
        let fill = |words: &[u64]| {
            let set: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
            set as f64 / (64 * words.len()) as f64
        };
        Some(words.chunks(part).map(fill).collect())
    }
}

fn empty(format: Format, kind: &'static str) -> Description {
    Description {
        format,
        kind,
        capacity: None,
        bits: None,
        probes: None,
        size_bytes: 0,
        fill: None,
        estimated_keys: None,
        false_positive_rate: None,
        estimated_rate: None,
        details: Vec::new(),
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn native(filter: &AnyFilter) -> Description {
    let stats = filter.stats();
    let mut found = Description {
        capacity: stats.capacity,
        bits: Some(8 * stats.size_bytes),
        size_bytes: stats.size_bytes,
        estimated_keys: stats.estimated_keys,
        false_positive_rate: stats.false_positive_rate,
        estimated_rate: stats.estimated_rate,
        ..empty(Format::Mayhap, stats.kind.name())
    };
    match filter.excepting().map_or(filter, |filter| filter.base()) {
        AnyFilter::Bloom(filter) => {
            found.probes = Some(filter.plan().probes());
            found.fill = share(filter.set_bits(), filter.plan().size_bits());
        }
        AnyFilter::Classic(filter) => classic(&mut found, filter),
        AnyFilter::Retouched(filter) => {
            classic(&mut found, filter.as_classic());
            let lost = Detail::Number(filter.keys_lost());
            found.details.push(("keys_lost", lost));
        }
        AnyFilter::Counting(filter) => {
            let described = counting(Format::Mayhap, filter);
            (found.bits, found.probes) = (described.bits, described.probes);
            (found.fill, found.details) = (described.fill, described.details);
        }
        AnyFilter::Growing(filter) => {
            let layers = Detail::Number(filter.layer_count() as u64);
            found.details.push(("layers", layers));
            let set = filter.layers().map(mayhap_core::Bloom::set_bits).sum();
            found.fill = share(set, 8 * stats.size_bytes);
        }
        AnyFilter::Window(filter) => {
            let layers = filter.generations().flat_map(|(_, _, layers)| layers);
            found.fill = share(
                layers.map(mayhap_core::Bloom::set_bits).sum(),
                8 * stats.size_bytes,
            );
            let window = Detail::Number(filter.plan().window_ms());
            found.details.push(("window_ms", window));
        }
        AnyFilter::Cuckoo(filter) => found.fill = Some(filter.load()),
        _ => {}
    }
    let details = &mut found.details;
    let hash = match filter.scheme() {
        HashScheme::Xxh3 => "xxh3",
        HashScheme::Sip13(_) => "siphash-1-3, keyed",
        _ => "another system's or the caller's",
    };
    details.push(("hash", Detail::Text(hash.into())));
    details.push(("over_capacity", Detail::Flag(stats.is_over_capacity)));
    if filter.kind() != Kind::Growing {
        let left = Detail::Number(stats.keys_until_full.unwrap_or(u64::MAX));
        details.push(("keys_until_full", left));
    }
    if let Some(excepting) = filter.excepting() {
        let exceptions = Detail::Number(excepting.exceptions());
        details.push(("exceptions", exceptions));
    }
    found
}

fn classic(found: &mut Description, filter: &ClassicBloom) {
    let plan = filter.plan();
    (found.bits, found.probes) = (Some(plan.bits), Some(plan.probes));
    found.fill = share(filter.set_bits(), plan.bits);
    found.details.push(("walk", walk(filter.scheme())));
}

fn walk(scheme: Scheme) -> Detail {
    Detail::Text(format!("{scheme:?}"))
}

/// Bits whose file says neither for how many keys nor at which rate they were made.
fn bits(format: Format, filter: &ClassicBloom) -> Description {
    let mut found = Description {
        size_bytes: filter.plan().bits.div_ceil(8),
        estimated_keys: Some(filter.estimated_keys()),
        estimated_rate: Some(filter.estimated_rate()),
        ..empty(format, "classic")
    };
    classic(&mut found, filter);
    found
}

fn counting(format: Format, filter: &CountingBloom) -> Description {
    let plan = filter.plan();
    let classic = plan.classic();
    let set = filter.set_counters();
    let details = vec![
        ("walk", walk(filter.scheme())),
        ("counter_bits", Detail::Number(plan.counter_bits().into())),
        (
            "saturated_counters",
            Detail::Number(filter.saturated_counters()),
        ),
    ];
    Description {
        bits: Some(classic.bits),
        probes: Some(classic.probes),
        size_bytes: filter.size_bytes(),
        fill: share(set, classic.bits),
        estimated_keys: Some(filter.estimated_keys()),
        estimated_rate: Some(rate_from_set_bits(classic.bits, classic.probes, set)),
        details,
        ..empty(format, "counting")
    }
}

/// Rows or layers, of which each may say yes.
fn rows(
    format: Format,
    layers: impl Iterator<Item = ClassicBloom>,
    numbers: &[(&'static str, i64)],
) -> Description {
    let (mut all, mut set, mut keys, mut no, mut count) = (0, 0, 0_u64, 1.0, 0);
    let mut probes = None;
    for layer in layers {
        all += layer.plan().bits;
        set += layer.set_bits();
        keys = keys.saturating_add(layer.estimated_keys());
        no *= 1.0 - layer.estimated_rate();
        probes = Some(layer.plan().probes);
        count += 1;
    }
    let mut details = vec![("layers", Detail::Number(count))];
    let number = |&(name, number): &(&'static str, i64)| {
        let number = u64::try_from(number).unwrap_or(0);
        (name, Detail::Number(number))
    };
    details.extend(numbers.iter().map(number));
    Description {
        bits: Some(all),
        probes,
        size_bytes: all.div_ceil(8),
        fill: share(set, all),
        estimated_keys: Some(keys),
        estimated_rate: Some(1.0 - no),
        details,
        ..empty(format, "growing")
    }
}

fn redis(format: Format, filter: &redis::Filter) -> Description {
    match filter {
        redis::Filter::Bloom(filter) => {
            let info = filter.info();
            let mut found = rows(format, filter.layers().cloned(), &[]);
            found.kind = if info.expansion.is_some() {
                "growing"
            } else {
                "classic"
            };
            found.capacity = Some(info.capacity);
            found.false_positive_rate = Some(filter.error());
            found.estimated_keys = Some(info.items);
            let expansion = info.expansion.map_or(0, u64::from);
            found.details.push(("expansion", Detail::Number(expansion)));
            found
        }
        redis::Filter::Cuckoo(filter) => {
            let (info, table) = (filter.info(), filter.filter());
            let details = vec![
                ("tables", Detail::Number(info.tables)),
                ("bucket_size", Detail::Number(info.bucket_size.into())),
                ("max_iterations", Detail::Number(info.max_iterations.into())),
                ("expansion", Detail::Number(info.expansion.into())),
                ("deleted", Detail::Number(info.deleted)),
            ];
            Description {
                capacity: Some(table.capacity()),
                bits: Some(8 * table.size_bytes()),
                size_bytes: table.size_bytes(),
                fill: share(info.items, table.size_bytes()),
                estimated_keys: Some(info.items),
                estimated_rate: Some(table.estimated_rate()),
                details,
                ..empty(format, "cuckoo")
            }
        }
    }
}
