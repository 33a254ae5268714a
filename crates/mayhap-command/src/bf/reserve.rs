//! `BF.RESERVE key error capacity [EXPANSION n] [NONSCALING]` and `BF.WINDOW key error capacity seconds`: create an empty filter.

use super::create::{self, CreateOptions};
use crate::command::ApplyWrite;
use crate::spec::Args;
use crate::{Context, EXISTS, Outcome, Reply, Slot, WRONG_TYPE};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Reserve {
    options: CreateOptions,
}

impl Reserve {
    pub(crate) fn parse(args: &Args<'_, '_>) -> Result<Self, Reply> {
        let options = create::reserve(&args.argv[1..], args.config)?;
        Ok(Self { options })
    }

    pub(crate) fn parse_window(args: &Args<'_, '_>) -> Result<Self, Reply> {
        let options = create::window(args.rest())?;
        Ok(Self { options })
    }
}

impl ApplyWrite<'_> for Reserve {
    fn apply(
        &self,
        key: &[u8],
        slot: &mut Slot,
        _sources: &[&Slot],
        context: &Context<'_>,
    ) -> Outcome {
        match slot {
            Slot::Missing => match create::get_or_create(key, slot, Some(self.options), context) {
                Ok((_, created)) => Outcome::rewritten(Reply::OK, created.into_iter().collect()),
                Err(reply) => Outcome::rejected(reply),
            },
            Slot::Bloom(_) => Outcome::rejected(EXISTS),
            Slot::Cuckoo(_) | Slot::Counting(_) | Slot::Other => Outcome::rejected(WRONG_TYPE),
        }
    }

    fn may_grow(&self, _slot: &Slot) -> bool {
        true
    }
}
