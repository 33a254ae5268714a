//! `CBF.*`.

use crate::table::Verb;
use crate::{Context, Outcome, Reply, Slot};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Question<'a> {
    Contains(&'a [u8]),
}

impl<'a> Question<'a> {
    pub(crate) fn of(_verb: Verb, words: &[&'a [u8]]) -> Self {
        Self::Contains(words.first().copied().unwrap_or_default())
    }

    pub(crate) fn ask(&self, _slot: &Slot) -> Reply {
        Reply::error("ERR not yet")
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Deed<'a> {
    Add(&'a [u8]),
}

impl<'a> Deed<'a> {
    pub(crate) fn parse(_verb: Verb, words: &[&'a [u8]]) -> Result<Self, Reply> {
        Ok(Self::Add(words[0]))
    }

    pub(crate) fn apply(&self, _key: &[u8], _slot: &mut Slot, _context: &Context<'_>) -> Outcome {
        Outcome::told(Reply::error("ERR not yet"))
    }
}
