//! How a static filter is made: all keys are there, and its cells are the solution of a system of equations.
//!
//! | file | question |
//! | --- | --- |
//! | `shards.rs` | how do the hashes of one shard after the other come together in little memory? |
//! | `sort.rs` | how are they put in order, so that order and repetition of the items do not matter? |
//! | `peel.rs` | which cell of a `Fuse` is whose? |
//! | `eliminate.rs` | how is a shard of equations solved that has as many slots as keys? |
//! | `ribbon.rs` | how do the shards of a `Ribbon` come together? |

pub(crate) mod eliminate;
pub(crate) mod peel;
pub(crate) mod ribbon;
pub(crate) mod shards;
mod sort;

/// Moves the distinct ones of sorted values to the front and counts them.
fn dedup_sorted(sorted: &mut [u64]) -> usize {
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
