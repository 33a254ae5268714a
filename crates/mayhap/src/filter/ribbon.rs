//! `Ribbon`: the smallest filter for a set that does not change, within a percent of what any filter needs.

use crate::build::{band, shards};
use crate::plan::{BUCKET, RibbonPlan};
use crate::probe::fuse::shard;
use crate::probe::ribbon::{Layer, Row, THRESHOLDS};
use crate::simd::{CACHED_BYTES, Usable, parities, prefetch};
use crate::store::reserved;
use crate::{HashScheme, Hashed, KeyHash, PlanError};
use alloc::vec::Vec;
use core::fmt;

/// How many keys a batch asks memory for before it looks.
const CHUNK: usize = 64;

/// A bumped ribbon filter: `log2(1 / rate)` bits a key, rounded up to whole bits, and less than a percent more.
///
/// It is made from all its keys at once and never changes. The same keys give the same filter, in whatever order they come
/// and however often: no keys give one that always says `false`, a million equal keys the same one as a single key. Questions
/// take longer than a [`Fuse`](crate::Fuse)'s, and a few keys take a few hundred bytes.
///
/// Building takes at most 100 bits a key beyond the items from 750,000 keys on (below, at most 21 MB); with the feature
/// `parallel` it uses all cores.
///
/// ```
/// let words = mayhap::Ribbon::build(&["apple", "pear", "apple"], 0.01)?;
/// assert!(words.contains("pear"));
/// assert_eq!(words.len(), 2);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone)]
pub struct Ribbon {
    /// One for every shard; none when there are no keys.
    shards: Vec<[Layer; band::LAYERS]>,
    words: Vec<u64>,
    /// Four to a byte.
    thresholds: Vec<u8>,
    plan: RibbonPlan,
    scheme: HashScheme,
    kernel: Usable,
}

impl Ribbon {
    /// A filter of `items`, which says `true` to a share of at most `false_positive_rate` of all other keys. Key bytes are
    /// hashed with XXH3; [`KeyHash`]es are the caller's own (scheme 0). The rate that results is the next power of two.
    ///
    /// # Errors
    /// When the rate is not between 2^-32 and 1, or the memory is not there. When hashes do not fit together after 100
    /// attempts, which takes hashes that were chosen to.
    pub fn build<K: Hashed>(items: &[K], false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::build_with(items, false_positive_rate, K::SCHEME)
    }

    /// The same under a scheme of the caller's choice, such as a keyed one. `KeyHash`es must come from that scheme.
    ///
    /// # Errors
    /// As [`Ribbon::build`].
    ///
    /// # Panics
    /// For key bytes under [`HashScheme::Caller`], which has no function.
    pub fn build_with<K: Hashed>(
        items: &[K],
        false_positive_rate: f64,
        scheme: HashScheme,
    ) -> Result<Self, PlanError> {
        let mut plan = RibbonPlan::without_collisions(items.len() as u64, false_positive_rate)?;
        loop {
            let filter = Self::from_plan(items, plan, scheme)?;
            if filter.plan.shards() == plan.shards() {
                return Ok(filter);
            }
            // So many items are repeated that fewer shards do. Again, so that the bytes do not tell.
            plan = filter.plan;
        }
    }

    fn from_plan<K: Hashed>(
        items: &[K],
        plan: RibbonPlan,
        scheme: HashScheme,
    ) -> Result<Self, PlanError> {
        let mut filter = Self {
            shards: Vec::new(),
            words: Vec::new(),
            thresholds: Vec::new(),
            plan: RibbonPlan::new(0, plan.false_positive_rate())?,
            scheme,
            kernel: Usable::best(),
        };
        if items.is_empty() {
            return Ok(filter);
        }
        let counts = shards::count(items, &scheme, plan.shards());
        let (threads, passes) = plan.work(shards::available_threads());
        let work = shards::Work { passes, threads };
        filter.words = reserved(plan.most_words(items.len() as u64))?;
        let (mut keys, mut buckets) = (0, 0);
        let columns = plan.columns();
        shards::solve_each(
            items,
            &scheme,
            &counts,
            work,
            |shard, hashes| band::solve(shard, hashes, columns),
            |solved| {
                filter.shards.push(solved.layers.map(|layer| Layer {
                    word: layer.word + filter.words.len() as u64,
                    bucket: layer.bucket + buckets,
                    ..layer
                }));
                filter.words.extend_from_slice(&solved.words);
                for threshold in solved.thresholds {
                    if buckets % 4 == 0 {
                        filter.thresholds.push(0);
                    }
                    filter.thresholds[(buckets / 4) as usize] |= threshold << (buckets % 4 * 2);
                    buckets += 1;
                }
                keys += solved.keys;
            },
        )?;
        // Repeated items had room, too.
        filter.words.shrink_to_fit();
        filter.plan = RibbonPlan::new(keys, plan.false_positive_rate())?;
        Ok(filter)
    }

    /// The hash under which this filter, and every other of its scheme, knows a key.
    ///
    /// # Panics
    /// On a filter built from the caller's hashes.
    #[inline]
    pub fn hash(&self, key: impl AsRef<[u8]>) -> KeyHash {
        self.scheme.hash(key.as_ref())
    }

