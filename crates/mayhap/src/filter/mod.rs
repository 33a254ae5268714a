//! What callers hold, one kind a file.

pub(crate) mod bloom;
pub(crate) mod classic;
pub(crate) mod counting;
pub(crate) mod cuckoo;
pub(crate) mod excepting;
pub(crate) mod fuse;
pub(crate) mod growing;
pub(crate) mod retouched;
pub(crate) mod retrieval;
pub(crate) mod ribbon;
mod ruler;
pub(crate) mod shared;
pub(crate) mod window;
