//! `BloomFilter`: the header, then the bits, the lowest of each byte first; bits past the last are zero.

use super::{HashType, Header, Refused, check_key, plan};
use crate::bits;
use crate::cursor::Cursor;
use crate::{DecodeError, EncodeError, Format};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, Mismatch, PlanError};

/// An empty filter as `new BloomFilter(vectorSize, nbHash, hashType)` makes it.
///
/// # Errors
/// When there are no bits or more than 2^31 - 1, no hash functions or more than 4096, or the memory is not there.
pub fn create(
    vector_size: u32,
    hash_functions: u32,
    hash_type: HashType,
) -> Result<ClassicBloom, PlanError> {
    let plan = plan(vector_size, hash_functions)?;
    ClassicBloom::from_plan(plan, hash_type.scheme(), HashScheme::Caller)
}

/// `true`: the key was surely new. `false`: it, or keys that set the same bits, came before.
///
/// # Errors
/// When the key is empty.
pub fn add(filter: &mut ClassicBloom, key: impl AsRef<[u8]>) -> Result<bool, Refused> {
    check_key(key.as_ref())?;
    Ok(filter.insert(key))
}

/// `membershipTest`. `false` is certain: the key was never added. `true` is mayhap.
///
/// # Errors
/// When the key is empty.
pub fn contains(filter: &ClassicBloom, key: impl AsRef<[u8]>) -> Result<bool, Refused> {
    check_key(key.as_ref())?;
    Ok(filter.contains(key))
}

/// Leaves the bits that are set in both. Hadoop does not ask whether the two hash alike, and neither do the operations below.
///
/// # Errors
/// When the two differ in vector size or number of hash functions; nothing is changed then.
pub fn and(filter: &mut ClassicBloom, other: &ClassicBloom) -> Result<(), Mismatch> {
    combine(filter, other, |ours, theirs| ours & theirs)
}

/// Sets the bits that are set in the other.
///
/// # Errors
/// As [`and`].
pub fn or(filter: &mut ClassicBloom, other: &ClassicBloom) -> Result<(), Mismatch> {
    combine(filter, other, |ours, theirs| ours | theirs)
}

/// Leaves the bits that are set in one of the two. Keys that are in both are lost, and others may be.
///
/// # Errors
/// As [`and`].
pub fn xor(filter: &mut ClassicBloom, other: &ClassicBloom) -> Result<(), Mismatch> {
    combine(filter, other, |ours, theirs| ours ^ theirs)
}

/// Turns every bit over.
pub fn not(filter: &mut ClassicBloom) {
    let mut words: Vec<u64> = filter.words().collect();
    turn_over(&mut words, filter.plan().bits);
    *filter = with_words(filter, words);
}

/// Turns the first `bits` bits over.
pub(super) fn turn_over(words: &mut [u64], bits: u64) {
    for word in words.iter_mut() {
        *word = !*word;
    }
    if let Some(last) = words.last_mut() {
        *last &= u64::MAX >> ((64 - bits % 64) % 64);
    }
}

fn combine(
    filter: &mut ClassicBloom,
    other: &ClassicBloom,
    join: fn(u64, u64) -> u64,
) -> Result<(), Mismatch> {
    check_same_shape(filter.plan(), other.plan())?;
    let words = filter.words().zip(other.words());
    let words = words.map(|(ours, theirs)| join(ours, theirs)).collect();
    *filter = with_words(filter, words);
    Ok(())
}

/// What Hadoop compares.
pub(super) fn check_same_shape(ours: &ClassicPlan, theirs: &ClassicPlan) -> Result<(), Mismatch> {
    same("vector size", ours.bits, theirs.bits)?;
    let (ours, theirs) = (u64::from(ours.probes), u64::from(theirs.probes));
    same("number of hash functions", ours, theirs)
}

pub(super) fn same(field: &'static str, ours: u64, theirs: u64) -> Result<(), Mismatch> {
    if ours == theirs {
        return Ok(());
    }
    Err(Mismatch::Shape {
        field,
        ours,
        theirs,
    })
}

/// The same filter with other bits, as many.
pub(super) fn with_words(filter: &ClassicBloom, words: Vec<u64>) -> ClassicBloom {
    let (scheme, hash_scheme) = (filter.scheme(), filter.hash_scheme());
    ClassicBloom::from_words(*filter.plan(), scheme, hash_scheme, words)
        .expect("a filter's own shape, and no bits past its last")
}

/// Reads what `write` wrote.
///
/// # Errors
/// When it is not such a stream, or a bit past the last is set.
pub fn decode(bytes: &[u8]) -> Result<ClassicBloom, DecodeError> {
    let mut at = Cursor::new(bytes, Format::Hadoop);
    let header = Header::read(&mut at)?;
    let filter = read_bits(&mut at, header)?;
    at.finish()?;
    Ok(filter)
}

pub(super) fn read_bits(at: &mut Cursor<'_>, header: Header) -> Result<ClassicBloom, DecodeError> {
    let size = u64::from(header.vector_size);
    let words = bits::from_bytes(at.take("bits", size.div_ceil(8))?);
    let scheme = header.hash_type.scheme();
    bits::filter(at, size, header.hash_functions, scheme, words)
}

/// What `write` would write.
///
/// # Errors
/// When the filter's keys are not hashed as Hadoop's are, or it has more than 2^31 - 1 bits.
pub fn encode(filter: &ClassicBloom) -> Result<Vec<u8>, EncodeError> {
    let header = Header::of(Format::Hadoop, filter.plan(), filter.scheme())?;
    let mut out = Vec::with_capacity(16 + filter.size_bytes() as usize);
    write(header, filter.words(), &mut out);
    Ok(out)
}

pub(super) fn write(header: Header, words: impl Iterator<Item = u64>, out: &mut Vec<u8>) {
    header.write(out);
    let bytes = u64::from(header.vector_size).div_ceil(8);
    bits::to_bytes(words, bytes, out);
}
