//! `BF.INSERT key [CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item ..` and `BF.MADD key item ..`: add items to a
//! filter, which is created if it is missing.

use super::create::{self, CreateOptions, get_or_create};
use super::filter::{BatchAdded, CANNOT_GROW, FULL};
use crate::command::ApplyWrite;
use crate::outcome::{OwnedCommand, owned_command};
use crate::spec::Args;
use crate::{Context, Outcome, Reply, Slot};

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Insert<'a> {
    items: Vec<&'a [u8]>,
    /// None: the filter must exist.
    create: Option<CreateOptions>,
}

impl<'a> Insert<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Result<Self, Reply> {
        let (create, items) = create::insert(args.rest(), args.config)?;
        let items = items.to_vec();
        Ok(Self { items, create })
    }

    pub(crate) fn parse_madd(args: &Args<'_, 'a>) -> Self {
        Self {
            items: args.rest().to_vec(),
            create: Some(CreateOptions::from_config(args.config)),
        }
    }
}

impl<'a> ApplyWrite<'a> for Insert<'a> {
    fn apply(
        &self,
        key: &[u8],
        slot: &mut Slot,
        _sources: &[&Slot],
        context: &Context<'_>,
    ) -> Outcome {
        let (filter, created) = match get_or_create(key, slot, self.create, context) {
            Ok(found) => found,
            Err(reply) => return Outcome::rejected(reply),
        };
        let added = filter.add_each(&self.items, context);
        if created.is_none() && added.without_memory.is_empty() && !added.is_full {
            // Clients that repeat their batches mostly send items that are in the filter already.
            let is_changed = added.is_new.contains(&true) || filter.renews_items();
            let outcome = if is_changed {
                Outcome::verbatim
            } else {
                Outcome::unchanged
            };
            return outcome(reply(added));
        }
        // Only accepted items are replicated: a replica with more memory would accept the rejected ones, and one whose filter is full would
        // reply with an error.
        let is_accepted = |at: &usize| added.without_memory.binary_search(at).is_err();
        let tried = 0..added.is_new.len();
        let accepted = tried.filter(is_accepted).map(|at| self.items[at]);
        let accepted: Vec<&[u8]> = accepted.collect();
        let mut commands: Vec<OwnedCommand> = created.into_iter().collect();
        if !accepted.is_empty() {
            commands.push(owned_command("BF.MADD", key, &accepted));
        }
        Outcome::rewritten(reply(added), commands)
    }

    fn may_grow(&self, slot: &Slot) -> bool {
        match slot {
            Slot::Bloom(filter) => !filter.has_room_for(self.items.len() as u64),
            Slot::Missing | Slot::Cuckoo(_) | Slot::Counting(_) | Slot::Other => true,
        }
    }
}

fn reply(added: BatchAdded) -> Reply {
    if added.without_memory.is_empty() && !added.is_full {
        return Reply::Booleans(added.is_new);
    }
    let mut replies: Vec<Reply> = added.is_new.into_iter().map(Reply::Boolean).collect();
    for at in added.without_memory {
        replies[at] = CANNOT_GROW;
    }
    if added.is_full {
        replies.push(FULL);
    }
    Reply::Array(replies)
}
