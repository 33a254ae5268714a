//! Parquet's split-block filter, the bitset alone: blocks of 256 bits, eight probes, XXH64 of the plain value.

pub mod file;
mod thrift;

use crate::bits;
use crate::cursor::Cursor;
use crate::{DecodeError, EncodeError, Format};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};

const PROBES: u32 = 8;
const BLOCK_BYTES: u64 = 32;

/// The bits that parquet-java plans for so many values, `optimalNumOfBits`. (It means to round to 256 and clears one bit
/// instead; kept, because its files have these sizes.)
pub fn bits(values: u64, fpp: f64) -> u64 {
    let wanted = -8.0 * values as f64 / (1.0 - fpp.powf(1.0 / 8.0)).ln();
    // A cast saturates, and what is no number becomes 0.
    let wanted = (wanted as u64).min(1 << 30);
    (wanted.saturating_add(255) & !256).max(256)
}

/// An empty filter with at least so many bytes: parquet-java rounds up to a power of two, at least 32.
///
/// # Errors
/// When there is no memory for it, or it is past 2^40 bytes.
pub fn with_bytes(bytes: u64) -> Result<ClassicBloom, PlanError> {
    if bytes > 1 << 40 {
        return Err(PlanError::InvalidInteger {
            field: "size_bytes",
            value: bytes,
            accepted: "at most 2^40",
        });
    }
    let bytes = bytes.max(BLOCK_BYTES).next_power_of_two();
    let plan = ClassicPlan::with_bits_and_probes(8 * bytes, PROBES)?;
    ClassicBloom::from_plan(plan, Scheme::Parquet, HashScheme::Caller)
}

/// Reads a bitset.
///
/// # Errors
/// When it is empty or not whole blocks of 32 bytes.
pub fn decode(bytes: &[u8]) -> Result<ClassicBloom, DecodeError> {
    let at = Cursor::new(bytes, Format::Parquet);
    let length = bytes.len() as u64;
    if length == 0 || !length.is_multiple_of(BLOCK_BYTES) {
        return Err(at.value("length", i128::from(length), "a multiple of 32, and not 0"));
    }
    bits::filter(
        &at,
        8 * length,
        PROBES,
        Scheme::Parquet,
        bits::from_bytes(bytes),
    )
}

/// The bitset.
///
/// # Errors
/// When the filter's keys are not hashed as Parquet's are, or it has not eight probes.
pub fn encode(filter: &ClassicBloom) -> Result<Vec<u8>, EncodeError> {
    let refuse = |reason| EncodeError {
        format: Format::Parquet,
        reason,
    };
    if filter.scheme() != Scheme::Parquet {
        return Err(refuse(crate::OTHER_HASH));
    }
    if filter.plan().probes != PROBES {
        return Err(refuse("a filter of Parquet's has eight probes"));
    }
    let mut out = Vec::with_capacity(filter.size_bytes() as usize);
    bits::to_bytes(filter.words(), filter.plan().bits / 8, &mut out);
    Ok(out)
}
