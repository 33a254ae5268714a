//! `BF.ADD key item`: adds an item to a filter, which is created if it is missing.

use super::create::{CreateOptions, get_or_create};
use super::filter::{CANNOT_GROW, FULL};
use crate::command::ApplyWrite;
use crate::outcome::owned_command;
use crate::spec::Args;
use crate::{Context, Outcome, Reply, Slot};
use mayhap_core::Full;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Add<'a> {
    item: &'a [u8],
}

impl<'a> Add<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            item: args.rest()[0],
        }
    }
}

impl<'a> ApplyWrite<'a> for Add<'a> {
    fn apply(
        &self,
        key: &[u8],
        slot: &mut Slot,
        _sources: &[&Slot],
        context: &Context<'_>,
    ) -> Outcome {
        let options = CreateOptions::from_config(context.config);
        let (filter, created) = match get_or_create(key, slot, Some(options), context) {
            Ok(found) => found,
            Err(reply) => return Outcome::rejected(reply),
        };
        let is_new = match filter.add(self.item, context) {
            Ok(is_new) => is_new,
            // Nothing was added. Rejected inserts are not replicated: a replica that replies with an error to its primary reports an alarm.
            Err(Full::Table { .. }) => {
                return Outcome::rewritten(FULL, created.into_iter().collect());
            }
            Err(_) => return Outcome::rewritten(CANNOT_GROW, created.into_iter().collect()),
        };
        let reply = Reply::Boolean(is_new);
        match created {
            None if !is_new && !filter.renews_items() => Outcome::unchanged(reply),
            None => Outcome::verbatim(reply),
            Some(created) => {
                let add = owned_command("BF.ADD", key, &[self.item]);
                Outcome::rewritten(reply, vec![created, add])
            }
        }
    }

    fn may_grow(&self, slot: &Slot) -> bool {
        match slot {
            Slot::Bloom(filter) => !filter.has_room_for(1),
            Slot::Missing | Slot::Cuckoo(_) | Slot::Counting(_) | Slot::Other => true,
        }
    }
}
