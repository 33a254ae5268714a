//! Spark's `BloomFilter.writeTo`: version, number of probes, a seed from version 2 on, and longs, all big-endian.

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::bits_from_native;
use crate::format::{Detection, FormatRow, Parameter};
use crate::keys::Encoding;
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    ParameterError, Parameters, StoredFilter,
};
use mayhap_core::plan::classic::{ClassicPlan, MAX_PROBES};
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};

/// The version of the stream, which is also the version of the walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// The only version that Spark 3 reads.
    One,
    /// What Spark 4 writes.
    Two {
        /// The first seed of its hashes.
        seed: i32,
    },
}

impl Version {
    fn scheme(self) -> Scheme {
        match self {
            Self::One => Scheme::SparkV1,
            Self::Two { seed } => Scheme::SparkV2 { seed },
        }
    }
}

/// An empty filter as `BloomFilter.create(expectedNumItems, fpp)` creates it.
///
/// # Errors
/// When the rate is not between 0 and 1, or the filter would be too large.
pub fn create(expected_items: u64, fpp: f64, version: Version) -> Result<ClassicBloom, PlanError> {
    let (bits, _) = crate::guava::size(expected_items, fpp, crate::guava::ProbeRule::FromBits)?;
    let plan = with_bits(expected_items, bits, version)?;
    let asked = ClassicPlan {
        false_positive_rate: fpp,
        ..*plan.plan()
    };
    ClassicBloom::from_plan(asked, version.scheme(), HashScheme::Caller)
}

/// An empty filter as `BloomFilter.create(expectedNumItems, numBits)` creates it.
///
/// # Errors
/// When there are no bits, more than 64 * (2^31 - 1), or more than 4096 probes.
pub fn with_bits(
    expected_items: u64,
    bits: u64,
    version: Version,
) -> Result<ClassicBloom, PlanError> {
    let longs = bits.div_ceil(64);
    if longs == 0 || longs > i32::MAX as u64 {
        return Err(PlanError::InvalidInteger {
            field: "bits",
            value: bits,
            accepted: "1 to 64 * (2^31 - 1) bits",
        });
    }
    let plan = ClassicPlan {
        capacity: expected_items.max(1),
        ..ClassicPlan::with_bits_and_probes(64 * longs, probes(expected_items, bits))?
    };
    ClassicBloom::from_plan(plan, version.scheme(), HashScheme::Caller)
}

/// Spark's number of probes for that many keys and bits, before the bits are rounded up to longs.
pub fn probes(expected_items: u64, bits: u64) -> u32 {
    let probes = bits as f64 / expected_items.max(1) as f64 * std::f64::consts::LN_2;
    ((probes + 0.5).floor() as u32).max(1)
}

/// Reads the output of `writeTo`.
///
/// # Errors
/// When it is not such a stream.
pub fn decode(bytes: &[u8]) -> Result<ClassicBloom, DecodeError> {
    let mut at = Cursor::new(bytes, Format::Spark);
    let version = at.i32_be("version")?;
    if !(1..=2).contains(&version) {
        return Err(at.value("version", i128::from(version), "1 or 2"));
    }
    let probes = at.i32_be("number of hash functions")?;
    let count = u32::try_from(probes).ok();
    // Spark has no upper limit, as Hadoop has none.
    let Some(probes) = count.filter(|probes| (1..=MAX_PROBES).contains(probes)) else {
        return Err(at.value("number of hash functions", i128::from(probes), "1 to 4096"));
    };
    let scheme = if version == 1 {
        Scheme::SparkV1
    } else {
        Scheme::SparkV2 {
            seed: at.i32_be("seed")?,
        }
    };
    let longs = at.i32_be("number of longs")?;
    let Some(count) = u64::try_from(longs).ok().filter(|&longs| longs > 0) else {
        return Err(at.value("number of longs", i128::from(longs), "1 to 2^31 - 1"));
    };
    let words = bits::from_longs(at.take("longs", 8 * count)?);
    at.finish()?;
    bits::filter(&at, 64 * count, probes, scheme, words)
}

/// The output of `writeTo`.
///
/// # Errors
/// When the filter's keys are not hashed as Spark's are.
pub fn encode(filter: &ClassicBloom) -> Result<Vec<u8>, EncodeError> {
    let refuse = |reason| EncodeError {
        format: Format::Spark,
        reason,
    };
    let plan = filter.plan();
    let longs = i32::try_from(plan.bits / 64).map_err(|_| refuse("it has more than 2^31 longs"))?;
    if !plan.bits.is_multiple_of(64) {
        return Err(refuse("its bits are not whole longs"));
    }
    let mut out = Vec::with_capacity(16 + filter.size_bytes() as usize);
    let (version, seed) = match filter.scheme() {
        Scheme::SparkV1 => (1_i32, None),
        Scheme::SparkV2 { seed } => (2, Some(seed)),
        _ => return Err(refuse(crate::OTHER_HASH)),
    };
    out.extend_from_slice(&version.to_be_bytes());
    out.extend_from_slice(&plan.probes.to_be_bytes());
    if let Some(seed) = seed {
        out.extend_from_slice(&seed.to_be_bytes());
    }
    out.extend_from_slice(&longs.to_be_bytes());
    bits::to_longs(filter.words(), &mut out);
    Ok(out)
}

pub(crate) const ROW: FormatRow = FormatRow {
    name: "spark",
    description: "Spark's BloomFilter.writeTo, versions 1 and 2",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| decode(bytes).map(stored)),
    decode: |bytes, _, _| Ok(single(stored(decode(bytes)?))),
    encode_bits: Some(encode),
    from_native: |filter| {
        bits_from_native(Format::Spark, filter, |scheme| {
            matches!(scheme, Scheme::SparkV1 | Scheme::SparkV2 { .. })
        })
    },
    required_count: BuildOptions::count_keys,
    create: crate::format::unless_wasm(create_from),
    parameters: &[
        Parameter {
            name: "version",
            values: "1 or 2",
        },
        Parameter {
            name: "seed",
            values: "a whole number of 32 bits",
        },
    ],
    check_parameters: |parameters| version(parameters).map(drop),
    key_reader: |key_type, _| Ok(KeyReader::with_encoding(Encoding::Longs, key_type)),
};

fn stored(filter: ClassicBloom) -> StoredFilter {
    StoredFilter::Bits {
        format: Format::Spark,
        filter,
    }
}

fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let version = version(&options.parameters)?;
    let filter = match options.bits {
        Some(bits) => with_bits(keys, bits, version)?,
        None => create(keys, options.rate(), version)?,
    };
    Ok(stored(options.reshape(filter, 64, options.probes)?).into())
}

fn version(parameters: &Parameters) -> Result<Version, ParameterError> {
    let version = parameters.number("version", |version| (1..=2).contains(version))?;
    let seed = parameters.number("seed", |_: &i32| true)?;
    match (version.unwrap_or(2), seed) {
        (1, None) => Ok(Version::One),
        (1, Some(seed)) => Err(ParameterError::Value {
            name: "seed".into(),
            value: seed.to_string(),
            expected: "version=2 with it, because version 1 has no seed".into(),
        }),
        (_, seed) => Ok(Version::Two {
            seed: seed.unwrap_or(0),
        }),
    }
}
