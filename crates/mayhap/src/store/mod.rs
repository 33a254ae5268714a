//! Positions -> memory: the line, the plain lines of `Bloom` and the atomic ones of `SharedBloom`.

mod line;
pub(crate) mod shared;

pub(crate) use line::{Line, zeroed_lines};
