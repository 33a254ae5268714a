//! `CF.ADD key item` and `CF.ADDNX key item`: add an item to a filter, which is created if it is missing.

use super::adding_may_grow;
use super::create::{CreateOptions, get_or_create};
use crate::command::ApplyWrite;
use crate::outcome::{OwnedCommand, owned_command};
use crate::spec::Args;
use crate::{Context, Outcome, Reply, Slot};
use mayhap_core::Full;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Add<'a> {
    item: &'a [u8],
    /// `CF.ADDNX`: only if the filter does not seem to contain it.
    if_absent: bool,
}

impl<'a> Add<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            item: args.rest()[0],
            if_absent: false,
        }
    }

    pub(crate) fn parse_nx(args: &Args<'_, 'a>) -> Self {
        Self {
            if_absent: true,
            ..Self::parse(args)
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
        let mut commands: Vec<OwnedCommand> = created.into_iter().collect();
        let is_added = match filter.add(self.item, self.if_absent, context) {
            Ok(is_added) => is_added,
            Err(Full::Memory { .. }) => {
                return Outcome::rewritten(Reply::error("ERR Insufficient memory"), commands);
            }
            Err(_) => return Outcome::rewritten(Reply::error("Filter is full"), commands),
        };
        if commands.is_empty() {
            return Outcome::changed(is_added);
        }
        let name = if self.if_absent { "CF.ADDNX" } else { "CF.ADD" };
        commands.push(owned_command(name, key, &[self.item]));
        Outcome::rewritten(Reply::Boolean(is_added), commands)
    }

    fn may_grow(&self, slot: &Slot) -> bool {
        adding_may_grow(slot)
    }
}
