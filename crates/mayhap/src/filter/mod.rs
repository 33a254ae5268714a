//! What callers hold, one kind a file.

pub(crate) mod bloom;
pub(crate) mod fuse;
mod ruler;
pub(crate) mod shared;
