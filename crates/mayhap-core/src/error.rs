//! The errors of the core: a request that cannot be planned, filters that cannot be merged, a full filter, a key that cannot be
//! removed, and an operation that a kind does not support.

use crate::{HashScheme, KeyType, Kind, Operation, SipKey};
use core::fmt;

/// Why a filter cannot be created as requested.
///
/// ```
/// # use mayhap_core as mayhap;
/// assert!(mayhap::Bloom::new(0, 0.01).is_err());
/// let error = mayhap::Bloom::new(1000, 2.0).unwrap_err();
/// println!("{error}"); // names the argument, and the values that are accepted
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum PlanError {
    /// An integer out of range.
    InvalidInteger {
        /// The name of the argument.
        field: &'static str,
        /// The value that was given.
        value: u64,
        /// The values that are accepted.
        accepted: &'static str,
    },
    /// A rate, cost or share out of range.
    InvalidNumber {
        /// The name of the argument.
        field: &'static str,
        /// The value that was given.
        value: f64,
        /// The values that are accepted.
        accepted: &'static str,
    },
    /// Two requirements that no filter fulfils together.
    ConflictingRequirements {
        /// The requirements.
        requirements: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// Filters of this kind need more than a capacity and a rate.
    NeedsMore {
        /// The kind.
        kind: Kind,
        /// What they need, and how to create them.
        instead: &'static str,
    },
    /// The plan is valid, but no seed works for these hashes: they are not well mixed.
    Unsolvable {
        /// Distinct keys in the part that could not be solved.
        keys: u64,
        /// The number of seeds that were tried.
        attempts: u64,
    },
    /// The plan is valid, but there is not enough memory for it.
    OutOfMemory {
        /// The number of bytes that were requested.
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
                write!(f, "{field} = {value} is out of range: give {accepted}")
            }
            Self::InvalidNumber {
                field,
                value,
                accepted,
            } => {
                write!(f, "{field} = {value:?} is out of range: give {accepted}")
            }
            Self::ConflictingRequirements {
                requirements,
                instead,
            } => {
                write!(f, "no kind of filter supports {requirements}: {instead}")
            }
            Self::NeedsMore { kind, instead } => {
                write!(
                    f,
                    "a {kind} filter needs more than a capacity and a rate: {instead}"
                )
            }
            Self::Unsolvable { keys, attempts } => write!(
                f,
                "no solution for {keys} keys after {attempts} attempts: use well-mixed hashes, or a keyed scheme over the key bytes"
            ),
            Self::OutOfMemory { size_bytes } => write!(
                f,
                "not enough memory for a filter of {size_bytes} bytes: use a smaller capacity or a higher false-positive rate"
            ),
        }
    }
}

impl core::error::Error for PlanError {}

/// The field of [`Mismatch::Shape`] that holds ids of hash schemes.
const HASH_SCHEME: &str = "hash scheme";

/// Why two filters cannot be merged. Neither was changed.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::Bloom;
/// let mut small = Bloom::new(1000, 0.01)?;
/// let large = Bloom::new(2000, 0.01)?;
/// println!("{}", small.union_with(&large).unwrap_err()); // names the property that differs
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// Their shapes differ.
    Shape {
        /// The property that differs.
        field: &'static str,
        /// Its value in the filter that was to be changed.
        ours: u64,
        /// Its value in the other filter.
        theirs: u64,
    },
    /// Both hash with a secret key, and the keys differ.
    HashKey,
    /// Their keys are of different types.
    KeyType {
        /// The key type of the filter that was to be changed.
        ours: KeyType,
        /// The key type of the other filter.
        theirs: KeyType,
    },
    /// The filters match, but there is not enough memory for the layers that only the other one has.
    Memory {
        /// The number of bytes that were requested.
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
                field: HASH_SCHEME,
                ours,
                theirs,
            } => {
                let keyed = HashScheme::Sip13(SipKey::new([0; 16])).id().into();
                f.write_str(if *ours == keyed || *theirs == keyed {
                    "one is keyed (SipHash), the other is not: build both with the same key, or both without"
                } else {
                    "one contains the hashes of its program, the other hashes its keys itself: build both in the same way"
                })
            }
            Self::Shape {
                field,
                ours,
                theirs,
            } => write!(
                f,
                "the filters differ in {field} ({ours} and {theirs}): build both with the same capacity and false-positive rate"
            ),
            Self::HashKey => {
                f.write_str("the filters have different secret keys: build both with the same key")
            }
            Self::KeyType { ours, theirs } => write!(
                f,
                "one filter has keys of type {ours}, the other of type {theirs}: build both with the same key type"
            ),
            Self::Memory { size_bytes } => write!(
                f,
                "not enough memory for the layers of the other filter ({size_bytes} bytes): free some"
            ),
        }
    }
}

impl core::error::Error for Mismatch {}

