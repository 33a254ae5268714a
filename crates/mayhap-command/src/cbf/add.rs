//! `CBF.ADD key item` and `CBF.MADD key item ..`: add items to a filter, which is created if it is missing.

use super::{adding_may_grow, create};
use crate::command::ApplyWrite;
use crate::outcome::{OwnedCommand, owned_command};
use crate::spec::Args;
use crate::{Context, Outcome, Reply, Slot, WRONG_TYPE};
use mayhap_core::Full;

const NO_MEMORY: Reply = Reply::error("ERR Insufficient memory");
const TOO_MANY: Reply =
    Reply::error("ERR the item is counted 2^40 times, and no counter is larger");

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
        create_and_add(key, slot, context, ("CBF.ADD", &[self.item]), |results| {
            single_reply(results.first())
        })
    }

    fn may_grow(&self, slot: &Slot) -> bool {
        adding_may_grow(slot)
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
        create_and_add(key, slot, context, ("CBF.MADD", &self.items), |results| {
            if results.iter().any(Result::is_err) {
                return Reply::Array(results.iter().map(Some).map(single_reply).collect());
            }
            Reply::Booleans(results.iter().map(|result| *result == Ok(true)).collect())
        })
    }

    fn may_grow(&self, slot: &Slot) -> bool {
        adding_may_grow(slot)
    }
}

/// The reply for one item.
fn single_reply(result: Option<&Result<bool, Full>>) -> Reply {
    match result {
        Some(Ok(is_new)) => Reply::Boolean(*is_new),
        Some(Err(Full::Copies { .. })) => TOO_MANY,
        Some(Err(_)) | None => NO_MEMORY,
    }
}

/// Adds items to the filter of a key, and creates it if necessary.
fn create_and_add(
    key: &[u8],
    slot: &mut Slot,
    context: &Context<'_>,
    (name, items): (&str, &[&[u8]]),
    reply: impl FnOnce(&[Result<bool, Full>]) -> Reply,
) -> Outcome {
    let config = context.config;
    let mut commands: Vec<OwnedCommand> = Vec::new();
    if matches!(slot, Slot::Missing) {
        let (error, capacity) = (config.bf_error_rate, config.bf_initial_size);
        match create(key, slot, error, capacity, context) {
            Ok(command) => commands.push(command),
            Err(reply) => return Outcome::rejected(reply),
        }
    }
    let Slot::Counting(counting) = slot else {
        return Outcome::rejected(WRONG_TYPE);
    };
    let mut max_bytes = context.max_bytes();
    let mut accepted = Vec::with_capacity(items.len());
    let mut results = Vec::with_capacity(items.len());
    for &item in items {
        let result = counting.add(item, max_bytes);
        if result.is_ok() {
            accepted.push(item);
        }
        if matches!(result, Err(Full::Memory { .. })) {
            // Do not try to allocate the same table again for each of the following items.
            max_bytes = 0;
        }
        results.push(result);
    }
    let reply = reply(&results);
    if commands.is_empty() && accepted.len() == items.len() {
        return Outcome::verbatim(reply);
    }
    // Rejected items are not replicated: a replica with more memory would accept them.
    if !accepted.is_empty() {
        commands.push(owned_command(name, key, &accepted));
    }
    Outcome::rewritten(reply, commands)
}
