//! `BF.*`.

use crate::config::{Config, LAXEST_RATE, MOST_CAPACITY, MOST_EXPANSION};
use crate::words::{find, integer, is, number};
use crate::{NOT_FOUND, Outcome, Reply, Slot, WRONG_TYPE, count, each, not_made, wrong_arity};
use mayhap::Full;
use mayhap_codec::Limits;
use mayhap_codec::redis::{Bloom, ChunkError};

/// How a filter is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Making {
    error: f64,
    capacity: u64,
    /// None and 0 do not grow, and are told apart in SCANDUMP.
    expansion: Option<u32>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verb<'a> {
    Reserve(Making),
    Add(&'a [u8]),
    AddAll {
        items: Vec<&'a [u8]>,
        /// None: only into a filter that is there.
        making: Option<Making>,
    },
    Contains(&'a [u8]),
    ContainsAll(Vec<&'a [u8]>),
    Card,
    Info(Option<&'a [u8]>),
    Debug,
    Scan(&'a [u8]),
    Load {
        iterator: &'a [u8],
        chunk: &'a [u8],
    },
}

impl<'a> Verb<'a> {
    /// `words` begin with the key.
    pub(crate) fn parse(verb: &str, words: &[&'a [u8]], config: &Config) -> Result<Self, Reply> {
        let rest = &words[1..];
        Ok(match verb {
            "reserve" => Self::Reserve(reserve(words, config)?),
            "add" => Self::Add(rest[0]),
            "madd" => Self::AddAll {
                items: rest.to_vec(),
                making: Some(Making::of(config)),
            },
            "insert" => insert(rest, config)?,
            "exists" => Self::Contains(rest[0]),
            "mexists" => Self::ContainsAll(rest.to_vec()),
            "card" => Self::Card,
            "info" => Self::Info(rest.first().copied()),
            "debug" => Self::Debug,
            "scandump" => Self::Scan(rest[0]),
            _ => Self::Load {
                iterator: rest[0],
                chunk: rest[1],
            },
        })
    }

    pub(crate) fn apply(&self, slot: &mut Slot, config: &Config) -> Outcome {
        match self {
            Self::Reserve(making) => {
                let is_ours = matches!(slot, Slot::Bloom(_));
                crate::reserve(slot, is_ours, || making.make(), Slot::Bloom)
            }
            Self::Add(item) => add(slot, item, Making::of(config)),
            Self::AddAll { items, making } => add_all(slot, items, *making),
            Self::Contains(item) => Outcome::told(Reply::Boolean(contains(slot, item))),
            Self::ContainsAll(items) => each(items, |item| contains(slot, item)),
            Self::Card => Outcome::told(match slot {
                Slot::Missing => Reply::Integer(0),
                Slot::Bloom(filter) => count(filter.info().items),
                _ => WRONG_TYPE,
            }),
            Self::Info(field) => Outcome::told(asked(slot, |filter| info(filter, *field))),
            Self::Debug => Outcome::told(asked(slot, |filter| {
                let lines = filter.debug_lines().into_iter();
                Reply::Array(lines.map(|line| Reply::Bulk(line.into())).collect())
            })),
            Self::Scan(iterator) => Outcome::told(asked(slot, |filter| scan(filter, iterator))),
            Self::Load { iterator, chunk } => load(slot, iterator, chunk, config),
        }
    }
}

impl Making {
    /// As the settings have it.
    fn of(config: &Config) -> Self {
        Self {
            error: config.bf_error_rate,
            capacity: config.bf_initial_size,
            expansion: Some(config.bf_expansion),
        }
    }

    fn make(self) -> Result<Bloom, Reply> {
        Bloom::reserve(self.error, self.capacity, self.expansion)
            .map_err(not_made("ERR could not create filter"))
    }
}

/// `key error capacity [EXPANSION n] [NONSCALING]`; options are found wherever they stand, as there.
fn reserve(words: &[&[u8]], config: &Config) -> Result<Making, Reply> {
    let Some(error) = number(words[1]) else {
        return Err(Reply::error("ERR bad error rate"));
    };
    if !(error > 0.0 && error < 1.0) {
        return Err(Reply::error(
            "ERR error rate must be in the range (0.000000, 1.000000)",
        ));
    }
    let Some(capacity) = integer(words[2]) else {
        return Err(Reply::error("ERR bad capacity"));
    };
    if !(1..=MOST_CAPACITY).contains(&capacity) {
        return Err(Reply::error(
            "ERR capacity must be in the range [1, 1073741824]",
        ));
    }
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
        if !(0..=MOST_EXPANSION).contains(&expansion) {
            return Err(Reply::error(
                "ERR expansion must be in the range [0, 32768]",
            ));
        }
    }
    Ok(Making {
        error: error.min(LAXEST_RATE),
        capacity: capacity as u64,
        expansion: Some(expansion as u32).filter(|&expansion| !is_fixed || expansion == 0),
    })
}

/// `[CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item ..`; words are told apart by their first letters, as
/// there.
fn insert<'a>(words: &[&'a [u8]], config: &Config) -> Result<Verb<'a>, Reply> {
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
                let given = integer(value()?).filter(|n| (0..=MOST_EXPANSION).contains(n));
                making.expansion = Some(given.ok_or(Reply::error("Bad expansion"))? as u32);
                at += 1;
            }
            (Some(b'c'), _, _) => {
                let given = integer(value()?).filter(|n| (1..=MOST_CAPACITY).contains(n));
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
    if is_fixed {
        making.expansion = making.expansion.filter(|&expansion| expansion == 0);
    }
    Ok(Verb::AddAll {
        items,
        making: creates.then_some(making),
    })
}

/// The filter of a key, made if it is missing.
fn filter(slot: &mut Slot, making: Option<Making>) -> Result<&mut Bloom, Reply> {
    if *slot == Slot::Missing {
        *slot = Slot::Bloom(Box::new(making.ok_or(NOT_FOUND)?.make()?));
    }
    match slot {
        Slot::Bloom(filter) => Ok(filter),
        _ => Err(WRONG_TYPE),
    }
}

fn full(full: Full) -> Reply {
    match full {
        Full::Table { .. } => Reply::error("ERR non scaling filter is full"),
        _ => Reply::error("ERR problem inserting into filter"),
    }
}

fn add(slot: &mut Slot, item: &[u8], making: Making) -> Outcome {
    match filter(slot, Some(making)) {
        Ok(filter) => {
            let added = filter.try_insert(item);
            Outcome::done(added.map_or_else(full, Reply::Boolean))
        }
        Err(reply) => Outcome::told(reply),
    }
}

fn add_all(slot: &mut Slot, items: &[&[u8]], making: Option<Making>) -> Outcome {
    match filter(slot, making) {
        Ok(filter) => {
            let added = filter.try_insert_each(items).into_iter();
            let replies = added.map(|added| added.map_or_else(full, Reply::Boolean));
            Outcome::done(Reply::Array(replies.collect()))
        }
        Err(reply) => Outcome::told(reply),
    }
}

/// A key of another type is as good as a missing one here.
fn contains(slot: &Slot, item: &[u8]) -> bool {
    matches!(slot, Slot::Bloom(filter) if filter.contains(item))
}

fn asked(slot: &Slot, ask: impl FnOnce(&Bloom) -> Reply) -> Reply {
    match slot {
        Slot::Missing => NOT_FOUND,
        Slot::Bloom(filter) => ask(filter),
        _ => WRONG_TYPE,
    }
}

fn info(filter: &Bloom, field: Option<&[u8]>) -> Reply {
    let info = filter.info();
    let expansion = info
        .expansion
        .map_or(Reply::Null, |expansion| count(expansion.into()));
    let fields = [
        ("CAPACITY", "Capacity", count(info.capacity)),
        ("SIZE", "Size", count(info.size_bytes)),
        ("FILTERS", "Number of filters", count(info.layers)),
        ("ITEMS", "Number of items inserted", count(info.items)),
        ("EXPANSION", "Expansion rate", expansion),
    ];
    let Some(wanted) = field else {
        let all = fields.into_iter().map(|(_, name, value)| (name, value));
        return Reply::Fields(all.collect());
    };
    let found = fields.into_iter().find(|(word, _, _)| is(wanted, word));
    match found {
        Some((_, name, value)) => Reply::Field(name, Box::new(value)),
        None => Reply::error("Invalid information value"),
    }
}

fn scan(filter: &Bloom, iterator: &[u8]) -> Reply {
    let Some(iterator) = integer(iterator) else {
        return Reply::error("Second argument must be numeric");
    };
    let (next, chunk) = filter.scan(iterator).unwrap_or_default();
    Reply::Array(vec![Reply::Integer(next), Reply::Bulk(chunk)])
}

fn load(slot: &mut Slot, iterator: &[u8], chunk: &[u8], config: &Config) -> Outcome {
    const BAD: Reply = Reply::error("ERR received bad data");
    let Some(iterator) = integer(iterator) else {
        return Outcome::told(Reply::error("ERR Second argument must be numeric"));
    };
    let limits = Limits {
        most_bytes: config.most_filter_bytes,
    };
    match slot {
        Slot::Missing if iterator != 1 => Outcome::told(NOT_FOUND),
        Slot::Missing => match Bloom::from_header(chunk, limits) {
            Ok(filter) => {
                *slot = Slot::Bloom(Box::new(filter));
                Outcome::done(Reply::OK)
            }
            Err(_) => Outcome::told(BAD),
        },
        Slot::Bloom(filter) => match filter.load_chunk(iterator, chunk) {
            Ok(()) => Outcome::done(Reply::OK),
            Err(error) => Outcome::told(match error {
                ChunkError::Outside { .. } => Reply::error("ERR invalid offset - no link found"),
                ChunkError::TooLong { .. } => {
                    Reply::error("ERR invalid chunk - Too big for current filter")
                }
                _ => BAD,
            }),
        },
        _ => Outcome::told(WRONG_TYPE),
    }
}
