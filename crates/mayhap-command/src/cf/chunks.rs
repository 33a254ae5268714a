//! `CF.SCANDUMP key iterator` and `CF.LOADCHUNK key iterator data`: copy a filter in chunks.

use super::reply_for;
use crate::command::{ApplyQuery, ApplyWrite, GenericQuery};
use crate::parse::integer;
use crate::spec::Args;
use crate::{AnyCuckoo, Context, EXISTS, Limits, NOT_FOUND, Outcome, Reply, Slot, WRONG_TYPE};

const INVALID_POSITION: Reply = Reply::error("Invalid position");

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Scandump<'a> {
    position: &'a [u8],
}

impl<'a> Scandump<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            position: args.rest()[0],
        }
    }
}

impl ApplyQuery for Scandump<'_> {
    fn apply(&self, slot: &Slot, _context: &Context<'_>) -> Reply {
        let Some(position) = integer(self.position).filter(|&position| position >= 0) else {
            return INVALID_POSITION;
        };
        reply_for(slot, |filter| {
            let (next, chunk) = match filter.scan(position) {
                Some((next, chunk)) => (next, Reply::Bulk(chunk)),
                None => (0, Reply::Null),
            };
            Reply::Array(vec![Reply::Integer(next), chunk])
        })
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        None
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Loadchunk<'a> {
    position: &'a [u8],
    chunk: &'a [u8],
}

impl<'a> Loadchunk<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            position: args.rest()[0],
            chunk: args.rest()[1],
        }
    }
}

impl<'a> ApplyWrite<'a> for Loadchunk<'a> {
    fn apply(
        &self,
        _key: &[u8],
        slot: &mut Slot,
        _sources: &[&Slot],
        context: &Context<'_>,
    ) -> Outcome {
        let Some(position) = integer(self.position).filter(|&position| position != 0) else {
            return Outcome::rejected(INVALID_POSITION);
        };
        let limits = Limits {
            max_bytes: context.max_bytes(),
        };
        match slot {
            Slot::Missing if position != 1 => Outcome::rejected(NOT_FOUND),
            Slot::Missing if !AnyCuckoo::may_be_header(self.chunk) => {
                Outcome::rejected(Reply::error("Invalid header"))
            }
            Slot::Missing => match AnyCuckoo::from_header(self.chunk, limits) {
                Ok(filter) => {
                    *slot = Slot::Cuckoo(Box::new(filter));
                    Outcome::verbatim(Reply::OK)
                }
                Err(_) => Outcome::rejected(Reply::error("Couldn't create filter!")),
            },
            Slot::Cuckoo(_) if position == 1 => Outcome::rejected(EXISTS),
            Slot::Cuckoo(filter) => match filter.load_chunk(position, self.chunk, limits) {
                Ok(()) => Outcome::verbatim(Reply::OK),
                Err(_) => Outcome::rejected(Reply::error("Couldn't load chunk!")),
            },
            Slot::Bloom(_) | Slot::Counting(_) | Slot::Other => Outcome::rejected(WRONG_TYPE),
        }
    }

    fn may_grow(&self, _slot: &Slot) -> bool {
        true
    }
}
