//! ClickHouse's skip indexes: `bloom_filter`, whose granules contain their number of values and bits, and `tokenbf_v1` and
//! `ngrambf_v1`, whose granules contain only bits ([`terms`]).
//!
//! Neither bits per row nor probes are in a file: both follow from the rate in the definition of the index.

pub mod frames;
pub mod terms;
mod value;

pub use value::{Type, Value};

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::{Description, FilterError, ForeignFilter, classic_from_native, other_hash};
use crate::format::{Detection, FormatRow, Parameter};
use crate::keys::Encoding;
use crate::open::{Location, OpenError, OpenOptions, OpenedFilter, Setting, check_count};
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader, KeyType,
    ParameterError, Parameters, Problem, RequiredCount, StoredFilter,
};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::plan::clickhouse::bits_per_row_and_probes;
use mayhap_core::{ClassicBloom, HashScheme, KeyHash, PlanError, Scheme};
use std::collections::BTreeSet;

/// One granule of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Granule {
    /// The most distinct hashes of any column.
    pub distinct: u64,
    /// A filter for each column.
    pub columns: Vec<ClassicBloom>,
}

impl Granule {
    /// The granule for these hashes of values, a set for each column, in an index `bloom_filter(rate)`.
    ///
    /// # Errors
    /// When there is no column or no value, or not enough memory.
    pub fn build(columns: &[BTreeSet<u64>], rate: f64) -> Result<Self, PlanError> {
        let distinct = columns.iter().map(BTreeSet::len).max().unwrap_or(0) as u64;
        let columns = columns.iter().map(|hashes| {
            let mut filter = empty(distinct, rate)?;
            for &hash in hashes {
                filter.insert_hash(KeyHash::from_u64(hash));
            }
            Ok(filter)
        });
        Ok(Self {
            distinct,
            columns: columns.collect::<Result<_, PlanError>>()?,
        })
    }

    /// Whether a column may have a value with that hash.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn contains(&self, column: usize, hash: u64) -> bool {
        self.columns[column].contains_hash(KeyHash::from_u64(hash))
    }
}

/// An empty filter for that many distinct hashes in an index `bloom_filter(rate)`.
fn empty(distinct: u64, rate: f64) -> Result<ClassicBloom, PlanError> {
    let (bits_per_row, probes) = bits_per_row_and_probes(rate);
    let bytes = filter_bytes(distinct, bits_per_row).ok_or(PlanError::InvalidInteger {
        field: "distinct values",
        value: distinct,
        accepted: "1 or more, and fewer than fit into memory",
    })?;
    let plan = ClassicPlan {
        capacity: distinct,
        false_positive_rate: rate,
        ..ClassicPlan::with_bits_and_probes(8 * bytes, probes)?
    };
    ClassicBloom::from_plan(plan, Scheme::ClickHouse, HashScheme::Caller)
}

/// Bytes of a filter; there is none without values.
fn filter_bytes(distinct: u64, bits_per_row: u32) -> Option<u64> {
    let bits = distinct.checked_mul(u64::from(bits_per_row))?;
    (bits > 0 && bits <= 1 << 60).then(|| bits.div_ceil(8))
}

/// The granules of an index, still encoded. Each is decoded on demand: small filters would take a hundred times as much memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Granules {
    bytes: Vec<u8>,
    /// Where each begins.
    starts: Vec<usize>,
    rate: f64,
    columns: usize,
}

impl Granules {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Granule number `at`.
    ///
    /// # Errors
    /// When there is not enough memory.
    ///
    /// # Panics
    /// When there is no such granule.
    pub fn get(&self, at: usize) -> Result<Granule, DecodeError> {
        let mut at = Cursor::new(&self.bytes[self.starts[at]..], Format::ClickHouse);
        granule(&mut at, self.rate, self.columns)
    }
}

