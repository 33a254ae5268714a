//! Positions -> memory: the line, the plain lines of `Bloom` and the atomic ones of `SharedBloom`, flat bits and counters.

pub(crate) mod bits;
pub(crate) mod counters;
mod line;
pub(crate) mod shared;

pub(crate) use line::{Line, filled, zeroed_lines};
