//! `BF.DEBUG key`: one line per layer.

use super::reply_for;
use crate::command::{ApplyQuery, GenericQuery};
use crate::{Context, Reply, Slot};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Debug;

impl ApplyQuery for Debug {
    fn apply(&self, slot: &Slot, _context: &Context<'_>) -> Reply {
        reply_for(slot, |filter| {
            let lines = filter.debug_lines().into_iter();
            Reply::Array(lines.map(|line| Reply::Bulk(line.into())).collect())
        })
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        None
    }
}