/// Reads the concatenated granules of an index `bloom_filter(rate)` over that many columns.
///
/// # Errors
/// When the bytes are not complete granules.
pub fn decode(bytes: &[u8], rate: f64, columns: usize) -> Result<Granules, DecodeError> {
    let mut at = Cursor::new(bytes, Format::ClickHouse);
    if columns == 0 {
        return Err(at.value("columns", 0, "1 or more"));
    }
    let mut count = 0;
    while at.left() > 0 {
        skip(&mut at, rate, columns)?;
        count += 1;
    }
    let mut starts = Vec::with_capacity(count);
    let mut at = Cursor::new(bytes, Format::ClickHouse);
    while at.left() > 0 {
        starts.push(bytes.len() - at.left() as usize);
        skip(&mut at, rate, columns)?;
    }
    Ok(Granules {
        bytes: bytes.to_vec(),
        starts,
        rate,
        columns,
    })
}

/// The number of values of a granule, and the bytes of each of its filters.
fn head(at: &mut Cursor<'_>, rate: f64) -> Result<(u64, u64), DecodeError> {
    let distinct = at.varint("number of values")?;
    let (bits_per_row, _) = bits_per_row_and_probes(rate);
    match filter_bytes(distinct, bits_per_row) {
        Some(length) => Ok((distinct, length)),
        None => Err(at.value(
            "number of values",
            i128::from(distinct),
            "1 or more, as many as the bytes have room for",
        )),
    }
}

fn skip(at: &mut Cursor<'_>, rate: f64, columns: usize) -> Result<(), DecodeError> {
    let (_, length) = head(at, rate)?;
    let all = length.saturating_mul(columns as u64);
    at.take("filters", all).map(drop)
}

fn granule(at: &mut Cursor<'_>, rate: f64, columns: usize) -> Result<Granule, DecodeError> {
    let (distinct, length) = head(at, rate)?;
    let (_, probes) = bits_per_row_and_probes(rate);
    let mut filters = Vec::with_capacity(columns);
    for _ in 0..columns {
        let words = bits::from_bytes(at.take("filter", length)?);
        let plan = ClassicPlan::with_bits_and_probes(8 * length, probes).map(|plan| ClassicPlan {
            capacity: distinct,
            false_positive_rate: rate,
            ..plan
        });
        let filter = plan.and_then(|plan| {
            ClassicBloom::from_words(plan, Scheme::ClickHouse, HashScheme::Caller, words)
        });
        filters.push(filter.map_err(|error| at.error(Problem::Plan(error)))?);
    }
    Ok(Granule {
        distinct,
        columns: filters,
    })
}

/// The bytes of granules, concatenated.
pub fn encode(granules: &[Granule]) -> Vec<u8> {
    let mut out = Vec::new();
    for granule in granules {
        let mut rest = granule.distinct;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
        for filter in &granule.columns {
            bits::to_bytes(filter.words(), filter.plan().bits / 8, &mut out);
        }
    }
    out
}

/// One column of a granule, whose size follows from its number of distinct values: the capacity of the bits. Its keys are the
/// eight bytes of hashes.
#[derive(Clone, PartialEq, Debug)]
struct Column(ClassicBloom);

impl ForeignFilter for Column {
    fn format(&self) -> Format {
        Format::ClickHouse
    }

    fn contains(&self, key: &[u8]) -> bool {
        let hash = key.try_into().map(u64::from_le_bytes);
        hash.is_ok_and(|hash| self.0.contains_hash(KeyHash::from_u64(hash)))
    }

    fn insert(&mut self, _key: &[u8]) -> Result<bool, FilterError> {
        Err(FilterError::Unsupported {
            format: Format::ClickHouse,
            reason: "is sized for the distinct values of its rows and does not support inserts: rebuild it from all values",
        })
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        Ok(encode(&[Granule {
            distinct: self.0.plan().capacity,
            columns: vec![self.0.clone()],
        }]))
    }

    fn describe(&self) -> Description {
        let mut description = Description::flat_bits(Format::ClickHouse, &self.0);
        description.stats.capacity = Some(self.0.plan().capacity);
        description.stats.false_positive_rate = Some(self.0.plan().false_positive_rate);
        description
    }

    fn bits(&self) -> Option<&ClassicBloom> {
        Some(&self.0)
    }

    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        match to {
            Format::Mayhap => Ok(StoredFilter::Native(self.0.into())),
            other => Err(other_hash(other)),
        }
    }
}

/// The distinct hashes of a granule, which must all be known before it is sized.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct GranuleBuilder {
    rate: f64,
    hashes: BTreeSet<u64>,
    is_array: bool,
}

