//! Membership filters at the memory's own speed.
#![cfg_attr(not(feature = "std"), no_std)]

mod error;
pub mod plan;

pub use error::PlanError;
