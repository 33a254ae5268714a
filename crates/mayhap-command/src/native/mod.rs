//! Filters of the native layout: the core's filters with a keyed hash, and the figures that `INFO` reports besides.

mod bloom;
mod counting;
mod cuckoo;

pub use bloom::NativeBloom;
pub(crate) use bloom::{BloomKind, MergeError};
pub use counting::NativeCounting;
pub use cuckoo::NativeCuckoo;
pub(crate) use cuckoo::{CuckooParameters, PartialImage};
