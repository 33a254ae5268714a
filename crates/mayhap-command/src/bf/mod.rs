//! `BF.*`: `options.rs` reads words, `ask.rs` and `change.rs` are what commands do, `layouts.rs` does it to a filter of either layout.

mod ask;
mod change;
mod layouts;
mod options;

use crate::table::Verb;
use crate::{Config, Reply};
pub(crate) use layouts::Added;
use options::Making;
pub(crate) use options::error_and_capacity;

/// What changes nothing.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Question<'a> {
    Contains(&'a [u8]),
    ContainsAll(Vec<&'a [u8]>),
    Card,
    Info(Option<&'a [u8]>),
    Debug,
    Scan(&'a [u8]),
    Estimate,
}

impl<'a> Question<'a> {
    /// `words` begin after the key.
    pub(crate) fn of(verb: Verb, words: &[&'a [u8]]) -> Self {
        match verb {
            Verb::BfExists => Self::Contains(words[0]),
            Verb::BfMexists => Self::ContainsAll(words.to_vec()),
            Verb::BfCard => Self::Card,
            Verb::BfInfo => Self::Info(words.first().copied()),
            Verb::BfDebug => Self::Debug,
            Verb::BfScandump => Self::Scan(words[0]),
            _ => Self::Estimate,
        }
    }
}

/// What may change a filter.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Deed<'a> {
    Reserve(Making),
    Add(&'a [u8]),
    AddAll {
        items: Vec<&'a [u8]>,
        /// None: only into a filter that is there.
        making: Option<Making>,
    },
    Load {
        iterator: &'a [u8],
        chunk: &'a [u8],
    },
}

impl<'a> Deed<'a> {
    /// `words` begin with the key.
    pub(crate) fn parse(verb: Verb, words: &[&'a [u8]], config: &Config) -> Result<Self, Reply> {
        let rest = &words[1..];
        Ok(match verb {
            Verb::BfReserve => Self::Reserve(options::reserve(words, config)?),
            Verb::BfAdd => Self::Add(rest[0]),
            Verb::BfMadd => Self::AddAll {
                items: rest.to_vec(),
                making: Some(Making::of(config)),
            },
            Verb::BfInsert => options::insert(rest, config)?,
            Verb::BfWindow => Self::Reserve(options::window(rest)?),
            _ => Self::Load {
                iterator: rest[0],
                chunk: rest[1],
            },
        })
    }
}
