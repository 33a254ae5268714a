//! `Bloom`: the default filter. Insert-only, one or two cache lines per key, sized for exactly the requested rate.

mod estimate;
mod line_pairs;

pub(super) use self::estimate::{LineEstimate, estimate, stats};
use crate::key_type::key_type_methods;
use crate::plan::{BloomPlan, LinesPerKey};
use crate::probe::blocked::{BlockedWalk, mul_high};
use crate::simd::{BloomTable, CACHED_BYTES, Kernel, Prefetch, plain_bytes};
use crate::store::{Borrowed, Line, Owned, Slab, Storage};
use crate::{HashScheme, Key, KeyHash, KeyType, Mismatch, PlanError, SipKey, Stats};
use alloc::borrow::Cow;
use core::fmt;

/// How many keys `contains_each` and `extend` hash before they access the filter. Lines arrive while the next keys are hashed;
/// otherwise keys of varying length would keep each other's cache misses from overlapping.
pub(crate) const CHUNK: usize = 128;

/// A cache-line-blocked Bloom filter.
///
/// ```
/// # use mayhap_core as mayhap;
/// let mut seen = mayhap::Bloom::new(1_000_000, 0.01)?;
/// assert!(seen.insert("https://a.example/"));
/// assert!(seen.contains("https://a.example/"));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone)]
pub struct Bloom<S: Storage = Owned> {
    pub(super) table: BloomTable<S>,
    plan: BloomPlan,
    scheme: HashScheme,
    /// `scheme.origin()`, cached because debug builds compare it for every hash.
    origin: u64,
    key_type: Option<KeyType>,
}

