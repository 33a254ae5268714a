//! `CF.COMPACT key`: moves items into older tables, so that newer ones can be dropped.

use crate::command::ApplyWrite;
use crate::{Context, Outcome, Reply, Slot};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Compact;

impl ApplyWrite<'_> for Compact {
    fn apply(
        &self,
        _key: &[u8],
        slot: &mut Slot,
        _sources: &[&Slot],
        _context: &Context<'_>,
    ) -> Outcome {
        match slot {
            Slot::Cuckoo(filter) => {
                filter.compact();
                Outcome::verbatim(Reply::OK)
            }
            Slot::Missing | Slot::Bloom(_) | Slot::Counting(_) | Slot::Other => {
                Outcome::rejected(Reply::error("Cuckoo filter was not found"))
            }
        }
    }

    fn may_grow(&self, _slot: &Slot) -> bool {
        false
    }
}
