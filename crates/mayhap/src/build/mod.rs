//! How a static filter is made: all keys are there, and its cells are the solution of a system of equations.
//!
//! | file | question |
//! | --- | --- |
//! | `shards.rs` | how do the hashes of one shard after the other come together in little memory? |
//! | `sort.rs` | how are they put in order, so that order and repetition of the items do not matter? |
//! | `peel.rs` | which cell is whose? |

pub(crate) mod peel;
pub(crate) mod shards;
mod sort;
