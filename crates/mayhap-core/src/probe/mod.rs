//! `KeyHash` -> positions. One walk a file, each written once and used by insert and contains alike.

pub(crate) mod ahead;
pub(crate) mod band;
pub(crate) mod blocked;
pub(crate) mod classic;
pub(crate) mod foreign;
pub(crate) mod fuse;
mod modulo;
pub(crate) mod sums;
pub(crate) mod window;
