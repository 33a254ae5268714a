//! What can go wrong in the core: a request that cannot be planned, two filters that do not fit together, a key that there is no
//! room for, one that cannot be taken out, and what a kind of filter does not know how to do.

use crate::{Kind, Operation};
use core::fmt;

/// A filter that cannot be made as asked. Nothing is left of it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum PlanError {
    /// A whole number outside what is accepted.
    InvalidInteger {
        /// The name of the argument.
        field: &'static str,
        /// What was given.
        value: u64,
        /// What would have been accepted.
        accepted: &'static str,
    },
    /// A rate, cost or share outside what is accepted.
    InvalidNumber {
        /// The name of the argument.
        field: &'static str,
        /// What was given.
        value: f64,
        /// What would have been accepted.
        accepted: &'static str,
    },
    /// Two wishes that no filter fulfils together.
    ConflictingRequirements {
        /// Which.
        requirements: &'static str,
        /// What can be done.
        instead: &'static str,
    },
    /// The plan is sound and no seed fits the hashes together: they are not well mixed.
    Unsolvable {
        /// Distinct keys in the part that could not be solved.
        keys: u64,
        /// Seeds that were tried.
        attempts: u64,
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
            Self::InvalidInteger {
                field,
                value,
                accepted,
            } => {
                write!(
                    f,
                    "{field} = {value} cannot be planned for: give {accepted}"
                )
            }
            Self::InvalidNumber {
                field,
                value,
                accepted,
            } => {
                write!(
                    f,
                    "{field} = {value:?} cannot be planned for: give {accepted}"
                )
            }
            Self::ConflictingRequirements {
                requirements: wishes,
                instead,
            } => {
                write!(f, "no filter does both, {wishes}: {instead}")
            }
            Self::Unsolvable { keys, attempts } => write!(
                f,
                "no layout for {keys} keys in {attempts} attempts: give well-mixed hashes, or key bytes under a keyed scheme"
            ),
            Self::OutOfMemory { size_bytes } => write!(
                f,
                "no memory for a filter of {size_bytes} bytes: give a smaller capacity or a looser false_positive_rate"
            ),
        }
    }
}

impl core::error::Error for PlanError {}

/// Two filters that cannot be joined. Nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// They differ in shape.
    Shape {
        /// In which respect.
        field: &'static str,
        /// The value of the filter that was to be changed.
        ours: u64,
        /// The value of the other.
        theirs: u64,
    },
    /// Both hash with a secret key, and the keys differ.
    HashKey,
    /// They fit together, and there is no memory for what only the other has.
    Memory {
        /// How much was asked for.
        size_bytes: u64,
    },
}

impl Mismatch {
    pub(crate) fn check(field: &'static str, ours: u64, theirs: u64) -> Result<(), Self> {
        if ours == theirs {
            Ok(())
        } else {
            Err(Self::Shape {
                field,
                ours,
                theirs,
            })
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape {
                field,
                ours,
                theirs,
            } => write!(
                f,
                "the filters differ in {field}, {ours} here and {theirs} there: build both with the same capacity, \
                 false-positive rate and hash scheme"
            ),
            Self::HashKey => f.write_str(
                "the filters are keyed with different secrets: build both with the same key",
            ),
            Self::Memory { size_bytes } => write!(
                f,
                "{size_bytes} bytes of memory for the layers of the other filter could not be had: free some"
            ),
        }
    }
}

impl core::error::Error for Mismatch {}

/// A key that there is no room for. Nothing was changed, not one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Full {
    /// The filter has no room where the key could go, even with others moved.
    Table {
        /// Keys that are in, copies counted.
        keys: u64,
        /// Keys that the filter was made for.
        capacity: u64,
    },
    /// All places that the key could take hold copies of it already.
    Copies {
        /// How many.
        copies: u32,
    },
    /// What must be remembered about the key would take more memory than there is.
    Memory {
        /// How much was asked for.
        size_bytes: u64,
    },
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table { keys, capacity } => write!(
                f,
                "no room for the key: {keys} keys are in and the filter was made for {capacity}: remove some, or make a larger one"
            ),
            Self::Copies { copies } => write!(
                f,
                "no room for another copy: the key is in {copies} times: insert it if absent, or count it elsewhere"
            ),
            Self::Memory { size_bytes } => write!(
                f,
                "no room for the key: {size_bytes} bytes of memory could not be had: build the filter anew with all keys"
            ),
        }
    }
}

impl core::error::Error for Full {}

/// A key that cannot be removed exactly: one of its counters is full, so that it no longer knows how many keys it counts.
/// Nothing was changed; the key is still found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saturated {
    /// The count at which the filter's counters stick.
    pub max_count: u32,
}

impl fmt::Display for Saturated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a counter of this key is stuck at {}, so it cannot be removed: build the filter with more bits a counter, \
             or insert each key fewer times",
            self.max_count
        )
    }
}

impl core::error::Error for Saturated {}

/// What an [`AnyFilter`](crate::AnyFilter) would not do. Nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationError {
    /// Filters of this kind cannot do that.
    Unsupported {
        /// The kind.
        kind: Kind,
        /// Whether it has exceptions, which stand in the way of more.
        has_exceptions: bool,
        /// What was asked of it.
        operation: Operation,
    },
    /// Two filters of different kinds cannot be joined.
    Kinds {
        /// The kind of the filter that was to be changed.
        ours: Kind,
        /// The kind of the other.
        theirs: Kind,
    },
    /// There is no room for the key.
    Full(Full),
    /// The key cannot be taken out exactly.
    Saturated(Saturated),
    /// The two filters do not fit together.
    Mismatch(Mismatch),
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported {
                kind,
                has_exceptions,
                operation,
            } => {
                let exceptions = if *has_exceptions {
                    " with exceptions"
                } else {
                    ""
                };
                let instead = match operation {
                    _ if *has_exceptions => "build it anew from all keys and the exceptions",
                    Operation::Insert | Operation::Clear => "build it anew from all keys",
                    Operation::Remove => "build a cuckoo or a counting filter",
                    Operation::Union => "build bloom, classic, counting or growing filters",
                };
                write!(
                    f,
                    "a {kind} filter{exceptions} cannot {operation}: {instead}"
                )
            }
            Self::Kinds { ours, theirs } => write!(
                f,
                "a {ours} filter cannot take in a {theirs} filter: build both of one kind"
            ),
            Self::Full(full) => full.fmt(f),
            Self::Saturated(saturated) => saturated.fmt(f),
            Self::Mismatch(mismatch) => mismatch.fmt(f),
        }
    }
}

impl core::error::Error for OperationError {}
