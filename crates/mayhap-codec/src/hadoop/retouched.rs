//! `RetouchedBloomFilter`: bits, and for each of them the keys and the false positives that use it, so that bits can be cleared
//! where that costs least.
//!
//! | after the `BloomFilter` | |
//! | --- | --- |
//! | a list for each bit | the false positives that use it |
//! | a list for each bit | the keys that use it |
//! | 8 for each bit | its ratio, a double |
//!
//! A list is its length in 4 bytes and, for each key, its length in 4 bytes, its bytes, and its weight, a double.
//!
//! `mayhap_core::Retouched` does the same with 8 bytes per key. It cannot represent such a file, which has the bytes and weights of keys,
//! the order of every list and the ratios of the last clearing.

use super::{
    HASH, HadoopError, HadoopHeader, HashType, bloom, check_key, hash_type, put_int, shape,
};
use crate::bits;
use crate::cursor::Cursor;
use crate::filter::{Description, FilterError, ForeignFilter, other_hash};
use crate::format::{Detection, FormatRow, Parameter};
use crate::native::FALSE_POSITIVES;
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    ParameterError, Parameters, StoredFilter,
};
use mayhap_core::{ClassicBloom, Kind, Mismatch, PlanError};

/// Which bit of a key is cleared; the first one in probe order, if several are equally good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clearing {
    /// `RANDOM`: as in Hadoop, one of the filter's first bits, as many as there are hash functions, whatever the key; which often
    /// leaves the key in.
    Random {
        /// A random number from the caller; the remainder selects the bit.
        number: u64,
    },
    /// `MINIMUM_FN`: the one whose keys weigh least.
    MinimumFalseNegatives,
    /// `MAXIMUM_FP`: the one whose false positives weigh most.
    MaximumFalsePositives,
    /// `RATIO`: the one with the least weight of keys for the weight of false positives. A bit that has only one of the two keeps
    /// the ratio of an earlier clearing, or 0.
    Ratio,
}

/// A key in a list, and what losing it costs.
#[derive(Clone, PartialEq, Debug)]
struct Entry {
    key: Box<[u8]>,
    weight: f64,
}

impl Entry {
    fn new(key: &[u8], weight: f64) -> Self {
        Self {
            key: key.into(),
            weight,
        }
    }

    /// Java's `equals`: weights that differ by less than one are equal.
    fn equals(&self, other: &Self) -> bool {
        self.key == other.key && (self.weight - other.weight) as i32 == 0
    }
}

/// For each bit the keys that use it, in order of insertion; twice if two probes of a key coincide.
type Lists = Vec<Vec<Entry>>;

/// A filter from which selected false positives can be removed, at the price of some keys.
#[derive(Clone, PartialEq)]
pub struct Retouched {
    bits: ClassicBloom,
    false_positives: Lists,
    keys: Lists,
    ratios: Vec<f64>,
}

/// An empty filter as `new RetouchedBloomFilter(vectorSize, nbHash, hashType)` creates it. Its lists take 56 bytes for each bit
/// from the start.
///
/// # Errors
/// When there are no bits or more than 2^31 - 1, no hash functions or more than 4096, or there is not enough memory.
pub fn create(
    vector_size: u32,
    hash_functions: u32,
    hash_type: HashType,
) -> Result<Retouched, PlanError> {
    Ok(Retouched {
        bits: bloom::create(vector_size, hash_functions, hash_type)?,
        false_positives: filled(vector_size, Vec::new())?,
        keys: filled(vector_size, Vec::new())?,
        ratios: filled(vector_size, 0.0)?,
    })
}

fn filled<T: Clone>(count: u32, item: T) -> Result<Vec<T>, PlanError> {
    let mut items = Vec::new();
    let reserved = items.try_reserve_exact(count as usize);
    reserved.map_err(|_| PlanError::OutOfMemory {
        size_bytes: u64::from(count) * size_of::<T>() as u64,
    })?;
    items.resize(count as usize, item);
    Ok(items)
}

impl Retouched {
    /// Inserts a key with a weight, 1.0 by default in Hadoop, and lists it at each of its bits.
    ///
    /// # Errors
    /// When the key is empty.
    pub fn add(&mut self, key: impl AsRef<[u8]>, weight: f64) -> Result<(), HadoopError> {
        let key = key.as_ref();
        check_key(key)?;
        list(&self.bits, &mut self.keys, key, weight);
        self.bits.insert(key);
        Ok(())
    }

