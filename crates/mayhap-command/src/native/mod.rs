//! Filters of the native layout: the core's filters with a keyed hash, and the figures that `INFO` reports besides.

mod bloom;
mod counting;
mod cuckoo;
mod cuckoo_kind;
mod growing_set;
mod partial_image;
mod window_set;

pub use bloom::NativeBloom;
pub(crate) use bloom::{BloomKind, MergeError};
pub use counting::NativeCounting;
pub(crate) use counting::{CountingKind, counting_with_memory};
pub(crate) use cuckoo::CuckooParameters;
pub use cuckoo::NativeCuckoo;
pub(crate) use cuckoo_kind::CuckooKind;
pub(crate) use growing_set::{GrowingSet, with_memory};
pub(crate) use partial_image::PartialImage;
pub(crate) use window_set::WindowSet;
