//! `CBF.*`: counting Bloom filters. Adding counts, removing counts back, and a counter that is full stays so.

use crate::bf::error_and_capacity;
use crate::command::{Words, words};
use crate::native::NativeCounting;
use crate::table::Verb;
use crate::{Context, EXISTS, NOT_FOUND, Outcome, Reply, Slot, WRONG_TYPE, count, image, not_made};
use mayhap_core::HashScheme;

/// What changes nothing.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Question<'a> {
    Contains(&'a [u8]),
    ContainsAll(Vec<&'a [u8]>),
    Count(&'a [u8]),
    Info,
}

impl<'a> Question<'a> {
    /// `words` begin after the key.
    pub(crate) fn of(verb: Verb, words: &[&'a [u8]]) -> Self {
        match verb {
            Verb::CbfExists => Self::Contains(words[0]),
            Verb::CbfMexists => Self::ContainsAll(words.to_vec()),
            Verb::CbfCount => Self::Count(words[0]),
            _ => Self::Info,
        }
    }

    /// As in the other families, a key of another type is as good as a missing one, but for what describes it.
    pub(crate) fn ask(&self, slot: &Slot) -> Reply {
        let filter = match slot {
            Slot::Counting(counting) => Some(&counting.filter),
            _ => None,
        };
        match self {
            Self::Contains(item) => {
                Reply::Boolean(filter.is_some_and(|filter| filter.contains(item)))
            }
            Self::ContainsAll(items) => {
                let mut found = vec![false; items.len()];
                if let Some(filter) = filter {
                    filter.contains_each(items, &mut found);
                }
                Reply::Booleans(found)
            }
            Self::Count(item) => count(filter.map_or(0, |filter| filter.estimated_count(item))),
            Self::Info => match slot {
                Slot::Counting(counting) => info(counting),
                Slot::Missing => NOT_FOUND,
                _ => WRONG_TYPE,
            },
        }
    }
}

fn info(counting: &NativeCounting) -> Reply {
    let filter = &counting.filter;
    Reply::Fields(vec![
        ("Capacity", count(filter.capacity())),
        ("Size", count(counting.size_bytes())),
        ("Number of items inserted", count(counting.items)),
        ("Error rate", Reply::Double(filter.false_positive_rate())),
        ("Largest count", count(filter.plan().max_count().into())),
        ("Full counters", count(filter.saturated_counters())),
    ])
}

/// What may change a filter.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Deed<'a> {
    Reserve { error: f64, capacity: u64 },
    Add(&'a [u8]),
    AddAll(Vec<&'a [u8]>),
    Remove(&'a [u8]),
}

impl<'a> Deed<'a> {
    /// `words` begin after the key.
    pub(crate) fn parse(verb: Verb, words: &[&'a [u8]]) -> Result<Self, Reply> {
        Ok(match verb {
            Verb::CbfReserve => {
                let (error, capacity) = error_and_capacity(words)?;
                Self::Reserve { error, capacity }
            }
            Verb::CbfAdd => Self::Add(words[0]),
            Verb::CbfMadd => Self::AddAll(words.to_vec()),
            _ => Self::Remove(words[0]),
        })
    }

    pub(crate) fn apply(&self, key: &[u8], slot: &mut Slot, context: &Context<'_>) -> Outcome {
        match self {
            Self::Reserve { error, capacity } => match slot {
                Slot::Missing => match make(key, slot, *error, *capacity, context) {
                    Ok(made) => Outcome::instead(Reply::OK, vec![made]),
                    Err(reply) => Outcome::told(reply),
                },
                Slot::Counting(_) => Outcome::told(EXISTS),
                _ => Outcome::told(WRONG_TYPE),
            },
            Self::Add(item) => {
                let put = |slot: &mut Slot| Reply::Boolean(add(slot, item));
                adding(key, slot, context, put, || words("CBF.ADD", key, &[item]))
            }
            Self::AddAll(items) => {
                let put = |slot: &mut Slot| {
                    Reply::Booleans(items.iter().map(|item| add(slot, item)).collect())
                };
                adding(key, slot, context, put, || words("CBF.MADD", key, items))
            }
            Self::Remove(item) => match slot {
                Slot::Counting(counting) => match counting.filter.remove(item) {
                    Ok(removed) => {
                        let one = u64::from(removed);
                        counting.items = counting.items.saturating_sub(one);
                        Outcome::changed(removed)
                    }
                    Err(_) => Outcome::told(Reply::error(
                        "ERR a counter of this item is full, so that it cannot be removed",
                    )),
                },
                Slot::Missing => Outcome::told(NOT_FOUND),
                _ => Outcome::told(WRONG_TYPE),
            },
        }
    }
}

/// `true`: the item was surely new.
fn add(slot: &mut Slot, item: &[u8]) -> bool {
    let Slot::Counting(counting) = slot else {
        return false;
    };
    counting.items = counting.items.saturating_add(1);
    counting.filter.insert(item)
}

/// Puts something into a filter that is made if it is missing; `same` is the command for whoever has to make it too.
fn adding(
    key: &[u8],
    slot: &mut Slot,
    context: &Context<'_>,
    put: impl FnOnce(&mut Slot) -> Reply,
    same: impl FnOnce() -> Words,
) -> Outcome {
    let config = context.config;
    let made = match slot {
        Slot::Missing => {
            let (error, capacity) = (config.bf_error_rate, config.bf_initial_size);
            match make(key, slot, error, capacity, context) {
                Ok(made) => Some(made),
                Err(reply) => return Outcome::told(reply),
            }
        }
        Slot::Counting(_) => None,
        _ => return Outcome::told(WRONG_TYPE),
    };
    let reply = put(slot);
    match made {
        None => Outcome::done(reply),
        Some(made) => Outcome::instead(reply, vec![made, same()]),
    }
}

fn make(
    key: &[u8],
    slot: &mut Slot,
    error: f64,
    capacity: u64,
    context: &Context<'_>,
) -> Result<Words, Reply> {
    let scheme = HashScheme::Sip13(context.secret);
    let filter = NativeCounting::reserve(error, capacity, scheme, context.max_bytes())
        .map_err(not_made("ERR could not create filter"))?;
    let header = image::counting_header(&filter);
    *slot = Slot::Counting(Box::new(filter));
    Ok(words("MAYHAP.LOAD", key, &[&header]))
}
