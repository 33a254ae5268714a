//! A filter of any kind, format and storage, and what can be done with it, without Python objects.

use crate::batch::{BLOCK, Column};
use crate::errors::{FormatError, ResultExt, UnsupportedError};
use crate::keys::{Encoder, KeyRules, RawKey, Seen};
use mayhap::formats::{Description, Format, Limits, Location, OpenedFilter, StoredFilter};
use mayhap::native::{self, HashKey, Mapped};
use mayhap::{AnyFilter, Bloom, HashScheme, KeyHash, PlanError, SharedBloom, Timestamp};
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::{mem, thread};

/// Where a filter is.
pub(crate) enum Storage {
    /// In memory.
    Stored(StoredFilter),
    /// In memory, while several threads fill it.
    Shared(Box<SharedBloom>),
    /// In a mapped file.
    Mapped(Mapped, PathBuf),
    /// The selected filters of a file of another system. A key is in it if it is in one of them.
    Foreign(Vec<ForeignPart>),
}

/// A filter of another system, and how its keys are encoded.
#[derive(Clone, PartialEq)]
pub(crate) struct ForeignPart {
    pub(crate) opened: OpenedFilter,
    pub(crate) encoder: Encoder,
}

/// The time at which keys of a window are looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clock {
    /// The newest that the filter has seen.
    Newest,
    /// The same until keys are added, for a filter that was loaded: then that of the machine.
    Loaded,
    /// That of the machine.
    Wall,
}

/// A filter, and what is known about its keys.
pub(crate) struct State {
    pub(crate) storage: Storage,
    pub(crate) rules: KeyRules,
    pub(crate) encoder: Encoder,
    pub(crate) clock: Clock,
}

impl Storage {
    #[inline]
    pub(crate) fn insert(&mut self, key: &[u8], clock: Clock) -> PyResult<bool> {
        let now = || (clock == Clock::Wall).then(Timestamp::now);
        match self {
            Self::Stored(StoredFilter::Native(AnyFilter::Bloom(filter))) => Ok(filter.insert(key)),
            Self::Stored(StoredFilter::Native(AnyFilter::Window(filter))) => {
                Ok(filter.insert(key, now().unwrap_or(filter.newest())))
            }
            Self::Stored(StoredFilter::Native(AnyFilter::WindowCuckoo(filter))) => {
                let now = now().unwrap_or(filter.newest());
                filter
                    .try_insert(key, now)
                    .map_err(mayhap::OperationError::Full)
                    .py()
            }
            Self::Stored(filter) => filter.insert(key).py(),
            Self::Shared(filter) => Ok(filter.insert(key)),
            Self::Mapped(..) => Err(read_only()),
            Self::Foreign(parts) => only(parts)?.opened.filter.insert(key).py(),
        }
    }
}

impl State {
    pub(crate) fn new(filter: AnyFilter, rules: KeyRules, clock: Clock) -> Self {
        let mut state = Self {
            storage: Storage::Stored(filter.into()),
            encoder: rules.encoder(),
            rules,
            clock,
        };
        state.store_key_type();
        state
    }

    pub(crate) fn mapped(filter: Mapped, path: PathBuf, rules: KeyRules) -> Self {
        Self {
            storage: Storage::Mapped(filter, path),
            encoder: rules.encoder(),
            rules,
            clock: Clock::Newest,
        }
    }

    pub(crate) fn foreign(parts: Vec<ForeignPart>) -> Self {
        let rules = KeyRules::Undeclared(None);
        let first = parts.first().map(|part| part.encoder.clone());
        Self {
            encoder: first.unwrap_or_else(|| rules.encoder()),
            storage: Storage::Foreign(parts),
            rules,
            clock: Clock::Newest,
        }
    }

    /// Saves the key type with the filter.
    fn store_key_type(&mut self) {
        let key_type = self.rules.key_type();
        match &mut self.storage {
            Storage::Stored(StoredFilter::Native(filter)) => filter.set_key_type(key_type),
            Storage::Shared(filter) => filter.set_key_type(key_type),
            Storage::Stored(_) | Storage::Mapped(..) | Storage::Foreign(_) => {}
        }
    }

