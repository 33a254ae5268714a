//! `MAYHAP.*`: whole filters as bytes, and commands with the time at which they ran first.

mod at;
mod file;
mod load;

pub(crate) use at::At;
pub(crate) use file::File;
pub(crate) use load::Load;
