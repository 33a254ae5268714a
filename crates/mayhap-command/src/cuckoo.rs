//! `CF.*`.

use crate::config::{Config, MOST_CAPACITY, MOST_EXPANSION};
use crate::words::{find, integer};
use crate::{
    EXISTS, NOT_FOUND, Outcome, Reply, Slot, WRONG_TYPE, count, each, not_made, wrong_arity,
};
use mayhap::Full;
use mayhap_codec::Limits;
use mayhap_codec::redis::Cuckoo;

/// Bytes of the header of a SCANDUMP.
const HEADER: usize = 38;

/// How a filter is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Making {
    capacity: u64,
    bucket_size: u8,
    max_iterations: u16,
    expansion: u16,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verb<'a> {
    Reserve(Making),
    Add {
        item: &'a [u8],
        /// Only if it does not look present.
        if_absent: bool,
    },
    AddAll {
        items: Vec<&'a [u8]>,
        /// None: only into a filter that is there.
        making: Option<Making>,
        if_absent: bool,
    },
    Contains(&'a [u8]),
    ContainsAll(Vec<&'a [u8]>),
    Count(&'a [u8]),
    Remove(&'a [u8]),
    Compact,
    Info,
    Debug,
    Scan(&'a [u8]),
    Load {
        position: &'a [u8],
        chunk: &'a [u8],
    },
}

impl<'a> Verb<'a> {
    /// `words` begin with the key.
    pub(crate) fn parse(verb: &str, words: &[&'a [u8]], config: &Config) -> Result<Self, Reply> {
        let rest = &words[1..];
        Ok(match verb {
            "reserve" => Self::Reserve(reserve(words, config)?),
            "add" | "addnx" => Self::Add {
                item: rest[0],
                if_absent: verb == "addnx",
            },
            "insert" | "insertnx" => insert(verb, rest, config)?,
            "exists" => Self::Contains(rest[0]),
            "mexists" => Self::ContainsAll(rest.to_vec()),
            "count" => Self::Count(rest[0]),
            "del" => Self::Remove(rest[0]),
            "compact" => Self::Compact,
            "info" => Self::Info,
            "debug" => Self::Debug,
            "scandump" => Self::Scan(rest[0]),
            _ => Self::Load {
                position: rest[0],
                chunk: rest[1],
            },
        })
    }

    pub(crate) fn apply(&self, slot: &mut Slot, config: &Config) -> Outcome {
        match self {
            Self::Reserve(making) => {
                let is_ours = matches!(slot, Slot::Cuckoo(_));
                crate::reserve(slot, is_ours, || making.make(), Slot::Cuckoo)
            }
            Self::Add { item, if_absent } => add(slot, item, *if_absent, config),
            Self::AddAll {
                items,
                making,
                if_absent,
            } => add_all(slot, items, *making, *if_absent, config),
            Self::Contains(item) => Outcome::told(Reply::Boolean(contains(slot, item))),
            Self::ContainsAll(items) => each(items, |item| contains(slot, item)),
            Self::Count(item) => Outcome::told(match slot {
                Slot::Cuckoo(filter) => count(filter.count(item)),
                _ => Reply::Integer(0),
            }),
            Self::Remove(item) => match slot {
                Slot::Cuckoo(filter) => Outcome::done(Reply::Boolean(filter.remove(item))),
                _ => Outcome::told(Reply::error("Not found")),
            },
            Self::Compact => match slot {
                Slot::Cuckoo(filter) => {
                    filter.compact();
                    Outcome::done(Reply::OK)
                }
                _ => Outcome::told(Reply::error("Cuckoo filter was not found")),
            },
            Self::Info => Outcome::told(asked(slot, info)),
            Self::Debug => Outcome::told(asked(slot, |filter| {
                Reply::Bulk(filter.debug_line().into())
            })),
            Self::Scan(position) => Outcome::told(scan(slot, position)),
            Self::Load { position, chunk } => load(slot, position, chunk, config),
        }
    }
}

impl Making {
    /// As the settings have it.
    fn of(config: &Config) -> Self {
        Self {
            capacity: config.cf_initial_size,
            bucket_size: config.cf_bucket_size,
            max_iterations: config.cf_max_iterations,
            expansion: config.cf_expansion,
        }
    }

    fn make(self) -> Result<Cuckoo, Reply> {
        let made = Cuckoo::reserve(
            self.capacity,
            self.bucket_size,
            self.max_iterations,
            self.expansion,
        );
        made.map_err(not_made("ERR Could not create filter"))
    }
}

/// `key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n]`; options are found wherever they stand, as there.
fn reserve(words: &[&[u8]], config: &Config) -> Result<Making, Reply> {
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
        0..=MOST_EXPANSION,
        "Couldn't parse EXPANSION",
        "EXPANSION: value must be in the range [0, 32768]",
        config.cf_expansion.into(),
    )?;
    if !(2 * bucket_size..=MOST_CAPACITY).contains(&capacity) {
        return Err(Reply::error(
            "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]",
        ));
    }
    Ok(Making {
        capacity: capacity as u64,
        bucket_size: bucket_size as u8,
        max_iterations: max_iterations as u16,
        expansion: expansion as u16,
    })
}

/// `[CAPACITY n] [NOCREATE] ITEMS item ..`; words are told apart by their first letters, as there.
fn insert<'a>(verb: &str, words: &[&'a [u8]], config: &Config) -> Result<Verb<'a>, Reply> {
    let if_absent = verb == "insertnx";
    let arity = || {
        wrong_arity(if if_absent {
            "cf.insertnx"
        } else {
            "cf.insert"
        })
    };
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
                if !(2 * i64::from(config.cf_bucket_size)..=MOST_CAPACITY).contains(&given) {
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
    Ok(Verb::AddAll {
        items,
        making: creates.then_some(making),
        if_absent,
    })
}

/// The filter of a key, made if it is missing; refused when it has grown too often.
fn filter<'s>(
    slot: &'s mut Slot,
    making: Option<Making>,
    config: &Config,
) -> Result<&'s mut Cuckoo, Reply> {
    if *slot == Slot::Missing {
        *slot = Slot::Cuckoo(Box::new(making.ok_or(NOT_FOUND)?.make()?));
    }
    match slot {
        Slot::Cuckoo(filter) if filter.info().tables >= config.cf_max_expansions => {
            Err(Reply::error("Maximum expansions reached"))
        }
        Slot::Cuckoo(filter) => Ok(filter),
        _ => Err(WRONG_TYPE),
    }
}

