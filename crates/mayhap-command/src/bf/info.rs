//! `BF.CARD key` and `BF.INFO key [field]`: what is known about a filter without reading its bits.

use super::reply_for;
use crate::command::{ApplyQuery, GenericQuery};
use crate::parse::is;
use crate::spec::Args;
use crate::{AnyBloom, Context, Reply, Slot, WRONG_TYPE, count};
use mayhap_core::Timestamp;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Card;

impl ApplyQuery for Card {
    fn apply(&self, slot: &Slot, context: &Context<'_>) -> Reply {
        match slot {
            Slot::Missing => Reply::Integer(0),
            Slot::Bloom(filter) => count(filter.info(context.now).items),
            Slot::Cuckoo(_) | Slot::Counting(_) | Slot::Other => WRONG_TYPE,
        }
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        Some(GenericQuery::Items)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Info<'a> {
    /// The field to reply with, instead of all.
    field: Option<&'a [u8]>,
}

impl<'a> Info<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            field: args.rest().first().copied(),
        }
    }
}

impl ApplyQuery for Info<'_> {
    fn apply(&self, slot: &Slot, context: &Context<'_>) -> Reply {
        reply_for(slot, |filter| info(filter, self.field, context.now))
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        Some(GenericQuery::Info)
    }
}

fn info(filter: &AnyBloom, field: Option<&[u8]>, now: Timestamp) -> Reply {
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
