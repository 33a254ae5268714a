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
//! `mayhap_core::Retouched` does the same work on 8 bytes a key. It shares nothing with this one but the bits: the file has the bytes
//! and weights of keys, the order of every list and the ratios of the last clearing, of which hashes keep nothing.

use super::{HashType, Header, Refused, bloom, check_key, put_int};
use crate::bits;
use crate::cursor::Cursor;
use crate::{DecodeError, EncodeError, Format};
use mayhap_core::{ClassicBloom, Mismatch, PlanError};

/// Which bit of a key is cleared: of equally good ones the first on the key's walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clearing {
    /// `RANDOM`: as in Hadoop, one of the filter's first bits, as many as there are hash functions, whatever the key; which often
    /// leaves the key in.
    Random {
        /// A random number of the caller's, of which the remainder is taken.
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

    /// What Java's `equals` says: weights that are less than one apart are the same.
    fn equals(&self, other: &Self) -> bool {
        self.key == other.key && (self.weight - other.weight) as i32 == 0
    }
}

/// For each bit the keys that use it, in the order in which they came; twice where two probes of a key fall together.
type Lists = Vec<Vec<Entry>>;

/// A filter from which chosen false positives can be taken out, at the price of keys.
#[derive(Clone, PartialEq)]
pub struct Retouched {
    bits: ClassicBloom,
    false_positives: Lists,
    keys: Lists,
    ratios: Vec<f64>,
}

/// An empty filter as `new RetouchedBloomFilter(vectorSize, nbHash, hashType)` makes it. Its lists take 56 bytes for each bit
/// from the start.
///
/// # Errors
/// When there are no bits or more than 2^31 - 1, no hash functions or more than 4096, or the memory is not there.
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
    /// Puts a key in, at a weight that Hadoop takes as 1.0 when none is given, and lists it at each of its bits.
    ///
    /// # Errors
    /// When the key is empty.
    pub fn add(&mut self, key: impl AsRef<[u8]>, weight: f64) -> Result<(), Refused> {
        let key = key.as_ref();
        check_key(key)?;
        list(&self.bits, &mut self.keys, key, weight);
        self.bits.insert(key);
        Ok(())
    }

    /// Lists a key that is not to be found, and sets no bit.
    ///
    /// # Errors
    /// When the key is empty.
    pub fn add_false_positive(
        &mut self,
        key: impl AsRef<[u8]>,
        weight: f64,
    ) -> Result<(), Refused> {
        let key = key.as_ref();
        check_key(key)?;
        list(&self.bits, &mut self.false_positives, key, weight);
        Ok(())
    }

    /// `membershipTest`. `false`: the key was never added, **or a clearing has lost it**. `true` is mayhap.
    ///
    /// # Errors
    /// When the key is empty.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool, Refused> {
        bloom::contains(&self.bits, key)
    }

    /// `selectiveClearing`: clears a bit that the key uses, and takes all keys and false positives that use it from all lists.
    /// The bit that was cleared.
    ///
    /// # Errors
    /// When the key is empty or not in, or no bit can be chosen: none of the key's has a false positive, or there are fewer bits
    /// than hash functions. Nothing is changed then, but for ratios.
    pub fn selective_clearing(
        &mut self,
        key: impl AsRef<[u8]>,
        clearing: Clearing,
    ) -> Result<u64, Refused> {
        let key = key.as_ref();
        if !self.contains(key)? {
            return Err(Refused::NotAMember);
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
        let chosen = chosen.ok_or(Refused::NothingToClear(clearing))?;
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

    /// Leaves the bits that are set in both. As in Hadoop, this and the operations below change no list.
    ///
    /// # Errors
    /// When the two differ in vector size or number of hash functions; nothing is changed then.
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

    /// Leaves the bits that are set in one of the two.
    ///
    /// # Errors
    /// As [`Retouched::and`].
    pub fn xor(&mut self, other: &ClassicBloom) -> Result<(), Mismatch> {
        bloom::xor(&mut self.bits, other)
    }

    /// Turns every bit over.
    pub fn not(&mut self) {
        bloom::not(&mut self.bits);
    }

    /// The bits, which are all that answering takes.
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

/// Takes every key of a bit's list from the lists of all its bits, one entry for each probe, and empties the list.
fn clear_list(bits: &ClassicBloom, lists: &mut Lists, chosen: u64) {
    let chosen = chosen as usize;
    // A file may list keys where they do not belong, which then stay: so many rounds, and no more.
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

/// The bounds are Java's: what is not below the one or above the other is never chosen.
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

/// Reads what `write` wrote.
///
/// # Errors
/// When it is not such a stream, or lists an empty key.
pub fn decode(bytes: &[u8]) -> Result<Retouched, DecodeError> {
    let mut at = Cursor::new(bytes, Format::HadoopRetouched);
    let header = Header::read(&mut at)?;
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

/// The length, one byte and the weight.
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

/// What `write` would write.
///
/// # Errors
/// When a list, or a key in it, is longer than 2^31 - 1.
pub fn encode(filter: &Retouched) -> Result<Vec<u8>, EncodeError> {
    let bits = &filter.bits;
    let header = Header::of(Format::HadoopRetouched, bits.plan(), bits.scheme())?;
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
