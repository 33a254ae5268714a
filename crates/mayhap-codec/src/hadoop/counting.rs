//! `CountingBloomFilter`: the header, then counters of four bits, sixteen to a long, the first in its lowest bits; counters past
//! the last are zero.

use super::{HASH, HadoopError, HadoopHeader, HashType, bloom, check_key, hash_type, plan, shape};
use crate::bits;
use crate::cursor::Cursor;
use crate::filter::{Description, FilterError, ForeignFilter, other_hash, same_type};
use crate::format::{Detection, FormatRow};
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader, Problem,
    StoredFilter,
};
use mayhap_core::plan::counting::CountingPlan;
use mayhap_core::{AnyFilter, CountingBloom, HashScheme, PlanError, Scheme};

const COUNTER_BITS: u8 = 4;
const COUNTERS_A_LONG: u32 = 16;

/// An empty filter as `new CountingBloomFilter(vectorSize, nbHash, hashType)` creates it.
///
/// # Errors
/// When there are no counters or more than 2^31 - 1, no hash functions or more than 4096, or there is not enough memory.
pub fn create(
    vector_size: u32,
    hash_functions: u32,
    hash_type: HashType,
) -> Result<CountingBloom, PlanError> {
    let plan = CountingPlan::from_classic(plan(vector_size, hash_functions)?, COUNTER_BITS)?;
    CountingBloom::from_plan(plan, hash_type.scheme(), HashScheme::Caller)
}

/// `true`: the key was definitely new. `false`: it, or keys with the same counters, are in; it is counted once more.
///
/// # Errors
/// When the key is empty.
pub fn add(filter: &mut CountingBloom, key: impl AsRef<[u8]>) -> Result<bool, HadoopError> {
    check_key(key.as_ref())?;
    Ok(filter.insert(key.as_ref()))
}

/// `membershipTest`. `false` is certain: the key is not in. `true` is probable.
///
/// # Errors
/// When the key is empty.
pub fn contains(filter: &CountingBloom, key: impl AsRef<[u8]>) -> Result<bool, HadoopError> {
    check_key(key.as_ref())?;
    Ok(filter.contains(key.as_ref()))
}

/// `delete`: decrements the counters of the key, except saturated ones. [`CountingBloom::remove`] is safer: it changes nothing if one of
/// the counters is saturated, so that no part of a key is left.
///
/// # Errors
/// When the key is empty or certainly not in; the filter is unchanged then.
pub fn delete(filter: &mut CountingBloom, key: impl AsRef<[u8]>) -> Result<(), HadoopError> {
    check_key(key.as_ref())?;
    if filter.remove_leaving_saturated(key.as_ref()) {
        Ok(())
    } else {
        Err(HadoopError::NotAMember)
    }
}

/// `approximateCount`: an upper bound for the count of the key; 15 means 15 or more.
///
/// # Errors
/// When the key is empty.
pub fn approximate_count(
    filter: &CountingBloom,
    key: impl AsRef<[u8]>,
) -> Result<u64, HadoopError> {
    check_key(key.as_ref())?;
    Ok(filter.estimated_count(key.as_ref()))
}

/// The bitwise and of counters, as in Hadoop: 1 and 2 become 0, so keys of both may be lost.
///
/// # Errors
/// When the two differ in vector size or number of hash functions, or there is no memory; the filter is unchanged then.
pub fn and(filter: &mut CountingBloom, other: &CountingBloom) -> Result<(), HadoopError> {
    combine(filter, other, |ours, theirs| ours & theirs)
}

/// The bitwise or of counters, as in Hadoop: 1 and 2 become 3, and so do 1 and 3. [`CountingBloom::union_with`] adds them.
///
/// # Errors
/// As [`and`].
pub fn or(filter: &mut CountingBloom, other: &CountingBloom) -> Result<(), HadoopError> {
    combine(filter, other, |ours, theirs| ours | theirs)
}

/// Not defined for counters, as in Hadoop.
///
/// # Errors
/// Always.
pub fn xor(_: &mut CountingBloom, _: &CountingBloom) -> Result<(), HadoopError> {
    Err(HadoopError::Undefined { operation: "xor" })
}

/// Not defined for counters, as in Hadoop.
///
/// # Errors
/// Always.
pub fn not(_: &mut CountingBloom) -> Result<(), HadoopError> {
    Err(HadoopError::Undefined { operation: "not" })
}

fn combine(
    filter: &mut CountingBloom,
    other: &CountingBloom,
    join: fn(u8, u8) -> u8,
) -> Result<(), HadoopError> {
    bloom::check_same_shape(filter.plan().classic(), other.plan().classic())?;
    let counts = filter.counters().zip(other.counters());
    let counts = counts.map(|(ours, theirs)| join(ours, theirs));
    let (scheme, hash_scheme) = (filter.scheme(), filter.hash_scheme());
    *filter = CountingBloom::from_counts(*filter.plan(), scheme, hash_scheme, counts)?;
    Ok(())
}