impl Bloom {
    /// An empty filter for `capacity` keys. When it holds that many, it finds a share of `false_positive_rate` of all other keys.
    /// Keys are hashed with XXH3; for untrusted keys see [`Bloom::keyed`].
    ///
    /// # Errors
    /// If the capacity is 0, the rate is not between 0 and 1, or there is not enough memory.
    pub fn new(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            BloomPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Xxh3,
        )
    }

    /// The same for untrusted keys: hashed with SipHash-1-3 under a secret key, so that attackers cannot craft colliding keys.
    ///
    /// # Errors
    /// As [`Bloom::new`].
    pub fn keyed(
        capacity: usize,
        false_positive_rate: f64,
        key: SipKey,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            BloomPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Sip13(key),
        )
    }

    /// The same for callers that already have good 64-bit hashes, passed as [`KeyHash::from_u64`]. Methods that take key bytes
    /// panic on such a filter.
    ///
    /// # Errors
    /// As [`Bloom::new`].
    pub fn for_hashes(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            BloomPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Caller,
        )
    }

    /// An empty filter with a given plan, for callers that choose more than capacity and rate.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_plan(plan: BloomPlan, scheme: HashScheme) -> Result<Self, PlanError> {
        Ok(Self::from_table(
            BloomTable::zeroed(walk(&plan))?,
            plan,
            scheme,
        ))
    }

    /// A filter from existing bits, in the order of [`Bloom::words`].
    ///
    /// # Errors
    /// When there are not eight words for every line of the plan, or there is not enough memory.
    pub fn from_words(
        plan: BloomPlan,
        scheme: HashScheme,
        words: impl ExactSizeIterator<Item = u64>,
    ) -> Result<Self, PlanError> {
        if words.len() as u64 != 8 * plan.lines() {
            return Err(PlanError::InvalidInteger {
                field: "words",
                value: words.len() as u64,
                accepted: "eight for every line",
            });
        }
        let mut table = BloomTable::zeroed(walk(&plan))?;
        let places = table.lines_mut().iter_mut().flat_map(|line| &mut line.0);
        for (place, word) in places.zip(words) {
            *place = word;
        }
        Ok(Self::from_table(table, plan, scheme))
    }

    /// The same, from [`Bloom::bytes`].
    ///
    /// # Errors
    /// When there are not 64 bytes for every line of the plan, or there is not enough memory.
    pub fn from_bytes(
        plan: BloomPlan,
        scheme: HashScheme,
        bytes: &[u8],
    ) -> Result<Self, PlanError> {
        if bytes.len() as u64 != plan.size_bytes() {
            return Err(PlanError::InvalidInteger {
                field: "bytes",
                value: bytes.len() as u64,
                accepted: "64 for every line",
            });
        }
        let mut table = BloomTable::zeroed(walk(&plan))?;
        for (line, bytes) in table.lines_mut().iter_mut().zip(bytes.as_chunks().0) {
            *line = Line::from_le_bytes(bytes);
        }
        Ok(Self::from_table(table, plan, scheme))
    }

    /// A filter of `keys`, sized by their number.
    ///
    /// # Errors
    /// As [`Bloom::new`]. No keys are planned as one key.
    pub fn from_keys<K: Key>(
        keys: impl IntoIterator<Item = K, IntoIter: ExactSizeIterator>,
        false_positive_rate: f64,
    ) -> Result<Self, PlanError> {
        let keys = keys.into_iter();
        let mut filter = Self::new(keys.len().max(1), false_positive_rate)?;
        filter.extend(keys);
        Ok(filter)
    }

    /// `true`: the key was definitely new. `false`: the key, or keys that set the same bits, were inserted before.
    ///
    /// # Panics
    /// On a filter created by [`Bloom::for_hashes`].
    #[inline]
    pub fn insert(&mut self, key: impl Key) -> bool {
        let hash = self.hash(key);
        self.table.insert(hash.to_u64())
    }

    /// `true`: the key was definitely new. As [`Bloom::insert`], for a hash of this filter's scheme.
    #[inline]
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        hash.assert_mixed(self.origin);
        self.table.insert(hash.to_u64())
    }

    /// Inserts many hashes. Faster than one by one if the filter is larger than a core's cache.
    pub fn insert_hashes(&mut self, hashes: &[KeyHash]) {
        if cfg!(debug_assertions) {
            for hash in hashes {
                hash.assert_mixed(self.origin);
            }
        }
        self.table.insert_each(hashes, Prefetch::InBatch);
    }

    /// Inserts many hashes and reports for each whether it was definitely new. A hash that occurs twice is new once.
    ///
    /// # Panics
    /// If `hashes` and `is_new` differ in length.
    pub fn insert_hashes_reporting_new(&mut self, hashes: &[KeyHash], is_new: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            is_new.len(),
            "one place in `is_new` for every hash"
        );
        // The lookups bring the lines into the cache for the inserts.
        for (hashes, is_new) in hashes.chunks(CHUNK).zip(is_new.chunks_mut(CHUNK)) {
            self.contains_hashes(hashes, is_new);
            for (&hash, is_new) in hashes.iter().zip(is_new) {
                *is_new = !*is_new && self.insert_hash(hash);
            }
        }
    }

    /// Overwrites the bytes from offset `start` on, in the order of [`Bloom::bytes`], to load a filter piece by piece. Keys whose
    /// bits are cleared by this are lost.
    ///
    /// # Errors
    /// If the bytes extend past the end; the filter is then unchanged.
    pub fn overwrite(&mut self, start: u64, bytes: &[u8]) -> Result<(), PlanError> {
        let end = start.saturating_add(bytes.len() as u64);
        if end > self.size_bytes() {
            return Err(PlanError::InvalidInteger {
                field: "end offset",
                value: end,
                accepted: "at most the size of the filter",
            });
        }
        let start = start as usize;
        let (head, rest) = bytes.split_at(bytes.len().min(start.next_multiple_of(64) - start));
        let (whole, tail) = rest.as_chunks();
        let lines = self.table.lines_mut();
        let first = (start + head.len()) / 64;
        // If all bytes are in the head, there is no whole line.
        for (line, bytes) in lines.iter_mut().skip(first).zip(whole) {
            *line = Line::from_le_bytes(bytes);
        }
        let tail_start = start + head.len() + 64 * whole.len();
        for (at, &byte) in (start..).zip(head).chain((tail_start..).zip(tail)) {
            let (word, shift) = (&mut lines[at / 64].0[at % 64 / 8], 8 * (at % 8));
            *word = *word & !(0xff << shift) | u64::from(byte) << shift;
        }
        Ok(())
    }

    /// Whether [`union_with`](Self::union_with) would succeed, without changing anything.
    ///
    /// # Errors
    /// As `union_with`.
    pub fn check_union(&self, other: &Self) -> Result<(), Mismatch> {
        self.check_same_shape(other)
    }

    /// Merges another filter into this one, as if all its keys had been inserted here.
    ///
    /// # Errors
    /// When the two differ in shape or hash scheme; the filter is then unchanged.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Mismatch> {
        self.check_same_shape(other)?;
        self.key_type = KeyType::common(self.key_type, other.key_type)?;
        self.combine_words(other, |ours, theirs| ours | theirs);
        Ok(())
    }

    /// Keeps only the bits that are set in both filters. The result contains every key that is in both, and a few more false
    /// positives than a filter of just those keys.
    ///
    /// # Errors
    /// If the two differ in shape or hash scheme; the filter is then unchanged.
    pub fn intersect_with(&mut self, other: &Self) -> Result<(), Mismatch> {
        self.check_same_shape(other)?;
        self.key_type = KeyType::common(self.key_type, other.key_type)?;
        self.combine_words(other, |ours, theirs| ours & theirs);
        Ok(())
    }

    fn combine_words(&mut self, other: &Self, join: impl Fn(u64, u64) -> u64) {
        for (ours, theirs) in self.table.lines_mut().iter_mut().zip(other.table.lines()) {
            for (ours, theirs) in ours.0.iter_mut().zip(theirs.0) {
                *ours = join(*ours, theirs);
            }
        }
    }

    /// Halves an oversized filter and returns its [`estimated_rate`](Self::estimated_rate) now, which no fold lowers; `None`,
    /// without a change, if it cannot be halved any more. No key is lost. An even number of lines (in each half, for filters with two lines per key) folds to
    /// exactly the filter that would have been built at half the size.
    ///
    /// # Errors
    /// If there is not enough memory for the smaller copy.
    pub fn fold(&mut self) -> Result<Option<f64>, PlanError> {
        let Some(plan) = self.plan.halved() else {
            return Ok(None);
        };
        let mut folded = Slab::zeroed(plan.lines())?;
        let halves = self.table.lines().chunks(self.plan.line_range() as usize);
        for (from, to) in halves.zip(folded.chunks_mut(plan.line_range() as usize)) {
            fold_lines(from, to);
        }
        let kernel = self.table.kernel();
        self.table = BloomTable::from_lines(folded, walk(&plan));
        self.table.set_kernel(kernel);
        self.plan = plan;
        Ok(Some(self.estimated_rate()))
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// A copy, or an error if there is not enough memory for it. Pages of zeros are not touched.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        let table = self.table.try_clone()?;
        Ok(Self { table, ..*self })
    }
}

