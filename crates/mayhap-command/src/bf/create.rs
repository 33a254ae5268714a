//! The options of a new Bloom filter, from the args of a command and the settings.

use crate::config::{Config, MAX_CAPACITY, MAX_ERROR_RATE, MAX_EXPANSION};
use crate::outcome::OwnedCommand;
use crate::parse::{find, integer, number};
use crate::{AnyBloom, Context, NOT_FOUND, Reply, Slot, WRONG_TYPE, wrong_arity};

/// How a filter is created.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct CreateOptions {
    pub(super) error: f64,
    pub(super) capacity: u64,
    /// As requested or set; RedisBloom's layout stores it even if the filter does not grow.
    pub(super) expansion: u32,
    pub(super) grows: bool,
    /// Whether the command named the capacity. Otherwise it is a setting, and says nothing about the number of items.
    pub(super) is_reserved: bool,
    /// For a window filter: the seconds after which items are forgotten.
    pub(super) seconds: Option<u64>,
}

impl CreateOptions {
    pub(super) fn from_config(config: &Config) -> Self {
        Self {
            error: config.bf_error_rate,
            capacity: config.bf_initial_size,
            expansion: config.bf_expansion,
            grows: config.bf_expansion != 0,
            is_reserved: false,
            seconds: None,
        }
    }
}

/// The filter of a key, and if it had to be created, the command that creates the same one elsewhere.
pub(super) fn get_or_create<'s>(
    key: &[u8],
    slot: &'s mut Slot,
    options: Option<CreateOptions>,
    context: &Context<'_>,
) -> Result<(&'s mut AnyBloom, Option<OwnedCommand>), Reply> {
    let mut created = None;
    if matches!(slot, Slot::Missing) {
        let filter = AnyBloom::create(options.ok_or(NOT_FOUND)?, context)?;
        created = Some(filter.creation(key));
        *slot = Slot::Bloom(Box::new(filter));
    }
    match slot {
        Slot::Bloom(filter) => Ok((filter, created)),
        Slot::Missing | Slot::Cuckoo(_) | Slot::Counting(_) | Slot::Other => Err(WRONG_TYPE),
    }
}

/// An error rate and a capacity, as `BF.RESERVE` reads them.
pub(crate) fn error_and_capacity(args: &[&[u8]]) -> Result<(f64, u64), Reply> {
    let Some(error) = number(args[0]) else {
        return Err(Reply::error("ERR bad error rate"));
    };
    if !(error > 0.0 && error < 1.0) {
        return Err(Reply::error(
            "ERR error rate must be in the range (0.000000, 1.000000)",
        ));
    }
    let Some(capacity) = integer(args[1]) else {
        return Err(Reply::error("ERR bad capacity"));
    };
    if !(1..=MAX_CAPACITY).contains(&capacity) {
        return Err(Reply::error(
            "ERR capacity must be in the range [1, 1073741824]",
        ));
    }
    Ok((error.min(MAX_ERROR_RATE), capacity as u64))
}

/// `key error capacity [EXPANSION n] [NONSCALING]`; options are accepted at any position, as in RedisBloom.
pub(super) fn reserve(args: &[&[u8]], config: &Config) -> Result<CreateOptions, Reply> {
    let (error, capacity) = error_and_capacity(&args[1..])?;
    let is_fixed = find(args, "nonscaling").is_some();
    let mut expansion = i64::from(config.bf_expansion);
    if let Some(at) = find(args, "expansion") {
        let Some(given) = args.get(at + 1) else {
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
    Ok(CreateOptions {
        error,
        capacity,
        expansion: expansion as u32,
        grows: expansion != 0 && !is_fixed,
        is_reserved: true,
        seconds: None,
    })
}

/// The length of a window in milliseconds has at most 48 bits.
const MAX_SECONDS: i64 = (1 << 48) / 1000;

/// `error capacity seconds`.
pub(super) fn window(args: &[&[u8]]) -> Result<CreateOptions, Reply> {
    let (error, capacity) = error_and_capacity(args)?;
    let Some(seconds) = integer(args[2]) else {
        return Err(Reply::error("ERR bad seconds"));
    };
    if !(1..=MAX_SECONDS).contains(&seconds) {
        return Err(Reply::error(
            "ERR seconds must be in the range [1, 281474976710]",
        ));
    }
    Ok(CreateOptions {
        error,
        capacity,
        expansion: 0,
        grows: false,
        is_reserved: true,
        seconds: Some(seconds as u64),
    })
}

/// `[CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item ..`; options are recognised by their
/// first letters, as in RedisBloom. Returns the options, unless NOCREATE is given, and the items.
pub(super) fn insert<'w, 'a>(
    args: &'w [&'a [u8]],
    config: &Config,
) -> Result<(Option<CreateOptions>, &'w [&'a [u8]]), Reply> {
    let arity = || wrong_arity("bf.insert");
    let mut options = CreateOptions::from_config(config);
    let (mut creates, mut is_fixed) = (true, false);
    let mut at = 0;
    loop {
        let argument = args.get(at).ok_or_else(arity)?;
        let letter = |place: usize| argument.get(place).map(u8::to_ascii_lowercase);
        let value = || args.get(at + 1).ok_or_else(arity);
        match (letter(0), letter(1), letter(2)) {
            (Some(b'i'), _, _) => break,
            (Some(b'e'), Some(b'r'), _) => {
                let error = number(value()?).filter(|&error| error > 0.0 && error < 1.0);
                let error = error.ok_or(Reply::error("Bad error rate"))?;
                options.error = error.min(MAX_ERROR_RATE);
                at += 1;
            }
            (Some(b'e'), _, _) => {
                let given = integer(value()?).filter(|n| (0..=MAX_EXPANSION).contains(n));
                options.expansion = given.ok_or(Reply::error("Bad expansion"))? as u32;
                at += 1;
            }
            (Some(b'c'), _, _) => {
                let given = integer(value()?).filter(|n| (1..=MAX_CAPACITY).contains(n));
                options.capacity = given.ok_or(Reply::error("Bad capacity"))? as u64;
                options.is_reserved = true;
                at += 1;
            }
            (Some(b'n'), _, Some(b'c')) => creates = false,
            (Some(b'n'), _, _) => is_fixed = true,
            _ => return Err(Reply::error("Unknown argument received")),
        }
        at += 1;
    }
    let items = &args[at + 1..];
    if items.is_empty() {
        return Err(arity());
    }
    options.grows = options.expansion != 0 && !is_fixed;
    Ok((creates.then_some(options), items))
}
