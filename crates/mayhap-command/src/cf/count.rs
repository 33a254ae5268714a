//! `CF.COUNT key item`: how often an item may be in the filter.

use crate::command::{ApplyQuery, GenericQuery};
use crate::spec::Args;
use crate::{Context, Reply, Slot, count};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Count<'a> {
    item: &'a [u8],
}

impl<'a> Count<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            item: args.rest()[0],
        }
    }
}

impl ApplyQuery for Count<'_> {
    fn apply(&self, slot: &Slot, _context: &Context<'_>) -> Reply {
        match slot {
            Slot::Cuckoo(filter) => count(filter.count(self.item)),
            Slot::Missing | Slot::Bloom(_) | Slot::Counting(_) | Slot::Other => Reply::Integer(0),
        }
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        Some(GenericQuery::Count(self.item))
    }
}
