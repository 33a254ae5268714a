//! `Fuse`: the fastest filter for a set that does not change. Built once from all its keys, three cells a question.

use crate::build::{peel, shards};
use crate::plan::FusePlan;
use crate::simd::FuseTable;
use crate::store::{Cell, reserved};
use crate::{HashScheme, Hashed, KeyHash, PlanError};
use alloc::vec::Vec;
use core::fmt;

/// How many keys `contains_each` hashes before it looks into the filter.
const CHUNK: usize = 512;

/// A binary fuse filter: 9 bits a key at 0.39 %, 18 at 0.0015 %, 36 at 2.3e-10.
///
/// It is made from all its keys at once and never changes. The same keys give the same filter, in whatever order they come
/// and however often: no keys give one that always says `false`, a million equal keys the same one as a single key.
///
/// Building takes at most 100 bits a key beyond the items from 750,000 keys on (below, at most 21 MB); with the feature
/// `parallel` it uses all cores. Items are hashed two to five times, because that is cheaper than to remember all hashes.
///
/// ```
/// let words = mayhap::Fuse::build(&["apple", "pear", "apple"], 0.01)?;
/// assert!(words.contains("pear"));
/// assert_eq!(words.len(), 2);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Fuse {
    table: Table,
    plan: FusePlan,
    scheme: HashScheme,
}

#[derive(Clone, PartialEq, Eq)]
enum Table {
    Bits8(FuseTable<u8>),
    Bits16(FuseTable<u16>),
    Bits32(FuseTable<u32>),
}

impl Fuse {
    /// A filter of `items`, which says `true` to a share of at most `false_positive_rate` of all other keys. Key bytes are
    /// hashed with XXH3; [`KeyHash`]es are the caller's own (scheme 0). Cells have 8, 16 or 32 bits: the rate that results
    /// is 1/256, 1/65536 or 2^-32, whichever keeps the one asked for.
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
    /// As [`Fuse::build`].
    ///
    /// # Panics
    /// For key bytes under [`HashScheme::Caller`], which has no function.
    pub fn build_with<K: Hashed>(
        items: &[K],
        false_positive_rate: f64,
        scheme: HashScheme,
    ) -> Result<Self, PlanError> {
        let mut plan = FusePlan::without_collisions(items.len() as u64, false_positive_rate)?;
        loop {
            let filter = Self::from_plan(items, plan, scheme)?;
            if filter.plan.shards() == plan.shards() {
                return Ok(filter);
            }
            // So many items are repeated that fewer shards do. Again, so that the bytes do not tell.
            plan = filter.plan;
        }
    }

    /// A filter with as many shards as a plan says; its own plan is the one for the distinct keys that were met.
    fn from_plan<K: Hashed>(
        items: &[K],
        plan: FusePlan,
        scheme: HashScheme,
    ) -> Result<Self, PlanError> {
        let mut keys = 0;
        let table = match plan.cell_bits() {
            8 => Table::Bits8(solve(items, plan, scheme, &mut keys)?),
            16 => Table::Bits16(solve(items, plan, scheme, &mut keys)?),
            _ => Table::Bits32(solve(items, plan, scheme, &mut keys)?),
        };
        Ok(Self {
            table,
            plan: FusePlan::new(keys, plan.false_positive_rate())?,
            scheme,
        })
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

    /// `false` is certain, `true` is mayhap. As [`Fuse::contains`], for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        if cfg!(debug_assertions) {
            hash.assert_origin(self.scheme.origin());
        }
        self.ask(hash.to_u64())
    }

    #[inline(always)]
    fn ask(&self, hash: u64) -> bool {
        match &self.table {
            Table::Bits8(table) => table.contains(hash),
            Table::Bits16(table) => table.contains(hash),
            Table::Bits32(table) => table.contains(hash),
        }
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
            self.ask_each(&hashes[..keys.len()], found);
        }
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        if cfg!(debug_assertions) {
            let origin = self.scheme.origin();
            for hash in hashes {
                hash.assert_origin(origin);
            }
        }
        self.ask_each(hashes, found);
    }

    fn ask_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        match &self.table {
            Table::Bits8(table) => table.contains_each(hashes, found),
            Table::Bits16(table) => table.contains_each(hashes, found),
            Table::Bits32(table) => table.contains_each(hashes, found),
        }
    }

    /// The false-positive rate that was asked for.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.false_positive_rate()
    }

    /// The false-positive rate that strangers meet: as asked or better, because cells have 8, 16 or 32 bits. 0 without keys.
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

    /// As [`Fuse::len`]: a static filter knows.
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

    /// Bytes of memory that the cells take, and the table of shards.
    pub fn size_bytes(&self) -> u64 {
        match &self.table {
            Table::Bits8(table) => table.size_bytes(),
            Table::Bits16(table) => table.size_bytes(),
            Table::Bits32(table) => table.size_bytes(),
        }
    }

    /// The shape.
    pub fn plan(&self) -> &FusePlan {
        &self.plan
    }

    /// How keys are hashed.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }
}

/// The table for the items, in the plan's shards; counts the distinct keys.
fn solve<K: Hashed, C: Cell>(
    items: &[K],
    plan: FusePlan,
    scheme: HashScheme,
    keys: &mut u64,
) -> Result<FuseTable<C>, PlanError> {
    if items.is_empty() {
        return Ok(FuseTable::new(Vec::new(), Vec::new()));
    }
    let counts = shards::count(items, &scheme, plan.shards());
    let (threads, passes) = plan.work(shards::available_threads());
    let work = shards::Work { passes, threads };
    let most = |&count: &u64| FusePlan::shard_cells(count);
    let mut cells = reserved(counts.iter().map(most).sum())?;
    let mut walks = Vec::new();
    shards::solve_each(items, &scheme, &counts, work, peel::solve, |solved| {
        let walk = solved.walk.starting_from(cells.len() as u64);
        cells.resize(walk.start() as usize, C::default());
        cells.extend_from_slice(&solved.cells);
        walks.push(walk);
        *keys += solved.keys;
    })?;
    // Repeated items had room, too.
    cells.shrink_to_fit();
    Ok(FuseTable::new(walks, cells))
}

impl fmt::Debug for Fuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Fuse({}, {} bytes, {:?})",
            self.plan,
            self.size_bytes(),
            self.scheme
        )
    }
}
