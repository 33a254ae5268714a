//! Filters of the native layout: those of the core under a keyed hash, with what `INFO` tells besides.

mod bloom;
mod counting;
mod cuckoo;

pub use bloom::NativeBloom;
pub(crate) use bloom::{BloomKind, Merged};
pub use counting::NativeCounting;
pub use cuckoo::NativeCuckoo;
pub(crate) use cuckoo::{Asked, Staged};
