//! Positions -> memory: the line, the plain lines of `Bloom`, the atomic ones of `SharedBloom`, flat bits and counters, the
//! packed cells of `Cuckoo` and the whole ones of static filters.

mod bag;
pub(crate) mod bits;
mod cell;
mod cells;
pub(crate) mod counters;
mod directory;
mod exact;
mod line;
mod memory;
mod open;
pub(crate) mod shared;
mod storage;

pub(crate) use crate::simd::zeroed::{Slab, clear, copied, zeroed};
pub(crate) use bag::Bag;
pub(crate) use cell::Cell;
pub(crate) use cells::{Cells, MAX_CELL_BITS, size_bytes as cells_size_bytes};
pub(crate) use directory::Directory;
pub(crate) use exact::ExactSet;
pub(crate) use line::Line;
pub use memory::zeroed_bytes;
pub(crate) use memory::{reserved, room_for};
pub use storage::{Borrowed, Owned, Storage};
