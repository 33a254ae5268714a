//! How static filters are built: all keys are known, and the cells are the solution of a system of equations.
//!
//! | file | contents |
//! | --- | --- |
//! | `shards.rs` | collects the hashes shard by shard, in little memory |
//! | `sort.rs` | sorts hashes, so that the order and repetition of the items do not matter |
//! | `peel.rs` | solves a shard of a `Fuse` |
//! | `eliminate.rs` | solves a shard of equations with as many slots as keys |
//! | `ribbon.rs` | combines the shards of a `Ribbon` |
//! | `ribbon_block.rs` | solves a `RibbonBlock` |

pub(crate) mod eliminate;
pub(crate) mod peel;
pub(crate) mod ribbon;
pub(crate) mod ribbon_block;
pub(crate) mod shards;
mod sort;

/// Moves the distinct values of a sorted slice to its front and counts them.
pub(crate) fn dedup_sorted(sorted: &mut [u64]) -> usize {
    let Some(mut last) = sorted.first().copied() else {
        return 0;
    };
    let mut kept = 1;
    for at in 1..sorted.len() {
        let value = sorted[at];
        sorted[kept] = value;
        kept += usize::from(value != last);
        last = value;
    }
    kept
}
