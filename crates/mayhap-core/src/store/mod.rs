//! Positions -> memory: cache lines, plain and atomic, flat bits, packed counters, the packed cells of `Cuckoo`, the cells of
//! `Fuse`, shard directories, and exact sets.

#[cfg(target_has_atomic = "64")]
pub(crate) mod atomic_line;
pub(crate) mod bits;
mod directory;
mod exact_set;
mod fuse_cell;
mod line;
mod memory;
mod multiset;
mod open_addressing;
mod packed_cells;
pub(crate) mod packed_counters;
mod storage;

pub(crate) use crate::simd::zeroed::{Slab, clear, copied, zeroed};
pub(crate) use directory::ShardDirectory;
pub(crate) use exact_set::ExactSet;
pub(crate) use fuse_cell::{CellPacker, FuseCell, packed_size_bytes};
pub(crate) use line::Line;
pub use memory::zeroed_bytes;
pub(crate) use memory::{reserve_more, reserved};
pub(crate) use multiset::Multiset;
pub(crate) use packed_cells::{MAX_CELL_BITS, PackedCells, size_bytes as cells_size_bytes};
pub use storage::{Borrowed, Owned, Storage};
