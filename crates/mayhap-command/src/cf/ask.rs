//! What a cuckoo filter is asked.

use super::Question;
use super::change::POSITION;
use crate::words::integer;
use crate::{Cuckoo, NOT_FOUND, Reply, Slot, WRONG_TYPE, count};

impl Question<'_> {
    pub(crate) fn ask(&self, slot: &Slot) -> Reply {
        match self {
            // A key of another type is as good as a missing one here.
            Self::Contains(item) => Reply::Boolean(match slot {
                Slot::Cuckoo(filter) => filter.contains(item),
                _ => false,
            }),
            Self::ContainsAll(items) => {
                let mut found = vec![false; items.len()];
                if let Slot::Cuckoo(filter) = slot {
                    filter.contains_each(items, &mut found);
                }
                Reply::Booleans(found)
            }
            Self::Count(item) => match slot {
                Slot::Cuckoo(filter) => count(filter.count(item)),
                _ => Reply::Integer(0),
            },
            Self::Info => asked(slot, info),
            Self::Debug => asked(slot, |filter| Reply::Bulk(filter.debug_line().into())),
            Self::Scan(position) => scan(slot, position),
        }
    }
}

fn asked(slot: &Slot, ask: impl FnOnce(&Cuckoo) -> Reply) -> Reply {
    match slot {
        Slot::Missing => NOT_FOUND,
        Slot::Cuckoo(filter) => ask(filter),
        _ => WRONG_TYPE,
    }
}

fn info(filter: &Cuckoo) -> Reply {
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
}

fn scan(slot: &Slot, position: &[u8]) -> Reply {
    let Some(position) = integer(position).filter(|&position| position >= 0) else {
        return POSITION;
    };
    asked(slot, |filter| {
        let (next, chunk) = match filter.scan(position) {
            Some((next, chunk)) => (next, Reply::Bulk(chunk)),
            None => (0, Reply::Null),
        };
        Reply::Array(vec![Reply::Integer(next), chunk])
    })
}