/// A [`Bloom`] over borrowed bytes, such as a mapped file. Lookups are as fast; inserts are not possible.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, BloomView};
/// let filter = Bloom::from_keys(["a"], 0.01)?;
/// let bytes = filter.bytes(); // on a little-endian machine these are the filter's own
/// let view = BloomView::borrowed(*filter.plan(), filter.scheme(), &bytes)?;
/// assert!(view.contains("a"));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
pub type BloomView<'a> = Bloom<Borrowed<'a>>;

impl<'a> BloomView<'a> {
    /// A filter over borrowed bits, as [`Bloom::bytes`] returns them.
    ///
    /// # Errors
    /// If there are not 64 bytes for every line of the plan, if they are not aligned to 64, and on big-endian machines.
    pub fn borrowed(
        plan: BloomPlan,
        scheme: HashScheme,
        bytes: &'a [u8],
    ) -> Result<Self, PlanError> {
        let lines = plain_bytes::from_bytes(bytes, plan.lines())?;
        let table = BloomTable::from_lines(lines, walk(&plan));
        Ok(Self::from_table(table, plan, scheme))
    }
}

impl<S: Storage> Bloom<S> {
    pub(crate) fn from_table(table: BloomTable<S>, plan: BloomPlan, scheme: HashScheme) -> Self {
        Self {
            table,
            plan,
            scheme,
            origin: scheme.origin(),
            key_type: None,
        }
    }

