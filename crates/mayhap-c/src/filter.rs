//! A filter of any kind, format and storage, and what can be done with it. Safe code: `arguments.rs` has read the pointers.

use crate::arguments::{BATCH, Keys};
use crate::status::Failure;
use mayhap::formats::{Description, Format, Limits, Location, StoredFilter};
use mayhap::native::Mapped;
use mayhap::{AnyFilter, KeyHash, KeyType, SharedBloom, Timestamp};

/// A filter. Any number of threads may query it at the same time. While a function changes it, no other thread may use it, except for
/// filters of `mayhap_new_shared`, which any number of threads may also insert into.
pub struct Filter {
    storage: Storage,
}

enum Storage {
    /// In memory.
    Owned(StoredFilter),
    /// In memory, filled by many threads.
    Shared(Box<SharedBloom>),
    /// In a mapped file.
    Mapped(Mapped),
}

impl From<StoredFilter> for Filter {
    fn from(filter: StoredFilter) -> Self {
        Self {
            storage: Storage::Owned(filter),
        }
    }
}

impl From<AnyFilter> for Filter {
    fn from(filter: AnyFilter) -> Self {
        StoredFilter::Native(filter).into()
    }
}

impl From<SharedBloom> for Filter {
    fn from(filter: SharedBloom) -> Self {
        Self {
            storage: Storage::Shared(Box::new(filter)),
        }
    }
}

impl From<Mapped> for Filter {
    fn from(filter: Mapped) -> Self {
        Self {
            storage: Storage::Mapped(filter),
        }
    }
}

/// A mapped file cannot be changed.
fn read_only() -> Failure {
    Failure::unsupported("a mapped filter is read-only: open it with mayhap_open to change it")
}

