//! How many bits, how many probes: all the arithmetic of sizing, once. Nothing is sized anywhere else.
//!
//! Everything is `f64` through the `libm` crate, so that one request gives the same bytes on every machine. Each function says
//! which way it rounds; where a whole number is needed, it is the one that keeps the requested rate.

mod advice;
mod bloom;
pub mod classic;
mod classic_cuckoo;
pub mod clickhouse;
pub mod cost;
pub mod counting;
mod cuckoo;
mod excepting;
mod fuse;
mod growing;
mod memory;
mod next_part;
mod ribbon;
mod ribbon_shards;
mod static_plan;
mod window;

pub use advice::{KindChoice, Requirements, size_bytes};
pub use bloom::{BloomPlan, LinesPerKey};
pub use classic_cuckoo::ClassicCuckooPlan;
pub(crate) use classic_cuckoo::FINGERPRINTS;
pub use cuckoo::CuckooPlan;
pub use excepting::ExceptingPlan;
pub use fuse::FusePlan;
pub(crate) use fuse::FuseShardShape;
pub use growing::GrowingPlan;
pub(crate) use next_part::NextPart;
pub use ribbon::RibbonPlan;
pub(crate) use ribbon_shards::{narrow_shard_slots, shard_slots, wide_shard_slots, wide_shards};
pub use static_plan::StaticPlan;
pub use window::WindowPlan;

use crate::PlanError;

/// Refuses rates that are no rates: NaN, and everything outside the open interval (0, 1).
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

/// Refuses a capacity of no keys.
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

/// Refuses a plan whose next part, of `next_bytes` bytes, is out of all proportion to the `held_bytes` that are there: of a filter
/// that an absent key wrote, the next insert would ask for whatever memory its plan says. Our own plans stay far below.
pub(crate) fn check_growth(
    next_bytes: Result<u64, PlanError>,
    held_bytes: u64,
) -> Result<(), PlanError> {
    match next_bytes {
        Ok(value) if value > held_bytes.saturating_mul(16).saturating_add(1 << 16) => {
            Err(PlanError::InvalidInteger {
                field: "bytes of the next part",
                value,
                accepted: "at most 64 KiB and 16 times what is there",
            })
        }
        // A part that cannot be planned is not opened.
        _ => Ok(()),
    }
}

/// Refuses rates that the collisions of 64-bit hashes alone would come near.
pub(crate) fn check_collisions(capacity: u64, false_positive_rate: f64) -> Result<(), PlanError> {
    if collision_rate(capacity) < false_positive_rate / 2.0 {
        Ok(())
    } else {
        Err(PlanError::InvalidNumber {
            field: "false_positive_rate",
            value: false_positive_rate,
            accepted: "a rate above capacity / 2^63: stricter ones drown in collisions of 64-bit hashes",
        })
    }
}

/// The share of absent keys whose 64-bit hash is also the hash of a key.
pub(crate) fn collision_rate(keys: u64) -> f64 {
    keys as f64 / 18_446_744_073_709_551_616.0
}
