//! `CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] [ERROR e]`: creates an empty filter.

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
            Slot::Missing => match create::create(key, slot, self.options, context) {
                Ok(created) => Outcome::rewritten(Reply::OK, vec![created]),
                Err(reply) => Outcome::rejected(reply),
            },
            Slot::Cuckoo(_) => Outcome::rejected(EXISTS),
            Slot::Bloom(_) | Slot::Counting(_) | Slot::Other => Outcome::rejected(WRONG_TYPE),
        }
    }

    fn may_grow(&self, _slot: &Slot) -> bool {
        true
    }
}
