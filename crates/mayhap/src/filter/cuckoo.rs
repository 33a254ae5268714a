//! `Cuckoo`: the filter that keys can be taken out of. Two windows of two cells a key, any table size.
//!
//! A cell is a fingerprint, a bit for the choice (does it sit in its first window or its second?) and a bit for the offset (in
//! which cell of that window?). A key that finds its four cells taken pushes one fingerprint out, which then looks for room
//! among its own other three cells, and so on: a random walk of at most `KICKS` steps that looks one step ahead. Its randomness
//! is computed from the key's hash and the number of the step, so that the same keys in the same order always give the same
//! bytes, and a walk that ends nowhere can be walked back without having been written down.

use super::bloom::CHUNK;
use crate::plan::CuckooPlan;
use crate::probe::blocked::{FIRST, mul_high};
use crate::probe::window::Windows;
use crate::simd::{CACHED_BYTES, Fetched};
use crate::store::Cells;
use crate::{Full, HashScheme, KeyHash, PlanError, SipKey};
use core::fmt;

/// How many fingerprints one insert may move. A million cells are filled to 0.954 before the first is refused, 16 million to
/// 0.953; a walk that does not look ahead reaches 0.949.
const KICKS: u64 = 2000;

/// A cuckoo filter: keys go in and come out again.
///
/// Equal keys are kept as copies, four at most, and each is taken out by a [`remove`](Cuckoo::remove) of its own. A filter that
/// has no room says so, and is then exactly as it was before.
///
/// ```
/// let mut online = mayhap::Cuckoo::new(1_000_000, 0.001)?;
/// assert_eq!(online.try_insert("alice"), Ok(true)); // surely new
/// assert!(online.contains("alice"));
/// assert!(online.remove("alice"));
/// assert!(!online.contains("alice"));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone)]
pub struct Cuckoo {
    cells: Cells,
    windows: Windows,
    /// Cells in use.
    keys: u64,
    plan: CuckooPlan,
    scheme: HashScheme,
    /// `scheme.origin()`, kept because debug builds compare it for every hash.
    origin: u64,
}

/// A fingerprint on its way: both windows, and which of the four cells it has, or came from: `choice * 2 + offset`.
#[derive(Clone, Copy)]
struct Lodger {
    fingerprint: u64,
    windows: [u64; 2],
    at: u64,
}

impl Lodger {
    /// The window and the offset of the cell.
    #[inline(always)]
    fn place(&self) -> (u64, u64) {
        (self.windows[(self.at >> 1) as usize], self.at & 1)
    }

    /// What is written into the cell.
    #[inline(always)]
    fn cell(&self) -> u64 {
        self.fingerprint << 2 | self.at
    }
}

