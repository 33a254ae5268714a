//! `CF.*`: `options.rs` reads words, `ask.rs` and `change.rs` are what commands do, `layouts.rs` does it to a filter of either layout.

mod ask;
mod change;
mod layouts;
mod options;

use crate::table::Verb;
use crate::{Config, Reply};
use options::Making;

/// What changes nothing.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Question<'a> {
    Contains(&'a [u8]),
    ContainsAll(Vec<&'a [u8]>),
    Count(&'a [u8]),
    Info,
    Debug,
    Scan(&'a [u8]),
}

impl<'a> Question<'a> {
    /// `words` begin after the key.
    pub(crate) fn of(verb: Verb, words: &[&'a [u8]]) -> Self {
        match verb {
            Verb::CfExists => Self::Contains(words[0]),
            Verb::CfMexists => Self::ContainsAll(words.to_vec()),
            Verb::CfCount => Self::Count(words[0]),
            Verb::CfInfo => Self::Info,
            Verb::CfDebug => Self::Debug,
            _ => Self::Scan(words[0]),
        }
    }
}

/// What may change a filter.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Deed<'a> {
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
    Remove(&'a [u8]),
    Compact,
    Load {
        position: &'a [u8],
        chunk: &'a [u8],
    },
}

impl<'a> Deed<'a> {
    /// `words` begin with the key.
    pub(crate) fn parse(verb: Verb, words: &[&'a [u8]], config: &Config) -> Result<Self, Reply> {
        let rest = &words[1..];
        Ok(match verb {
            Verb::CfReserve => Self::Reserve(options::reserve(words, config)?),
            Verb::CfAdd | Verb::CfAddnx => Self::Add {
                item: rest[0],
                if_absent: verb == Verb::CfAddnx,
            },
            Verb::CfInsert => options::insert("cf.insert", rest, config)?,
            Verb::CfInsertnx => options::insert("cf.insertnx", rest, config)?,
            Verb::CfDel => Self::Remove(rest[0]),
            Verb::CfCompact => Self::Compact,
            _ => Self::Load {
                position: rest[0],
                chunk: rest[1],
            },
        })
    }
}