    key_type_methods!();

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// On a filter created by [`Bloom::for_hashes`].
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.scheme.hash(key)
    }

    /// `false` is certain: the key was never inserted. `true` is probable.
    ///
    /// # Panics
    /// On a filter created by [`Bloom::for_hashes`].
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.table.contains(self.hash(key).to_u64())
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter created by [`Bloom::for_hashes`].
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        for (keys, found) in keys.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            let mut hashes = [KeyHash::from_u64(0); CHUNK];
            let hashes = self.hash_chunk(keys.iter(), &mut hashes);
            self.table.contains_each(hashes, found, Prefetch::ByCaller);
        }
    }

    /// Hashes up to `CHUNK` keys and prefetches their lines.
    fn hash_chunk<'h, K: Key>(
        &self,
        keys: impl Iterator<Item = K>,
        hashes: &'h mut [KeyHash; CHUNK],
    ) -> &'h [KeyHash] {
        let prefetch = self.size_bytes() > CACHED_BYTES;
        let mut count = 0;
        for (place, key) in hashes.iter_mut().zip(keys) {
            *place = self.scheme.hash(key);
            if prefetch {
                self.table.prefetch(place.to_u64());
            }
            count += 1;
        }
        &hashes[..count]
    }

    /// `false` is certain, `true` is probable. As [`Bloom::contains`], for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        hash.assert_origin(self.origin);
        self.table.contains(hash.to_u64())
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        self.assert_origins(hashes);
        self.table.contains_each(hashes, found, Prefetch::InBatch);
    }

    pub(super) fn assert_origins(&self, hashes: &[KeyHash]) {
        if cfg!(debug_assertions) {
            for hash in hashes {
                hash.assert_origin(self.origin);
            }
        }
    }

    fn check_same_shape(&self, other: &Self) -> Result<(), Mismatch> {
        check_same_shape((&self.plan, self.scheme), (&other.plan, other.scheme))
    }

    /// The estimated number of distinct keys, from the bits that are set; `u64::MAX` when all are. Reads the whole filter.
    pub fn estimated_keys(&self) -> u64 {
        // Saturates, as float to integer casts do.
        libm::round(self.plan.keys_for_set_bits(self.set_bits())) as u64
    }

    /// The estimated number of distinct keys in both filters together. Reads both.
    ///
    /// # Errors
    /// If the two differ in shape or hash scheme.
    pub fn estimated_union_keys(&self, other: &Self) -> Result<u64, Mismatch> {
        self.check_same_shape(other)?;
        let both = self
            .words()
            .zip(other.words())
            .map(|(ours, theirs)| u64::from((ours | theirs).count_ones()))
            .sum();
        Ok(libm::round(self.plan.keys_for_set_bits(both)) as u64)
    }

    /// The estimated number of keys that both filters contain: the sum of both minus the union, which is more accurate than
    /// counting the bits of the intersection. Reads both.
    ///
    /// # Errors
    /// If the two differ in shape or hash scheme.
    pub fn estimated_common_keys(&self, other: &Self) -> Result<u64, Mismatch> {
        let union = self.estimated_union_keys(other)?;
        Ok(self
            .estimated_keys()
            .saturating_add(other.estimated_keys())
            .saturating_sub(union))
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.false_positive_rate()
    }

    /// The false-positive rate now, from the bits that are set: the probability that a random absent key is found. Exact for an
    /// ideal hash, unless keys have two lines and the filter is larger than 16 KiB: then within 5 % above 1e-7. Reads the whole
    /// filter.
    pub fn estimated_rate(&self) -> f64 {
        self.estimate(u64::MAX).rate
    }

    /// Estimates from at most `max_bytes` of the filter: evenly spaced lines.
    pub(super) fn estimate(&self, max_bytes: u64) -> LineEstimate {
        let stride = self.size_bytes().div_ceil(max_bytes.max(1)).max(1);
        let lines = self.table.lines().iter().copied();
        let numbered = (0_u64..).zip(lines);
        estimate(&self.plan, numbered.step_by(stride as usize), stride)
    }

    /// Whether the filter holds more keys than it was planned for, so that its rate is worse than requested. The estimate must
    /// exceed the capacity by more than three standard errors. Reads the whole filter.
    pub fn is_over_capacity(&self) -> bool {
        self.plan.is_over_capacity(self.set_bits())
    }

    /// The estimated number of keys that still fit before the rate is worse than requested. Reads the whole filter.
    pub fn keys_until_full(&self) -> u64 {
        self.plan.capacity().saturating_sub(self.estimated_keys())
    }

    /// What the filter is, how full it is and which rate it has now. Reads the whole filter.
    pub fn stats(&self) -> Stats {
        self.sampled_stats(u64::MAX)
    }

    /// [`stats`](Self::stats), estimated from at most `max_bytes` of the filter: keys are spread evenly, so a few megabytes of a
    /// large filter tell its number of keys to within a few thousandths.
    pub fn sampled_stats(&self, max_bytes: u64) -> Stats {
        stats(&self.plan, self.estimate(max_bytes))
    }

    /// Whether no key was ever inserted.
    pub fn is_empty(&self) -> bool {
        self.words().all(|word| word == 0)
    }

    /// The number of keys that the filter was planned for.
    pub fn capacity(&self) -> u64 {
        self.plan.capacity()
    }

    /// Bytes of memory for the bits.
    pub fn size_bytes(&self) -> u64 {
        self.plan.size_bytes()
    }

    /// The plan of the filter.
    pub fn plan(&self) -> &BloomPlan {
        &self.plan
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }

    /// The bits, 64 at a time, lines one after the other: bit `i` of a line is bit `i % 64` of its word `i / 64`.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        self.table.lines().iter().flat_map(|line| line.0)
    }

    /// The bits as bytes: [`Bloom::words`], each in little-endian order. No copy on little-endian machines.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        plain_bytes::as_bytes(self.table.lines()).map_or_else(
            || self.words().flat_map(u64::to_le_bytes).collect(),
            Cow::Borrowed,
        )
    }

    /// The offsets in [`bytes`](Self::bytes) of the lines that a lookup of this hash reads.
    pub fn offsets(&self, hash: KeyHash) -> impl Iterator<Item = u64> + use<S> {
        self.table.offsets(hash.to_u64())
    }

    /// The number of set bits.
    pub fn set_bits(&self) -> u64 {
        self.words().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The instruction set in use.
    pub fn kernel(&self) -> Kernel {
        self.table.kernel()
    }

    /// The same filter with another instruction set, for tests and comparisons. A kernel that this CPU does not have is ignored;
    /// check [`Bloom::kernel`].
    #[must_use]
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.table.set_kernel(kernel);
        self
    }
}