    /// Lists a false positive, and sets no bit.
    ///
    /// # Errors
    /// When the key is empty.
    pub fn add_false_positive(
        &mut self,
        key: impl AsRef<[u8]>,
        weight: f64,
    ) -> Result<(), HadoopError> {
        let key = key.as_ref();
        check_key(key)?;
        list(&self.bits, &mut self.false_positives, key, weight);
        Ok(())
    }

    /// `membershipTest`. `false`: the key was never added, **or a clearing removed it**. `true` is probable.
    ///
    /// # Errors
    /// When the key is empty.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool, HadoopError> {
        bloom::contains(&self.bits, key)
    }

    /// `selectiveClearing`: clears a bit that the key uses, and removes all keys and false positives that use it from all lists.
    /// Returns the bit.
    ///
    /// # Errors
    /// When the key is empty or not in, or no bit can be chosen: none of the key's has a false positive, or there are fewer bits
    /// than hash functions. Only ratios may have changed then.
    pub fn selective_clearing(
        &mut self,
        key: impl AsRef<[u8]>,
        clearing: Clearing,
    ) -> Result<u64, HadoopError> {
        let key = key.as_ref();
        if !self.contains(key)? {
            return Err(HadoopError::NotAMember);
        }
        let positions = self.bits.positions_of(key);
        let chosen = match clearing {
            Clearing::Random { number } => {
                let plan = self.bits.plan();
                let chosen = number % u64::from(plan.probes);
                (chosen < plan.bits).then_some(chosen)
            }
            Clearing::MinimumFalseNegatives => {
                smallest(positions.map(|at| (at, weight(&self.keys[at as usize]))))
            }
            Clearing::MaximumFalsePositives => {
                largest(positions.map(|at| (at, weight(&self.false_positives[at as usize]))))
            }
            Clearing::Ratio => {
                self.compute_ratios();
                smallest(positions.map(|at| (at, self.ratios[at as usize])))
            }
        };
        let chosen = chosen.ok_or(HadoopError::NothingToClear(clearing))?;
        clear_list(&self.bits, &mut self.keys, chosen);
        clear_list(&self.bits, &mut self.false_positives, chosen);
        self.ratios[chosen as usize] = 0.0;
        self.bits.clear_bit(chosen);
        Ok(chosen)
    }

    fn compute_ratios(&mut self) {
        let lists = self.keys.iter().zip(&self.false_positives);
        for (ratio, (keys, false_positives)) in self.ratios.iter_mut().zip(lists) {
            let (keys, false_positives) = (weight(keys), weight(false_positives));
            if keys > 0.0 && false_positives > 0.0 {
                *ratio = keys / false_positives;
            }
        }
    }

    /// Keeps the bits that are set in both. As in Hadoop, this and the operations below change no list.
    ///
    /// # Errors
    /// When the two differ in vector size or number of hash functions; the filter is unchanged then.
    pub fn and(&mut self, other: &ClassicBloom) -> Result<(), Mismatch> {
        bloom::and(&mut self.bits, other)
    }

    /// Sets the bits that are set in the other.
    ///
    /// # Errors
    /// As [`Retouched::and`].
    pub fn or(&mut self, other: &ClassicBloom) -> Result<(), Mismatch> {
        bloom::or(&mut self.bits, other)
    }

    /// Keeps the bits that are set in exactly one of the two.
    ///
    /// # Errors
    /// As [`Retouched::and`].
    pub fn xor(&mut self, other: &ClassicBloom) -> Result<(), Mismatch> {
        bloom::xor(&mut self.bits, other)
    }

    /// Inverts every bit.
    pub fn not(&mut self) {
        bloom::not(&mut self.bits);
    }

    /// The bits, which are all that lookups need.
    pub fn as_classic(&self) -> &ClassicBloom {
        &self.bits
    }
}

impl std::fmt::Debug for Retouched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let entries = |lists: &Lists| lists.iter().map(Vec::len).sum::<usize>();
        write!(
            f,
            "Retouched({:?}, {} entries of keys, {} of false positives)",
            self.bits,
            entries(&self.keys),
            entries(&self.false_positives)
        )
    }
}

fn list(bits: &ClassicBloom, lists: &mut Lists, key: &[u8], weight: f64) {
    for at in bits.positions_of(key) {
        lists[at as usize].push(Entry::new(key, weight));
    }
}

