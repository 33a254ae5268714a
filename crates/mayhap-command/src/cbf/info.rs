//! `CBF.INFO key`: parameters and counters. It reads the whole of a counting Bloom filter.

use crate::command::{ApplyQuery, GenericQuery};
use crate::{Context, NOT_FOUND, Reply, Slot, WRONG_TYPE, count};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Info;

impl ApplyQuery for Info {
    fn apply(&self, slot: &Slot, _context: &Context<'_>) -> Reply {
        let counting = match slot {
            Slot::Counting(counting) => counting,
            Slot::Missing => return NOT_FOUND,
            Slot::Bloom(_) | Slot::Cuckoo(_) | Slot::Other => return WRONG_TYPE,
        };
        let info = counting.info();
        Reply::Fields(vec![
            ("Capacity", count(info.capacity)),
            ("Size", count(counting.size_bytes())),
            ("Number of items inserted", count(info.items)),
            ("Error rate", Reply::Double(info.error_rate)),
            ("Largest count", count(info.max_count)),
            ("Full counters", count(info.saturated_counters)),
        ])
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        Some(GenericQuery::Info)
    }
}
