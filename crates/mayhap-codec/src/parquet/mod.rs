//! Parquet's split-block filter, the bitset alone: blocks of 256 bits, eight probes, XXH64 of the plain value.

pub mod file;
mod thrift;

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::bits_from_native;
use crate::format::{Detection, FormatRow};
use crate::keys::Encoding;
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    RequiredCount, StoredFilter,
};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};

const PROBES: u32 = 8;
const BLOCK_BYTES: u64 = 32;

/// The bits that parquet-java plans for that many values, `optimalNumOfBits`. (It intends to round to 256 and clears one bit instead;
/// we do the same, because its files have these sizes.)
pub fn bits(values: u64, fpp: f64) -> u64 {
    let wanted = -8.0 * values as f64 / (1.0 - fpp.powf(1.0 / 8.0)).ln();
    // The cast saturates, and NaN becomes 0.
    let wanted = (wanted as u64).min(1 << 30);
    (wanted.saturating_add(255) & !256).max(256)
}

/// An empty filter with at least that many bytes: parquet-java rounds up to a power of two, at least 32.
///
/// # Errors
/// When there is not enough memory, or it would exceed 2^40 bytes.
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
/// When it is empty or not a multiple of 32 bytes.
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
/// When the filter's keys are not hashed as Parquet's are, or it does not have eight probes.
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

pub(crate) const ROW: FormatRow = FormatRow {
    name: "parquet",
    description: "Parquet's split-block filter, by itself or in a file (.parquet)",
    has_checksum: false,
    detection: Detection::Candidate(|bytes| decode(bytes).is_ok()),
    decode: |bytes, _, _| Ok(single(stored(decode(bytes)?))),
    encode_bits: Some(encode),
    from_native: |filter| {
        bits_from_native(Format::Parquet, filter, |scheme| scheme == Scheme::Parquet)
    },
    required_count: |options| match options.bits {
        Some(_) => RequiredCount::Nothing,
        None => options.count_distinct_keys(),
    },
    create: crate::format::unless_wasm(create_from),
    parameters: &[],
    check_parameters: |_| Ok(()),
    key_reader: |key_type, _| {
        let encoding = Encoding::Parquet(None);
        Ok(KeyReader::with_encoding(encoding, key_type))
    },
};

fn stored(filter: ClassicBloom) -> StoredFilter {
    StoredFilter::Bits {
        format: Format::Parquet,
        filter,
    }
}

fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let planned = || bits(keys, options.rate());
    let bits = options.bits.unwrap_or_else(planned);
    Ok(stored(with_bytes(bits.div_ceil(8))?).into())
}
