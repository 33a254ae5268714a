//! `CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item ..` and `CF.INSERTNX` with the same arguments: add items to a filter, which is created
//! if it is missing.

use super::adding_may_grow;
use super::create::{self, CreateOptions, get_or_create};
use crate::command::ApplyWrite;
use crate::outcome::{OwnedCommand, owned_command};
use crate::spec::Args;
use crate::{Context, Outcome, Reply, Slot};
use mayhap_core::Full;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Insert<'a> {
    items: Vec<&'a [u8]>,
    /// None: the filter must exist.
    create: Option<CreateOptions>,
    /// `CF.INSERTNX`: only items that the filter does not seem to contain.
    if_absent: bool,
}

impl<'a> Insert<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Result<Self, Reply> {
        let (create, items) = create::insert("cf.insert", args.rest(), args.config)?;
        Ok(Self {
            items: items.to_vec(),
            create,
            if_absent: false,
        })
    }

    pub(crate) fn parse_nx(args: &Args<'_, 'a>) -> Result<Self, Reply> {
        let (create, items) = create::insert("cf.insertnx", args.rest(), args.config)?;
        Ok(Self {
            items: items.to_vec(),
            create,
            if_absent: true,
        })
    }

    fn reply(&self, results: &[Result<bool, Full>]) -> Reply {
        if !self.if_absent && results.iter().all(Result::is_ok) {
            return Reply::Booleans(vec![true; results.len()]);
        }
        let replies = results.iter().map(|result| match (result, self.if_absent) {
            (Ok(is_added), true) => Reply::Integer(i64::from(*is_added)),
            (Ok(is_added), false) => Reply::Boolean(*is_added),
            (Err(_), true) => Reply::Integer(-1),
            (Err(_), false) => Reply::NotAdded,
        });
        Reply::Array(replies.collect())
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
        let results = filter.add_each(&self.items, self.if_absent, context);
        let lacks_memory = |result: &Result<bool, Full>| matches!(result, Err(Full::Memory { .. }));
        let reply = self.reply(&results);
        if created.is_none() && !results.iter().any(lacks_memory) {
            return Outcome::verbatim(reply);
        }
        // Items that were rejected for lack of memory are not replicated: a replica with more memory would accept them.
        let accepted = self.items.iter().zip(&results);
        let accepted = accepted.filter(|(_, result)| !lacks_memory(result));
        let items: &[u8] = b"ITEMS";
        let rest: Vec<&[u8]> = [items]
            .into_iter()
            .chain(accepted.map(|(item, _)| *item))
            .collect();
        let mut commands: Vec<OwnedCommand> = created.into_iter().collect();
        if rest.len() > 1 {
            let name = if self.if_absent {
                "CF.INSERTNX"
            } else {
                "CF.INSERT"
            };
            commands.push(owned_command(name, key, &rest));
        }
        Outcome::rewritten(reply, commands)
    }

    fn may_grow(&self, slot: &Slot) -> bool {
        adding_may_grow(slot)
    }
}
