//! What can go wrong in the core: a request that cannot be planned, and two filters that do not fit together.

use core::fmt;

/// A filter that cannot be made as asked. Nothing was allocated.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum PlanError {
    /// A whole number outside what is accepted.
    Count {
        /// The name of the argument.
        field: &'static str,
        /// What was given.
        value: u64,
        /// What would have been accepted.
        accepted: &'static str,
    },
    /// A rate, cost or share outside what is accepted.
    Number {
        /// The name of the argument.
        field: &'static str,
        /// What was given.
        value: f64,
        /// What would have been accepted.
        accepted: &'static str,
    },
    /// The plan is sound and the memory for it could not be had.
    OutOfMemory {
        /// How much was asked for.
        size_bytes: u64,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count {
                field,
                value,
                accepted,
            } => {
                write!(
                    f,
                    "{field} = {value} cannot be planned for: give {accepted}"
                )
            }
            Self::Number {
                field,
                value,
                accepted,
            } => {
                write!(
                    f,
                    "{field} = {value} cannot be planned for: give {accepted}"
                )
            }
            Self::OutOfMemory { size_bytes } => write!(
                f,
                "no memory for a filter of {size_bytes} bytes: give a smaller capacity or a looser false_positive_rate"
            ),
        }
    }
}

impl core::error::Error for PlanError {}
