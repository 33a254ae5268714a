//! Positions -> memory: the line, the plain lines of `Bloom` and the atomic ones of `SharedBloom`,
//! the cells of static filters.

mod cell;
mod line;
pub(crate) mod shared;

pub(crate) use cell::{Cell, reserved, zeroed};
pub(crate) use line::{Line, zeroed_lines};
