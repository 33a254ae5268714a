//! Hadoop's four filters, `org.apache.hadoop.util.bloom`, as their `write` writes them; everything big-endian.
//!
//! | bytes | header of every filter |
//! | --- | --- |
//! | 4 | version, -1. A number above 0 is an older header, without version and hash type: it is the number of hash functions, and the hash is Jenkins' |
//! | 4 | number of hash functions |
//! | 1 | hash type: 0 Jenkins, 1 Murmur |
//! | 4 | vector size, in bits or counters |
//!
//! Both headers are read, and the newer one is written. The file of each filter documents what follows it.
//!
//! Hadoop rejects empty keys. The functions here do, too; the methods of the core's filters do not.

pub mod bloom;
pub mod counting;
pub mod dynamic;
pub mod retouched;

pub use dynamic::Dynamic;
pub use retouched::{Clearing, Retouched};

use crate::cursor::Cursor;
use crate::format::Parameter;
use crate::{BuildOptions, DecodeError, EncodeError, Format, ParameterError, Parameters};
use mayhap_core::plan::classic::{self, ClassicPlan, MAX_PROBES};
use mayhap_core::{Mismatch, PlanError, Scheme};
use std::fmt;

/// The hash function that positions are computed with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashType {
    /// Jenkins' lookup3, number 0.
    Jenkins,
    /// MurmurHash2 with Hadoop's own handling of the tail, number 1: the default of Hadoop's configuration.
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

/// An operation for which Hadoop throws an exception. The filter is unchanged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HadoopError {
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
    /// The two filters have different shapes.
    Mismatch(Mismatch),
    /// There is not enough memory.
    Plan(PlanError),
}

impl fmt::Display for HadoopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyKey => {
                f.write_str("the key is empty, and Hadoop rejects empty keys: remove empty lines")
            }
            Self::NotAMember => f.write_str("the key is not in the filter: check `contains` first"),
            Self::NothingToClear(clearing) => write!(
                f,
                "{clearing:?} finds no bit of the key to clear: add false positives first, or use another clearing scheme"
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

impl std::error::Error for HadoopError {}

impl From<Mismatch> for HadoopError {
    fn from(mismatch: Mismatch) -> Self {
        Self::Mismatch(mismatch)
    }
}

impl From<PlanError> for HadoopError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

fn check_key(key: &[u8]) -> Result<(), HadoopError> {
    if key.is_empty() {
        return Err(HadoopError::EmptyKey);
    }
    Ok(())
}

/// The largest `int` of Java.
const MAX_INT: u32 = i32::MAX.cast_unsigned();

/// The plan for a vector size and a number of hash functions.
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
struct HadoopHeader {
    hash_functions: u32,
    hash_type: HashType,
    vector_size: u32,
}

impl HadoopHeader {
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
        // Hadoop has no upper limit. Ours keeps lookups in forged filters fast.
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

    /// The header of a filter of the core.
    fn for_filter(format: Format, plan: &ClassicPlan, scheme: Scheme) -> Result<Self, EncodeError> {
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

const HASH: Parameter = Parameter {
    name: "hash",
    values: "murmur or jenkins",
};

fn hash_type(parameters: &Parameters) -> Result<HashType, ParameterError> {
    let words = [("murmur", HashType::Murmur), ("jenkins", HashType::Jenkins)];
    let given = parameters.choose("hash", &words)?;
    Ok(given.unwrap_or(HashType::Murmur))
}

/// The vector size and the number of hash functions for that many keys. Hadoop has no rule for them: the optimal ones are used if the
/// options have none.
fn shape(options: &BuildOptions, keys: u64) -> Result<(u32, u32), PlanError> {
    let keys = keys.max(1);
    let bits = match options.bits {
        Some(bits) => bits,
        None => classic::bits(keys, options.rate())?,
    };
    let best = || classic::best_probes(bits, keys);
    let probes = options.probes.unwrap_or_else(best);
    let vector_size = u32::try_from(bits).map_err(|_| PlanError::InvalidInteger {
        field: "bits",
        value: bits,
        accepted: "at most 2^31 - 1: use fewer keys or a higher rate",
    })?;
    Ok((vector_size, probes))
}

#[cfg(test)]
mod tests;
