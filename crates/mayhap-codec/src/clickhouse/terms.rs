//! `tokenbf_v1` and `ngrambf_v1`: a granule is a fixed number of bytes, the bits of the terms of its texts.

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::{
    Description, Detail, FilterError, ForeignFilter, classic_from_native, other_hash, same_type,
};
use crate::format::{Detection, FormatRow, Parameter};
use crate::open::{OpenError, OpenOptions, OpenedFilter, Setting, single};
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    ParameterError, Parameters, RequiredCount, StoredFilter,
};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};

/// ClickHouse's own limit.
const MAX_BYTES: u64 = 1 << 30;

/// An empty granule as `tokenbf_v1(bytes, hashes, seed)` defines it.
///
/// # Errors
/// When there are no bytes or more than 2^30, or no hashes or more than 4096.
pub fn create(bytes: u64, hashes: u32, seed: u64) -> Result<ClassicBloom, PlanError> {
    check_bytes(bytes)?;
    let plan = ClassicPlan::with_bits_and_probes(8 * bytes, hashes)?;
    ClassicBloom::from_plan(plan, Scheme::ClickHouseTerms { seed }, HashScheme::Caller)
}

fn check_bytes(bytes: u64) -> Result<(), PlanError> {
    if (1..=MAX_BYTES).contains(&bytes) {
        return Ok(());
    }
    Err(PlanError::InvalidInteger {
        field: "size_bytes",
        value: bytes,
        accepted: "1 to 2^30, as in ClickHouse",
    })
}

/// Reads one granule.
///
/// # Errors
/// When there are no bytes or more than 2^30, or no hashes or more than 4096.
pub fn decode(bytes: &[u8], hashes: u32, seed: u64) -> Result<ClassicBloom, DecodeError> {
    let at = Cursor::new(bytes, Format::ClickHouseTokenbf);
    let length = bytes.len() as u64;
    check_bytes(length).map_err(|error| at.error(crate::Problem::Plan(error)))?;
    let scheme = Scheme::ClickHouseTerms { seed };
    bits::filter(&at, 8 * length, hashes, scheme, bits::from_bytes(bytes))
}

/// The granule.
///
/// # Errors
/// When the filter's terms are not hashed as ClickHouse's are.
pub fn encode(filter: &ClassicBloom) -> Result<Vec<u8>, EncodeError> {
    if !matches!(filter.scheme(), Scheme::ClickHouseTerms { .. }) {
        return Err(EncodeError {
            format: Format::ClickHouseTokenbf,
            reason: crate::OTHER_HASH,
        });
    }
    let mut out = Vec::with_capacity(filter.size_bytes() as usize);
    bits::to_bytes(filter.words(), filter.plan().bits / 8, &mut out);
    Ok(out)
}

/// The tokens of a text: runs of letters and digits of ASCII, and of all bytes past it.
pub fn tokens(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_in_token = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    text.split(move |byte| !is_in_token(byte))
        .filter(|token| !token.is_empty())
}

/// The n-grams of a text: every `n` consecutive code points. Invalid UTF-8 is counted as ClickHouse does, by its first bytes.
pub fn ngrams(text: &[u8], n: usize) -> impl Iterator<Item = &[u8]> {
    let mut ends = vec![0];
    let mut at = 0;
    while at < text.len() {
        at = (at + sequence_length(text[at])).min(text.len());
        ends.push(at);
    }
    let last = ends.len().saturating_sub(n.max(1));
    (0..last).map(move |first| &text[ends[first]..ends[first + n.max(1)]])
}

/// The number of bytes of a code point, from its first byte.
fn sequence_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0..0xf0 => 3,
        0xc0..0xe0 => 2,
        _ => 1,
    }
}

/// Whether every n-gram of a text may be in a granule. This is true of a text that is too short for one.
pub fn contains_ngrams(filter: &ClassicBloom, text: &[u8], n: usize) -> bool {
    ngrams(text, n).all(|ngram| filter.contains(ngram))
}

/// Whether every token of a text may be in a granule.
pub fn contains_tokens(filter: &ClassicBloom, text: &[u8]) -> bool {
    tokens(text).all(|token| filter.contains(token))
}

