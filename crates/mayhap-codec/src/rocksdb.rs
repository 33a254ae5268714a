//! RocksDB's full filter blocks. The last five bytes identify one of three kinds: the cache-line Bloom filter of format version 5, the
//! older one, or Ribbon, which can be queried but not built.

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::{Constant, Description, ForeignFilter, bits_from_native};
use crate::format::{Detection, FormatRow, Parameter};
use crate::leveldb::BITS_PER_KEY;
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    ParameterError, Parameters, Problem, StoredFilter,
};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, Kind, PlanError, Scheme, Stats};

mod ribbon;

pub use ribbon::Ribbon;

const TRAILER: usize = 5;
const LINE_BYTES: u64 = 64;
const LINE_BITS: u64 = 512;

/// A decoded filter block. RocksDB defines answers for filters without bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// Too short for any filter, or without data: nothing is in it.
    Nothing,
    /// Of a reserved kind: every key may be in it.
    Everything,
    /// Bits, of [`Scheme::RocksDb`] or [`Scheme::RocksDbLegacy`].
    Bloom(ClassicBloom),
    /// A ribbon.
    Ribbon(Ribbon),
}

impl Filter {
    /// Whether the key may be in the table.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::Bloom(filter) => filter.contains(key.as_ref()),
            Self::Ribbon(filter) => filter.contains(key),
        }
    }
}

/// An empty filter of format version 5 and later, for that many distinct keys.
///
/// # Errors
/// When bits per key are not between 1 and 100, or the filter would be too large.
pub fn create(keys: u64, bits_per_key: f64) -> Result<ClassicBloom, PlanError> {
    check_bits(bits_per_key)?;
    let millibits = (bits_per_key * 1000.0 + 0.500_001) as u64;
    let lines = keys
        .checked_mul(millibits)
        .ok_or(too_many(keys))?
        .div_ceil(1000 * LINE_BITS)
        .max(1);
    if lines > u64::from(u32::MAX) {
        return Err(too_many(keys));
    }
    empty(keys, lines, probes(millibits), Scheme::RocksDb)
}

/// An empty filter of the format versions before 5.
///
/// # Errors
/// As [`create`].
pub fn create_legacy(keys: u64, bits_per_key: u32) -> Result<ClassicBloom, PlanError> {
    check_bits(f64::from(bits_per_key))?;
    let lines = keys
        .checked_mul(u64::from(bits_per_key))
        .ok_or(too_many(keys))?
        .div_ceil(LINE_BITS);
    // An odd number, so that all bits of the hash matter.
    let lines = lines | 1;
    if lines > u64::from(u32::MAX) {
        return Err(too_many(keys));
    }
    empty(
        keys,
        lines,
        crate::leveldb::probes(bits_per_key),
        Scheme::RocksDbLegacy,
    )
}

fn empty(keys: u64, lines: u64, probes: u32, scheme: Scheme) -> Result<ClassicBloom, PlanError> {
    let plan = ClassicPlan {
        capacity: keys.max(1),
        ..ClassicPlan::with_bits_and_probes(lines * LINE_BITS, probes)?
    };
    ClassicBloom::from_plan(plan, scheme, HashScheme::Caller)
}

fn check_bits(bits_per_key: f64) -> Result<(), PlanError> {
    if (1.0..=100.0).contains(&bits_per_key) {
        return Ok(());
    }
    Err(PlanError::InvalidNumber {
        field: "bits_per_key",
        value: bits_per_key,
        accepted: "1 to 100",
    })
}

fn too_many(keys: u64) -> PlanError {
    PlanError::InvalidInteger {
        field: "capacity",
        value: keys,
        accepted: "fewer keys: a filter has at most 2^32 - 1 lines",
    }
}

/// RocksDB's number of probes for a number of millibits per key.
fn probes(millibits: u64) -> u32 {
    const MAX_MILLIBITS: [u64; 12] = [
        2080, 3580, 5100, 6640, 8300, 10_070, 11_720, 14_001, 16_050, 18_300, 22_001, 25_501,
    ];
    let within = MAX_MILLIBITS.iter().position(|&max| millibits <= max);
    match within {
        Some(at) => at as u32 + 1,
        None if millibits > 50_000 => 24,
        None => ((millibits - 1) / 2000 - 1) as u32,
    }
}

/// Reads a filter block, without the trailer that every block has.
///
/// # Errors
/// When the parts do not fit together.
pub fn decode(bytes: &[u8]) -> Result<Filter, DecodeError> {
    let mut at = Cursor::new(bytes, Format::RocksDb);
    let Some(data) = bytes.len().checked_sub(TRAILER).filter(|&data| data > 0) else {
        return Ok(Filter::Nothing);
    };
    let data = at.take("data", data as u64)?;
    // A signed byte: -1 and -2 are kinds, and a positive value is a number of probes.
    let kind = at.u8("kind")?;
    match kind {
        0xff => bloom(&mut at, data),
        0xfe => {
            let seed = at.u8("seed")?;
            let blocks = at.take("blocks", 3)?;
            let blocks = u32::from_le_bytes([blocks[0], blocks[1], blocks[2], 0]);
            ribbon::decode(&at, seed, blocks, data)
        }
        // Reserved.
        0 | 0x80..0xfe => Ok(Filter::Everything),
        probes => legacy(&mut at, u32::from(probes), data),
    }
}

