//! `CountingBloomFilter`: the header, then counters of four bits, sixteen to a long, the first in its lowest bits; counters past
//! the last are zero.

use super::{HashType, Header, Refused, bloom, check_key, plan};
use crate::bits;
use crate::cursor::Cursor;
use crate::{DecodeError, EncodeError, Format, Problem};
use mayhap_core::plan::counting::CountingPlan;
use mayhap_core::{CountingBloom, HashScheme, PlanError};

const COUNTER_BITS: u8 = 4;
const COUNTERS_A_LONG: u32 = 16;

/// An empty filter as `new CountingBloomFilter(vectorSize, nbHash, hashType)` makes it.
///
/// # Errors
/// When there are no counters or more than 2^31 - 1, no hash functions or more than 4096, or the memory is not there.
pub fn create(
    vector_size: u32,
    hash_functions: u32,
    hash_type: HashType,
) -> Result<CountingBloom, PlanError> {
    let plan = CountingPlan::from_classic(plan(vector_size, hash_functions)?, COUNTER_BITS)?;
    CountingBloom::from_plan(plan, hash_type.scheme(), HashScheme::Caller)
}

/// `true`: the key was surely new. `false`: it, or keys on the same counters, are in; it is counted once more.
///
/// # Errors
/// When the key is empty.
pub fn add(filter: &mut CountingBloom, key: impl AsRef<[u8]>) -> Result<bool, Refused> {
    check_key(key.as_ref())?;
    Ok(filter.insert(key))
}

/// `membershipTest`. `false` is certain: the key is not in. `true` is mayhap.
///
/// # Errors
/// When the key is empty.
pub fn contains(filter: &CountingBloom, key: impl AsRef<[u8]>) -> Result<bool, Refused> {
    check_key(key.as_ref())?;
    Ok(filter.contains(key))
}

/// `delete`: counts the key down once, and leaves its full counters as they are. [`CountingBloom::remove`] is safer and differs:
/// it changes nothing when one of the counters is full, so that no part of a key is left behind.
///
/// # Errors
/// When the key is empty or certainly not in; nothing is changed then.
pub fn delete(filter: &mut CountingBloom, key: impl AsRef<[u8]>) -> Result<(), Refused> {
    check_key(key.as_ref())?;
    if filter.remove_leaving_saturated(key) {
        Ok(())
    } else {
        Err(Refused::NotAMember)
    }
}

/// `approximateCount`: how often the key is in, or more; 15 stands for itself and everything above.
///
/// # Errors
/// When the key is empty.
pub fn approximate_count(filter: &CountingBloom, key: impl AsRef<[u8]>) -> Result<u64, Refused> {
    check_key(key.as_ref())?;
    Ok(filter.estimated_count(key))
}

/// Joins the bits of counters, as Hadoop does: 1 and 2 have none in common and become 0, so that keys of both may be lost.
///
/// # Errors
/// When the two differ in vector size or number of hash functions, or there is no memory; nothing is changed then.
pub fn and(filter: &mut CountingBloom, other: &CountingBloom) -> Result<(), Refused> {
    combine(filter, other, |ours, theirs| ours & theirs)
}

/// Joins the bits of counters, as Hadoop does: 1 and 2 become 3, and so do 1 and 3. [`CountingBloom::union_with`] adds them.
///
/// # Errors
/// As [`and`].
pub fn or(filter: &mut CountingBloom, other: &CountingBloom) -> Result<(), Refused> {
    combine(filter, other, |ours, theirs| ours | theirs)
}

/// Counters have no such operation, in Hadoop neither.
///
/// # Errors
/// Always.
pub fn xor(_: &mut CountingBloom, _: &CountingBloom) -> Result<(), Refused> {
    Err(Refused::Undefined { operation: "xor" })
}

/// Counters have no such operation, in Hadoop neither.
///
/// # Errors
/// Always.
pub fn not(_: &mut CountingBloom) -> Result<(), Refused> {
    Err(Refused::Undefined { operation: "not" })
}

fn combine(
    filter: &mut CountingBloom,
    other: &CountingBloom,
    join: fn(u8, u8) -> u8,
) -> Result<(), Refused> {
    bloom::check_same_shape(filter.plan().classic(), other.plan().classic())?;
    let counts = filter.counters().zip(other.counters());
    let counts = counts.map(|(ours, theirs)| join(ours, theirs));
    let (scheme, hash_scheme) = (filter.scheme(), filter.hash_scheme());
    *filter = CountingBloom::from_counts(*filter.plan(), scheme, hash_scheme, counts)?;
    Ok(())
}

/// Reads what `write` wrote.
///
/// # Errors
/// When it is not such a stream, or a counter past the last is not zero.
pub fn decode(bytes: &[u8]) -> Result<CountingBloom, DecodeError> {
    let mut at = Cursor::new(bytes, Format::HadoopCounting);
    let header = Header::read(&mut at)?;
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

/// What `write` would write.
///
/// # Errors
/// When the filter's keys are not hashed as Hadoop's are, it has more than 2^31 - 1 counters, or they are not of four bits.
pub fn encode(filter: &CountingBloom) -> Result<Vec<u8>, EncodeError> {
    let plan = filter.plan();
    if plan.counter_bits() != COUNTER_BITS {
        return Err(EncodeError {
            format: Format::HadoopCounting,
            reason: "its counters are not of four bits: build it anew from the keys",
        });
    }
    let header = Header::of(Format::HadoopCounting, plan.classic(), filter.scheme())?;
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
