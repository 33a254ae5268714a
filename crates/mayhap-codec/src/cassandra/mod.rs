//! Cassandra's `*-Filter.db`: the number of probes and of words, big-endian, and the words. Their byte order and the order of the
//! hash's halves follow from the version of the SSTable, which is in the file's name only: see [`Layout`].

mod layout;
mod stored;

pub use layout::{ByteOrder, Layout};

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::classic_from_native;
use crate::format::{Detection, FormatRow, Parameter};
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    OpenError, OpenedFilter, Parameters, Setting, StoredFilter,
};
use layout::KnownLayout;
use mayhap_core::plan::cassandra;
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};
use stored::{SsTableFilter, stored};

/// Cassandra fails when a filter with more is queried.
const MAX_PROBES: u32 = 21;
const HEADER_BYTES: usize = 8;

/// A decoded filter.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// Every key may be in it: a file of no bytes, or a number of probes below 1.
    AlwaysPresent,
    /// Bits.
    Bloom(ClassicBloom),
}

impl Filter {
    /// `isPresent`. `false` is certain: the partition is not in the SSTable. `true` is probable.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        match self {
            Self::AlwaysPresent => true,
            Self::Bloom(filter) => filter.contains(key.as_ref()),
        }
    }

    /// `true`: the key was definitely new.
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> bool {
        match self {
            Self::AlwaysPresent => false,
            Self::Bloom(filter) => filter.insert(key.as_ref()),
        }
    }
}

/// An empty filter as `FilterFactory.getFilter(numElements, maxFalsePosProbability)` creates it. With a chance of 1 it has no bits.
///
/// # Errors
/// When the chance is below 0.0000671 or above 1, or the filter would be too large.
pub fn create(keys: u64, chance: f64, layout: Layout) -> Result<Filter, PlanError> {
    if (1.0..=1.0).contains(&chance) {
        return Ok(Filter::AlwaysPresent);
    }
    let (buckets, probes) = cassandra::buckets_and_probes(chance)?;
    let plan = ClassicPlan {
        false_positive_rate: chance,
        ..plan(keys, buckets, probes)?
    };
    ClassicBloom::from_plan(plan, layout.scheme(), HashScheme::Caller).map(Filter::Bloom)
}

/// An empty filter as `FilterFactory.getFilter(numElements, targetBucketsPerElem)` creates it.
///
/// # Errors
/// When there are not 1 to 20 buckets per key, or the filter would be too large.
pub fn with_buckets(keys: u64, buckets: u32, layout: Layout) -> Result<ClassicBloom, PlanError> {
    let probes = cassandra::best_probes(buckets).ok_or(PlanError::InvalidInteger {
        field: "buckets per key",
        value: u64::from(buckets),
        accepted: "1 to 20",
    })?;
    let plan = plan(keys, buckets, probes)?;
    ClassicBloom::from_plan(plan, layout.scheme(), HashScheme::Caller)
}

fn plan(keys: u64, buckets: u32, probes: u32) -> Result<ClassicPlan, PlanError> {
    let words = cassandra::words(keys, buckets)?;
    Ok(ClassicPlan {
        capacity: keys.max(1),
        ..ClassicPlan::with_bits_and_probes(64 * words, probes)?
    })
}

/// Reads a file of that layout. Bytes after the words are ignored, as Cassandra does.
///
/// # Errors
/// When it is not such a file, or has more than 21 probes, with which Cassandra cannot query it.
pub fn decode(bytes: &[u8], layout: Layout) -> Result<Filter, DecodeError> {
    decode_as(bytes, layout.byte_order(), layout.scheme())
}

fn decode_as(bytes: &[u8], order: ByteOrder, scheme: Scheme) -> Result<Filter, DecodeError> {
    if bytes.is_empty() {
        return Ok(Filter::AlwaysPresent);
    }
    let mut at = Cursor::new(bytes, Format::Cassandra);
    let probes = at.i32_be("number of hash functions")?;
    let words = at.i32_be("number of words")?;
    let Some(count) = u64::try_from(words).ok().filter(|&words| words > 0) else {
        return Err(at.value("number of words", i128::from(words), "1 to 2^31 - 1"));
    };
    let data = at.take("words", 8 * count)?;
    let probes = u32::try_from(probes).unwrap_or(0);
    if probes == 0 {
        return Ok(Filter::AlwaysPresent);
    }
    if probes > MAX_PROBES {
        let accepted = "at most 21, as Cassandra has";
        return Err(at.value("number of hash functions", i128::from(probes), accepted));
    }
    let words = match order {
        ByteOrder::New => bits::from_bytes(data),
        ByteOrder::Old => bits::from_longs(data),
    };
    bits::filter(&at, 64 * count, probes, scheme, words).map(Filter::Bloom)
}

/// The bytes of a file of that layout.
///
/// # Errors
/// When the filter's keys are not hashed as this layout does, its bits are not whole words, or it has more than 21 probes.
pub fn encode(filter: &Filter, layout: Layout) -> Result<Vec<u8>, EncodeError> {
    match filter {
        Filter::AlwaysPresent => Ok(Vec::new()),
        Filter::Bloom(filter) if filter.scheme() != layout.scheme() => {
            Err(refuse(crate::OTHER_HASH))
        }
        Filter::Bloom(filter) => encode_bits(filter, layout.byte_order()),
    }
}

