//! `KeyHash` -> positions. One walk a file, each written once and used by insert and contains alike.

pub(crate) mod blocked;
pub(crate) mod classic;
pub(crate) mod cuckoo;
pub(crate) mod double_hash;
pub(crate) mod foreign;
pub(crate) mod fuse;
mod modulo;
pub(crate) mod prefetched;
pub(crate) mod ribbon;
