//! How many bits, how many probes: all the arithmetic of sizing, once. Nothing is sized anywhere else.
//!
//! Everything is `f64` through the `libm` crate, so that one request gives the same bytes on every machine. Each function
//! says which way it rounds; where a whole number is needed, it is the one that keeps the rate that was asked for.

pub mod blocked;
mod bloom;
pub mod classic;
pub mod clickhouse;
pub mod cost;
mod fuse;
mod memory;
mod ribbon;

pub use bloom::{BloomPlan, LinesPerKey};
pub use fuse::FusePlan;
pub(crate) use fuse::FuseShape;
pub use ribbon::RibbonPlan;
pub(crate) use ribbon::{BUCKET, layer_starts};

use crate::PlanError;

/// Refuses rates that are no rates: NaN, and everything outside the open interval (0, 1).
pub(crate) fn check_rate(false_positive_rate: f64) -> Result<(), PlanError> {
    if false_positive_rate > 0.0 && false_positive_rate < 1.0 {
        Ok(())
    } else {
        Err(PlanError::Number {
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
        Err(PlanError::Count {
            field: "capacity",
            value: capacity,
            accepted: "at least 1 key",
        })
    }
}
