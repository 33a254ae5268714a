//! Bitcoin's `filterload`: length, bytes, number of probes, tweak, flags; little-endian.

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::{
    Description, Detail, FilterError, ForeignFilter, classic_from_native, other_hash, same_type,
};
use crate::format::{Detection, FormatRow, Parameter};
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    ParameterError, Parameters, StoredFilter,
};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};

const MAX_BYTES: u64 = 36_000;
const MAX_PROBES: u32 = 50;

/// A filter and the byte that tells a node how to update it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bip37 {
    /// The bits.
    pub filter: ClassicBloom,
    /// `nFlags`.
    pub flags: u8,
}

/// An empty filter as python-bitcoinlib creates it. Bitcoin Core uses an integer division of bits by keys, which may give fewer probes.
///
/// # Errors
/// When there are no keys, or the rate is not between 0 and 1 or leaves no byte.
pub fn create(elements: u64, fpp: f64, tweak: u32, flags: u8) -> Result<Bip37, PlanError> {
    let ln2 = std::f64::consts::LN_2;
    let wanted = -1.0 / (ln2 * ln2) * elements as f64 * fpp.ln();
    let bytes = (wanted.min(8.0 * MAX_BYTES as f64) / 8.0) as u64;
    if bytes == 0 || !(fpp > 0.0 && fpp < 1.0) {
        return Err(PlanError::InvalidNumber {
            field: "false_positive_rate",
            value: fpp,
            accepted: "a number above 0 and below 1, strict enough for a byte of filter",
        });
    }
    let probes = (bytes as f64 * 8.0 / elements as f64 * ln2) as u32;
    let plan = ClassicPlan {
        capacity: elements,
        false_positive_rate: fpp,
        ..ClassicPlan::with_bits_and_probes(8 * bytes, probes.clamp(1, MAX_PROBES))?
    };
    let filter = ClassicBloom::from_plan(plan, Scheme::Bip37 { tweak }, HashScheme::Caller)?;
    Ok(Bip37 { filter, flags })
}

/// Reads a `filterload` payload.
///
/// # Errors
/// When it is something else, is larger than nodes accept, or has no bytes (which matches everything and contains nothing).
pub fn decode(bytes: &[u8]) -> Result<Bip37, DecodeError> {
    let mut at = Cursor::new(bytes, Format::Bip37);
    let first = at.u8("length")?;
    let length = match first {
        0xfd => u64::from(at.u16_le("length")?),
        0xfe => u64::from(at.u32_le("length")?),
        0xff => at.u64_le("length")?,
        short => u64::from(short),
    };
    if length == 0 || length > MAX_BYTES {
        return Err(at.value("length", i128::from(length), "1 to 36,000"));
    }
    let data = at.take("data", length)?;
    let probes = at.u32_le("number of hash functions")?;
    if probes == 0 || probes > MAX_PROBES {
        return Err(at.value("number of hash functions", i128::from(probes), "1 to 50"));
    }
    let tweak = at.u32_le("tweak")?;
    let flags = at.u8("flags")?;
    at.finish()?;
    let words = bits::from_bytes(data);
    let filter = bits::filter(&at, 8 * length, probes, Scheme::Bip37 { tweak }, words)?;
    Ok(Bip37 { filter, flags })
}

/// A `filterload` payload.
///
/// # Errors
/// When the filter's keys are not hashed as Bitcoin's are, or nodes would not accept it.
pub fn encode(bip37: &Bip37) -> Result<Vec<u8>, EncodeError> {
    let refuse = |reason| EncodeError {
        format: Format::Bip37,
        reason,
    };
    let filter = &bip37.filter;
    let plan = filter.plan();
    let Scheme::Bip37 { tweak } = filter.scheme() else {
        return Err(refuse(crate::OTHER_HASH));
    };
    let length = plan.bits.div_ceil(8);
    if length > MAX_BYTES || plan.probes > MAX_PROBES {
        return Err(refuse(
            "nodes accept at most 36,000 bytes and 50 probes: use fewer keys",
        ));
    }
    let mut out = Vec::with_capacity(16 + length as usize);
    if length < 253 {
        out.push(length as u8);
    } else {
        out.push(0xfd);
        out.extend_from_slice(&(length as u16).to_le_bytes());
    }
    bits::to_bytes(filter.words(), length, &mut out);
    out.extend_from_slice(&plan.probes.to_le_bytes());
    out.extend_from_slice(&tweak.to_le_bytes());
    out.push(bip37.flags);
    Ok(out)
}

impl ForeignFilter for Bip37 {
    fn format(&self) -> Format {
        Format::Bip37
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn contains_each(&self, keys: &[&[u8]], found: &mut [bool]) {
        self.filter.contains_each(keys, found);
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        Ok(self.filter.insert(key))
    }

    fn union_with(&mut self, other: &dyn ForeignFilter) -> Result<(), FilterError> {
        Ok(self.filter.union_with(&same_type::<Self>(other)?.filter)?)
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        encode(self)
    }

    fn describe(&self) -> Description {
        let mut description = Description::flat_bits(Format::Bip37, &self.filter);
        let flags = Detail::Number(self.flags.into());
        description.details.push(("flags", flags));
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

pub(crate) const ROW: FormatRow = FormatRow {
    name: "bip37",
    description: "Bitcoin's filterload message, BIP 37",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| decode(bytes).map(StoredFilter::foreign)),
    decode: |bytes, _, _| Ok(single(StoredFilter::foreign(decode(bytes)?))),
    encode_bits: None,
    from_native: |filter| {
        let is_own = |scheme| matches!(scheme, Scheme::Bip37 { .. });
        let filter = classic_from_native(Format::Bip37, filter, is_own)?;
        Ok(StoredFilter::foreign(Bip37 { filter, flags: 0 }))
    },
    required_count: BuildOptions::count_keys,
    create: crate::format::unless_wasm(create_from),
    parameters: &[
        Parameter {
            name: "tweak",
            values: "a whole number of 32 bits",
        },
        Parameter {
            name: "flags",
            values: "0 to 255",
        },
    ],
    check_parameters: |parameters| tweak_and_flags(parameters).map(drop),
    key_reader: KeyReader::own_width,
};

fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let (tweak, flags) = tweak_and_flags(&options.parameters)?;
    let Bip37 { filter, flags } = create(keys.max(1), options.rate(), tweak, flags)?;
    let filter = options.reshape(filter, 8, options.probes)?;
    Ok(StoredFilter::foreign(Bip37 { filter, flags }).into())
}

fn tweak_and_flags(parameters: &Parameters) -> Result<(u32, u8), ParameterError> {
    let tweak = parameters.number("tweak", |_: &u32| true)?;
    let flags = parameters.number("flags", |_: &u8| true)?;
    Ok((tweak.unwrap_or(0), flags.unwrap_or(0)))
}
