//! `BloomFilter`: the header, then the bits, the lowest of each byte first; bits past the last are zero.

use super::{HASH, HadoopError, HadoopHeader, HashType, check_key, hash_type, plan, shape};
use crate::bits;
use crate::cursor::Cursor;
use crate::filter::{
    Description, FilterError, ForeignFilter, classic_from_native, other_hash, same_type,
};
use crate::format::{Detection, FormatRow};
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    StoredFilter,
};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, Mismatch, PlanError, Scheme};

/// An empty filter as `new BloomFilter(vectorSize, nbHash, hashType)` creates it.
///
/// # Errors
/// When there are no bits or more than 2^31 - 1, no hash functions or more than 4096, or there is not enough memory.
pub fn create(
    vector_size: u32,
    hash_functions: u32,
    hash_type: HashType,
) -> Result<ClassicBloom, PlanError> {
    let plan = plan(vector_size, hash_functions)?;
    ClassicBloom::from_plan(plan, hash_type.scheme(), HashScheme::Caller)
}

/// `true`: the key was definitely new. `false`: it, or keys that set the same bits, were inserted before.
///
/// # Errors
/// When the key is empty.
pub fn add(filter: &mut ClassicBloom, key: impl AsRef<[u8]>) -> Result<bool, HadoopError> {
    check_key(key.as_ref())?;
    Ok(filter.insert(key.as_ref()))
}

/// `membershipTest`. `false` is certain: the key was never added. `true` is probable.
///
/// # Errors
/// When the key is empty.
pub fn contains(filter: &ClassicBloom, key: impl AsRef<[u8]>) -> Result<bool, HadoopError> {
    check_key(key.as_ref())?;
    Ok(filter.contains(key.as_ref()))
}

/// Keeps the bits that are set in both. Like Hadoop, this and the operations below do not compare the hash functions of the two.
///
/// # Errors
/// When the two differ in vector size or number of hash functions; the filter is unchanged then.
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

/// Keeps the bits that are set in exactly one of the two. Keys that are in both are lost, and others may be.
///
/// # Errors
/// As [`and`].
pub fn xor(filter: &mut ClassicBloom, other: &ClassicBloom) -> Result<(), Mismatch> {
    combine(filter, other, |ours, theirs| ours ^ theirs)
}

/// Inverts every bit.
pub fn not(filter: &mut ClassicBloom) {
    let mut words: Vec<u64> = filter.words().collect();
    invert(&mut words, filter.plan().bits);
    *filter = with_words(filter, words);
}

/// Inverts the first `bits` bits.
pub(super) fn invert(words: &mut [u64], bits: u64) {
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

/// Checks what Hadoop compares.
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

/// The same filter with other bits.
pub(super) fn with_words(filter: &ClassicBloom, words: Vec<u64>) -> ClassicBloom {
    let (scheme, hash_scheme) = (filter.scheme(), filter.hash_scheme());
    ClassicBloom::from_words(*filter.plan(), scheme, hash_scheme, words)
        .expect("a filter's own shape, and no bits past its last")
}

/// Reads the output of `write`.
///
/// # Errors
/// When it is not such a stream, or a bit past the last is set.
pub fn decode(bytes: &[u8]) -> Result<ClassicBloom, DecodeError> {
    let mut at = Cursor::new(bytes, Format::Hadoop);
    let header = HadoopHeader::read(&mut at)?;
    let filter = read_bits(&mut at, header)?;
    at.finish()?;
    Ok(filter)
}

pub(super) fn read_bits(
    at: &mut Cursor<'_>,
    header: HadoopHeader,
) -> Result<ClassicBloom, DecodeError> {
    let size = u64::from(header.vector_size);
    let words = bits::from_bytes(at.take("bits", size.div_ceil(8))?);
    let scheme = header.hash_type.scheme();
    bits::filter(at, size, header.hash_functions, scheme, words)
}

/// The output of `write`.
///
/// # Errors
/// When the filter's keys are not hashed as Hadoop's are, or it has more than 2^31 - 1 bits.
pub fn encode(filter: &ClassicBloom) -> Result<Vec<u8>, EncodeError> {
    let header = HadoopHeader::for_filter(Format::Hadoop, filter.plan(), filter.scheme())?;
    let mut out = Vec::with_capacity(16 + filter.size_bytes() as usize);
    write(header, filter.words(), &mut out);
    Ok(out)
}

pub(super) fn write(header: HadoopHeader, words: impl Iterator<Item = u64>, out: &mut Vec<u8>) {
    header.write(out);
    let bytes = u64::from(header.vector_size).div_ceil(8);
    bits::to_bytes(words, bytes, out);
}

/// Bits that reject empty keys.
#[derive(Clone, PartialEq, Debug)]
struct Bloom(ClassicBloom);

/// A decoded filter.
pub(super) fn stored(filter: ClassicBloom) -> StoredFilter {
    StoredFilter::foreign(Bloom(filter))
}

impl ForeignFilter for Bloom {
    fn format(&self) -> Format {
        Format::Hadoop
    }

    fn contains(&self, key: &[u8]) -> bool {
        contains(&self.0, key).unwrap_or(false)
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        Ok(add(&mut self.0, key)?)
    }

    fn union_with(&mut self, other: &dyn ForeignFilter) -> Result<(), FilterError> {
        Ok(self.0.union_with(&same_type::<Self>(other)?.0)?)
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        encode(&self.0)
    }

    fn describe(&self) -> Description {
        Description::flat_bits(Format::Hadoop, &self.0)
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

pub(crate) const ROW: FormatRow = FormatRow {
    name: "hadoop",
    description: "Hadoop's BloomFilter.write",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| decode(bytes).map(stored)),
    decode: |bytes, _, _| Ok(single(stored(decode(bytes)?))),
    encode_bits: None,
    from_native: |filter| {
        let is_own = |scheme| matches!(scheme, Scheme::HadoopMurmur | Scheme::HadoopJenkins);
        classic_from_native(Format::Hadoop, filter, is_own).map(stored)
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
