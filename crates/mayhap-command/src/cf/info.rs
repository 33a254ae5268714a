//! `CF.INFO key` and `CF.DEBUG key`: what is known about a filter without reading its cells.

use super::reply_for;
use crate::command::{ApplyQuery, GenericQuery};
use crate::{Context, Reply, Slot, count};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Info;

impl ApplyQuery for Info {
    fn apply(&self, slot: &Slot, _context: &Context<'_>) -> Reply {
        reply_for(slot, |filter| {
            let info = filter.info();
            Reply::Fields(vec![
                ("Size", count(info.size_bytes)),
                ("Number of buckets", count(info.buckets)),
                ("Number of filters", count(info.tables)),
                ("Number of items inserted", count(info.items)),
                ("Number of items deleted", count(info.deleted)),
                ("Bucket size", count(info.bucket_size.into())),
                ("Expansion rate", count(info.expansion.into())),
                ("Max iterations", count(info.max_iterations.into())),
            ])
        })
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        Some(GenericQuery::Info)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Debug;

impl ApplyQuery for Debug {
    fn apply(&self, slot: &Slot, _context: &Context<'_>) -> Reply {
        reply_for(slot, |filter| Reply::Bulk(filter.debug_line().into()))
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        None
    }
}
