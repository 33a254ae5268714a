//! `CF.*`: cuckoo filters. One file per command or pair of commands; `create.rs` reads the options of new filters, `filter.rs` is a cuckoo
//! filter of either layout.

mod add;
mod chunks;
mod compact;
mod count;
mod create;
mod del;
mod exists;
mod filter;
mod info;
mod insert;
mod reserve;

pub(crate) use add::Add;
pub(crate) use chunks::{Loadchunk, Scandump};
pub(crate) use compact::Compact;
pub(crate) use count::Count;
pub(crate) use del::Del;
pub(crate) use exists::{Exists, Mexists};
pub(crate) use info::{Debug, Info};
pub(crate) use insert::Insert;
pub(crate) use reserve::Reserve;

use crate::{AnyCuckoo, NOT_FOUND, Reply, Slot, WRONG_TYPE};

/// Replies for the cuckoo filter of a key, or that there is none.
fn reply_for(slot: &Slot, reply: impl FnOnce(&AnyCuckoo) -> Reply) -> Reply {
    match slot {
        Slot::Missing => NOT_FOUND,
        Slot::Cuckoo(filter) => reply(filter),
        Slot::Bloom(_) | Slot::Counting(_) | Slot::Other => WRONG_TYPE,
    }
}

/// Whether adding to the value of a key may take memory.
fn adding_may_grow(slot: &Slot) -> bool {
    match slot {
        Slot::Cuckoo(filter) => filter.grows(),
        Slot::Missing | Slot::Bloom(_) | Slot::Counting(_) | Slot::Other => true,
    }
}
