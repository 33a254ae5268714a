//! `KeyHash` -> positions. One walk a file, each written once and used by insert and contains alike.

pub(crate) mod blocked;
pub(crate) mod fuse;
pub(crate) mod ribbon;
