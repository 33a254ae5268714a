//! `BF.*`: Bloom filters. One file per command or pair of commands; `create.rs` reads the options of new filters, `filter.rs` is a Bloom
//! filter of either layout.

mod add;
mod chunks;
mod create;
mod debug;
mod estimate;
mod exists;
mod filter;
mod info;
mod insert;
mod merge;
mod reserve;

pub(crate) use add::Add;
pub(crate) use chunks::{Loadchunk, Scandump};
pub(crate) use create::error_and_capacity;
pub(crate) use debug::Debug;
pub(crate) use estimate::Estimate;
pub(crate) use exists::{Exists, Mexists};
pub(crate) use filter::BatchAdded;
pub(crate) use info::{Card, Info};
pub(crate) use insert::Insert;
pub(crate) use merge::Merge;
pub(crate) use reserve::Reserve;

use crate::{AnyBloom, NOT_FOUND, Reply, Slot, WRONG_TYPE};

/// The Bloom filter of a key.
fn bloom(slot: &Slot) -> Result<&AnyBloom, Reply> {
    match slot {
        Slot::Missing => Err(NOT_FOUND),
        Slot::Bloom(filter) => Ok(filter),
        Slot::Cuckoo(_) | Slot::Counting(_) | Slot::Other => Err(WRONG_TYPE),
    }
}

/// Replies for the Bloom filter of a key, or that there is none.
fn reply_for(slot: &Slot, reply: impl FnOnce(&AnyBloom) -> Reply) -> Reply {
    bloom(slot).map_or_else(|error| error, reply)
}
