//! `KeyHash` -> positions. One walk per file, each written once and used for both insert and contains.

pub(crate) mod blocked;
pub(crate) mod classic;
pub(crate) mod cuckoo;
pub(crate) mod double_hash;
pub(crate) mod foreign;
pub(crate) mod fuse;
mod modulo;
pub(crate) mod prefetched;
pub(crate) mod ribbon;
pub(crate) mod slice;
pub(crate) mod slice_lengths;