fn bloom(at: &mut Cursor<'_>, data: &[u8]) -> Result<Filter, DecodeError> {
    let layout = at.u8("layout")?;
    let probes = at.u8("block size and probes")?;
    let rest = at.take("reserved bytes", 2)?;
    let length = data.len() as u64;
    // Other layouts and block sizes are reserved; RocksDB answers that every key may be in.
    if layout != 0 || probes & 0xe0 != 0 || rest != [0, 0] || probes == 0 {
        return Ok(Filter::Everything);
    }
    if !length.is_multiple_of(LINE_BYTES) {
        return Err(at.value("length", i128::from(length), "a multiple of 64"));
    }
    let words = bits::from_bytes(data);
    bits::filter(at, 8 * length, u32::from(probes), Scheme::RocksDb, words).map(Filter::Bloom)
}

fn legacy(at: &mut Cursor<'_>, probes: u32, data: &[u8]) -> Result<Filter, DecodeError> {
    let lines = u64::from(at.u32_le("number of lines")?);
    let length = data.len() as u64;
    if lines == 0 || length != lines * LINE_BYTES {
        return Err(at.value("number of lines", i128::from(lines), "the length over 64"));
    }
    let words = bits::from_bytes(data);
    bits::filter(at, 8 * length, probes, Scheme::RocksDbLegacy, words).map(Filter::Bloom)
}

/// A filter block.
///
/// # Errors
/// When the filter's keys are not hashed as RocksDB's are, or it has more probes than RocksDB can write.
pub fn encode(filter: &ClassicBloom) -> Result<Vec<u8>, EncodeError> {
    let refuse = |reason| EncodeError {
        format: Format::RocksDb,
        reason,
    };
    let plan = filter.plan();
    let lines = u32::try_from(plan.bits / LINE_BITS)
        .map_err(|_| refuse("it has more than 2^32 - 1 lines"))?;
    let mut out = Vec::with_capacity(TRAILER + filter.size_bytes() as usize);
    bits::to_bytes(filter.words(), plan.bits / 8, &mut out);
    match filter.scheme() {
        Scheme::RocksDb if plan.probes < 32 => {
            out.extend_from_slice(&[0xff, 0, plan.probes as u8, 0, 0]);
        }
        Scheme::RocksDbLegacy if plan.probes < 128 => {
            out.push(plan.probes as u8);
            out.extend_from_slice(&lines.to_le_bytes());
        }
        Scheme::RocksDb | Scheme::RocksDbLegacy => return Err(refuse("it has too many probes")),
        _ => return Err(refuse(crate::OTHER_HASH)),
    }
    Ok(out)
}

pub(crate) const ROW: FormatRow = FormatRow {
    name: "rocksdb",
    description: "RocksDB's full filter block, by itself or in a table (.sst)",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| match decode(bytes)? {
        filter @ (Filter::Bloom(_) | Filter::Ribbon(_)) => Ok(filter.into()),
        // RocksDB takes almost any bytes for one of these.
        Filter::Nothing | Filter::Everything => Err(DecodeError {
            format: Format::RocksDb,
            offset: 0,
            problem: Problem::Value {
                field: "kind",
                value: 0,
                accepted: "the size of a filter with bits",
            },
        }),
    }),
    decode: |bytes, _, _| Ok(single(decode(bytes)?.into())),
    encode_bits: Some(encode),
    from_native: |filter| {
        bits_from_native(Format::RocksDb, filter, |scheme| {
            matches!(scheme, Scheme::RocksDb | Scheme::RocksDbLegacy)
        })
    },
    required_count: BuildOptions::count_distinct_keys,
    create: crate::format::unless_wasm(create_from),
    parameters: &[
        BITS_PER_KEY,
        Parameter {
            name: "variant",
            values: "fast or legacy",
        },
    ],
    check_parameters: |parameters| {
        parameters.bits_per_key()?;
        is_legacy(parameters).map(drop)
    },
    key_reader: KeyReader::own_width,
};

impl From<Filter> for StoredFilter {
    fn from(filter: Filter) -> Self {
        let format = Format::RocksDb;
        let constant = |answer| Self::foreign(Constant { format, answer });
        match filter {
            Filter::Nothing => constant(false),
            Filter::Everything => constant(true),
            Filter::Ribbon(filter) => Self::foreign(filter),
            Filter::Bloom(filter) => Self::Bits { format, filter },
        }
    }
}

fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let bits_per_key = options.bits_per_key()?;
    let filter = if is_legacy(&options.parameters)? {
        create_legacy(keys, bits_per_key as u32)?
    } else {
        create(keys, bits_per_key)?
    };
    Ok(StoredFilter::from(Filter::Bloom(filter)).into())
}

fn is_legacy(parameters: &Parameters) -> Result<bool, ParameterError> {
    let given = parameters.choose("variant", &[("fast", false), ("legacy", true)])?;
    Ok(given.unwrap_or(false))
}

impl ForeignFilter for Ribbon {
    fn format(&self) -> Format {
        Format::RocksDb
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.contains(key)
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        Err(EncodeError {
            format: Format::RocksDb,
            reason: "RocksDB's ribbon filters can be read, not written",
        })
    }

    fn describe(&self) -> Description {
        let stats = Stats {
            bits: Some(8 * self.size_bytes()),
            estimated_rate: Some(self.estimated_rate()),
            ..Stats::new(Kind::Ribbon, self.size_bytes())
        };
        Description::new(Format::RocksDb, stats)
    }

    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        Err(EncodeError {
            format: to,
            reason: "RocksDB's ribbon filters can be read, not written",
        })
    }
}
