//! LevelDB's built-in filter ("leveldb.BuiltinBloomFilter2"): the bits, and one byte with the number of probes.

mod block;
mod policy;
pub mod ribbon_block;

pub use block::{FilterBlock, FilterBlockBuilder};
pub use policy::Policy;

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::{Constant, bits_from_native};
use crate::format::{Detection, FormatRow, Parameter};
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    StoredFilter,
};
use mayhap_core::foreign::leveldb::hash;
use mayhap_core::plan::classic::ClassicPlan;
pub(crate) use mayhap_core::plan::leveldb::probes;
use mayhap_core::plan::leveldb::{MAX_PROBES, MIN_BITS};
use mayhap_core::{ClassicBloom, HashScheme, Key, PlanError, Scheme};

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
    let bytes = bits.max(MIN_BITS).div_ceil(8);
    let plan = ClassicPlan {
        capacity: keys.max(1),
        ..ClassicPlan::with_bits_and_probes(8 * bytes, probes(bits_per_key))?
    };
    ClassicBloom::from_plan(plan, Scheme::LevelDb, HashScheme::Caller)
}

/// `CreateFilter`: the bytes of a filter with these keys.
///
/// # Errors
/// When the filter would be too large.
pub fn build(
    keys: impl ExactSizeIterator<Item: Key>,
    bits_per_key: u32,
) -> Result<Vec<u8>, PlanError> {
    let mut filter = create(keys.len() as u64, bits_per_key)?;
    filter.extend(keys);
    Ok(bytes(&filter))
}

/// `KeyMayMatch`, without decoding the filter, because LevelDB looks up one key in each.
#[inline]
pub fn may_match(filter: &[u8], key: &[u8]) -> bool {
    let Some((&probes, data)) = filter.split_last().filter(|(_, data)| !data.is_empty()) else {
        return false;
    };
    if !(1..=MAX_PROBES).contains(&u32::from(probes)) {
        return true;
    }
    // A remainder of 32 bits is faster than the reciprocal of the walk, which pays for many keys.
    match u32::try_from(8 * data.len() as u64) {
        Ok(bits) => has_all(data, hash(key), probes, |hash| (hash % bits) as usize),
        Err(_) => has_all(data, hash(key), probes, |hash| {
            (u64::from(hash) % (8 * data.len() as u64)) as usize
        }),
    }
}

#[inline(always)]
fn has_all(data: &[u8], mut hash: u32, probes: u8, position: impl Fn(u32) -> usize) -> bool {
    let step = hash.rotate_right(17);
    (0..probes).all(|_| {
        let at = position(hash);
        hash = hash.wrapping_add(step);
        data.get(at / 8)
            .is_none_or(|byte| byte >> (at % 8) & 1 == 1)
    })
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
    if filter.scheme() != Scheme::LevelDb {
        return Err(refuse(crate::OTHER_HASH));
    }
    if filter.plan().probes > MAX_PROBES {
        return Err(refuse("it has more than 30 probes"));
    }
    Ok(bytes(filter))
}

/// The bytes of a filter with LevelDB's hash and at most 30 probes.
fn bytes(filter: &ClassicBloom) -> Vec<u8> {
    let plan = filter.plan();
    let mut out = Vec::with_capacity(1 + filter.size_bytes() as usize);
    bits::to_bytes(filter.words(), plan.bits.div_ceil(8), &mut out);
    out.push(plan.probes as u8);
    out
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
    create: crate::format::unless_wasm(create_from),
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
