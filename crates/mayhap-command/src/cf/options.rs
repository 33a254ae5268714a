//! How a cuckoo filter is to be made, from words and settings.

use super::Deed;
use crate::config::{Config, MAX_CAPACITY, MAX_EXPANSION};
use crate::words::{find, integer, number};
use crate::{Layout, Reply, wrong_arity};

/// The error rate of filters for which none was asked: a little less than that of RedisBloom's buckets of two.
const DEFAULT_ERROR: f64 = 0.01;

/// How a filter is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Making {
    pub(super) capacity: u64,
    pub(super) bucket_size: u8,
    pub(super) max_iterations: u16,
    pub(super) expansion: u16,
    /// Of the native layout; the other has what its fingerprints give.
    pub(super) error: f64,
}

impl Making {
    /// As the settings have it.
    pub(super) fn of(config: &Config) -> Self {
        Self {
            capacity: config.cf_initial_size,
            bucket_size: config.cf_bucket_size,
            max_iterations: config.cf_max_iterations,
            expansion: config.cf_expansion,
            error: DEFAULT_ERROR,
        }
    }
}

/// `key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] [ERROR e]`; options are found wherever they stand, as there.
pub(super) fn reserve(words: &[&[u8]], config: &Config) -> Result<Making, Reply> {
    if !words.len().is_multiple_of(2) {
        return Err(wrong_arity("cf.reserve"));
    }
    let Some(capacity) = integer(words[1]) else {
        return Err(Reply::error("Bad capacity"));
    };
    let option = |name, range: std::ops::RangeInclusive<i64>, parse, within, default| {
        let Some(at) = find(words, name) else {
            return Ok(default);
        };
        let given = words.get(at + 1).and_then(|word| integer(word));
        let given = given.ok_or(Reply::error(parse))?;
        if range.contains(&given) {
            Ok(given)
        } else {
            Err(Reply::error(within))
        }
    };
    let max_iterations = option(
        "maxiterations",
        1..=65_535,
        "Couldn't parse MAXITERATIONS",
        "MAXITERATIONS: value must be in the range [1, 65535]",
        config.cf_max_iterations.into(),
    )?;
    let bucket_size = option(
        "bucketsize",
        1..=255,
        "Couldn't parse BUCKETSIZE",
        "BUCKETSIZE: value must be in the range [1, 255]",
        config.cf_bucket_size.into(),
    )?;
    let expansion = option(
        "expansion",
        0..=MAX_EXPANSION,
        "Couldn't parse EXPANSION",
        "EXPANSION: value must be in the range [0, 32768]",
        config.cf_expansion.into(),
    )?;
    let error = match find(&words[2..], "error") {
        // A word like any other that it does not know, there.
        Some(at) if config.layout == Layout::Native => {
            let given = words.get(2 + at + 1).and_then(|word| number(word));
            let given = given.ok_or(Reply::error("Couldn't parse ERROR"))?;
            if !(given > 0.0 && given < 1.0) {
                return Err(Reply::error("ERROR: value must be in the range (0, 1)"));
            }
            given
        }
        _ => DEFAULT_ERROR,
    };
    if !(2 * bucket_size..=MAX_CAPACITY).contains(&capacity) {
        return Err(Reply::error(
            "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]",
        ));
    }
    Ok(Making {
        capacity: capacity as u64,
        bucket_size: bucket_size as u8,
        max_iterations: max_iterations as u16,
        expansion: expansion as u16,
        error,
    })
}

/// `[CAPACITY n] [NOCREATE] ITEMS item ..`; words are told apart by their first letters, as there.
pub(super) fn insert<'a>(
    name: &str,
    words: &[&'a [u8]],
    config: &Config,
) -> Result<Deed<'a>, Reply> {
    let arity = || wrong_arity(name);
    let mut making = Making::of(config);
    let mut creates = true;
    let mut at = 0;
    loop {
        let word = words.get(at).ok_or_else(arity)?;
        match word.first().map(u8::to_ascii_lowercase) {
            Some(b'i') => break,
            Some(b'c') => {
                let given = integer(words.get(at + 1).ok_or_else(arity)?);
                let given = given.ok_or(Reply::error("Bad capacity"))?;
                if !(config.least_cuckoo_capacity()..=MAX_CAPACITY).contains(&given) {
                    return Err(Reply::error(
                        "Capacity must be in the range [cf-bucket-size * 2, 1073741824]",
                    ));
                }
                making.capacity = given as u64;
                at += 1;
            }
            Some(b'n') => creates = false,
            _ => return Err(Reply::error("Unknown argument received")),
        }
        at += 1;
    }
    let items = words[at + 1..].to_vec();
    if items.is_empty() {
        return Err(arity());
    }
    Ok(Deed::AddAll {
        items,
        making: creates.then_some(making),
        if_absent: name == "cf.insertnx",
    })
}