impl GranuleBuilder {
    pub(crate) fn insert(&mut self, key: &[u8]) -> Result<(), FilterError> {
        let Ok(hash) = key.try_into() else {
            return Err(FilterError::Unsupported {
                format: Format::ClickHouse,
                reason: "stores hashes of values: parse keys with the key reader of its parameters",
            });
        };
        self.hashes.insert(u64::from_le_bytes(hash));
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<StoredFilter, PlanError> {
        if self.is_array && self.hashes.is_empty() {
            // ClickHouse adds the hash 0 when all arrays are empty.
            self.hashes.insert(0);
        }
        let mut granule = Granule::build(&[self.hashes], self.rate)?;
        Ok(StoredFilter::foreign(Column(granule.columns.remove(0))))
    }
}

/// Rates with different sizes, 2 to 19 bits per row: bytes that are granules at one of them could be an index.
const RATES: [f64; 8] = [0.9, 0.25, 0.1, 0.05, 0.025, 0.01, 0.001, 0.0001];

const DEFINITION: &str = "bloom_filter(rate), the definition of the index";

pub(crate) const ROW: FormatRow = FormatRow {
    name: "clickhouse",
    description: "granules of ClickHouse's bloom_filter index, by themselves or compressed (.idx)",
    has_checksum: false,
    detection: Detection::Candidate(|bytes| {
        RATES
            .iter()
            .any(|&rate| decode(bytes, rate, 1).is_ok_and(|granules| !granules.is_empty()))
    }),
    decode: open,
    encode_bits: None,
    from_native: |filter| {
        let is_own = |scheme| scheme == Scheme::ClickHouse;
        let filter = classic_from_native(Format::ClickHouse, filter, is_own)?;
        Ok(StoredFilter::foreign(Column(filter)))
    },
    // It collects the values themselves.
    required_count: |_| RequiredCount::Nothing,
    create: crate::format::unless_wasm(create_from),
    parameters: &[Parameter {
        name: "type",
        values: "a type of ClickHouse's: u8..i64, string, fixedstring(N), float32, float64, date, datetime, uuid, u128, \
                 nullable(..) or array(..)",
    }],
    check_parameters: |parameters| column_type(parameters).map(drop),
    key_reader: |key_type, parameters| {
        let column = column_type(parameters)?.unwrap_or(match (key_type, key_type.integer()) {
            (_, Some((bytes, _))) => Type::Integer(bytes),
            (KeyType::F64, None) => Type::Float64,
            (KeyType::Uuid, None) => Type::Wide,
            (_, None) => Type::String,
        });
        let encoding = Encoding::ClickHouse(column);
        Ok(KeyReader::with_encoding(encoding, key_type))
    },
};

fn column_type(parameters: &Parameters) -> Result<Option<Type>, ParameterError> {
    parameters.parse("type", Type::parse)
}

fn open(
    bytes: &[u8],
    options: &OpenOptions,
    _: &Parameters,
) -> Result<Vec<OpenedFilter>, OpenError> {
    let format = Format::ClickHouse;
    let Some(rate) = options.rate else {
        return Err(OpenError::Missing {
            format,
            any_of: &[Setting::FalsePositiveRate],
            definition: DEFINITION,
        });
    };
    let columns = options.columns.unwrap_or(1);
    let granules = decode(bytes, rate, columns)?;
    check_count(format, granules.len() * columns, bytes, options.limits)?;
    let mut opened = Vec::with_capacity(granules.len() * columns);
    for number in 0..granules.len() {
        for (column, filter) in (1..).zip(granules.get(number)?.columns) {
            opened.push(OpenedFilter {
                location: Location {
                    granule: (granules.len() > 1).then_some(number as u64),
                    column: (columns > 1).then(|| format!("{column}")),
                    ..Location::default()
                },
                filter: StoredFilter::foreign(Column(filter)),
            });
        }
    }
    Ok(opened)
}

fn create_from(options: &BuildOptions, _: u64) -> Result<FilterBuilder, BuildError> {
    let rate = options.rate();
    let column = column_type(&options.parameters)?;
    Ok(FilterBuilder::from(GranuleBuilder {
        rate,
        hashes: BTreeSet::new(),
        is_array: matches!(column, Some(Type::Array(_))),
    }))
}