/// Whether two filters can be merged word by word.
pub(super) fn check_same_shape(
    ours: (&BloomPlan, HashScheme),
    theirs: (&BloomPlan, HashScheme),
) -> Result<(), Mismatch> {
    let check = |field, value: fn(&BloomPlan) -> u64| {
        Mismatch::check(field, value(ours.0), value(theirs.0))
    };
    Mismatch::check(
        "hash scheme",
        u64::from(ours.1.id()),
        u64::from(theirs.1.id()),
    )?;
    if ours.1 != theirs.1 {
        return Err(Mismatch::HashKey);
    }
    check("lines per key", |plan| {
        u64::from(plan.lines_per_key().count())
    })?;
    check("bits per key in a line", |plan| {
        u64::from(plan.bits_per_line())
    })?;
    check("lines", BloomPlan::lines)
}

pub(crate) fn walk(plan: &BloomPlan) -> BlockedWalk {
    BlockedWalk::new(
        plan.line_range(),
        plan.lines_per_key() == LinesPerKey::Two,
        plan.bits_per_line(),
    )
}

/// Merges every line into the lines of the smaller table that its keys now belong to: the hashes of old line `i` are an interval,
/// which overlaps one new line, or two if the old number of lines is odd.
fn fold_lines(from: &[Line], to: &mut [Line]) {
    let (old, new) = (from.len() as u64, to.len() as u64);
    // The smallest mixed hash of old line i is the rounded-up quotient i * 2^64 / old.
    let smallest = |line: u64| (u128::from(line) << 64).div_ceil(u128::from(old));
    for (at, line) in from.iter().enumerate() {
        let first = smallest(at as u64) as u64;
        let last = (smallest(at as u64 + 1) - 1) as u64;
        for target in mul_high(first, new)..=mul_high(last, new) {
            for (word, bits) in to[target as usize].0.iter_mut().zip(line.0) {
                *word |= bits;
            }
        }
    }
}

impl<K: Key> Extend<K> for Bloom {
    /// Inserts all keys, in prefetched batches.
    ///
    /// # Panics
    /// On a filter created by [`Bloom::for_hashes`].
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let mut keys = keys.into_iter();
        let mut buffer = [KeyHash::from_u64(0); CHUNK];
        loop {
            let hashes = self.hash_chunk(&mut keys, &mut buffer);
            if hashes.is_empty() {
                return;
            }
            self.table.insert_each(hashes, Prefetch::ByCaller);
        }
    }
}

impl<S: Storage> core::borrow::Borrow<BloomTable<S>> for Bloom<S> {
    fn borrow(&self) -> &BloomTable<S> {
        &self.table
    }
}

/// Filters are equal if they have the same scheme, key type, plan and bits.
impl<S: Storage> PartialEq for Bloom<S> {
    fn eq(&self, other: &Self) -> bool {
        self.scheme == other.scheme
            && self.key_type == other.key_type
            && self.plan == other.plan
            && self.table.lines() == other.table.lines()
    }
}

impl<S: Storage> Eq for Bloom<S> {}

impl<S: Storage> fmt::Debug for Bloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fill = 100.0 * self.set_bits() as f64 / self.plan.size_bits() as f64;
        write!(
            f,
            "Bloom({}, {fill:.1} % full bits, {:?}, {})",
            self.plan,
            self.scheme,
            self.kernel()
        )
    }
}
