//! `CBF.DEL key item`: removes an item once.

use crate::command::ApplyWrite;
use crate::spec::Args;
use crate::{Context, NOT_FOUND, Outcome, Reply, Slot, WRONG_TYPE};

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
            Slot::Counting(counting) => match counting.remove(self.item) {
                Ok(is_removed) => Outcome::changed(is_removed),
                Err(_) => Outcome::rejected(Reply::error(
                    "ERR a counter of this item is saturated, so the item cannot be removed",
                )),
            },
            Slot::Missing => Outcome::rejected(NOT_FOUND),
            Slot::Bloom(_) | Slot::Cuckoo(_) | Slot::Other => Outcome::rejected(WRONG_TYPE),
        }
    }

    fn may_grow(&self, _slot: &Slot) -> bool {
        false
    }
}
