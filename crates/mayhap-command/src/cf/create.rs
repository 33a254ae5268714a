//! The options of a new cuckoo filter, from the args of a command and the settings.

use crate::config::{Config, MAX_CAPACITY, MAX_EXPANSION};
use crate::outcome::OwnedCommand;
use crate::parse::{find, integer, number};
use crate::{AnyCuckoo, Context, Layout, NOT_FOUND, Reply, Slot, WRONG_TYPE, wrong_arity};

/// The error rate if none is requested: slightly lower than that of RedisBloom's buckets of two.
const DEFAULT_ERROR: f64 = 0.01;

/// How a filter is created.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct CreateOptions {
    pub(super) capacity: u64,
    /// Whether the command named the capacity. Otherwise it is a setting, and says nothing about the number of items.
    pub(super) is_reserved: bool,
    pub(super) bucket_size: u8,
    pub(super) max_iterations: u16,
    pub(super) expansion: u16,
    /// For the native layout; RedisBloom's has a fixed fingerprint size.
    pub(super) error: f64,
}

impl CreateOptions {
    pub(super) fn from_config(config: &Config) -> Self {
        Self {
            capacity: config.cf_initial_size,
            is_reserved: false,
            bucket_size: config.cf_bucket_size,
            max_iterations: config.cf_max_iterations,
            expansion: config.cf_expansion,
            error: DEFAULT_ERROR,
        }
    }
}

/// Creates the filter of a key. Returns the command that creates the same one elsewhere.
pub(super) fn create(
    key: &[u8],
    slot: &mut Slot,
    options: CreateOptions,
    context: &Context<'_>,
) -> Result<OwnedCommand, Reply> {
    let filter = AnyCuckoo::create(options, context)?;
    let created = filter.creation(key);
    *slot = Slot::Cuckoo(Box::new(filter));
    Ok(created)
}

/// The filter of a key, and if it had to be created, the command that creates the same one elsewhere. An error if the filter has grown as
/// often as the settings allow.
pub(super) fn get_or_create<'s>(
    key: &[u8],
    slot: &'s mut Slot,
    options: Option<CreateOptions>,
    context: &Context<'_>,
) -> Result<(&'s mut AnyCuckoo, Option<OwnedCommand>), Reply> {
    let mut created = None;
    if matches!(slot, Slot::Missing) {
        let options = options.ok_or(NOT_FOUND)?;
        created = Some(create(key, slot, options, context)?);
    }
    let max_tables = context.config.max_cuckoo_tables();
    match slot {
        // A new filter has one table, even if one is the maximum.
        Slot::Cuckoo(filter) if created.is_none() && filter.tables() >= max_tables => {
            Err(Reply::error("Maximum expansions reached"))
        }
        Slot::Cuckoo(filter) => Ok((filter, created)),
        Slot::Missing | Slot::Bloom(_) | Slot::Counting(_) | Slot::Other => Err(WRONG_TYPE),
    }
}

/// `key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] [ERROR e]`; options are accepted at any position, as in RedisBloom.
pub(super) fn reserve(args: &[&[u8]], config: &Config) -> Result<CreateOptions, Reply> {
    if !args.len().is_multiple_of(2) {
        return Err(wrong_arity("cf.reserve"));
    }
    let Some(capacity) = integer(args[1]) else {
        return Err(Reply::error("Bad capacity"));
    };
    let option = |name, range: std::ops::RangeInclusive<i64>, parse, within, default| {
        let Some(at) = find(args, name) else {
            return Ok(default);
        };
        let given = args.get(at + 1).and_then(|argument| integer(argument));
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
    let error = match find(&args[2..], "error") {
        // RedisBloom ignores unknown options, so its layout ignores this one.
        Some(at) if config.layout == Layout::Native => {
            let given = args.get(2 + at + 1).and_then(|argument| number(argument));
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
    Ok(CreateOptions {
        capacity: capacity as u64,
        is_reserved: true,
        bucket_size: bucket_size as u8,
        max_iterations: max_iterations as u16,
        expansion: expansion as u16,
        error,
    })
}

/// `[CAPACITY n] [NOCREATE] ITEMS item ..`; options are recognised by their first letters, as in RedisBloom. Returns
/// the options, unless NOCREATE is given, and the items.
pub(super) fn insert<'w, 'a>(
    name: &str,
    args: &'w [&'a [u8]],
    config: &Config,
) -> Result<(Option<CreateOptions>, &'w [&'a [u8]]), Reply> {
    let arity = || wrong_arity(name);
    let mut options = CreateOptions::from_config(config);
    let mut creates = true;
    let mut at = 0;
    loop {
        let argument = args.get(at).ok_or_else(arity)?;
        match argument.first().map(u8::to_ascii_lowercase) {
            Some(b'i') => break,
            Some(b'c') => {
                let given = integer(args.get(at + 1).ok_or_else(arity)?);
                let given = given.ok_or(Reply::error("Bad capacity"))?;
                if !(config.min_cuckoo_capacity()..=MAX_CAPACITY).contains(&given) {
                    return Err(Reply::error(
                        "Capacity must be in the range [cf-bucket-size * 2, 1073741824]",
                    ));
                }
                options.capacity = given as u64;
                options.is_reserved = true;
                at += 1;
            }
            Some(b'n') => creates = false,
            _ => return Err(Reply::error("Unknown argument received")),
        }
        at += 1;
    }
    let items = &args[at + 1..];
    if items.is_empty() {
        return Err(arity());
    }
    Ok((creates.then_some(options), items))
}
