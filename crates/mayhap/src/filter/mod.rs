//! What callers hold, one kind a file.

pub(crate) mod bloom;
pub(crate) mod fuse;
pub(crate) mod ribbon;
mod ruler;
pub(crate) mod shared;