fn put(filter: &mut Cuckoo, item: &[u8], if_absent: bool) -> Result<bool, Full> {
    if if_absent {
        filter.insert_if_absent(item)
    } else {
        filter.try_insert(item).map(|()| true)
    }
}

fn add(slot: &mut Slot, item: &[u8], if_absent: bool, config: &Config) -> Outcome {
    let filter = match filter(slot, Some(Making::of(config)), config) {
        Ok(filter) => filter,
        Err(reply) => return Outcome::told(reply),
    };
    match put(filter, item, if_absent) {
        Ok(added) => Outcome::done(Reply::Boolean(added)),
        Err(Full::Table { .. }) => Outcome::told(Reply::error("Filter is full")),
        Err(_) => Outcome::told(Reply::error("ERR Insufficient memory")),
    }
}

fn add_all(
    slot: &mut Slot,
    items: &[&[u8]],
    making: Option<Making>,
    if_absent: bool,
    config: &Config,
) -> Outcome {
    let filter = match filter(slot, making, config) {
        Ok(filter) => filter,
        Err(reply) => return Outcome::told(reply),
    };
    let replies = items.iter().map(|item| {
        match (put(filter, item, if_absent), if_absent) {
            (Ok(added), true) => Reply::Integer(i64::from(added)),
            (Ok(added), false) => Reply::Boolean(added),
            (Err(_), true) => Reply::Integer(-1),
            // -1 in the older protocol, and no in the newer.
            (Err(_), false) => Reply::Refused,
        }
    });
    let replies = replies.collect();
    Outcome::done(Reply::Array(replies))
}

/// A key of another type is as good as a missing one here.
fn contains(slot: &Slot, item: &[u8]) -> bool {
    matches!(slot, Slot::Cuckoo(filter) if filter.contains(item))
}

fn asked(slot: &Slot, ask: impl FnOnce(&Cuckoo) -> Reply) -> Reply {
    match slot {
        Slot::Missing => NOT_FOUND,
        Slot::Cuckoo(filter) => ask(filter),
        _ => WRONG_TYPE,
    }
}

fn info(filter: &Cuckoo) -> Reply {
    let info = filter.info();
    Reply::Fields(vec![
        ("Size", count(info.size_bytes)),
        ("Number of buckets", count(info.buckets)),
        ("Number of filters", count(info.tables)),
        ("Number of items inserted", count(info.items)),
        ("Number of items deleted", count(info.deleted)),
        ("Bucket size", count(info.bucket_size.into())),
        ("Expansion rate", count(info.expansion.into())),
        ("Max iterations", count(info.max_iterations.into())),
    ])
}

const POSITION: Reply = Reply::error("Invalid position");

fn scan(slot: &Slot, position: &[u8]) -> Reply {
    let Some(position) = integer(position).filter(|&position| position >= 0) else {
        return POSITION;
    };
    asked(slot, |filter| {
        let (next, chunk) = match filter.scan(position) {
            Some((next, chunk)) => (next, Reply::Bulk(chunk)),
            None => (0, Reply::Null),
        };
        Reply::Array(vec![Reply::Integer(next), chunk])
    })
}

fn load(slot: &mut Slot, position: &[u8], chunk: &[u8], config: &Config) -> Outcome {
    let Some(position) = integer(position).filter(|&position| position != 0) else {
        return Outcome::told(POSITION);
    };
    let limits = Limits {
        most_bytes: config.most_filter_bytes,
    };
    match slot {
        Slot::Missing if position != 1 => Outcome::told(NOT_FOUND),
        Slot::Missing if chunk.len() != HEADER => Outcome::told(Reply::error("Invalid header")),
        Slot::Missing => match Cuckoo::from_header(chunk, limits) {
            Ok(filter) => {
                *slot = Slot::Cuckoo(Box::new(filter));
                Outcome::done(Reply::OK)
            }
            Err(_) => Outcome::told(Reply::error("Couldn't create filter!")),
        },
        Slot::Cuckoo(_) if position == 1 => Outcome::told(EXISTS),
        Slot::Cuckoo(filter) => match filter.load_chunk(position, chunk) {
            Ok(()) => Outcome::done(Reply::OK),
            Err(_) => Outcome::told(Reply::error("Couldn't load chunk!")),
        },
        _ => Outcome::told(WRONG_TYPE),
    }
}
