//! All sizing arithmetic: how many bits, how many probes. Nothing is sized anywhere else.
//!
//! Everything is computed in `f64` through the `libm` crate, so that a request gives the same bytes on every machine. Each
//! function says which way it rounds; integers are rounded so that the requested rate is kept.

pub mod accumulo;
mod advice;
mod bloom;
pub mod cassandra;
pub mod classic;
mod classic_cuckoo;
pub mod clickhouse;
pub mod cost;
pub(crate) mod counter_width;
pub mod counting;
mod cuckoo;
mod excepting;
mod fuse;
mod growing;
mod growing_cuckoo;
pub mod hbase;
pub mod leveldb;
mod memory;
mod next_part;
mod ribbon;
mod ribbon_block;
mod ribbon_shards;
mod static_plan;
mod window;
mod window_cuckoo;

pub use advice::{KindChoice, Requirements, size_bytes};
pub use bloom::{BloomPlan, LinesPerKey};
pub use classic_cuckoo::ClassicCuckooPlan;
pub(crate) use classic_cuckoo::FINGERPRINTS;
pub use cuckoo::CuckooPlan;
pub use excepting::ExceptingPlan;
pub use fuse::FusePlan;
pub(crate) use fuse::FuseShardShape;
pub use growing::GrowingPlan;
pub use growing_cuckoo::GrowingCuckooPlan;
pub(crate) use growing_cuckoo::{SLICE_BITS_PER_TABLE, SliceTablePlan};
pub(crate) use next_part::NextPart;
pub use ribbon::RibbonPlan;
pub use ribbon_block::RibbonBlockPrecision;
pub(crate) use ribbon_block::{RibbonBlockShape, SEEDS};
pub(crate) use ribbon_shards::{narrow_shard_slots, shard_slots, wide_shard_slots, wide_shards};
pub use static_plan::StaticPlan;
pub use window::WindowPlan;
pub use window_cuckoo::WindowCuckooPlan;
pub(crate) use window_cuckoo::{EPOCH_BITS, EPOCHS};

use crate::PlanError;

/// Rejects NaN and every rate outside the open interval (0, 1).
pub(crate) fn check_rate(false_positive_rate: f64) -> Result<(), PlanError> {
    if false_positive_rate > 0.0 && false_positive_rate < 1.0 {
        Ok(())
    } else {
        Err(PlanError::InvalidNumber {
            field: "false_positive_rate",
            value: false_positive_rate,
            accepted: "a number above 0 and below 1, such as 0.01",
        })
    }
}

/// Rejects a capacity of 0.
pub(crate) fn check_capacity(capacity: u64) -> Result<(), PlanError> {
    if capacity > 0 {
        Ok(())
    } else {
        Err(PlanError::InvalidInteger {
            field: "capacity",
            value: capacity,
            accepted: "at least 1 key",
        })
    }
}

/// Rejects a plan whose next part, of `next_bytes` bytes, is out of proportion to the present `held_bytes`: in a forged file, the
/// next insert would allocate whatever memory its plan demands. Valid plans stay far below.
pub(crate) fn check_growth(
    next_bytes: Result<u64, PlanError>,
    held_bytes: u64,
) -> Result<(), PlanError> {
    match next_bytes {
        Ok(value) if value > held_bytes.saturating_mul(16).saturating_add(1 << 16) => {
            Err(PlanError::InvalidInteger {
                field: "bytes of the next part",
                value,
                accepted: "at most 64 KiB plus 16 times the present size",
            })
        }
        // A part that cannot be planned is never added.
        _ => Ok(()),
    }
}

/// Rejects rates that are close to the collision rate of 64-bit hashes.
pub(crate) fn check_collisions(capacity: u64, false_positive_rate: f64) -> Result<(), PlanError> {
    if collision_rate(capacity) < false_positive_rate / 2.0 {
        Ok(())
    } else {
        Err(PlanError::InvalidNumber {
            field: "false_positive_rate",
            value: false_positive_rate,
            accepted: "a rate above capacity / 2^63: stricter ones are below the collision rate of 64-bit hashes",
        })
    }
}

/// The share of absent keys whose 64-bit hash equals the hash of a key.
pub(crate) fn collision_rate(keys: u64) -> f64 {
    keys as f64 / 18_446_744_073_709_551_616.0
}
