//! `BF.SCANDUMP key iterator` and `BF.LOADCHUNK key iterator data`: copy a filter in chunks.

use super::reply_for;
use crate::command::{ApplyQuery, ApplyWrite, GenericQuery};
use crate::parse::integer;
use crate::spec::Args;
use crate::{AnyBloom, Context, Limits, NOT_FOUND, Outcome, Reply, Slot, WRONG_TYPE};
use mayhap_codec::redis::ChunkError;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Scandump<'a> {
    iterator: &'a [u8],
}

impl<'a> Scandump<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            iterator: args.rest()[0],
        }
    }
}

impl ApplyQuery for Scandump<'_> {
    /// The iterator is checked after the key, as in RedisBloom.
    fn apply(&self, slot: &Slot, _context: &Context<'_>) -> Reply {
        reply_for(slot, |filter| {
            let Some(iterator) = integer(self.iterator) else {
                return Reply::error("Second argument must be numeric");
            };
            let (next, chunk) = filter.scan(iterator).unwrap_or_default();
            Reply::Array(vec![Reply::Integer(next), Reply::Bulk(chunk)])
        })
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        None
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Loadchunk<'a> {
    iterator: &'a [u8],
    chunk: &'a [u8],
}

impl<'a> Loadchunk<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        Self {
            iterator: args.rest()[0],
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
        const BAD_DATA: Reply = Reply::error("ERR received bad data");
        let Some(iterator) = integer(self.iterator) else {
            return Outcome::rejected(Reply::error("ERR Second argument must be numeric"));
        };
        let limits = Limits {
            max_bytes: context.max_bytes(),
        };
        match slot {
            Slot::Missing if iterator != 1 => Outcome::rejected(NOT_FOUND),
            Slot::Missing => match AnyBloom::from_header(self.chunk, limits) {
                Ok(filter) => {
                    *slot = Slot::Bloom(Box::new(filter));
                    Outcome::verbatim(Reply::OK)
                }
                Err(_) => Outcome::rejected(BAD_DATA),
            },
            Slot::Bloom(filter) => match filter.load_chunk(iterator, self.chunk, limits) {
                Ok(()) => Outcome::verbatim(Reply::OK),
                Err(error) => Outcome::rejected(match error {
                    ChunkError::Outside { .. } => {
                        Reply::error("ERR invalid offset - no link found")
                    }
                    ChunkError::TooLong { .. } => {
                        Reply::error("ERR invalid chunk - Too big for current filter")
                    }
                    ChunkError::Iterator { .. } => BAD_DATA,
                }),
            },
            Slot::Cuckoo(_) | Slot::Counting(_) | Slot::Other => Outcome::rejected(WRONG_TYPE),
        }
    }

    fn may_grow(&self, _slot: &Slot) -> bool {
        true
    }
}