    pub(crate) fn note(&mut self, seen: Seen) {
        if let KeyRules::Inferred(before) = self.rules {
            self.set_rules(KeyRules::Inferred(before.with(seen)));
        }
    }

    /// For a filter that another process created without a key type.
    pub(crate) fn infer(&mut self, seen: Seen) {
        self.set_rules(KeyRules::Inferred(seen));
        self.encoder = self.rules.encoder();
    }

    pub(crate) fn set_rules(&mut self, rules: KeyRules) {
        self.rules = rules;
        self.store_key_type();
    }

    /// Ends the mode for several threads, in the same memory.
    pub(crate) fn make_plain(&mut self) {
        if matches!(self.storage, Storage::Shared(_)) {
            let nothing = Storage::Foreign(Vec::new());
            if let Storage::Shared(filter) = mem::replace(&mut self.storage, nothing) {
                self.storage = Storage::Stored(StoredFilter::Native(filter.freeze().into()));
            }
        }
    }

    /// Begins the mode for several threads, in the same memory; nothing changes for kinds that have none.
    pub(crate) fn make_shared(&mut self) {
        if matches!(
            self.storage,
            Storage::Stored(StoredFilter::Native(AnyFilter::Bloom(_)))
        ) {
            let nothing = Storage::Foreign(Vec::new());
            if let Storage::Stored(StoredFilter::Native(AnyFilter::Bloom(filter))) =
                mem::replace(&mut self.storage, nothing)
            {
                self.storage = Storage::Shared(Box::new(SharedBloom::from_bloom(filter)));
            }
        }
    }

    /// One of mayhap's own filters in memory.
    pub(crate) fn native(&self) -> Option<&AnyFilter> {
        match &self.storage {
            Storage::Stored(StoredFilter::Native(filter)) => Some(filter),
            _ => None,
        }
    }

    pub(crate) fn native_mut(&mut self) -> Option<&mut AnyFilter> {
        match &mut self.storage {
            Storage::Stored(StoredFilter::Native(filter)) => Some(filter),
            _ => None,
        }
    }

    pub(crate) fn bloom(&self) -> Option<&Bloom> {
        match self.native() {
            Some(AnyFilter::Bloom(filter)) => Some(filter),
            _ => None,
        }
    }

    /// Keys that are added without a time to a window filter that was loaded have that of the machine: at the time of its file, they would
    /// be forgotten with the keys in it.
    fn start_clock(&mut self) {
        if self.clock == Clock::Loaded {
            self.clock = Clock::Wall;
        }
    }

    /// The time of a lookup in a window filter.
    fn now(&self) -> Option<Timestamp> {
        (self.clock == Clock::Wall).then(Timestamp::now)
    }

    #[inline]
    pub(crate) fn contains(&self, key: &[u8]) -> PyResult<bool> {
        Ok(match &self.storage {
            Storage::Stored(StoredFilter::Native(AnyFilter::Bloom(filter))) => filter.contains(key),
            Storage::Stored(StoredFilter::Native(AnyFilter::Window(filter))) => {
                filter.contains(key, self.now().unwrap_or(filter.newest()))
            }
            Storage::Stored(StoredFilter::Native(AnyFilter::WindowCuckoo(filter))) => {
                filter.contains(key, self.now().unwrap_or(filter.newest()))
            }
            Storage::Stored(filter) => filter.contains(key),
            Storage::Shared(filter) => filter.contains(key),
            Storage::Mapped(filter, _) => filter.try_contains(key).py()?,
            Storage::Foreign(parts) => parts.iter().any(|part| part.opened.filter.contains(key)),
        })
    }

    /// Looks up a usual key in a usual filter, without Python code; `None` for others.
    #[inline]
    pub(crate) fn contains_raw(&self, key: &RawKey<'_>) -> Option<bool> {
        let key = self.encoder.simple(key)?;
        match &self.storage {
            Storage::Stored(StoredFilter::Native(AnyFilter::Bloom(filter))) => {
                Some(filter.contains(key.bytes()))
            }
            Storage::Stored(_) => self.contains(key.bytes()).ok(),
            Storage::Shared(_) | Storage::Mapped(..) | Storage::Foreign(_) => None,
        }
    }

