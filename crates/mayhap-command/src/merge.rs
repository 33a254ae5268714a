//! `BF.MERGE key source [source ..]`.

use crate::{Context, Outcome, Reply, Slot};

pub(crate) fn merge(
    _key: &[u8],
    _slot: &mut Slot,
    _sources: &[&Slot],
    _context: &Context<'_>,
) -> Outcome {
    Outcome::told(Reply::error("ERR not yet"))
}
