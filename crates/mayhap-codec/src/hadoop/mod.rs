//! Hadoop's four filters, `org.apache.hadoop.util.bloom`, as their `write` writes them; everything big-endian.
//!
//! | bytes | header of every filter |
//! | --- | --- |
//! | 4 | version, -1. A number above 0 is an older header, without version and hash type: it is the number of hash functions, and the hash is Jenkins' |
//! | 4 | number of hash functions |
//! | 1 | hash type: 0 Jenkins, 1 Murmur |
//! | 4 | vector size, in bits or counters |
//!
//! Both headers are read, and the newer one is written. What follows it is told in each filter's file.
//!
//! Hadoop refuses empty keys. The functions here do, too; the filters' own methods do not.

pub mod bloom;
pub mod counting;
pub mod dynamic;
pub mod retouched;

pub use dynamic::Dynamic;
pub use retouched::{Clearing, Retouched};

use crate::cursor::Cursor;
use crate::{DecodeError, EncodeError, Format};
use mayhap_core::plan::classic::{ClassicPlan, MAX_PROBES};
use mayhap_core::{Mismatch, PlanError, Scheme};
use std::fmt;

/// Which hash positions come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashType {
    /// Jenkins' lookup3, number 0.
    Jenkins,
    /// MurmurHash2 with a tail of Hadoop's own, number 1: the default of Hadoop's configuration.
    Murmur,
}

impl HashType {
    /// The hash type of a number.
    ///
    /// # Errors
    /// When it is neither 0 nor 1.
    pub fn from_number(number: u8) -> Result<Self, PlanError> {
        match number {
            0 => Ok(Self::Jenkins),
            1 => Ok(Self::Murmur),
            other => Err(PlanError::InvalidInteger {
                field: "hash type",
                value: u64::from(other),
                accepted: HASH_TYPES,
            }),
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        match self {
            Self::Jenkins => 0,
            Self::Murmur => 1,
        }
    }

    const fn scheme(self) -> Scheme {
        match self {
            Self::Jenkins => Scheme::HadoopJenkins,
            Self::Murmur => Scheme::HadoopMurmur,
        }
    }
}

const HASH_TYPES: &str = "0 for Jenkins or 1 for Murmur";

/// What Hadoop throws an exception at. Nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Refused {
    /// The key has no bytes.
    EmptyKey,
    /// A key that is not in cannot be deleted or cleared.
    NotAMember,
    /// No position of the key can be chosen to be cleared.
    NothingToClear(Clearing),
    /// Counters have no such operation.
    Undefined {
        /// Its name.
        operation: &'static str,
    },
    /// The two filters do not fit together.
    Mismatch(Mismatch),
    /// There is no memory for it.
    Plan(PlanError),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyKey => f.write_str("the key is empty: give at least one byte"),
            Self::NotAMember => f.write_str("the key is not in the filter: ask contains first"),
            Self::NothingToClear(clearing) => write!(
                f,
                "no position of the key can be chosen by {clearing:?}: add false positives first, or choose another way"
            ),
            Self::Undefined { operation } => write!(
                f,
                "{operation} is not defined for counters: use and, or, or a filter of bits"
            ),
            Self::Mismatch(mismatch) => mismatch.fmt(f),
            Self::Plan(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

impl From<Mismatch> for Refused {
    fn from(mismatch: Mismatch) -> Self {
        Self::Mismatch(mismatch)
    }
}

impl From<PlanError> for Refused {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

fn check_key(key: &[u8]) -> Result<(), Refused> {
    if key.is_empty() {
        return Err(Refused::EmptyKey);
    }
    Ok(())
}

/// The largest `int` of Java.
const MAX_INT: u32 = i32::MAX.cast_unsigned();

/// The shape that a vector size and a number of hash functions stand for.
fn plan(vector_size: u32, hash_functions: u32) -> Result<ClassicPlan, PlanError> {
    if vector_size > MAX_INT {
        return Err(PlanError::InvalidInteger {
            field: "vector size",
            value: u64::from(vector_size),
            accepted: "1 to 2^31 - 1",
        });
    }
    ClassicPlan::with_bits_and_probes(u64::from(vector_size), hash_functions)
}

/// The header of every filter.
#[derive(Clone, Copy)]
struct Header {
    hash_functions: u32,
    hash_type: HashType,
    vector_size: u32,
}

impl Header {
    /// Bytes of the older header, and of the newer.
    const LEAST_BYTES: u64 = 8;
    const MAX_BYTES: usize = 13;

    fn read(at: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let first = at.i32_be("version")?;
        let (hash_functions, hash_type) = match first {
            1.. => (first, HashType::Jenkins),
            -1 => {
                let hash_functions = at.i32_be("number of hash functions")?;
                let number = at.u8("hash type")?;
                let hash_type = HashType::from_number(number)
                    .map_err(|_| at.value("hash type", i128::from(number), HASH_TYPES))?;
                (hash_functions, hash_type)
            }
            other => {
                let accepted = "-1, or a number of hash functions above 0";
                return Err(at.value("version", i128::from(other), accepted));
            }
        };
        // Hadoop has no upper limit. Ours keeps a forged number from making every question endless.
        let Some(hash_functions) = u32::try_from(hash_functions)
            .ok()
            .filter(|functions| (1..=MAX_PROBES).contains(functions))
        else {
            let value = i128::from(hash_functions);
            return Err(at.value("number of hash functions", value, "1 to 4096"));
        };
        let vector_size = at.i32_be("vector size")?;
        let Some(vector_size) = u32::try_from(vector_size).ok().filter(|&size| size > 0) else {
            let value = i128::from(vector_size);
            return Err(at.value("vector size", value, "1 to 2^31 - 1"));
        };
        Ok(Self {
            hash_functions,
            hash_type,
            vector_size,
        })
    }

    fn write(self, out: &mut Vec<u8>) {
        put_int(-1, out);
        put_int(self.hash_functions.cast_signed(), out);
        out.push(self.hash_type.number());
        put_int(self.vector_size.cast_signed(), out);
    }

    /// The header of a filter of ours.
    fn of(format: Format, plan: &ClassicPlan, scheme: Scheme) -> Result<Self, EncodeError> {
        let refuse = |reason| EncodeError { format, reason };
        let hash_type = match scheme {
            Scheme::HadoopJenkins => HashType::Jenkins,
            Scheme::HadoopMurmur => HashType::Murmur,
            _ => return Err(refuse(crate::OTHER_HASH)),
        };
        let vector_size = u32::try_from(plan.bits)
            .ok()
            .filter(|&size| size <= MAX_INT)
            .ok_or_else(|| refuse("its vector size is above 2^31 - 1"))?;
        Ok(Self {
            hash_functions: plan.probes,
            hash_type,
            vector_size,
        })
    }
}

fn put_int(number: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_be_bytes());
}

#[cfg(test)]
mod tests;
