//! ClickHouse's skip indexes: `bloom_filter`, whose granules say how many values they hold and nothing else, and `tokenbf_v1`
//! and `ngrambf_v1`, whose granules are bits alone ([`terms`]).
//!
//! Neither bits per row nor probes are in a file: both follow from the rate in the definition of the index.

pub mod frames;
pub mod terms;
mod value;

pub use value::{Type, Value};

use crate::bits;
use crate::cursor::Cursor;
use crate::{DecodeError, Format, Problem};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::plan::clickhouse::bits_per_row_and_probes;
use mayhap_core::{ClassicBloom, HashScheme, KeyHash, PlanError, Scheme};
use std::collections::BTreeSet;

/// What one granule of an index knows about its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Granule {
    /// The most distinct hashes of any column.
    pub distinct: u64,
    /// A filter for each column.
    pub columns: Vec<ClassicBloom>,
}

impl Granule {
    /// The granule of rows whose values hash so, a set for each column, in an index `bloom_filter(rate)`.
    ///
    /// # Errors
    /// When there is no column or no value, or the memory is not there.
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

    /// Whether a column may have a value that hashes so.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn contains(&self, column: usize, hash: u64) -> bool {
        self.columns[column].contains_hash(KeyHash::from_u64(hash))
    }
}

/// An empty filter for so many distinct hashes in an index `bloom_filter(rate)`.
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

/// Granules of an index as they lie in a file. Each is made into filters when it is asked for: as filters, all of them would take
/// a hundred times as much memory when they are small.
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
    /// When the memory for it is not there.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn get(&self, at: usize) -> Result<Granule, DecodeError> {
        let mut at = Cursor::new(&self.bytes[self.starts[at]..], Format::ClickHouse);
        granule(&mut at, self.rate, self.columns)
    }
}

/// Reads granules, one after the other, of an index `bloom_filter(rate)` over so many columns.
///
/// # Errors
/// When the bytes are not whole granules.
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

/// Granules, one after the other.
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