/// A granule of a `tokenbf_v1` or, with a length, `ngrambf_v1` index. Its keys are texts, which are in when all their terms are.
#[derive(Clone, PartialEq, Debug)]
struct Terms {
    filter: ClassicBloom,
    /// Code points of an n-gram.
    ngram: Option<usize>,
}

impl ForeignFilter for Terms {
    fn format(&self) -> Format {
        Format::ClickHouseTokenbf
    }

    fn contains(&self, key: &[u8]) -> bool {
        match self.ngram {
            None => contains_tokens(&self.filter, key),
            Some(n) => contains_ngrams(&self.filter, key, n),
        }
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        let mut new = false;
        let mut insert = |term: &[u8]| new |= self.filter.insert(term);
        match self.ngram {
            None => tokens(key).for_each(&mut insert),
            Some(n) => ngrams(key, n).for_each(&mut insert),
        }
        Ok(new)
    }

    fn union_with(&mut self, other: &dyn ForeignFilter) -> Result<(), FilterError> {
        let other = same_type::<Self>(other)?;
        if self.ngram != other.ngram {
            return Err(FilterError::no_union(self.format()));
        }
        Ok(self.filter.union_with(&other.filter)?)
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        encode(&self.filter)
    }

    fn describe(&self) -> Description {
        let mut description = Description::flat_bits(self.format(), &self.filter);
        if let Some(n) = self.ngram {
            let n = Detail::Number(n as u64);
            description.details.push(("ngram", n));
        }
        description
    }

    fn bits(&self) -> Option<&ClassicBloom> {
        Some(&self.filter)
    }

    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        match to {
            Format::Mayhap => Ok(StoredFilter::Native(self.filter.into())),
            other => Err(other_hash(other)),
        }
    }
}

const DEFINITION: &str = "tokenbf_v1(bytes, hashes, seed), the definition of the index";

pub(crate) const ROW: FormatRow = FormatRow {
    name: "clickhouse-tokenbf",
    description: "a granule of ClickHouse's tokenbf_v1 or ngrambf_v1 index",
    has_checksum: false,
    detection: Detection::Candidate(|bytes| decode(bytes, 1, 0).is_ok()),
    decode: open,
    encode_bits: None,
    from_native: |filter| {
        let is_own = |scheme| matches!(scheme, Scheme::ClickHouseTerms { .. });
        let filter = classic_from_native(Format::ClickHouseTokenbf, filter, is_own)?;
        let ngram = None;
        Ok(StoredFilter::foreign(Terms { filter, ngram }))
    },
    required_count: |_| RequiredCount::Nothing,
    create: crate::format::unless_wasm(create_from),
    parameters: &[
        Parameter {
            name: "seed",
            values: "a whole number of 64 bits",
        },
        Parameter {
            name: "ngram",
            values: "1 to 1000",
        },
    ],
    check_parameters: |parameters| {
        seed(parameters)?;
        ngram(parameters).map(drop)
    },
    key_reader: KeyReader::text,
};

fn seed(parameters: &Parameters) -> Result<u64, ParameterError> {
    Ok(parameters.number("seed", |_| true)?.unwrap_or(0))
}

fn ngram(parameters: &Parameters) -> Result<Option<usize>, ParameterError> {
    parameters.number("ngram", |n| (1..=1000).contains(n))
}

fn open(
    bytes: &[u8],
    options: &OpenOptions,
    parameters: &Parameters,
) -> Result<Vec<OpenedFilter>, OpenError> {
    let Some(probes) = options.probes else {
        return Err(OpenError::Missing {
            format: Format::ClickHouseTokenbf,
            any_of: &[Setting::Probes],
            definition: DEFINITION,
        });
    };
    let filter = decode(bytes, probes, seed(parameters)?)?;
    let ngram = ngram(parameters)?;
    Ok(single(StoredFilter::foreign(Terms { filter, ngram })))
}

fn create_from(options: &BuildOptions, _: u64) -> Result<FilterBuilder, BuildError> {
    let (Some(bits), Some(probes)) = (options.bits, options.probes) else {
        return Err(BuildError::Missing {
            format: Format::ClickHouseTokenbf,
            all_of: &[Setting::Bits, Setting::Probes],
            definition: DEFINITION,
        });
    };
    let filter = create(bits.div_ceil(8), probes, seed(&options.parameters)?)?;
    let ngram = ngram(&options.parameters)?;
    Ok(StoredFilter::foreign(Terms { filter, ngram }).into())
}