impl Cuckoo {
    /// An empty filter for `capacity` keys that says `true` to a share of at most `false_positive_rate` of all other keys.
    /// Keys are hashed with XXH3: for keys from strangers see [`Cuckoo::keyed`].
    ///
    /// # Errors
    /// When the capacity is 0, the rate not between 1.4e-8 and 1, or the memory is not there.
    pub fn new(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            CuckooPlan::new(capacity, false_positive_rate)?,
            HashScheme::Xxh3,
        )
    }

    /// The same for keys that others choose: hashed with SipHash-1-3 under a secret key, so that nobody without the key can
    /// crowd a few cells.
    ///
    /// # Errors
    /// As [`Cuckoo::new`].
    pub fn keyed(capacity: u64, false_positive_rate: f64, key: SipKey) -> Result<Self, PlanError> {
        Self::from_plan(
            CuckooPlan::new(capacity, false_positive_rate)?,
            HashScheme::Sip13(key),
        )
    }

    /// The same for callers that have good 64-bit hashes already: give them as [`KeyHash::from_u64`]. Methods that take key
    /// bytes panic on such a filter.
    ///
    /// # Errors
    /// As [`Cuckoo::new`].
    pub fn for_hashes(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            CuckooPlan::new(capacity, false_positive_rate)?,
            HashScheme::Caller,
        )
    }

    /// An empty filter of a given shape.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn from_plan(plan: CuckooPlan, scheme: HashScheme) -> Result<Self, PlanError> {
        Ok(Self {
            cells: Cells::zeroed(plan.cells(), plan.cell_bits())?,
            windows: Windows::new(plan.cells(), plan.fingerprint_bits()),
            keys: 0,
            plan,
            scheme,
            origin: scheme.origin(),
        })
    }

    /// The hash under which this filter, and every other of its scheme, knows a key.
    ///
    /// # Panics
    /// On a filter made by [`Cuckoo::for_hashes`]. The same for all methods below that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl AsRef<[u8]>) -> KeyHash {
        self.scheme.hash(key.as_ref())
    }

    /// `Ok(true)`: the key is in now, and was surely new. `Ok(false)`: it is in now, and it, or one that looks like it, was
    /// before; this is another copy, to be removed by another [`remove`](Cuckoo::remove).
    ///
    /// # Errors
    /// When there is no room, or four copies are in already (three, for the one key in thousands whose two windows are
    /// neighbours). Nothing is changed then.
    #[inline]
    pub fn try_insert(&mut self, key: impl AsRef<[u8]>) -> Result<bool, Full> {
        let hash = self.hash(key);
        self.put(hash.to_u64())
    }

    /// `Ok(true)`: the key is in now, and was surely new. `Ok(false)`: it, or one that looks like it, was in before, and
    /// nothing is changed. For sets whose keys may come twice.
    ///
    /// A new key that looks like one that is in is not stored, which goes well until that other key is removed: where keys
    /// are removed, and do not come twice, [`try_insert`](Cuckoo::try_insert) them.
    ///
    /// # Errors
    /// When there is no room. Nothing is changed then.
    #[inline]
    pub fn insert_if_absent(&mut self, key: impl AsRef<[u8]>) -> Result<bool, Full> {
        let hash = self.hash(key);
        self.insert_hash_if_absent(hash)
    }

    /// `true`: a copy of the key was in, and is not any more. `false`: the key was certainly not in, and nothing is changed.
    ///
    /// Remove only what was inserted. A key that was not is taken for another one at the filter's false-positive rate, and
    /// that other one is then lost: no filter can tell.
    #[inline]
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> bool {
        let hash = self.hash(key);
        self.take(hash.to_u64())
    }

    /// `false` is certain: the key is not in. `true` is mayhap.
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        self.find(self.hash(key).to_u64())
    }

    /// `contains` for many keys, faster: the memory's latency is paid once for dozens of them.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter made by [`Cuckoo::for_hashes`].
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        let prefetch = self.size_bytes() > CACHED_BYTES;
        let mut hashes = [0; CHUNK];
        for (keys, found) in keys.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = self.hash(key).to_u64();
                if prefetch {
                    self.prefetch(*hash);
                }
            }
            for (found, hash) in found.iter_mut().zip(hashes) {
                *found = self.find(hash);
            }
        }
    }

    /// As [`try_insert`](Cuckoo::try_insert), for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn try_insert_hash(&mut self, hash: KeyHash) -> Result<bool, Full> {
        hash.assert_origin(self.origin);
        self.put(hash.to_u64())
    }

    /// `try_insert_hash` for many hashes, faster when the filter is larger than a core's cache: the same bytes as one by one.
    ///
    /// # Errors
    /// When one is refused. Those before it are in, as [`estimated_keys`](Cuckoo::estimated_keys) tells; it and those after
    /// are not.
    pub fn try_insert_hashes(&mut self, hashes: &[KeyHash]) -> Result<(), Full> {
        let ahead = Fetched::NotYet.ahead(self.cells.bytes().len());
        for (at, &hash) in hashes.iter().enumerate() {
            if ahead != 0
                && let Some(next) = hashes.get(at + ahead)
            {
                self.prefetch(next.to_u64());
            }
            self.try_insert_hash(hash)?;
        }
        Ok(())
    }

    /// As [`insert_if_absent`](Cuckoo::insert_if_absent), for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn insert_hash_if_absent(&mut self, hash: KeyHash) -> Result<bool, Full> {
        hash.assert_origin(self.origin);
        if self.find(hash.to_u64()) {
            Ok(false)
        } else {
            self.put(hash.to_u64())
        }
    }

    /// As [`remove`](Cuckoo::remove), for a hash of this filter's scheme.
    #[inline]
    pub fn remove_hash(&mut self, hash: KeyHash) -> bool {
        hash.assert_origin(self.origin);
        self.take(hash.to_u64())
    }

    /// As [`contains`](Cuckoo::contains), for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        hash.assert_origin(self.origin);
        self.find(hash.to_u64())
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
        if cfg!(debug_assertions) {
            for hash in hashes {
                hash.assert_origin(self.origin);
            }
        }
        let ahead = Fetched::NotYet.ahead(self.cells.bytes().len());
        let (lead, rest) = hashes.split_at(ahead.min(hashes.len()));
        for hash in lead {
            self.prefetch(hash.to_u64());
        }
        let overlap = if ahead == 0 { 0 } else { rest.len() };
        let (early, late) = found.split_at_mut(overlap);
        for ((found, hash), next) in early.iter_mut().zip(hashes).zip(rest) {
            self.prefetch(next.to_u64());
            *found = self.find(hash.to_u64());
        }
        for (found, hash) in late.iter_mut().zip(&hashes[overlap..]) {
            *found = self.find(hash.to_u64());
        }
    }

    /// Asks memory for both windows of a hash.
    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        let (first, fingerprint) = self.windows.place(hash);
        self.cells.prefetch(first);
        self.cells.prefetch(self.windows.second(first, fingerprint));
    }

    /// Whether one of the four cells of a hash holds it. Without branches, which would be mispredicted for every second key
    /// and keep the next one's windows from being asked for (68 ns a key instead of 45 at 10M keys, on a busy machine).
    #[inline(always)]
    fn find(&self, hash: u64) -> bool {
        let (first, fingerprint) = self.windows.place(hash);
        let second = self.windows.second(first, fingerprint);
        let (bits, mask) = (self.cells.cell_bits(), self.cells.mask());
        // The top bit is set when a cell is the one looked for: when the difference is 0, so that 1 less is below 0.
        let differs = |window, cell: u64| {
            let pair = self.cells.window(window);
            let (left, right) = ((pair ^ cell) & mask, (pair >> bits ^ (cell | 1)) & mask);
            left.wrapping_sub(1) | right.wrapping_sub(1)
        };
        (differs(first, fingerprint << 2) | differs(second, fingerprint << 2 | 2)) >> 63 == 1
    }

    #[inline(always)]
    fn lodger(&self, hash: u64) -> Lodger {
        let (first, fingerprint) = self.windows.place(hash);
        Lodger {
            fingerprint,
            windows: [first, self.windows.second(first, fingerprint)],
            at: 0,
        }
    }

    fn put(&mut self, hash: u64) -> Result<bool, Full> {
        let mut key = self.lodger(hash);
        let (mut empty, mut copies) = (None, 0);
        for at in 0..4 {
            key.at = at;
            let (window, offset) = key.place();
            let cell = self.cells.cell(window, offset);
            copies += u32::from(cell == key.cell());
            if cell == 0 && empty.is_none() {
                empty = Some(at);
            }
        }
        // Neighbouring windows share a cell.
        let places = 4 - u32::from(key.windows[0].abs_diff(key.windows[1]) == 1);
        if copies == places {
            return Err(Full::Copies { copies });
        }
        if self.keys >= self.plan.most_keys() {
            return Err(self.full());
        }
        if let Some(at) = empty {
            self.lodge(Lodger { at, ..key });
        } else {
            self.push_in(key, hash)?;
        }
        self.keys += 1;
        Ok(copies == 0)
    }

    #[cold]
    fn full(&self) -> Full {
        Full::Table {
            keys: self.keys,
            capacity: self.plan.capacity(),
        }
    }

    /// Takes out one copy.
    fn take(&mut self, hash: u64) -> bool {
        let mut key = self.lodger(hash);
        // The last of the places first: of two copies, mostly the one that came later.
        for at in (0..4).rev() {
            key.at = at;
            let (window, offset) = key.place();
            if self.cells.cell(window, offset) == key.cell() {
                self.cells.set(window, offset, 0);
                self.keys -= 1;
                return true;
            }
        }
        false
    }

    #[inline(always)]
    fn lodge(&mut self, lodger: Lodger) {
        let (window, offset) = lodger.place();
        self.cells.set(window, offset, lodger.cell());
    }

    /// The one who has a cell that is not empty.
    #[inline(always)]
    fn resident(&self, (window, offset): (u64, u64)) -> Lodger {
        let cell = self.cells.cell(window, offset);
        let (fingerprint, at) = (cell >> 2, cell & 3);
        // The same cell, seen from the window of the one who has it.
        let window = window + offset - (at & 1);
        let windows = if at & 2 == 0 {
            [window, self.windows.second(window, fingerprint)]
        } else {
            [self.windows.first(window, fingerprint), window]
        };
        Lodger {
            fingerprint,
            windows,
            at,
        }
    }

    /// Puts `lodger` into its cell and hands over the one who had it.
    #[inline(always)]
    fn swap(&mut self, lodger: Lodger) -> Lodger {
        let resident = self.resident(lodger.place());
        self.lodge(lodger);
        resident
    }

    /// Puts `lodger` into one of its cells, from the `first`th after its own on, if the one who has that can move to an empty
    /// one. All who might move are asked for together, so that memory is waited for once.
    #[inline(always)]
    fn make_room(&mut self, lodger: Lodger, first: u64) -> bool {
        let turned = |lodger: Lodger, turn| Lodger {
            at: (lodger.at + turn) & 3,
            ..lodger
        };
        let mut residents = [lodger; 4];
        for turn in first..4 {
            let resident = self.resident(turned(lodger, turn).place());
            self.cells
                .prefetch(resident.windows[(resident.at >> 1 ^ 1) as usize]);
            residents[turn as usize] = resident;
        }
        for turn in first..4 {
            for step in 1..4 {
                let moved = turned(residents[turn as usize], step);
                let (window, offset) = moved.place();
                if self.cells.cell(window, offset) == 0 {
                    self.lodge(moved);
                    self.lodge(turned(lodger, turn));
                    return true;
                }
            }
        }
        false
    }

    /// The random walk: each lodger pushes out the next, until one can be given room. If none can, the walk is undone.
    #[cold]
    fn push_in(&mut self, key: Lodger, hash: u64) -> Result<(), Full> {
        let mut lodger = Lodger { at: 0, ..key };
        if self.make_room(lodger, 0) {
            return Ok(());
        }
        lodger.at = random(hash, 0, 4);
        for step in 1..=KICKS {
            // Who is pushed out finds no empty cell: `make_room` has looked.
            lodger = self.swap(lodger);
            if self.make_room(lodger, 1) {
                return Ok(());
            }
            lodger.at = (lodger.at + 1 + random(hash, step, 3)) & 3;
        }
        // Each lodger goes back to where it came from, which is where the random number of its step says, and meets there the
        // one who pushed it.
        for step in (1..=KICKS).rev() {
            lodger.at = (lodger.at + 3 - random(hash, step, 3)) & 3;
            lodger = self.swap(lodger);
        }
        Err(self.full())
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.keys = 0;
    }

    /// How many keys are in, copies counted: exact, and known without looking.
    pub fn estimated_keys(&self) -> u64 {
        self.keys
    }

    /// The false-positive rate that the filter was made for.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.false_positive_rate()
    }

    /// The false-positive rate now, from the number of keys: what a random stranger meets. A little less when some are copies.
    pub fn estimated_rate(&self) -> f64 {
        self.plan.rate_at(self.keys)
    }

    /// The share of cells in use.
    pub fn load(&self) -> f64 {
        self.keys as f64 / self.plan.cells() as f64
    }

    /// Whether more keys are in than the filter was made for. It takes a few more, up to 93 % of its cells, and then is full.
    pub fn is_over_capacity(&self) -> bool {
        self.keys > self.plan.capacity()
    }

    /// How many more keys fit before there are more than the filter was made for.
    pub fn keys_until_full(&self) -> u64 {
        self.plan.capacity().saturating_sub(self.keys)
    }

    /// Whether no key is in.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// Keys that the filter was made for.
    pub fn capacity(&self) -> u64 {
        self.plan.capacity()
    }

    /// Bytes of memory that the cells take.
    pub fn size_bytes(&self) -> u64 {
        self.plan.size_bytes()
    }

    /// The shape.
    pub fn plan(&self) -> &CuckooPlan {
        &self.plan
    }

    /// How keys are hashed.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }

    /// The cells: cell `i` is the bits `i * cell_bits ..`, lowest first; in it offset, choice, fingerprint, lowest first.
    pub fn bytes(&self) -> &[u8] {
        self.cells.bytes()
    }
}

/// Number `step` of the random numbers that belong to a hash, below `range`.
#[inline(always)]
fn random(hash: u64, step: u64, range: u64) -> u64 {
    let mixed = (hash ^ step.wrapping_mul(FIRST)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mul_high((mixed ^ mixed >> 32).wrapping_mul(FIRST), range)
}

/// Filters are equal when they give the same answers for the same reasons: one scheme, one plan, the same cells.
impl PartialEq for Cuckoo {
    fn eq(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.plan == other.plan && self.cells == other.cells
    }
}

impl Eq for Cuckoo {}

impl fmt::Debug for Cuckoo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Cuckoo({}, {} keys in, {:.1} % full, {:?})",
            self.plan,
            self.keys,
            100.0 * self.load(),
            self.scheme
        )
    }
}
