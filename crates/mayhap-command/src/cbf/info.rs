//! `CBF.INFO key`: parameters and counters. It reads the whole filter.

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

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        Some(GenericQuery::Info)
    }
}
