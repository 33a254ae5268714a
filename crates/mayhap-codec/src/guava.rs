//! Guava's `BloomFilter.writeTo`: strategy, number of probes, and longs, big-endian. Probes are taken modulo
//! the number of bits in the longs, not the requested number; the funnel is not in the file.

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::bits_from_native;
use crate::format::{Detection, FormatRow, Parameter};
use crate::keys::{Encoding, Funnel};
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    ParameterError, Parameters, StoredFilter,
};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};

/// How keys become bits. Guava's default since version 11 is [`Strategy::Mitz64`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// `MURMUR128_MITZ_32`.
    Mitz32,
    /// `MURMUR128_MITZ_64`.
    Mitz64,
}

/// How the number of probes is computed: the rule changed, and the results differ for few keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProbeRule {
    /// From the bits, up to version 31.1 at least.
    FromBits,
    /// From the rate, in version 33.6.
    FromRate,
}

impl Strategy {
    fn scheme(self) -> Scheme {
        match self {
            Self::Mitz32 => Scheme::GuavaMitz32,
            Self::Mitz64 => Scheme::GuavaMitz64,
        }
    }
}

/// An empty filter as `BloomFilter.create(funnel, expectedInsertions, fpp)` creates it.
///
/// # Errors
/// When the rate is not between 0 and 1, when it is so loose that no bit is left, or when there are more than 255 probes or
/// 2^31 longs.
pub fn create(
    expected_insertions: u64,
    fpp: f64,
    strategy: Strategy,
    rule: ProbeRule,
) -> Result<ClassicBloom, PlanError> {
    let (bits, probes) = size(expected_insertions, fpp, rule)?;
    let longs = bits.div_ceil(64);
    let plan = ClassicPlan {
        capacity: expected_insertions.max(1),
        false_positive_rate: fpp,
        ..ClassicPlan::with_bits_and_probes(64 * longs, probes)?
    };
    ClassicBloom::from_plan(plan, strategy.scheme(), HashScheme::Caller)
}

/// The number of bits, which Guava rounds up to longs, and its number of probes.
///
/// # Errors
/// As [`create`].
pub fn size(expected_insertions: u64, fpp: f64, rule: ProbeRule) -> Result<(u64, u32), PlanError> {
    if !(fpp > 0.0 && fpp < 1.0) {
        return Err(PlanError::InvalidNumber {
            field: "false_positive_rate",
            value: fpp,
            accepted: "a number above 0 and below 1, such as 0.01",
        });
    }
    let keys = expected_insertions.max(1) as f64;
    let ln2 = std::f64::consts::LN_2;
    let bits = (-keys * fpp.ln() / (ln2 * ln2)) as u64;
    if bits == 0 || bits.div_ceil(64) > i32::MAX as u64 {
        return Err(PlanError::InvalidInteger {
            field: "bits",
            value: bits,
            accepted: "1 to 64 * (2^31 - 1) bits: change the number of keys or the rate",
        });
    }
    let probes = match rule {
        ProbeRule::FromBits => bits as f64 / keys * ln2,
        ProbeRule::FromRate => -fpp.ln() / ln2,
    };
    let probes = ((probes + 0.5).floor() as u32).max(1);
    if probes > 255 {
        return Err(PlanError::InvalidInteger {
            field: "probes",
            value: u64::from(probes),
            accepted: "at most 255: use a higher rate",
        });
    }
    Ok((bits, probes))
}

/// Reads the output of `writeTo`.
///
/// # Errors
/// When it is not such a stream.
pub fn decode(bytes: &[u8]) -> Result<ClassicBloom, DecodeError> {
    let mut at = Cursor::new(bytes, Format::Guava);
    let strategy = at.u8("strategy")?;
    let scheme = match strategy {
        0 => Scheme::GuavaMitz32,
        1 => Scheme::GuavaMitz64,
        other => return Err(at.value("strategy", i128::from(other), "0 or 1")),
    };
    let probes = at.u8("number of hash functions")?;
    if probes == 0 {
        return Err(at.value("number of hash functions", 0, "1 to 255"));
    }
    let longs = at.i32_be("number of longs")?;
    let Some(count) = u64::try_from(longs).ok().filter(|&longs| longs > 0) else {
        return Err(at.value("number of longs", i128::from(longs), "1 to 2^31 - 1"));
    };
    let words = bits::from_longs(at.take("longs", 8 * count)?);
    at.finish()?;
    bits::filter(&at, 64 * count, u32::from(probes), scheme, words)
}

