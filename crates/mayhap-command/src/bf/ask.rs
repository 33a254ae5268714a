//! What a Bloom filter is asked.

use super::Question;
use crate::words::{integer, is};
use crate::{Bloom, Context, NOT_FOUND, Reply, Slot, WRONG_TYPE, count};
use mayhap_core::Timestamp;

impl Question<'_> {
    pub(crate) fn ask(&self, slot: &Slot, context: &Context<'_>) -> Reply {
        let now = context.now;
        match self {
            // A key of another type is as good as a missing one here.
            Self::Contains(item) => Reply::Boolean(match slot {
                Slot::Bloom(filter) => filter.contains(item, now),
                _ => false,
            }),
            Self::ContainsAll(items) => {
                let mut found = vec![false; items.len()];
                if let Slot::Bloom(filter) = slot {
                    filter.contains_each(items, now, &mut found);
                }
                Reply::Booleans(found)
            }
            Self::Card => match slot {
                Slot::Missing => Reply::Integer(0),
                Slot::Bloom(filter) => count(filter.info(now).items),
                _ => WRONG_TYPE,
            },
            Self::Info(field) => asked(slot, |filter| info(filter, *field, now)),
            Self::Debug => asked(slot, |filter| {
                let lines = filter.debug_lines().into_iter();
                Reply::Array(lines.map(|line| Reply::Bulk(line.into())).collect())
            }),
            Self::Scan(iterator) => asked(slot, |filter| scan(filter, iterator)),
            Self::Estimate => asked(slot, |_| estimate(slot, now)),
        }
    }
}

fn asked(slot: &Slot, ask: impl FnOnce(&Bloom) -> Reply) -> Reply {
    match slot {
        Slot::Missing => NOT_FOUND,
        Slot::Bloom(filter) => ask(filter),
        _ => WRONG_TYPE,
    }
}

fn info(filter: &Bloom, field: Option<&[u8]>, now: Timestamp) -> Reply {
    let info = filter.info(now);
    let expansion = info
        .expansion
        .map_or(Reply::Null, |expansion| count(expansion.into()));
    let fields = [
        ("CAPACITY", "Capacity", count(info.capacity)),
        ("SIZE", "Size", count(info.size_bytes)),
        ("FILTERS", "Number of filters", count(info.layers)),
        ("ITEMS", "Number of items inserted", count(info.items)),
        ("EXPANSION", "Expansion rate", expansion),
    ];
    let Some(wanted) = field else {
        let all = fields.into_iter().map(|(_, name, value)| (name, value));
        return Reply::Fields(all.collect());
    };
    let found = fields.into_iter().find(|(word, _, _)| is(wanted, word));
    match found {
        Some((_, name, value)) => Reply::Field(name, Box::new(value)),
        None => Reply::error("Invalid information value"),
    }
}

fn scan(filter: &Bloom, iterator: &[u8]) -> Reply {
    let Some(iterator) = integer(iterator) else {
        return Reply::error("Second argument must be numeric");
    };
    let (next, chunk) = filter.scan(iterator).unwrap_or_default();
    Reply::Array(vec![Reply::Integer(next), Reply::Bulk(chunk)])
}

/// `BF.ESTIMATE`: what the bits tell.
fn estimate(slot: &Slot, now: Timestamp) -> Reply {
    let Some(stats) = slot.stats(now) else {
        return NOT_FOUND;
    };
    let until_full = match stats.keys_until_full {
        u64::MAX => Reply::Null,
        keys => count(keys),
    };
    Reply::Fields(vec![
        ("Items", count(stats.keys)),
        ("Error rate", Reply::Double(stats.rate_now)),
        ("Error rate asked", Reply::Double(stats.rate_asked)),
        ("Fill", Reply::Double(stats.fill)),
        ("Items until full", until_full),
    ])
}