impl Filter {
    #[inline]
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        match &self.storage {
            Storage::Owned(filter) => filter.contains(key),
            Storage::Shared(filter) => filter.contains(key),
            Storage::Mapped(filter) => filter.contains(key),
        }
    }

    pub(crate) fn contains_each(&self, keys: Keys<'_>, found: &mut [bool]) {
        let mut hashes = [KeyHash::from_u64(0); BATCH];
        for (first, keys) in keys.batches() {
            let found = &mut found[first..first + keys.len()];
            match &self.storage {
                Storage::Owned(StoredFilter::Native(filter)) if filter.takes_hashes() => {
                    let count = keys.hash_each(filter.scheme(), &mut hashes);
                    filter.contains_hashes(&hashes[..count], found);
                }
                Storage::Owned(filter) => {
                    let keys: Vec<&[u8]> = keys.iter().collect();
                    filter.contains_each(&keys, found);
                }
                Storage::Shared(filter) => {
                    let count = keys.hash_each(filter.scheme(), &mut hashes);
                    filter.contains_hashes(&hashes[..count], found);
                }
                Storage::Mapped(filter) => {
                    let keys: Vec<&[u8]> = keys.iter().collect();
                    filter.contains_each(&keys, found);
                }
            }
        }
    }

    /// For integers, as 8 bytes, little-endian.
    pub(crate) fn contains_integers(&self, keys: &[u64], found: &mut [bool]) {
        match &self.storage {
            Storage::Owned(StoredFilter::Native(filter)) if filter.accepts_key_bytes() => {
                filter.contains_each(keys, found);
            }
            Storage::Owned(filter) => {
                for (keys, found) in keys.chunks(BATCH).zip(found.chunks_mut(BATCH)) {
                    let mut bytes = [[0; 8]; BATCH];
                    for (bytes, key) in bytes.iter_mut().zip(keys) {
                        *bytes = key.to_le_bytes();
                    }
                    filter.contains_each(&bytes[..keys.len()], found);
                }
            }
            Storage::Shared(filter) => filter.contains_each(keys, found),
            Storage::Mapped(filter) => filter.contains_each(keys, found),
        }
    }

    /// A filter that many threads fill.
    pub(crate) fn shared(&self) -> Option<&SharedBloom> {
        match &self.storage {
            Storage::Shared(filter) => Some(filter),
            Storage::Owned(_) | Storage::Mapped(_) => None,
        }
    }

    pub(crate) fn stored_mut(&mut self) -> Result<&mut StoredFilter, Failure> {
        match &mut self.storage {
            Storage::Owned(filter) => Ok(filter),
            Storage::Mapped(_) => Err(read_only()),
            Storage::Shared(_) => Err(Failure::unsupported(
                "a shared filter only takes inserts, merges and mayhap_clear",
            )),
        }
    }

    pub(crate) fn insert(&mut self, key: &[u8]) -> Result<bool, Failure> {
        Ok(self.stored_mut()?.insert(key)?)
    }

    /// Inserts keys in batches; `is_new` is empty or has a place for each.
    pub(crate) fn insert_each(
        &mut self,
        keys: Keys<'_>,
        is_new: &mut [bool],
    ) -> Result<(), Failure> {
        let filter = self.stored_mut()?;
        filter.check_keys()?;
        for (first, keys) in keys.batches() {
            let is_new = range_of(is_new, first, keys.len());
            match filter {
                StoredFilter::Native(filter) if filter.takes_hashes() => {
                    let mut hashes = [KeyHash::from_u64(0); BATCH];
                    let count = keys.hash_each(filter.scheme(), &mut hashes);
                    insert_hashes(filter, &hashes[..count], is_new)?;
                }
                _ => insert_one_by_one(filter, keys.iter(), is_new)?,
            }
        }
        Ok(())
    }

    /// For integers, as 8 bytes, little-endian.
    pub(crate) fn insert_integers(
        &mut self,
        keys: &[u64],
        is_new: &mut [bool],
    ) -> Result<(), Failure> {
        let filter = self.stored_mut()?;
        filter.check_keys()?;
        for (number, keys) in keys.chunks(BATCH).enumerate() {
            let is_new = range_of(is_new, number * BATCH, keys.len());
            match filter {
                StoredFilter::Native(filter) if filter.takes_hashes() => {
                    let mut hashes = [KeyHash::from_u64(0); BATCH];
                    let count = filter.scheme().hash_each(keys, &mut hashes);
                    insert_hashes(filter, &hashes[..count], is_new)?;
                }
                _ => insert_one_by_one(filter, keys.iter().map(|key| key.to_le_bytes()), is_new)?,
            }
        }
        Ok(())
    }

    /// How often a key was inserted and not removed.
    pub(crate) fn count(&self, key: &[u8]) -> Result<u64, Failure> {
        let Storage::Owned(StoredFilter::Native(filter)) = &self.storage else {
            return Err(cannot_count());
        };
        match filter {
            AnyFilter::Counting(filter) => Ok(filter.estimated_count(key)),
            AnyFilter::Cuckoo(filter) => Ok(filter.count_hash(filter.hash(key))),
            AnyFilter::GrowingCuckoo(filter) => Ok(filter.count_hash(filter.hash(key))),
            AnyFilter::CountingCuckoo(filter) => Ok(filter.count_hash(filter.hash(key))),
            AnyFilter::Bloom(_)
            | AnyFilter::Classic(_)
            | AnyFilter::Growing(_)
            | AnyFilter::Window(_)
            | AnyFilter::WindowCuckoo(_)
            | AnyFilter::Fuse(_)
            | AnyFilter::Ribbon(_)
            | AnyFilter::Retouched(_)
            | AnyFilter::Excepting(_) => Err(cannot_count()),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), Failure> {
        if let (Some(ours), Storage::Owned(StoredFilter::Native(AnyFilter::Bloom(theirs)))) =
            (self.shared(), &other.storage)
        {
            return Ok(ours.union_with(theirs)?);
        }
        if let (Some(ours), Some(theirs)) = (self.shared(), other.shared()) {
            return Ok(ours.union_with(&theirs.snapshot()?)?);
        }
        let theirs = other.to_stored()?;
        Ok(self.stored_mut()?.union_with(&theirs)?)
    }

    pub(crate) fn clear(&mut self) -> Result<(), Failure> {
        match &mut self.storage {
            Storage::Shared(filter) => {
                filter.clear();
                Ok(())
            }
            Storage::Owned(StoredFilter::Native(filter)) => Ok(filter.clear()?),
            Storage::Owned(filter) => Err(Failure::unsupported(format!(
                "a {} filter cannot be cleared: create a new one",
                filter.format()
            ))),
            Storage::Mapped(_) => Err(read_only()),
        }
    }

    /// Queries a window filter at a time.
    pub(crate) fn contains_at(&self, key: &[u8], now: Timestamp) -> Result<bool, Failure> {
        match &self.storage {
            Storage::Owned(StoredFilter::Native(AnyFilter::Window(filter))) => {
                Ok(filter.contains(key, now))
            }
            Storage::Owned(StoredFilter::Native(AnyFilter::WindowCuckoo(filter))) => {
                Ok(filter.contains(key, now))
            }
            Storage::Owned(_) | Storage::Shared(_) | Storage::Mapped(_) => Err(has_no_time()),
        }
    }

    /// Inserts into a window filter at a time.
    pub(crate) fn insert_at(&mut self, key: &[u8], now: Timestamp) -> Result<bool, Failure> {
        match self.stored_mut()? {
            StoredFilter::Native(AnyFilter::Window(filter)) => Ok(filter.insert(key, now)),
            StoredFilter::Native(AnyFilter::WindowCuckoo(filter)) => {
                Ok(filter.try_insert(key, now)?)
            }
            StoredFilter::Native(_) | StoredFilter::Bits { .. } | StoredFilter::Foreign(_) => {
                Err(has_no_time())
            }
        }
    }

    /// A copy in memory.
    pub(crate) fn to_stored(&self) -> Result<StoredFilter, Failure> {
        match &self.storage {
            Storage::Owned(filter) => Ok(filter.clone()),
            Storage::Shared(filter) => Ok(StoredFilter::Native(filter.snapshot()?.into())),
            Storage::Mapped(filter) => {
                let limits = Limits {
                    max_bytes: u64::MAX,
                };
                Ok(StoredFilter::Native(filter.read(limits)?))
            }
        }
    }

    pub(crate) fn try_clone(&self) -> Result<Self, Failure> {
        Ok(match &self.storage {
            Storage::Shared(filter) => SharedBloom::from_bloom(filter.snapshot()?).into(),
            Storage::Owned(_) | Storage::Mapped(_) => self.to_stored()?.into(),
        })
    }

    /// Calls a function with the filter in memory; a copy is made only where there is none.
    pub(crate) fn with_stored<T>(
        &self,
        call: impl FnOnce(&StoredFilter) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match &self.storage {
            Storage::Owned(filter) => call(filter),
            Storage::Shared(_) | Storage::Mapped(_) => call(&self.to_stored()?),
        }
    }

    pub(crate) fn to_json(&self) -> Result<String, Failure> {
        let location = Location::default();
        let object = match &self.storage {
            Storage::Owned(filter) => filter.describe().to_json(&location),
            Storage::Mapped(filter) => Description {
                format: Format::Mayhap,
                stats: filter.stats(),
                details: Vec::new(),
            }
            .to_json(&location),
            Storage::Shared(_) => self.to_stored()?.describe().to_json(&location),
        };
        Ok(serde_json::Value::Object(object).to_string())
    }

    pub(crate) fn check_keys(&self) -> Result<(), Failure> {
        match &self.storage {
            Storage::Owned(filter) => Ok(filter.check_keys()?),
            Storage::Mapped(filter) if !filter.accepts_key_bytes() => Err(Failure::unsupported(
                "the filter contains the hashes of the program that created it, and no keys",
            )),
            Storage::Shared(_) | Storage::Mapped(_) => Ok(()),
        }
    }

    pub(crate) fn set_key_type(&mut self, key_type: KeyType) {
        if let Storage::Owned(StoredFilter::Native(filter)) = &mut self.storage {
            filter.set_key_type(Some(key_type));
        }
    }
}

fn has_no_time() -> Failure {
    Failure::unsupported(
        "only filters of mayhap_new_window have times: use the function without a time",
    )
}

fn cannot_count() -> Failure {
    Failure::unsupported("only counting and cuckoo filters count keys")
}

/// The places of some keys; none if none were given.
fn range_of(places: &mut [bool], first: usize, count: usize) -> &mut [bool] {
    if places.is_empty() {
        return &mut [];
    }
    &mut places[first..first + count]
}

fn insert_hashes(
    filter: &mut AnyFilter,
    hashes: &[KeyHash],
    is_new: &mut [bool],
) -> Result<(), Failure> {
    if is_new.is_empty() {
        filter.insert_hashes(hashes)?;
    } else {
        filter.insert_hashes_reporting_new(hashes, is_new)?;
    }
    Ok(())
}

fn insert_one_by_one(
    filter: &mut StoredFilter,
    keys: impl Iterator<Item = impl AsRef<[u8]>>,
    is_new: &mut [bool],
) -> Result<(), Failure> {
    for (at, key) in keys.enumerate() {
        let new = filter.insert(key.as_ref())?;
        if let Some(place) = is_new.get_mut(at) {
            *place = new;
        }
    }
    Ok(())
}
