//! What is done to a Bloom filter.

use super::{Added, Deed, Making};
use crate::command::{Words, words};
use crate::words::integer;
use crate::{Bloom, Context, EXISTS, Limits, NOT_FOUND, Outcome, Reply, Slot, WRONG_TYPE};
use mayhap_codec::redis::ChunkError;
use mayhap_core::Full;

const FULL: Reply = Reply::error("ERR non scaling filter is full");
const CANNOT_GROW: Reply = Reply::error("ERR problem inserting into filter");

impl Deed<'_> {
    pub(crate) fn apply(&self, key: &[u8], slot: &mut Slot, context: &Context<'_>) -> Outcome {
        match self {
            Self::Reserve(making) => reserve(key, slot, *making, context),
            Self::Add(item) => add(key, slot, item, context),
            Self::AddAll { items, making } => add_all(key, slot, items, *making, context),
            Self::Load { iterator, chunk } => load(slot, iterator, chunk, context),
        }
    }
}

fn reserve(key: &[u8], slot: &mut Slot, making: Making, context: &Context<'_>) -> Outcome {
    match slot {
        Slot::Missing => match ready(key, slot, Some(making), context) {
            Ok((_, made)) => Outcome::instead(Reply::OK, made.into_iter().collect()),
            Err(reply) => Outcome::told(reply),
        },
        Slot::Bloom(_) => Outcome::told(EXISTS),
        _ => Outcome::told(WRONG_TYPE),
    }
}

/// The filter of a key, made if it is missing, and then what others have to do for the same one.
fn ready<'s>(
    key: &[u8],
    slot: &'s mut Slot,
    making: Option<Making>,
    context: &Context<'_>,
) -> Result<(&'s mut Bloom, Option<Words>), Reply> {
    let mut made = None;
    if matches!(slot, Slot::Missing) {
        let filter = Bloom::make(making.ok_or(NOT_FOUND)?, context)?;
        made = Some(filter.creation(key));
        *slot = Slot::Bloom(Box::new(filter));
    }
    match slot {
        Slot::Bloom(filter) => Ok((filter, made)),
        _ => Err(WRONG_TYPE),
    }
}

fn add(key: &[u8], slot: &mut Slot, item: &[u8], context: &Context<'_>) -> Outcome {
    let (filter, made) = match ready(key, slot, Some(Making::of(context.config)), context) {
        Ok(ready) => ready,
        Err(reply) => return Outcome::told(reply),
    };
    let added = filter.add(item, context);
    let reply = match added {
        Ok(added) => Reply::Boolean(added),
        // Nothing was changed, and a replica that answers its primary with an error has its log full of alarms.
        Err(Full::Table { .. }) => return Outcome::instead(FULL, made.into_iter().collect()),
        Err(_) => return Outcome::instead(CANNOT_GROW, made.into_iter().collect()),
    };
    match made {
        None if added == Ok(false) && !filter.is_renewed() => Outcome::unchanged(reply),
        None => Outcome::done(reply),
        Some(made) => Outcome::instead(reply, vec![made, words("BF.ADD", key, &[item])]),
    }
}

fn add_all(
    key: &[u8],
    slot: &mut Slot,
    items: &[&[u8]],
    making: Option<Making>,
    context: &Context<'_>,
) -> Outcome {
    let (filter, made) = match ready(key, slot, making, context) {
        Ok(ready) => ready,
        Err(reply) => return Outcome::told(reply),
    };
    let added = filter.add_each(items, context);
    if made.is_none() && added.without_memory.is_empty() && !added.is_full {
        // Most of what is sent again and again is in.
        let is_changed = added.answers.contains(&true) || filter.is_renewed();
        let outcome = if is_changed {
            Outcome::done
        } else {
            Outcome::unchanged
        };
        return outcome(added.into_reply());
    }
    // Where there is more memory, what was refused for want of it would go in; and what found the filter full is an error again.
    let is_accepted = |at: &usize| added.without_memory.binary_search(at).is_err();
    let looked_at = 0..added.answers.len();
    let accepted = looked_at.filter(is_accepted).map(|at| items[at]);
    let accepted: Vec<&[u8]> = accepted.collect();
    let mut commands: Vec<Words> = made.into_iter().collect();
    if !accepted.is_empty() {
        commands.push(words("BF.MADD", key, &accepted));
    }
    Outcome::instead(added.into_reply(), commands)
}

impl Added {
    fn into_reply(self) -> Reply {
        if self.without_memory.is_empty() && !self.is_full {
            return Reply::Booleans(self.answers);
        }
        let mut replies: Vec<Reply> = self.answers.into_iter().map(Reply::Boolean).collect();
        for at in self.without_memory {
            replies[at] = CANNOT_GROW;
        }
        if self.is_full {
            replies.push(FULL);
        }
        Reply::Array(replies)
    }
}

fn load(slot: &mut Slot, iterator: &[u8], chunk: &[u8], context: &Context<'_>) -> Outcome {
    const BAD: Reply = Reply::error("ERR received bad data");
    let Some(iterator) = integer(iterator) else {
        return Outcome::told(Reply::error("ERR Second argument must be numeric"));
    };
    let limits = Limits {
        max_bytes: context.max_bytes(),
    };
    match slot {
        Slot::Missing if iterator != 1 => Outcome::told(NOT_FOUND),
        Slot::Missing => match Bloom::from_header(chunk, limits) {
            Ok(filter) => {
                *slot = Slot::Bloom(Box::new(filter));
                Outcome::done(Reply::OK)
            }
            Err(_) => Outcome::told(BAD),
        },
        Slot::Bloom(filter) => match filter.load_chunk(iterator, chunk) {
            Ok(()) => Outcome::done(Reply::OK),
            Err(error) => Outcome::told(match error {
                ChunkError::Outside { .. } => Reply::error("ERR invalid offset - no link found"),
                ChunkError::TooLong { .. } => {
                    Reply::error("ERR invalid chunk - Too big for current filter")
                }
                _ => BAD,
            }),
        },
        _ => Outcome::told(WRONG_TYPE),
    }
}