/// Why a key cannot be inserted. The filter is unchanged.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Cuckoo, Full};
/// let mut few = Cuckoo::new(10, 0.01)?;
/// let full = (0..1000_u32).find_map(|key| few.try_insert(key).err());
/// assert!(matches!(full, Some(Full::Table { capacity: 10, .. })));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Full {
    /// There is no free cell for the key, even after moving others.
    Table {
        /// The number of keys, copies included.
        keys: u64,
        /// The number of keys that the filter was planned for.
        capacity: u64,
    },
    /// All cells that the key could use already hold copies of it.
    Copies {
        /// The number of copies.
        copies: u32,
    },
    /// There is not enough memory to store the key.
    Memory {
        /// The number of bytes that were requested.
        size_bytes: u64,
    },
    /// Filters of this kind are built once, from all keys.
    Static {
        /// The kind.
        kind: Kind,
    },
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table { keys, capacity } => write!(
                f,
                "the filter is full: it has {keys} keys, copies included, and was planned for {capacity}: remove some, or build a larger one"
            ),
            Self::Copies { copies } => write!(
                f,
                "the key is already stored {copies} times, and no more copies fit: insert each key once, or use a counting filter; a larger filter does not help"
            ),
            Self::Memory { size_bytes } => write!(
                f,
                "not enough memory to insert the key ({size_bytes} bytes): free some, or rebuild the filter from its keys"
            ),
            Self::Static { kind } => write!(
                f,
                "a {kind} filter does not support inserts: rebuild it from all keys"
            ),
        }
    }
}

impl core::error::Error for Full {}

/// A key cannot be removed exactly: one of its counters is saturated and no longer knows how many keys it counts. The filter is
/// unchanged and still contains the key.
///
/// ```
/// # use mayhap_core as mayhap;
/// let mut counts = mayhap::CountingBloom::new(1000, 0.01)?; // counters of 4 bits
/// (0..20).for_each(|_| _ = counts.insert("a"));
/// assert_eq!(counts.remove("a").unwrap_err().max_count, 15);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saturated {
    /// The count at which the counters of the filter saturate.
    pub max_count: u32,
}

impl fmt::Display for Saturated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the key cannot be removed: one of its counters is saturated at {}; rebuild the filter with more bits per counter, \
             or insert each key fewer times",
            self.max_count
        )
    }
}

impl core::error::Error for Saturated {}

/// An [`AnyFilter`](crate::AnyFilter) is not of the kind that was asked for.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{AnyFilter, Bloom, Cuckoo, Kind};
/// let filter = AnyFilter::from(Bloom::new(1000, 0.01)?);
/// assert_eq!(Cuckoo::try_from(filter).unwrap_err().found, Kind::Bloom);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrongKind {
    /// The type that was asked for.
    pub expected: &'static str,
    /// The kind of the filter.
    pub found: Kind,
    /// Whether the filter has exceptions.
    pub has_exceptions: bool,
}

impl fmt::Display for WrongKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            expected,
            found,
            has_exceptions,
        } = self;
        let exceptions = match has_exceptions {
            true => " with exceptions",
            false => "",
        };
        write!(
            f,
            "it is a {found} filter{exceptions}, not a {expected}: use the type of that kind, or AnyFilter"
        )
    }
}

impl core::error::Error for WrongKind {}

/// The text is not the name of a [`Kind`].
///
/// ```
/// # use mayhap_core as mayhap;
/// assert!("blom".parse::<mayhap::Kind>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownKind;

impl fmt::Display for UnknownKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown kind: use ")?;
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            let before = match Kind::ALL.len() - number {
                _ if number == 0 => "",
                1 => " or ",
                _ => ", ",
            };
            write!(f, "{before}{kind}")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownKind {}

/// Why an [`AnyFilter`](crate::AnyFilter) rejected an operation. The filter is unchanged.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{AnyFilter, Fuse};
/// let mut words = AnyFilter::from(Fuse::build(["a"], 0.01)?);
/// println!("{}", words.try_insert("b").unwrap_err()); // static filters are built again
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationError {
    /// The kind does not support the operation.
    Unsupported {
        /// The kind.
        kind: Kind,
        /// Whether the filter has exceptions, which prevent more operations.
        has_exceptions: bool,
        /// The operation.
        operation: Operation,
    },
    /// Filters of different kinds cannot be merged.
    Kinds {
        /// The kind of the filter that was to be changed.
        ours: Kind,
        /// The kind of the other filter.
        theirs: Kind,
    },
    /// The filter is full.
    Full(Full),
    /// The key cannot be removed exactly.
    Saturated(Saturated),
    /// The filters cannot be merged.
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
                    _ if *has_exceptions => "rebuild it from all keys and the exceptions",
                    Operation::Insert | Operation::Clear => "rebuild it from all keys",
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
                "a {theirs} filter cannot be merged into a {ours} filter: build both as the same kind"
            ),
            Self::Full(full) => full.fmt(f),
            Self::Saturated(saturated) => saturated.fmt(f),
            Self::Mismatch(mismatch) => mismatch.fmt(f),
        }
    }
}

impl core::error::Error for OperationError {}