    /// Inserts a usual key into a Bloom filter, without Python code; `None` for others.
    #[inline]
    pub(crate) fn insert_raw(&mut self, key: &RawKey<'_>) -> Option<bool> {
        let key = self.encoder.simple(key)?;
        if self.rules.is_news(key.seen()) {
            return None;
        }
        match &mut self.storage {
            Storage::Stored(StoredFilter::Native(AnyFilter::Bloom(filter))) => {
                Some(filter.insert(key.bytes()))
            }
            _ => None,
        }
    }

    /// How keys are hashed, if the filter can be queried and filled by their hashes.
    fn hash_scheme(&self) -> Option<HashScheme> {
        match &self.storage {
            Storage::Stored(StoredFilter::Native(filter)) if filter.takes_hashes() => {
                Some(filter.scheme())
            }
            Storage::Shared(filter) => Some(filter.scheme()),
            Storage::Mapped(filter, _) => match filter.scheme() {
                HashScheme::Caller => None,
                scheme => Some(scheme),
            },
            Storage::Stored(_) | Storage::Foreign(_) => None,
        }
    }

    fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        match &self.storage {
            Storage::Stored(StoredFilter::Native(AnyFilter::Window(filter))) => {
                filter.contains_hashes(hashes, self.now().unwrap_or(filter.newest()), found);
            }
            Storage::Stored(StoredFilter::Native(AnyFilter::WindowCuckoo(filter))) => {
                filter.contains_hashes(hashes, self.now().unwrap_or(filter.newest()), found);
            }
            Storage::Stored(StoredFilter::Native(filter)) => filter.contains_hashes(hashes, found),
            Storage::Shared(filter) => filter.contains_hashes(hashes, found),
            Storage::Mapped(filter, _) => filter.contains_hashes(hashes, found),
            Storage::Stored(_) | Storage::Foreign(_) => {}
        }
    }

    /// The answers for a column that was prepared, or for a part of it.
    fn contains_part(&self, column: &Column, start: usize, width: u8, found: &mut [bool]) {
        let mut hashes = [KeyHash::from_u64(0); BLOCK];
        let scheme = self.hash_scheme();
        for range in Column::blocks(start..start + found.len()) {
            let found = &mut found[range.start - start..range.end - start];
            if let Some(scheme) = scheme {
                column.hash(range.clone(), width, scheme, &mut hashes);
                self.contains_hashes(&hashes[..range.len()], found);
            } else {
                let mut scratch = [[0; 8]; BLOCK];
                let keys = column.keys(range.clone(), width, &mut scratch);
                match &self.storage {
                    Storage::Stored(filter) => filter.contains_each(&keys, found),
                    Storage::Mapped(filter, _) => filter.contains_each(&keys, found),
                    Storage::Shared(_) | Storage::Foreign(_) => {}
                }
            }
            mark_nulls(column, range, found);
        }
    }

    /// The answers for a column.
    pub(crate) fn contains_column(
        &self,
        column: &Column,
        threads: usize,
        found: &mut [bool],
    ) -> PyResult<()> {
        if let Storage::Foreign(parts) = &self.storage {
            return contains_foreign(parts, column, found);
        }
        let other = column.prepare_lookup(&self.encoder)?;
        let column = other.as_ref().unwrap_or(column);
        let width = self.encoder.width();
        let part = part_len(found.len(), threads);
        if part >= found.len() {
            self.contains_part(column, 0, width, found);
        } else {
            thread::scope(|scope| {
                for (number, found) in found.chunks_mut(part).enumerate() {
                    scope.spawn(move || self.contains_part(column, number * part, width, found));
                }
            });
        }
        if let Storage::Mapped(filter, _) = &self.storage {
            filter.check_touched().py()?;
        }
        Ok(())
    }

    /// The hashes of a column, for a filter that is built at once.
    pub(crate) fn hashes(
        column: &Column,
        encoder: &Encoder,
        scheme: HashScheme,
        all: &mut Vec<KeyHash>,
    ) -> PyResult<Seen> {
        let (other, seen) = column.prepare(encoder)?;
        let column = other.as_ref().unwrap_or(column);
        let width = encoder.width();
        let mut hashes = [KeyHash::from_u64(0); BLOCK];
        for range in Column::blocks(0..column.len()) {
            column.hash(range.clone(), width, scheme, &mut hashes);
            let kept = range.clone().zip(hashes);
            all.extend(
                kept.filter(|(at, _)| !column.is_null(*at))
                    .map(|(_, hash)| hash),
            );
        }
        Ok(seen)
    }

    /// Inserts a key, and remembers what it was.
    #[inline]
    pub(crate) fn insert(&mut self, key: &[u8], seen: Seen) -> PyResult<bool> {
        self.start_clock();
        let new = self.storage.insert(key, self.clock)?;
        if self.rules.is_news(seen) {
            self.note(seen);
        }
        Ok(new)
    }

    pub(crate) fn insert_at(&mut self, key: &[u8], now: Timestamp) -> PyResult<bool> {
        match self.native_mut() {
            Some(AnyFilter::Window(filter)) => Ok(filter.insert(key, now)),
            Some(AnyFilter::WindowCuckoo(filter)) => filter
                .try_insert(key, now)
                .map_err(mayhap::OperationError::Full)
                .py(),
            _ => Err(UnsupportedError::new_err("only window filters have times")),
        }
    }

    pub(crate) fn contains_at(&self, key: &[u8], now: Timestamp) -> PyResult<bool> {
        match self.native() {
            Some(AnyFilter::Window(filter)) => Ok(filter.contains(key, now)),
            Some(AnyFilter::WindowCuckoo(filter)) => Ok(filter.contains(key, now)),
            _ => Err(UnsupportedError::new_err("only window filters have times")),
        }
    }

    pub(crate) fn remove(&mut self, key: &[u8]) -> PyResult<bool> {
        match &mut self.storage {
            Storage::Stored(filter) => filter.remove(key).py(),
            Storage::Foreign(parts) => only(parts)?.opened.filter.remove(key).py(),
            Storage::Mapped(..) => Err(read_only()),
            Storage::Shared(_) => Err(UnsupportedError::new_err("a bloom filter cannot remove")),
        }
    }

    pub(crate) fn count(&self, key: &[u8]) -> PyResult<u64> {
        match self.native() {
            Some(AnyFilter::Counting(filter)) => Ok(filter.estimated_count(key)),
            Some(AnyFilter::Cuckoo(filter)) => Ok(filter.count_hash(filter.hash(key))),
            Some(AnyFilter::GrowingCuckoo(filter)) => Ok(filter.count_hash(filter.hash(key))),
            Some(AnyFilter::CountingCuckoo(filter)) => Ok(filter.count_hash(filter.hash(key))),
            _ => Err(UnsupportedError::new_err(
                "only counting and cuckoo filters count keys",
            )),
        }
    }

    /// Inserts a part of a column that was prepared; `is_new` is empty or has a place for each key.
    pub(crate) fn insert_part(
        &mut self,
        column: &Column,
        part: std::ops::Range<usize>,
        is_new: &mut [bool],
    ) -> PyResult<()> {
        self.start_clock();
        let width = self.encoder.width();
        let now = self.now();
        let scheme = self.hash_scheme();
        let start = part.start;
        let mut hashes = [KeyHash::from_u64(0); BLOCK];
        for range in Column::blocks(part) {
            let is_new = if is_new.is_empty() {
                &mut [][..]
            } else {
                &mut is_new[range.start - start..range.end - start]
            };
            let Some(scheme) = scheme else {
                self.insert_keys(column, range, width, is_new)?;
                continue;
            };
            column.hash(range.clone(), width, scheme, &mut hashes);
            if column.has_nulls() {
                for (at, hash) in range.zip(hashes) {
                    if !column.is_null(at) {
                        let new = self.insert_hash(hash, now)?;
                        if let Some(place) = is_new.get_mut((at - start) % BLOCK) {
                            *place = new;
                        }
                    }
                }
            } else {
                self.insert_hashes(&hashes[..range.len()], now, is_new)?;
            }
        }
        Ok(())
    }

    fn insert_hash(&mut self, hash: KeyHash, now: Option<Timestamp>) -> PyResult<bool> {
        let mut is_new = [false];
        self.insert_hashes(&[hash], now, &mut is_new)?;
        Ok(is_new[0])
    }

    fn insert_hashes(
        &mut self,
        hashes: &[KeyHash],
        now: Option<Timestamp>,
        is_new: &mut [bool],
    ) -> PyResult<()> {
        match &mut self.storage {
            Storage::Stored(StoredFilter::Native(AnyFilter::Window(filter))) => {
                let now = now.unwrap_or(filter.newest());
                if is_new.is_empty() {
                    filter.insert_hashes(hashes, now);
                } else {
                    for (hash, is_new) in hashes.iter().zip(is_new) {
                        *is_new = filter.insert_hash(*hash, now);
                    }
                }
                Ok(())
            }
            Storage::Stored(StoredFilter::Native(AnyFilter::WindowCuckoo(filter))) => {
                let now = now.unwrap_or(filter.newest());
                let full = mayhap::OperationError::Full;
                if is_new.is_empty() {
                    filter.try_insert_hashes(hashes, now).map_err(full).py()?;
                } else {
                    for (hash, is_new) in hashes.iter().zip(is_new) {
                        *is_new = filter.try_insert_hash(*hash, now).map_err(full).py()?;
                    }
                }
                Ok(())
            }
            Storage::Stored(StoredFilter::Native(filter)) if is_new.is_empty() => {
                filter.insert_hashes(hashes).py()
            }
            Storage::Stored(StoredFilter::Native(filter)) => {
                filter.insert_hashes_reporting_new(hashes, is_new).py()
            }
            Storage::Mapped(..) => Err(read_only()),
            // Neither is reached: the callers make a filter plain, and others have no native hashes.
            Storage::Shared(_) | Storage::Stored(_) | Storage::Foreign(_) => Ok(()),
        }
    }

    /// Inserts keys by their bytes.
    fn insert_keys(
        &mut self,
        column: &Column,
        range: std::ops::Range<usize>,
        width: u8,
        is_new: &mut [bool],
    ) -> PyResult<()> {
        let filter = match &mut self.storage {
            Storage::Stored(filter) => filter,
            Storage::Foreign(parts) => &mut only(parts)?.opened.filter,
            Storage::Mapped(..) => return Err(read_only()),
            Storage::Shared(_) => return Ok(()),
        };
        let mut scratch = [[0; 8]; BLOCK];
        let keys = column.keys(range.clone(), width, &mut scratch);
        for (number, (at, key)) in range.zip(keys).enumerate() {
            if column.is_null(at) {
                continue;
            }
            let new = filter.insert(key).py()?;
            if let Some(place) = is_new.get_mut(number) {
                *place = new;
            }
        }
        Ok(())
    }

    /// Inserts a part of a column that was prepared into a filter that several threads fill.
    pub(crate) fn insert_shared(
        &self,
        column: &Column,
        part: std::ops::Range<usize>,
        threads: usize,
    ) {
        let Storage::Shared(filter) = &self.storage else {
            return;
        };
        let width = self.encoder.width();
        let each = part_len(part.len(), threads);
        let insert = |part: std::ops::Range<usize>| {
            let mut hashes = [KeyHash::from_u64(0); BLOCK];
            for range in Column::blocks(part) {
                column.hash(range.clone(), width, filter.scheme(), &mut hashes);
                if column.has_nulls() {
                    for (at, hash) in range.zip(hashes) {
                        if !column.is_null(at) {
                            filter.insert_hash(hash);
                        }
                    }
                } else {
                    filter.insert_hashes(&hashes[..range.len()]);
                }
            }
        };
        if each >= part.len() {
            insert(part);
            return;
        }
        thread::scope(|scope| {
            for start in part.clone().step_by(each) {
                let end = part.end.min(start + each);
                scope.spawn(move || insert(start..end));
            }
        });
    }

    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.storage, Storage::Shared(_))
    }

    /// The format's name, and the kind's.
    pub(crate) fn format(&self) -> Format {
        match &self.storage {
            Storage::Stored(filter) => filter.format(),
            Storage::Shared(_) | Storage::Mapped(..) => Format::Mayhap,
            Storage::Foreign(parts) => {
                let first = parts.first();
                first.map_or(Format::Mayhap, |part| part.opened.filter.format())
            }
        }
    }

    /// Facts that need not be read from the filter's bits.
    pub(crate) fn known_stat(&self, name: &str) -> Option<Value> {
        let kind = match &self.storage {
            Storage::Stored(StoredFilter::Native(filter)) => Some(filter.kind()),
            Storage::Mapped(filter, _) => Some(filter.kind()),
            Storage::Stored(_) | Storage::Shared(_) | Storage::Foreign(_) => None,
        };
        match (name, self.bloom()) {
            ("kind", _) => kind.map(|kind| kind.name().into()),
            ("capacity", Some(filter)) => Some(filter.capacity().into()),
            ("false_positive_rate", Some(filter)) => Some(filter.false_positive_rate().into()),
            _ => None,
        }
    }

    /// What is known about the filter, as in `mayhap info --json`: one object for each filter inside.
    pub(crate) fn describe(&self) -> Vec<Map<String, Value>> {
        let location = Location::default();
        match &self.storage {
            Storage::Stored(filter) => vec![filter.describe().to_json(&location)],
            Storage::Mapped(filter, _) => {
                let description = Description {
                    format: Format::Mayhap,
                    stats: filter.stats(),
                    details: Vec::new(),
                };
                vec![description.to_json(&location)]
            }
            Storage::Foreign(parts) => parts.iter().map(|part| part.opened.to_json()).collect(),
            // The callers make a filter plain first.
            Storage::Shared(_) => Vec::new(),
        }
    }

    /// The bytes of the filter in its own format.
    pub(crate) fn encode(&self, file_name: Option<&str>, hash_key: HashKey) -> PyResult<Vec<u8>> {
        match &self.storage {
            Storage::Stored(StoredFilter::Native(filter)) => {
                native::encode_with(filter, hash_key).py()
            }
            Storage::Stored(filter) => filter.encode_for_file(file_name).py(),
            Storage::Foreign(parts) => {
                let part = only_ref(parts)?;
                part.opened.filter.encode_for_file(file_name).py()
            }
            Storage::Mapped(..) | Storage::Shared(_) => {
                native::encode_with(&self.to_native()?, hash_key).py()
            }
        }
    }

    fn to_native(&self) -> PyResult<AnyFilter> {
        match self.to_stored()? {
            StoredFilter::Native(filter) => Ok(filter),
            _ => Err(FormatError::new_err(
                "this is not one of mayhap's own filters",
            )),
        }
    }

    /// A copy in memory.
    pub(crate) fn to_stored(&self) -> PyResult<StoredFilter> {
        Ok(match &self.storage {
            Storage::Stored(StoredFilter::Native(filter)) => {
                StoredFilter::Native(try_clone(filter).py()?)
            }
            Storage::Stored(filter) => filter.clone(),
            Storage::Shared(filter) => StoredFilter::Native(filter.snapshot().py()?.into()),
            Storage::Mapped(filter, _) => {
                let limits = Limits {
                    max_bytes: u64::MAX,
                };
                StoredFilter::Native(filter.read(limits).py()?)
            }
            Storage::Foreign(parts) => only_ref(parts)?.opened.filter.clone(),
        })
    }

    /// A copy in memory, of all filters of a container.
    pub(crate) fn try_clone(&self) -> PyResult<Self> {
        let storage = match &self.storage {
            Storage::Foreign(parts) => Storage::Foreign(parts.clone()),
            _ => Storage::Stored(self.to_stored()?),
        };
        Ok(Self {
            storage,
            rules: self.rules,
            encoder: self.encoder.clone(),
            clock: self.clock,
        })
    }

    pub(crate) fn union_with(&mut self, other: &Self) -> PyResult<()> {
        let rules = self.rules.with(other.rules)?;
        let before = self.rules.key_type();
        if let (KeyRules::Inferred(_), Some(filter)) = (self.rules, self.native_mut()) {
            // It is decided by the keys of both.
            filter.set_key_type(None);
        }
        let merged = match (&mut self.storage, &other.storage) {
            (Storage::Stored(ours), Storage::Stored(theirs)) => ours.union_with(theirs).py(),
            (Storage::Foreign(ours), Storage::Foreign(theirs)) => {
                let ours = &mut only(ours)?.opened.filter;
                ours.union_with(&only_ref(theirs)?.opened.filter).py()
            }
            (Storage::Stored(ours), _) => ours.union_with(&other.to_stored()?).py(),
            (Storage::Mapped(..), _) => Err(read_only()),
            (Storage::Shared(_) | Storage::Foreign(_), _) => {
                Err(UnsupportedError::new_err("these filters cannot be merged"))
            }
        };
        if merged.is_ok() {
            if rules != self.rules {
                self.encoder = rules.encoder();
            }
            self.set_rules(rules);
        } else if let Some(filter) = self.native_mut() {
            filter.set_key_type(before);
        }
        merged
    }

    pub(crate) fn intersect_with(&mut self, other: &Self) -> PyResult<()> {
        // The keys of both are keys of this one, whose rules stay.
        self.rules.with(other.rules)?;
        match (self.native_mut(), other.native()) {
            (Some(AnyFilter::Bloom(ours)), Some(AnyFilter::Bloom(theirs))) => {
                let key_type = ours.key_type();
                ours.set_key_type(None);
                let done = ours.intersect_with(theirs).py();
                ours.set_key_type(key_type);
                done
            }
            (Some(AnyFilter::Classic(ours)), Some(AnyFilter::Classic(theirs))) => {
                let key_type = ours.key_type();
                ours.set_key_type(None);
                let done = ours.intersect_with(theirs).py();
                ours.set_key_type(key_type);
                done
            }
            _ => Err(UnsupportedError::new_err(
                "only Bloom and ClassicBloom filters can be intersected",
            )),
        }
    }

    pub(crate) fn clear(&mut self) -> PyResult<()> {
        match &mut self.storage {
            Storage::Stored(StoredFilter::Native(filter)) => filter.clear().py()?,
            Storage::Mapped(..) => return Err(read_only()),
            Storage::Stored(_) | Storage::Shared(_) | Storage::Foreign(_) => {
                return Err(UnsupportedError::new_err(
                    "a filter of another system cannot be cleared: create a new one",
                ));
            }
        }
        if let KeyRules::Inferred(_) = self.rules {
            self.set_rules(KeyRules::new(None));
        }
        Ok(())
    }

    /// Whether two filters have the same kind, shape, hash function, key type and contents.
    pub(crate) fn equals(&self, other: &Self) -> PyResult<bool> {
        let is_equal = match (&self.storage, &other.storage) {
            (Storage::Stored(ours), Storage::Stored(theirs)) => ours == theirs,
            (Storage::Foreign(ours), Storage::Foreign(theirs)) => ours == theirs,
            _ if self.is_container() || other.is_container() => return Ok(false),
            _ => self.to_stored()? == other.to_stored()?,
        };
        // A filter of another system that was created has a capacity, which its file may not have.
        if is_equal || self.format() != other.format() || self.format() == Format::Mayhap {
            return Ok(is_equal);
        }
        if self.is_container() || other.is_container() {
            return Ok(false);
        }
        let bytes = |state: &Self| state.encode(None, HashKey::Inside).ok();
        Ok(matches!((bytes(self), bytes(other)), (Some(ours), Some(theirs)) if ours == theirs))
    }

    /// Whether it is several filters of a file.
    fn is_container(&self) -> bool {
        matches!(&self.storage, Storage::Foreign(parts) if parts.len() != 1)
    }
}

