//! LevelDB's built-in filter ("leveldb.BuiltinBloomFilter2"): the bits, and one byte with the number of probes.

mod block;

pub use block::{FilterBlock, FilterBlockBuilder};

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::{Constant, bits_from_native};
use crate::format::{Detection, FormatRow, Parameter};
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    StoredFilter,
};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};

/// LevelDB's maximum.
const MAX_PROBES: u32 = 30;

/// An empty filter as `NewBloomFilterPolicy(bits_per_key)` creates it for that many keys, duplicates included.
///
/// # Errors
/// When the filter would be too large.
pub fn create(keys: u64, bits_per_key: u32) -> Result<ClassicBloom, PlanError> {
    let bits = keys
        .checked_mul(u64::from(bits_per_key))
        .ok_or(PlanError::InvalidInteger {
            field: "capacity",
            value: keys,
            accepted: "fewer keys, or fewer bits a key",
        })?;
    let bytes = bits.max(64).div_ceil(8);
    let plan = ClassicPlan {
        capacity: keys.max(1),
        ..ClassicPlan::with_bits_and_probes(8 * bytes, probes(bits_per_key))?
    };
    ClassicBloom::from_plan(plan, Scheme::LevelDb, HashScheme::Caller)
}

/// LevelDB's number of probes, which older RocksDB has too.
pub(crate) fn probes(bits_per_key: u32) -> u32 {
    ((f64::from(bits_per_key) * 0.69) as u32).clamp(1, MAX_PROBES)
}

/// A decoded filter. LevelDB defines answers for filters without bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// Shorter than two bytes: nothing is in it.
    Nothing,
    /// The number of probes is 0 or reserved: every key may be in it.
    Everything,
    /// Bits.
    Bloom(ClassicBloom),
}

impl Filter {
    /// `KeyMayMatch`.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::Bloom(filter) => filter.contains(key.as_ref()),
        }
    }
}

/// Reads the output of `CreateFilter`.
///
/// # Errors
/// When there is not enough memory. All bytes are valid filters.
pub fn decode(bytes: &[u8]) -> Result<Filter, DecodeError> {
    let at = Cursor::new(bytes, Format::LevelDb);
    let Some((&probes, data)) = bytes.split_last().filter(|(_, data)| !data.is_empty()) else {
        return Ok(Filter::Nothing);
    };
    let probes = u32::from(probes);
    if !(1..=MAX_PROBES).contains(&probes) {
        return Ok(Filter::Everything);
    }
    let words = bits::from_bytes(data);
    bits::filter(&at, 8 * data.len() as u64, probes, Scheme::LevelDb, words).map(Filter::Bloom)
}

/// The output of `CreateFilter`.
///
/// # Errors
/// When the filter's keys are not hashed as LevelDB's are, or it has more than 30 probes.
pub fn encode(filter: &ClassicBloom) -> Result<Vec<u8>, EncodeError> {
    let refuse = |reason| EncodeError {
        format: Format::LevelDb,
        reason,
    };
    let plan = filter.plan();
    if filter.scheme() != Scheme::LevelDb {
        return Err(refuse(crate::OTHER_HASH));
    }
    if plan.probes > MAX_PROBES {
        return Err(refuse("it has more than 30 probes"));
    }
    let mut out = Vec::with_capacity(1 + filter.size_bytes() as usize);
    bits::to_bytes(filter.words(), plan.bits.div_ceil(8), &mut out);
    out.push(plan.probes as u8);
    Ok(out)
}

pub(crate) const ROW: FormatRow = FormatRow {
    name: "leveldb",
    description: "LevelDB's filter, by itself or in a table (.ldb)",
    has_checksum: false,
    detection: Detection::Candidate(|bytes| matches!(decode(bytes), Ok(Filter::Bloom(_)))),
    decode: |bytes, _, _| Ok(single(decode(bytes)?.into())),
    encode_bits: Some(encode),
    from_native: |filter| {
        bits_from_native(Format::LevelDb, filter, |scheme| scheme == Scheme::LevelDb)
    },
    required_count: BuildOptions::count_keys,
    create: create_from,
    parameters: &[BITS_PER_KEY],
    check_parameters: |parameters| parameters.bits_per_key().map(drop),
    key_reader: KeyReader::own_width,
};

/// RocksDB has it, too.
pub(crate) const BITS_PER_KEY: Parameter = Parameter {
    name: "bits_per_key",
    values: "bits for a key, 1 to 100",
};

impl From<Filter> for StoredFilter {
    fn from(filter: Filter) -> Self {
        let format = Format::LevelDb;
        let constant = |answer| Self::foreign(Constant { format, answer });
        match filter {
            Filter::Nothing => constant(false),
            Filter::Everything => constant(true),
            Filter::Bloom(filter) => Self::Bits { format, filter },
        }
    }
}

fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let filter = Filter::Bloom(create(keys, options.bits_per_key()? as u32)?);
    Ok(StoredFilter::from(filter).into())
}
