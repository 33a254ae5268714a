//! What is done to a cuckoo filter.

use super::{Deed, Making};
use crate::command::{Words, words};
use crate::words::integer;
use crate::{Context, Cuckoo, EXISTS, Limits, NOT_FOUND, Outcome, Reply, Slot, WRONG_TYPE};
use mayhap_core::Full;

pub(super) const POSITION: Reply = Reply::error("Invalid position");

impl Deed<'_> {
    pub(crate) fn apply(&self, key: &[u8], slot: &mut Slot, context: &Context<'_>) -> Outcome {
        match self {
            Self::Reserve(making) => reserve(key, slot, *making, context),
            Self::Add { item, if_absent } => add(key, slot, item, *if_absent, context),
            Self::AddAll {
                items,
                making,
                if_absent,
            } => add_all(key, slot, items, *making, *if_absent, context),
            Self::Remove(item) => match slot {
                Slot::Cuckoo(filter) => Outcome::changed(filter.remove(item)),
                _ => Outcome::told(Reply::error("Not found")),
            },
            Self::Compact => match slot {
                Slot::Cuckoo(filter) => {
                    filter.compact();
                    Outcome::done(Reply::OK)
                }
                _ => Outcome::told(Reply::error("Cuckoo filter was not found")),
            },
            Self::Load { position, chunk } => load(slot, position, chunk, context),
        }
    }
}

fn reserve(key: &[u8], slot: &mut Slot, making: Making, context: &Context<'_>) -> Outcome {
    match slot {
        Slot::Missing => match make(key, slot, making, context) {
            Ok(made) => Outcome::instead(Reply::OK, vec![made]),
            Err(reply) => Outcome::told(reply),
        },
        Slot::Cuckoo(_) => Outcome::told(EXISTS),
        _ => Outcome::told(WRONG_TYPE),
    }
}

/// Makes the filter of a key, and tells what others have to do for the same one.
fn make(
    key: &[u8],
    slot: &mut Slot,
    making: Making,
    context: &Context<'_>,
) -> Result<Words, Reply> {
    let filter = Cuckoo::make(making, context)?;
    let made = filter.creation(key);
    *slot = Slot::Cuckoo(Box::new(filter));
    Ok(made)
}

/// The filter of a key, made if it is missing; refused when it has grown too often.
fn ready<'s>(
    key: &[u8],
    slot: &'s mut Slot,
    making: Option<Making>,
    context: &Context<'_>,
) -> Result<(&'s mut Cuckoo, Option<Words>), Reply> {
    let mut made = None;
    if matches!(slot, Slot::Missing) {
        let making = making.ok_or(NOT_FOUND)?;
        made = Some(make(key, slot, making, context)?);
    }
    let max_tables = context.config.max_cuckoo_tables();
    match slot {
        // One that was just made is the first of those that are allowed, even where that is one: it was made, and stays.
        Slot::Cuckoo(filter) if made.is_none() && filter.tables() >= max_tables => {
            Err(Reply::error("Maximum expansions reached"))
        }
        Slot::Cuckoo(filter) => Ok((filter, made)),
        _ => Err(WRONG_TYPE),
    }
}

fn add(
    key: &[u8],
    slot: &mut Slot,
    item: &[u8],
    if_absent: bool,
    context: &Context<'_>,
) -> Outcome {
    let (filter, made) = match ready(key, slot, Some(Making::of(context.config)), context) {
        Ok(ready) => ready,
        Err(reply) => return Outcome::told(reply),
    };
    let mut commands: Vec<Words> = made.into_iter().collect();
    let added = match filter.add(item, if_absent, context) {
        Ok(added) => added,
        Err(Full::Memory { .. }) => {
            return Outcome::instead(Reply::error("ERR Insufficient memory"), commands);
        }
        Err(_) => return Outcome::instead(Reply::error("Filter is full"), commands),
    };
    if commands.is_empty() {
        return Outcome::changed(added);
    }
    let name = if if_absent { "CF.ADDNX" } else { "CF.ADD" };
    commands.push(words(name, key, &[item]));
    Outcome::instead(Reply::Boolean(added), commands)
}

fn add_all(
    key: &[u8],
    slot: &mut Slot,
    items: &[&[u8]],
    making: Option<Making>,
    if_absent: bool,
    context: &Context<'_>,
) -> Outcome {
    let (filter, made) = match ready(key, slot, making, context) {
        Ok(ready) => ready,
        Err(reply) => return Outcome::told(reply),
    };
    let answers = filter.add_each(items, if_absent, context);
    let without_memory = |answer: &Result<bool, Full>| matches!(answer, Err(Full::Memory { .. }));
    let passes_as_it_came = made.is_none() && !answers.iter().any(without_memory);
    let mut commands: Vec<Words> = made.into_iter().collect();
    if !passes_as_it_came {
        // Where there is more memory, what was refused for want of it would go in.
        let accepted = items.iter().zip(&answers);
        let accepted = accepted.filter(|(_, answer)| !without_memory(answer));
        let items: &[u8] = b"ITEMS";
        let rest: Vec<&[u8]> = [items]
            .into_iter()
            .chain(accepted.map(|(item, _)| *item))
            .collect();
        if rest.len() > 1 {
            let name = if if_absent {
                "CF.INSERTNX"
            } else {
                "CF.INSERT"
            };
            commands.push(words(name, key, &rest));
        }
    }
    let reply = reply(&answers, if_absent);
    if passes_as_it_came {
        Outcome::done(reply)
    } else {
        Outcome::instead(reply, commands)
    }
}

fn reply(answers: &[Result<bool, Full>], if_absent: bool) -> Reply {
    if !if_absent && answers.iter().all(Result::is_ok) {
        return Reply::Booleans(vec![true; answers.len()]);
    }
    let replies = answers.iter().map(|answer| match (answer, if_absent) {
        (Ok(added), true) => Reply::Integer(i64::from(*added)),
        (Ok(added), false) => Reply::Boolean(*added),
        (Err(_), true) => Reply::Integer(-1),
        // -1 in the older protocol, and no in the newer.
        (Err(_), false) => Reply::Refused,
    });
    Reply::Array(replies.collect())
}

fn load(slot: &mut Slot, position: &[u8], chunk: &[u8], context: &Context<'_>) -> Outcome {
    let Some(position) = integer(position).filter(|&position| position != 0) else {
        return Outcome::told(POSITION);
    };
    let limits = Limits {
        max_bytes: context.max_bytes(),
    };
    match slot {
        Slot::Missing if position != 1 => Outcome::told(NOT_FOUND),
        Slot::Missing if !Cuckoo::may_be_header(chunk) => {
            Outcome::told(Reply::error("Invalid header"))
        }
        Slot::Missing => match Cuckoo::from_header(chunk, limits) {
            Ok(filter) => {
                *slot = Slot::Cuckoo(Box::new(filter));
                Outcome::done(Reply::OK)
            }
            Err(_) => Outcome::told(Reply::error("Couldn't create filter!")),
        },
        Slot::Cuckoo(_) if position == 1 => Outcome::told(EXISTS),
        Slot::Cuckoo(filter) => {
            let changed = filter.load_chunk(position, chunk, limits);
            match changed {
                Ok(()) => Outcome::done(Reply::OK),
                Err(_) => Outcome::told(Reply::error("Couldn't load chunk!")),
            }
        }
        _ => Outcome::told(WRONG_TYPE),
    }
}