/// A copy of a filter, or an error if there is not enough memory: without one, the process would end.
fn try_clone(filter: &AnyFilter) -> Result<AnyFilter, PlanError> {
    Ok(match filter {
        AnyFilter::Bloom(filter) => filter.try_clone()?.into(),
        AnyFilter::Classic(filter) => filter.try_clone()?.into(),
        AnyFilter::Counting(filter) => filter.try_clone()?.into(),
        AnyFilter::Growing(filter) => filter.try_clone()?.into(),
        AnyFilter::Window(filter) => filter.try_clone()?.into(),
        AnyFilter::Cuckoo(filter) => filter.try_clone()?.into(),
        AnyFilter::GrowingCuckoo(filter) => filter.try_clone()?.into(),
        AnyFilter::CountingCuckoo(filter) => filter.try_clone()?.into(),
        AnyFilter::WindowCuckoo(filter) => filter.try_clone()?.into(),
        // Static filters are smaller than what they were built of, and the others have lists of keys besides.
        AnyFilter::Fuse(_)
        | AnyFilter::Ribbon(_)
        | AnyFilter::Retouched(_)
        | AnyFilter::Excepting(_) => filter.clone(),
    })
}

/// Keys below which a batch is not worth another thread.
const MIN_PART: usize = 1 << 15;

