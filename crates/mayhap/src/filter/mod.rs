//! What callers hold, one kind a file.

pub(crate) mod bloom;
pub(crate) mod classic;
pub(crate) mod counting;
mod ruler;
pub(crate) mod shared;
