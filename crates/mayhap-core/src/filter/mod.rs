//! What callers hold, one kind a file.

pub(crate) mod bloom;
pub(crate) mod built;
mod chain;
pub(crate) mod classic;
pub(crate) mod classic_cuckoo;
pub(crate) mod counting;
pub(crate) mod cuckoo;
pub(crate) mod excepting;
pub(crate) mod fuse;
pub(crate) mod growing;
mod nest;
pub(crate) mod retouched;
pub(crate) mod retrieval;
pub(crate) mod ribbon;
mod ruler;
pub(crate) mod shared;
pub(crate) mod window;
