//! What callers hold, one kind a file.

pub(crate) mod bloom;
mod ruler;
pub(crate) mod shared;
