//! `CBF.*`: counting filters. Adding an item counts it once more, removing it once less. Keys that older versions created are counting
//! Bloom filters, where a saturated counter stays saturated; new ones are counting cuckoo filters, which grow. One file per command or
//! pair of commands.

mod add;
mod count;
mod del;
mod exists;
mod info;
mod reserve;

pub(crate) use add::{Add, Madd};
pub(crate) use count::Count;
pub(crate) use del::Del;
pub(crate) use exists::{Exists, Mexists};
pub(crate) use info::Info;
pub(crate) use reserve::Reserve;

use crate::native::NativeCounting;
use crate::outcome::{OwnedCommand, owned_command};
use crate::{Context, Reply, Slot, creation_error, image};
use mayhap_core::HashScheme;

/// The counting filter of a key. A key of another type counts as missing, as in the other families.
fn filter(slot: &Slot) -> Option<&NativeCounting> {
    match slot {
        Slot::Counting(counting) => Some(counting),
        Slot::Missing | Slot::Bloom(_) | Slot::Cuckoo(_) | Slot::Other => None,
    }
}

/// Creates the filter of a key. Returns the command that creates the same one elsewhere.
fn create(
    key: &[u8],
    slot: &mut Slot,
    error: f64,
    capacity: u64,
    context: &Context<'_>,
) -> Result<OwnedCommand, Reply> {
    let scheme = HashScheme::Sip13(context.secret);
    let filter = NativeCounting::reserve(error, capacity, scheme, context.max_bytes())
        .map_err(creation_error("ERR could not create filter"))?;
    let header = image::counting_header(&filter);
    *slot = Slot::Counting(Box::new(filter));
    Ok(owned_command("MAYHAP.LOAD", key, &[&header]))
}

/// Whether creating a filter may take memory.
fn may_create(slot: &Slot) -> bool {
    !matches!(slot, Slot::Counting(_))
}

/// Whether adding an item may take memory.
fn adding_may_grow(slot: &Slot) -> bool {
    filter(slot).is_none_or(NativeCounting::grows)
}