/// Removes every key of a bit's list from the lists of all its bits, one entry per probe, and empties the list.
fn clear_list(bits: &ClassicBloom, lists: &mut Lists, chosen: u64) {
    let chosen = chosen as usize;
    // A file may list keys at wrong bits, where they stay: the number of rounds is fixed.
    for _ in 0..lists[chosen].len() {
        let Some(first) = lists[chosen].first().cloned() else {
            break;
        };
        for at in bits.positions_of(&first.key) {
            let list = &mut lists[at as usize];
            if let Some(found) = list.iter().position(|entry| first.equals(entry)) {
                list.remove(found);
            }
        }
    }
    lists[chosen].clear();
}

fn weight(list: &[Entry]) -> f64 {
    list.iter().fold(0.0, |sum, entry| sum + entry.weight)
}

/// Java's bounds: values that are not below or above them are never chosen.
fn smallest(candidates: impl Iterator<Item = (u64, f64)>) -> Option<u64> {
    best(candidates, f64::MAX, |candidate, best| candidate < best)
}

fn largest(candidates: impl Iterator<Item = (u64, f64)>) -> Option<u64> {
    let least_above_zero = f64::from_bits(1);
    best(candidates, least_above_zero, |candidate, best| {
        candidate > best
    })
}

/// The first of the best.
fn best(
    candidates: impl Iterator<Item = (u64, f64)>,
    bound: f64,
    is_better: fn(f64, f64) -> bool,
) -> Option<u64> {
    let mut best = (None, bound);
    for (at, value) in candidates {
        if is_better(value, best.1) {
            best = (Some(at), value);
        }
    }
    best.0
}

/// Reads the output of `write`.
///
/// # Errors
/// When it is not such a stream, or lists an empty key.
pub fn decode(bytes: &[u8]) -> Result<Retouched, DecodeError> {
    let mut at = Cursor::new(bytes, Format::HadoopRetouched);
    let header = HadoopHeader::read(&mut at)?;
    let size = u64::from(header.vector_size);
    let filter = bloom::read_bits(&mut at, header)?;
    // Even where all lists are empty.
    at.check_left("lists and ratios", 16 * size)?;
    let false_positives = read_lists(&mut at, size)?;
    let keys = read_lists(&mut at, size)?;
    let ratios = bits::from_longs(at.take("ratios", 8 * size)?);
    let ratios = ratios.into_iter().map(f64::from_bits).collect();
    at.finish()?;
    Ok(Retouched {
        bits: filter,
        false_positives,
        keys,
        ratios,
    })
}

/// The minimum bytes of an entry: the length, one byte of key, and the weight.
const LEAST_ENTRY_BYTES: u64 = 13;

fn read_lists(at: &mut Cursor<'_>, size: u64) -> Result<Lists, DecodeError> {
    let mut lists = Vec::with_capacity(size as usize);
    for _ in 0..size {
        let count = at.i32_be("length of a list")?;
        let Ok(count) = u64::try_from(count) else {
            return Err(at.value("length of a list", i128::from(count), "0 to 2^31 - 1"));
        };
        at.check_left("list", count * LEAST_ENTRY_BYTES)?;
        let mut list = Vec::with_capacity(count as usize);
        for _ in 0..count {
            list.push(read_entry(at)?);
        }
        lists.push(list);
    }
    Ok(lists)
}

fn read_entry(at: &mut Cursor<'_>) -> Result<Entry, DecodeError> {
    let length = at.i32_be("length of a key")?;
    let Some(length) = u64::try_from(length).ok().filter(|&length| length > 0) else {
        return Err(at.value("length of a key", i128::from(length), "1 to 2^31 - 1"));
    };
    let key = at.take("key", length)?;
    Ok(Entry::new(key, at.f64_be("weight")?))
}

/// The output of `write`.
///
/// # Errors
/// When a list, or a key in it, is longer than 2^31 - 1.
pub fn encode(filter: &Retouched) -> Result<Vec<u8>, EncodeError> {
    let bits = &filter.bits;
    let header = HadoopHeader::for_filter(Format::HadoopRetouched, bits.plan(), bits.scheme())?;
    let mut out = Vec::new();
    bloom::write(header, bits.words(), &mut out);
    for list in filter.false_positives.iter().chain(&filter.keys) {
        put_length(list.len(), &mut out)?;
        for entry in list {
            put_length(entry.key.len(), &mut out)?;
            out.extend_from_slice(&entry.key);
            out.extend_from_slice(&entry.weight.to_be_bytes());
        }
    }
    for ratio in &filter.ratios {
        out.extend_from_slice(&ratio.to_be_bytes());
    }
    Ok(out)
}

