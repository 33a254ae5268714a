//! `CF.DEL key item`: removes an item once.

use crate::command::ApplyWrite;
use crate::spec::Args;
use crate::{Context, Outcome, Reply, Slot};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Del<'a> {
    item: &'a [u8],
}

impl<'a> Del<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            item: args.rest()[0],
        }
    }
}

impl<'a> ApplyWrite<'a> for Del<'a> {
    fn apply(
        &self,
        _key: &[u8],
        slot: &mut Slot,
        _sources: &[&Slot],
        _context: &Context<'_>,
    ) -> Outcome {
        match slot {
            Slot::Cuckoo(filter) => Outcome::changed(filter.remove(self.item)),
            Slot::Missing | Slot::Bloom(_) | Slot::Counting(_) | Slot::Other => {
                Outcome::rejected(Reply::error("Not found"))
            }
        }
    }

    fn may_grow(&self, _slot: &Slot) -> bool {
        false
    }
}
