//! How a Bloom filter is to be made, from words and settings.

use super::Deed;
use crate::config::{Config, LAXEST_RATE, MAX_CAPACITY, MAX_EXPANSION};
use crate::words::{find, integer, number};
use crate::{Reply, wrong_arity};

/// How a filter is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Making {
    pub(super) error: f64,
    pub(super) capacity: u64,
    /// As asked for or set; RedisBloom's layout stores it even where the filter does not grow.
    pub(super) expansion: u32,
    pub(super) grows: bool,
    /// Items are forgotten after so many seconds.
    pub(super) seconds: Option<u64>,
}

impl Making {
    /// As the settings have it.
    pub(super) fn of(config: &Config) -> Self {
        Self {
            error: config.bf_error_rate,
            capacity: config.bf_initial_size,
            expansion: config.bf_expansion,
            grows: config.bf_expansion != 0,
            seconds: None,
        }
    }
}

/// An error rate and a capacity, as `BF.RESERVE` reads them.
pub(crate) fn error_and_capacity(words: &[&[u8]]) -> Result<(f64, u64), Reply> {
    let Some(error) = number(words[0]) else {
        return Err(Reply::error("ERR bad error rate"));
    };
    if !(error > 0.0 && error < 1.0) {
        return Err(Reply::error(
            "ERR error rate must be in the range (0.000000, 1.000000)",
        ));
    }
    let Some(capacity) = integer(words[1]) else {
        return Err(Reply::error("ERR bad capacity"));
    };
    if !(1..=MAX_CAPACITY).contains(&capacity) {
        return Err(Reply::error(
            "ERR capacity must be in the range [1, 1073741824]",
        ));
    }
    Ok((error.min(LAXEST_RATE), capacity as u64))
}

/// `key error capacity [EXPANSION n] [NONSCALING]`; options are found wherever they stand, as there.
pub(super) fn reserve(words: &[&[u8]], config: &Config) -> Result<Making, Reply> {
    let (error, capacity) = error_and_capacity(&words[1..])?;
    let is_fixed = find(words, "nonscaling").is_some();
    let mut expansion = i64::from(config.bf_expansion);
    if let Some(at) = find(words, "expansion") {
        let Some(given) = words.get(at + 1) else {
            return Err(Reply::error("ERR no expansion"));
        };
        expansion = integer(given).ok_or(Reply::error("ERR bad expansion"))?;
        if is_fixed && expansion != 0 {
            return Err(Reply::error("Nonscaling filters cannot expand"));
        }
        if !(0..=MAX_EXPANSION).contains(&expansion) {
            return Err(Reply::error(
                "ERR expansion must be in the range [0, 32768]",
            ));
        }
    }
    Ok(Making {
        error,
        capacity,
        expansion: expansion as u32,
        grows: expansion != 0 && !is_fixed,
        seconds: None,
    })
}

/// A window in milliseconds is a number of 48 bits at most.
const MAX_SECONDS: i64 = (1 << 48) / 1000;

/// `error capacity seconds`.
pub(super) fn window(words: &[&[u8]]) -> Result<Making, Reply> {
    let (error, capacity) = error_and_capacity(words)?;
    let Some(seconds) = integer(words[2]) else {
        return Err(Reply::error("ERR bad seconds"));
    };
    if !(1..=MAX_SECONDS).contains(&seconds) {
        return Err(Reply::error(
            "ERR seconds must be in the range [1, 281474976710]",
        ));
    }
    Ok(Making {
        error,
        capacity,
        expansion: 0,
        grows: false,
        seconds: Some(seconds as u64),
    })
}

/// `[CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item ..`; words are told apart by their first letters, as
/// there.
pub(super) fn insert<'a>(words: &[&'a [u8]], config: &Config) -> Result<Deed<'a>, Reply> {
    let arity = || wrong_arity("bf.insert");
    let mut making = Making::of(config);
    let (mut creates, mut is_fixed) = (true, false);
    let mut at = 0;
    loop {
        let word = words.get(at).ok_or_else(arity)?;
        let letter = |place: usize| word.get(place).map(u8::to_ascii_lowercase);
        let value = || words.get(at + 1).ok_or_else(arity);
        match (letter(0), letter(1), letter(2)) {
            (Some(b'i'), _, _) => break,
            (Some(b'e'), Some(b'r'), _) => {
                let error = number(value()?).filter(|&error| error > 0.0 && error < 1.0);
                let error = error.ok_or(Reply::error("Bad error rate"))?;
                making.error = error.min(LAXEST_RATE);
                at += 1;
            }
            (Some(b'e'), _, _) => {
                let given = integer(value()?).filter(|n| (0..=MAX_EXPANSION).contains(n));
                making.expansion = given.ok_or(Reply::error("Bad expansion"))? as u32;
                at += 1;
            }
            (Some(b'c'), _, _) => {
                let given = integer(value()?).filter(|n| (1..=MAX_CAPACITY).contains(n));
                making.capacity = given.ok_or(Reply::error("Bad capacity"))? as u64;
                at += 1;
            }
            (Some(b'n'), _, Some(b'c')) => creates = false,
            (Some(b'n'), _, _) => is_fixed = true,
            _ => return Err(Reply::error("Unknown argument received")),
        }
        at += 1;
    }
    let items = words[at + 1..].to_vec();
    if items.is_empty() {
        return Err(arity());
    }
    making.grows = making.expansion != 0 && !is_fixed;
    Ok(Deed::AddAll {
        items,
        making: creates.then_some(making),
    })
}