fn refuse(reason: &'static str) -> EncodeError {
    EncodeError {
        format: Format::Cassandra,
        reason,
    }
}

fn encode_bits(filter: &ClassicBloom, order: ByteOrder) -> Result<Vec<u8>, EncodeError> {
    let plan = filter.plan();
    if plan.probes > MAX_PROBES {
        return Err(refuse("it has more than 21 probes"));
    }
    if !plan.bits.is_multiple_of(64) {
        return Err(refuse("its bits are not whole words"));
    }
    let words = i32::try_from(plan.bits / 64).map_err(|_| refuse("it has more than 2^31 words"))?;
    let mut out = Vec::with_capacity(HEADER_BYTES + filter.size_bytes() as usize);
    out.extend_from_slice(&plan.probes.to_be_bytes());
    out.extend_from_slice(&words.to_be_bytes());
    match order {
        ByteOrder::New => bits::to_bytes(filter.words(), plan.bits / 8, &mut out),
        ByteOrder::Old => bits::to_longs(filter.words(), &mut out),
    }
    Ok(out)
}

pub(crate) const ROW: FormatRow = FormatRow {
    name: "cassandra",
    description: "Cassandra's *-Filter.db, since 1.2",
    has_checksum: false,
    detection: Detection::Shape {
        fits,
        is_named: |name| Layout::from_file_name(name).is_some(),
    },
    decode: |bytes, _, parameters| open(bytes, parameters),
    encode_bits: None,
    from_native: |filter| {
        let is_own = |scheme| matches!(scheme, Scheme::Cassandra | Scheme::CassandraOld);
        let filter = classic_from_native(Format::Cassandra, filter, is_own)?;
        // What Cassandra writes today, if it has this hash.
        let layout = match filter.scheme() {
            Scheme::CassandraOld => Layout::Cassandra1,
            _ => Layout::Cassandra4,
        };
        Ok(stored(Filter::Bloom(filter), layout))
    },
    required_count: BuildOptions::count_keys_without_shape,
    create: crate::format::unless_wasm(create_from),
    parameters: &[
        Parameter {
            name: "order",
            values: "new (since Cassandra 4.0) or old",
        },
        Parameter {
            name: "version",
            values: "an SSTable version, such as nb, me, lb or da-bti",
        },
    ],
    check_parameters: |parameters| KnownLayout::from_parameters(parameters).map(drop),
    key_reader: KeyReader::big_endian,
};

/// Whether a header and as many words as it says are all there is.
fn fits(bytes: &[u8]) -> bool {
    let mut at = Cursor::new(bytes, Format::Cassandra);
    let (Ok(probes), Ok(words)) = (at.u32_be("probes"), at.u32_be("words")) else {
        return false;
    };
    (1..=MAX_PROBES).contains(&probes) && words > 0 && at.left() == 8 * u64::from(words)
}

fn open(bytes: &[u8], parameters: &Parameters) -> Result<Vec<OpenedFilter>, OpenError> {
    if bytes.is_empty() {
        // The same in every layout.
        return Ok(single(stored(Filter::AlwaysPresent, Layout::Cassandra4)));
    }
    match KnownLayout::from_parameters(parameters)? {
        KnownLayout::Layout(layout) => Ok(single(stored(decode(bytes, layout)?, layout))),
        // Both hash orders were used with these bytes: a key may be in if it may be by one of them.
        KnownLayout::OldBytes => {
            let decode = |layout: Layout| decode(bytes, layout);
            let filters = (decode(Layout::Cassandra3)?, decode(Layout::Cassandra1)?);
            Ok(single(match filters {
                (Filter::Bloom(bits), Filter::Bloom(other)) => {
                    StoredFilter::foreign(SsTableFilter::of_either_hash(bits, other))
                }
                (always, _) => stored(always, Layout::Cassandra3),
            }))
        }
        KnownLayout::Nothing => Err(OpenError::Missing {
            format: Format::Cassandra,
            any_of: &[Setting::ByteOrder],
            definition: "the version in the SSTable's name: new from na (Cassandra 4.0) on, old before",
        }),
    }
}

/// Without a version, the filter is for Cassandra 4.0 and later; with old bytes, for 3.0 and 3.11.
fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let layout = match KnownLayout::from_parameters(&options.parameters)? {
        KnownLayout::Layout(layout) => layout,
        KnownLayout::OldBytes => Layout::Cassandra3,
        KnownLayout::Nothing => Layout::Cassandra4,
    };
    let probes = options.probes;
    if let Some(probes) = probes.filter(|&probes| probes > MAX_PROBES) {
        return Err(BuildError::Plan(PlanError::InvalidInteger {
            field: "probes",
            value: u64::from(probes),
            accepted: "at most 21, as Cassandra has",
        }));
    }
    let filter = match create(keys, options.rate(), layout)? {
        Filter::Bloom(filter) => Filter::Bloom(options.reshape(filter, 64, probes)?),
        Filter::AlwaysPresent => Filter::AlwaysPresent,
    };
    Ok(stored(filter, layout).into())
}