    /// `false` is certain: the key was not among the items. `true` is mayhap.
    ///
    /// # Panics
    /// On a filter built from the caller's hashes.
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        self.ask(self.hash(key).to_u64())
    }

    /// `false` is certain, `true` is mayhap. As [`Ribbon::contains`], for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        if cfg!(debug_assertions) {
            hash.assert_origin(self.scheme.origin());
        }
        self.ask(hash.to_u64())
    }

    #[inline]
    fn ask(&self, hash: u64) -> bool {
        let Some(layers) = self.layers(hash) else {
            return false;
        };
        for layer in layers {
            // A layer without keys: whoever comes so far is a stranger.
            if layer.starts == 0 {
                return false;
            }
            let row = layer.row(hash);
            if !self.is_bumped(layer, &row) {
                return self.answer(layer, &row);
            }
        }
        false
    }

    #[inline(always)]
    fn layers(&self, hash: u64) -> Option<&[Layer; band::LAYERS]> {
        self.shards
            .get(shard(hash, self.shards.len() as u64) as usize)
    }

    #[inline(always)]
    fn is_bumped(&self, layer: &Layer, row: &Row) -> bool {
        let bucket = layer.bucket + row.start / BUCKET;
        let threshold = self.thresholds[(bucket / 4) as usize] >> (bucket % 4 * 2) & 3;
        row.start % BUCKET < THRESHOLDS[usize::from(threshold)]
    }

    #[inline(always)]
    fn answer(&self, layer: &Layer, row: &Row) -> bool {
        let columns = usize::from(self.plan.columns());
        let first = (layer.word + row.start / 64 * columns as u64) as usize;
        let words = &self.words[first..first + 2 * columns];
        let shift = row.start % 64;
        let here = row.coefficients << shift;
        // In two steps, because nothing is left when the shift is 0.
        let there = row.coefficients >> 1 >> (63 - shift);
        let found = parities(self.kernel, words, here, there);
        found == row.fingerprint & (u32::MAX >> (32 - columns))
    }

    /// `contains` for many keys, faster: the memory's latency is paid once for dozens of them.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter built from the caller's hashes.
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        let mut hashes = [KeyHash::from_u64(0); CHUNK];
        for (keys, found) in keys.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = self.scheme.hash(key.as_ref());
            }
            self.ask_chunk(&hashes[..keys.len()], found);
        }
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        for (hashes, found) in hashes.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            if cfg!(debug_assertions) {
                let origin = self.scheme.origin();
                for hash in hashes {
                    hash.assert_origin(origin);
                }
            }
            self.ask_chunk(hashes, found);
        }
    }

    fn ask_chunk(&self, hashes: &[KeyHash], found: &mut [bool]) {
        let columns = u64::from(self.plan.columns());
        let far = self.size_bytes() > CACHED_BYTES;
        for hash in hashes.iter().filter(|_| far) {
            if let Some([layer, ..]) = self.layers(hash.to_u64()) {
                let first = layer.word + layer.row(hash.to_u64()).start / 64 * columns;
                // The last word too: blocks do not begin where lines do.
                let last = 2 * columns - 1;
                for ahead in (0..last).step_by(8).chain([last]) {
                    prefetch(self.words.as_ptr().wrapping_add((first + ahead) as usize));
                }
            }
        }
        for (hash, found) in hashes.iter().zip(found) {
            *found = self.ask(hash.to_u64());
        }
    }

    /// The false-positive rate that was asked for.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.false_positive_rate()
    }

    /// The false-positive rate that strangers meet: as asked or better, because keys have whole bits. 0 without keys.
    pub fn estimated_rate(&self) -> f64 {
        self.plan.rate()
    }

    /// Distinct keys, exactly (but for keys whose 64-bit hashes are equal).
    pub fn len(&self) -> u64 {
        self.plan.keys()
    }

    /// Whether there are no keys, so that every answer is `false`.
    pub fn is_empty(&self) -> bool {
        self.plan.keys() == 0
    }

    /// As [`Ribbon::len`]: a static filter knows.
    pub fn estimated_keys(&self) -> u64 {
        self.len()
    }

    /// As many keys as are in: there is no room for more.
    pub fn capacity(&self) -> u64 {
        self.len()
    }

    /// Never: all keys were there when the filter was made.
    pub fn is_over_capacity(&self) -> bool {
        false
    }

    /// Bytes of memory that columns, thresholds and the table of shards take.
    pub fn size_bytes(&self) -> u64 {
        let bytes = size_of_val(self.words.as_slice())
            + size_of_val(self.thresholds.as_slice())
            + size_of_val(self.shards.as_slice());
        bytes as u64
    }

    /// The shape.
    pub fn plan(&self) -> &RibbonPlan {
        &self.plan
    }

    /// How keys are hashed.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }
}

/// Filters are equal when they give the same answers for the same reasons: one scheme, one plan, the same bits.
impl PartialEq for Ribbon {
    fn eq(&self, other: &Self) -> bool {
        self.scheme == other.scheme
            && self.plan == other.plan
            && self.shards == other.shards
            && self.words == other.words
            && self.thresholds == other.thresholds
    }
}

impl fmt::Debug for Ribbon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Ribbon({}, {} bytes, {:?})",
            self.plan,
            self.size_bytes(),
            self.scheme
        )
    }
}