/// The output of `writeTo`.
///
/// # Errors
/// When the filter's keys are not hashed as Guava's are, or it has more than 255 probes or 2^31 longs.
pub fn encode(filter: &ClassicBloom) -> Result<Vec<u8>, EncodeError> {
    let refuse = |reason| EncodeError {
        format: Format::Guava,
        reason,
    };
    let strategy = match filter.scheme() {
        Scheme::GuavaMitz32 => 0,
        Scheme::GuavaMitz64 => 1,
        _ => return Err(refuse(crate::OTHER_HASH)),
    };
    let plan = filter.plan();
    let probes = u8::try_from(plan.probes).map_err(|_| refuse("it has more than 255 probes"))?;
    if !plan.bits.is_multiple_of(64) {
        return Err(refuse("its bits are not whole longs"));
    }
    let longs = i32::try_from(plan.bits / 64).map_err(|_| refuse("it has more than 2^31 longs"))?;
    let mut out = Vec::with_capacity(6 + filter.size_bytes() as usize);
    out.push(strategy);
    out.push(probes);
    out.extend_from_slice(&longs.to_be_bytes());
    bits::to_longs(filter.words(), &mut out);
    Ok(out)
}

/// A key as `Funnels.unencodedCharsFunnel()` gives it: UTF-16, little-endian.
pub fn chars(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

pub(crate) const ROW: FormatRow = FormatRow {
    name: "guava",
    description: "Guava's BloomFilter.writeTo",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| decode(bytes).map(stored)),
    decode: |bytes, _, _| Ok(single(stored(decode(bytes)?))),
    encode_bits: Some(encode),
    from_native: |filter| {
        bits_from_native(Format::Guava, filter, |scheme| {
            matches!(scheme, Scheme::GuavaMitz32 | Scheme::GuavaMitz64)
        })
    },
    required_count: BuildOptions::count_keys,
    create: crate::format::unless_wasm(create_from),
    parameters: &[
        Parameter {
            name: "strategy",
            values: "mitz32 or mitz64",
        },
        Parameter {
            name: "funnel",
            values: "bytes, chars, int or long",
        },
        Parameter {
            name: "k",
            values: "1 to 255",
        },
    ],
    check_parameters: |parameters| {
        strategy(parameters)?;
        probes(parameters)?;
        funnel(parameters).map(drop)
    },
    key_reader: |key_type, parameters| {
        let reader = KeyReader::with_encoding(Encoding::Guava(None), key_type);
        Ok(match funnel(parameters)? {
            Some(funnel) => reader.funnel(funnel),
            None => reader,
        })
    },
};

fn stored(filter: ClassicBloom) -> StoredFilter {
    StoredFilter::Bits {
        format: Format::Guava,
        filter,
    }
}

fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let strategy = strategy(&options.parameters)?;
    let probes = probes(&options.parameters)?.or(options.probes);
    let filter = create(keys, options.rate(), strategy, ProbeRule::FromRate)?;
    Ok(stored(options.reshape(filter, 64, probes)?).into())
}

fn strategy(parameters: &Parameters) -> Result<Strategy, ParameterError> {
    let words = [("mitz32", Strategy::Mitz32), ("mitz64", Strategy::Mitz64)];
    let given = parameters.choose("strategy", &words)?;
    Ok(given.unwrap_or(Strategy::Mitz64))
}

fn funnel(parameters: &Parameters) -> Result<Option<Funnel>, ParameterError> {
    let words = [
        ("bytes", Funnel::Bytes),
        ("chars", Funnel::Chars),
        ("int", Funnel::Int),
        ("long", Funnel::Long),
    ];
    parameters.choose("funnel", &words)
}

fn probes(parameters: &Parameters) -> Result<Option<u32>, ParameterError> {
    parameters.number("k", |k| (1..=255).contains(k))
}