fn put_length(length: usize, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let length = i32::try_from(length).map_err(|_| EncodeError {
        format: Format::HadoopRetouched,
        reason: "a list or a key is longer than 2^31 - 1",
    })?;
    put_int(length, out);
    Ok(())
}

impl Retouched {
    /// Lists false positives and clears a bit for each that is still found; the number of cleared ones.
    pub(crate) fn clear_false_positives(
        &mut self,
        false_positives: &[impl AsRef<[u8]>],
        clearing: Option<Clearing>,
    ) -> u64 {
        for key in false_positives {
            // An empty key is in no filter of Hadoop's.
            let _ = self.add_false_positive(key, 1.0);
        }
        let Some(clearing) = clearing else {
            return 0;
        };
        let mut cleared = 0;
        for (number, key) in (0..).zip(false_positives) {
            let clearing = match clearing {
                // Any number will do, and this one makes the same bytes every time.
                Clearing::Random { .. } => Clearing::Random { number },
                other => other,
            };
            if self.selective_clearing(key, clearing).is_ok() {
                cleared += 1;
            }
        }
        cleared
    }
}

impl ForeignFilter for Retouched {
    fn format(&self) -> Format {
        Format::HadoopRetouched
    }

    fn contains(&self, key: &[u8]) -> bool {
        Self::contains(self, key).unwrap_or(false)
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        let was_in = Self::contains(self, key)?;
        self.add(key, 1.0)?;
        Ok(!was_in)
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        encode(self)
    }

    fn describe(&self) -> Description {
        let mut description = Description::flat_bits(Format::HadoopRetouched, &self.bits);
        description.stats.kind = Kind::Retouched;
        description
    }

    fn bits(&self) -> Option<&ClassicBloom> {
        Some(&self.bits)
    }

    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        match to {
            Format::Hadoop => Ok(bloom::stored(self.bits)),
            Format::Mayhap => Err(EncodeError {
                format: to,
                reason: "only Hadoop stores its lists of keys: convert it to hadoop, which keeps the bits",
            }),
            other => Err(other_hash(other)),
        }
    }
}

pub(crate) const ROW: FormatRow = FormatRow {
    name: "hadoop-retouched",
    description: "Hadoop's RetouchedBloomFilter.write",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| decode(bytes).map(StoredFilter::foreign)),
    decode: |bytes, _, _| Ok(single(StoredFilter::foreign(decode(bytes)?))),
    encode_bits: None,
    from_native: |_| Err(other_hash(Format::HadoopRetouched)),
    required_count: BuildOptions::count_keys_without_shape,
    create: crate::format::unless_wasm(create_from),
    parameters: &[HASH, SCHEME, FALSE_POSITIVES],
    check_parameters: |parameters| {
        hash_type(parameters)?;
        clearing(parameters).map(drop)
    },
    key_reader: KeyReader::own_width,
};

/// mayhap's own retouched filters have it, too.
pub(crate) const SCHEME: Parameter = Parameter {
    name: "scheme",
    values: "random, minimum_fn, maximum_fp or ratio",
};

pub(crate) fn clearing(parameters: &Parameters) -> Result<Option<Clearing>, ParameterError> {
    parameters.parse("scheme", |value| {
        match value.to_ascii_lowercase().as_str() {
            "random" | "0" => Some(Clearing::Random { number: 0 }),
            "minimum_fn" | "1" => Some(Clearing::MinimumFalseNegatives),
            "maximum_fp" | "2" => Some(Clearing::MaximumFalsePositives),
            "ratio" | "3" => Some(Clearing::Ratio),
            _ => None,
        }
    })
}

fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let (vector_size, probes) = shape(options, keys)?;
    let hash = hash_type(&options.parameters)?;
    Ok(StoredFilter::foreign(create(vector_size, probes, hash)?).into())
}

#[cfg(test)]
mod tests {
    use super::Entry;

    #[test]
    fn weights_less_than_one_apart_are_equal_as_in_java() {
        let one = Entry::new(b"a", 1.0);
        for (weight, equal) in [
            (1.0, true),
            (1.9, true),
            (0.1, true),
            (2.0, false),
            (0.0, false),
            (f64::NAN, true),
        ] {
            assert_eq!(one.equals(&Entry::new(b"a", weight)), equal, "{weight}");
            assert!(!one.equals(&Entry::new(b"b", weight)));
        }
    }
}
