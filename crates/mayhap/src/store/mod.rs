//! Positions -> memory: the line, the plain lines of `Bloom` and the atomic ones of `SharedBloom`, and flat bits.

pub(crate) mod bits;
mod line;
pub(crate) mod shared;

pub(crate) use line::{Line, filled, zeroed_lines};
