//! Positions -> memory: the line, the plain lines of `Bloom`, the atomic ones of `SharedBloom`, the packed cells of `Cuckoo`.

mod cells;
mod line;
pub(crate) mod shared;

pub(crate) use cells::{Cells, MAX_CELL_BITS, size_bytes as cells_size_bytes};
pub(crate) use line::{Line, zeroed_lines};
