//! `CBF.RESERVE key error capacity`: creates an empty filter.

use super::{create, may_create};
use crate::bf::error_and_capacity;
use crate::command::ApplyWrite;
use crate::spec::Args;
use crate::{Context, EXISTS, Outcome, Reply, Slot, WRONG_TYPE};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Reserve {
    error: f64,
    capacity: u64,
}

impl Reserve {
    pub(crate) fn parse(args: &Args<'_, '_>) -> Result<Self, Reply> {
        let (error, capacity) = error_and_capacity(args.rest())?;
        Ok(Self { error, capacity })
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
            Slot::Missing => match create(key, slot, self.error, self.capacity, context) {
                Ok(created) => Outcome::rewritten(Reply::OK, vec![created]),
                Err(reply) => Outcome::rejected(reply),
            },
            Slot::Counting(_) => Outcome::rejected(EXISTS),
            Slot::Bloom(_) | Slot::Cuckoo(_) | Slot::Other => Outcome::rejected(WRONG_TYPE),
        }
    }

    fn may_grow(&self, slot: &Slot) -> bool {
        may_create(slot)
    }
}