/// How many keys each of so many threads takes.
fn part_len(keys: usize, threads: usize) -> usize {
    keys.div_ceil(threads.max(1))
        .next_multiple_of(BLOCK)
        .max(MIN_PART)
}

fn mark_nulls(column: &Column, range: std::ops::Range<usize>, found: &mut [bool]) {
    if column.has_nulls() {
        for (at, found) in range.zip(found) {
            *found &= !column.is_null(at);
        }
    }
}

/// A key of a column may be one of only some of the filters. One that is a key of none is an error.
fn contains_foreign(parts: &[ForeignPart], column: &Column, found: &mut [bool]) -> PyResult<()> {
    found.fill(false);
    let mut failure = None;
    // Which are keys of a filter that does not have all of them as keys.
    let mut is_key: Option<Vec<bool>> = None;
    let mut are_keys = false;
    let mut one = vec![false; found.len()];
    for part in parts {
        let filter = &part.opened.filter;
        let other = match column.prepare(&part.encoder) {
            Ok((other, _)) => other,
            Err(error) => {
                failure.get_or_insert(error);
                if parts.len() > 1 && column.may_have_keys_of(&part.encoder) {
                    let is_key = is_key.get_or_insert_with(|| vec![false; found.len()]);
                    for (at, (found, is_key)) in found.iter_mut().zip(is_key).enumerate() {
                        if let Some(key) = column.key(at, &part.encoder) {
                            *is_key = true;
                            *found |= filter.contains(&key);
                        }
                    }
                }
                continue;
            }
        };
        are_keys = true;
        let column = other.as_ref().unwrap_or(column);
        for range in Column::blocks(0..column.len()) {
            let mut scratch = [[0; 8]; BLOCK];
            let keys = column.keys(range.clone(), 8, &mut scratch);
            filter.contains_each(&keys, &mut one[range.clone()]);
            mark_nulls(column, range.clone(), &mut one[range]);
        }
        for (found, one) in found.iter_mut().zip(&one) {
            *found |= one;
        }
    }
    are_keys |= is_key.is_some_and(|is_key| {
        let mut places = is_key.iter().enumerate();
        places.all(|(at, is_key)| *is_key || column.is_null(at))
    });
    match failure {
        Some(failure) if !are_keys => Err(failure),
        _ => Ok(()),
    }
}

fn several(count: usize) -> PyErr {
    UnsupportedError::new_err(format!(
        "the file has {count} filters: select one with column=, row_group=, key= or granule="
    ))
}

fn only(parts: &mut [ForeignPart]) -> PyResult<&mut ForeignPart> {
    match parts {
        [part] => Ok(part),
        parts => Err(several(parts.len())),
    }
}

fn only_ref(parts: &[ForeignPart]) -> PyResult<&ForeignPart> {
    match parts {
        [part] => Ok(part),
        parts => Err(several(parts.len())),
    }
}

/// A mapped file cannot be changed.
fn read_only() -> PyErr {
    UnsupportedError::new_err(
        "a mapped filter is read-only: open it without mmap=True to change it",
    )
}
