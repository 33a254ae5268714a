//! `CF.EXISTS key item` and `CF.MEXISTS key item ..`: whether items may be in the filter.

use crate::command::{ApplyQuery, GenericQuery};
use crate::spec::Args;
use crate::{Context, Reply, Slot};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Exists<'a> {
    item: &'a [u8],
}

impl<'a> Exists<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            item: args.rest()[0],
        }
    }
}

impl ApplyQuery for Exists<'_> {
    /// A key of another type counts as missing, as in RedisBloom.
    fn apply(&self, slot: &Slot, _context: &Context<'_>) -> Reply {
        Reply::Boolean(match slot {
            Slot::Cuckoo(filter) => filter.contains(self.item),
            Slot::Missing | Slot::Bloom(_) | Slot::Counting(_) | Slot::Other => false,
        })
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        Some(GenericQuery::Contains(self.item))
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Mexists<'a> {
    items: Vec<&'a [u8]>,
}

impl<'a> Mexists<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            items: args.rest().to_vec(),
        }
    }
}

impl ApplyQuery for Mexists<'_> {
    fn apply(&self, slot: &Slot, _context: &Context<'_>) -> Reply {
        let mut found = vec![false; self.items.len()];
        if let Slot::Cuckoo(filter) = slot {
            filter.contains_each(&self.items, &mut found);
        }
        Reply::Booleans(found)
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        Some(GenericQuery::ContainsEach(&self.items))
    }
}
