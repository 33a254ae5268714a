//! `CBF.ADD key item` and `CBF.MADD key item ..`: add items to a filter, which is created if it is missing.

use super::{create, may_create};
use crate::command::ApplyWrite;
use crate::native::NativeCounting;
use crate::outcome::owned_command;
use crate::spec::Args;
use crate::{Context, Outcome, Reply, Slot, WRONG_TYPE};

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
        let add = |counting: &mut NativeCounting| Reply::Boolean(counting.add(self.item));
        let command = ("CBF.ADD", &[self.item][..]);
        create_and_add(key, slot, context, add, command)
    }

    fn may_grow(&self, slot: &Slot) -> bool {
        may_create(slot)
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Madd<'a> {
    items: Vec<&'a [u8]>,
}

impl<'a> Madd<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            items: args.rest().to_vec(),
        }
    }
}

impl<'a> ApplyWrite<'a> for Madd<'a> {
    fn apply(
        &self,
        key: &[u8],
        slot: &mut Slot,
        _sources: &[&Slot],
        context: &Context<'_>,
    ) -> Outcome {
        let add = |counting: &mut NativeCounting| {
            Reply::Booleans(self.items.iter().map(|item| counting.add(item)).collect())
        };
        create_and_add(key, slot, context, add, ("CBF.MADD", &self.items))
    }

    fn may_grow(&self, slot: &Slot) -> bool {
        may_create(slot)
    }
}

/// Adds items to the filter of a key. If it has to be created, `command` is replicated after its creation.
fn create_and_add(
    key: &[u8],
    slot: &mut Slot,
    context: &Context<'_>,
    add: impl FnOnce(&mut NativeCounting) -> Reply,
    (name, items): (&str, &[&[u8]]),
) -> Outcome {
    let config = context.config;
    let mut created = None;
    if matches!(slot, Slot::Missing) {
        let (error, capacity) = (config.bf_error_rate, config.bf_initial_size);
        match create(key, slot, error, capacity, context) {
            Ok(command) => created = Some(command),
            Err(reply) => return Outcome::rejected(reply),
        }
    }
    let Slot::Counting(counting) = slot else {
        return Outcome::rejected(WRONG_TYPE);
    };
    let reply = add(counting);
    match created {
        None => Outcome::verbatim(reply),
        Some(created) => Outcome::rewritten(reply, vec![created, owned_command(name, key, items)]),
    }
}