/// Reads the output of `write`.
///
/// # Errors
/// When it is not such a stream, or a counter past the last is not zero.
pub fn decode(bytes: &[u8]) -> Result<CountingBloom, DecodeError> {
    let mut at = Cursor::new(bytes, Format::HadoopCounting);
    let header = HadoopHeader::read(&mut at)?;
    let size = header.vector_size;
    let longs = u64::from(size.div_ceil(COUNTERS_A_LONG));
    let longs = bits::from_longs(at.take("counters", 8 * longs)?);
    at.finish()?;
    let past = u32::from(COUNTER_BITS) * (size % COUNTERS_A_LONG);
    if let Some(&last) = longs.last()
        && past != 0
        && last >> past != 0
    {
        return Err(at.value("last long", i128::from(last), "no counters past the last"));
    }
    let counts = longs.iter().flat_map(|&long| {
        let shifts = (0..64).step_by(COUNTER_BITS.into());
        shifts.map(move |shift| (long >> shift & 15) as u8)
    });
    plan(size, header.hash_functions)
        .and_then(|plan| CountingPlan::from_classic(plan, COUNTER_BITS))
        .and_then(|plan| {
            let counts = counts.take(size as usize);
            let scheme = header.hash_type.scheme();
            CountingBloom::from_counts(plan, scheme, HashScheme::Caller, counts)
        })
        .map_err(|error| at.error(Problem::Plan(error)))
}

/// The output of `write`.
///
/// # Errors
/// When the filter's keys are not hashed as Hadoop's are, it has more than 2^31 - 1 counters, or they are not of four bits.
pub fn encode(filter: &CountingBloom) -> Result<Vec<u8>, EncodeError> {
    let plan = filter.plan();
    if plan.counter_bits() != COUNTER_BITS {
        return Err(EncodeError {
            format: Format::HadoopCounting,
            reason: "its counters do not have four bits: build a new filter from the keys",
        });
    }
    let header = HadoopHeader::for_filter(Format::HadoopCounting, plan.classic(), filter.scheme())?;
    let mut out = Vec::with_capacity(32 + filter.size_bytes() as usize);
    header.write(&mut out);
    let mut counters = filter.counters().map(u64::from);
    let longs = (0..header.vector_size.div_ceil(COUNTERS_A_LONG)).map(|_| {
        let sixteen = (0..64).step_by(COUNTER_BITS.into()).zip(&mut counters);
        sixteen.fold(0, |long, (shift, count)| long | count << shift)
    });
    bits::to_longs(longs, &mut out);
    Ok(out)
}

/// Counters that reject empty keys.
#[derive(Clone, PartialEq, Debug)]
struct Counting(CountingBloom);

fn stored(filter: CountingBloom) -> StoredFilter {
    StoredFilter::foreign(Counting(filter))
}

impl ForeignFilter for Counting {
    fn format(&self) -> Format {
        Format::HadoopCounting
    }

    fn contains(&self, key: &[u8]) -> bool {
        contains(&self.0, key).unwrap_or(false)
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        Ok(add(&mut self.0, key)?)
    }

    fn remove(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        match delete(&mut self.0, key) {
            Ok(()) => Ok(true),
            Err(HadoopError::NotAMember) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn union_with(&mut self, other: &dyn ForeignFilter) -> Result<(), FilterError> {
        Ok(self.0.union_with(&same_type::<Self>(other)?.0)?)
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        encode(&self.0)
    }

    fn describe(&self) -> Description {
        Description::counters(Format::HadoopCounting, &self.0)
    }

    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        match to {
            Format::Mayhap => Ok(StoredFilter::Native(self.0.into())),
            Format::Hadoop => match self.0.to_classic() {
                Ok(filter) => Ok(bloom::stored(filter)),
                Err(_) => Err(EncodeError {
                    format: to,
                    reason: "there is not enough memory",
                }),
            },
            other => Err(other_hash(other)),
        }
    }
}

pub(crate) const ROW: FormatRow = FormatRow {
    name: "hadoop-counting",
    description: "Hadoop's CountingBloomFilter.write",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| decode(bytes).map(stored)),
    decode: |bytes, _, _| Ok(single(stored(decode(bytes)?))),
    encode_bits: None,
    from_native: |filter| match filter {
        AnyFilter::Counting(filter)
            if matches!(
                filter.scheme(),
                Scheme::HadoopMurmur | Scheme::HadoopJenkins
            ) =>
        {
            Ok(stored(filter))
        }
        _ => Err(other_hash(Format::HadoopCounting)),
    },
    required_count: BuildOptions::count_keys_without_shape,
    create: crate::format::unless_wasm(create_from),
    parameters: &[HASH],
    check_parameters: |parameters| hash_type(parameters).map(drop),
    key_reader: KeyReader::own_width,
};

fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let (vector_size, probes) = shape(options, keys)?;
    let filter = create(vector_size, probes, hash_type(&options.parameters)?)?;
    Ok(stored(filter).into())
}
