//! Memory-mapped files: only the header and the table of checksums are read at first, and lookups load the pages that they need.

use super::file::FileError;
use super::header::FileHeader;
use super::kinds::view::{self, LookupKey, View};
use super::pages::{PAGE_BYTES, Pages};
use super::parts::Sections;
use crate::map::{Map, MappedView};
use crate::{DecodeError, Limits};
use mayhap_core::{AnyFilter, HashScheme, Key, KeyHash, KeyType, Kind, SipKey, Stats};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// When the pages of a mapped file are verified. Header and table always are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Verify {
    /// All of them, before the first lookup.
    #[default]
    Full,
    /// Each when it is first read: a lookup that needs a damaged page detects it.
    Lazy,
    /// Never: for files that were verified before, or whose answers may be wrong.
    Header,
}

/// A filter in a mapped file.
///
/// ```
/// use mayhap_codec::native::{self, Verify};
/// # let folder = std::env::temp_dir().join(format!("mayhap-map-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("seen.mayhap");
/// let seen = mayhap_core::Bloom::from_keys(&["apple", "pear"], 0.01)?;
/// native::save(&path, &seen)?;
/// let seen = native::map(&path, Verify::Full, None)?;
/// assert!(seen.contains("pear"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The mapping shows the file as it is. [`save`](super::save) replaces files atomically, and existing mappings keep the old one. But if
/// a program writes into a mapped file in place, answers can be wrong; if it truncates the file, a lookup that reads beyond the end
/// stops the process with SIGBUS, as with any mapping.
pub struct Mapped {
    storage: Storage,
}

enum Storage {
    Mapped(MappedView, PageStates),
    Read(AnyFilter),
}

/// Which pages were verified.
struct PageStates {
    /// `UNKNOWN`, `WHOLE` or `DAMAGED`.
    pages: Vec<AtomicU8>,
    /// How many are not known to be intact.
    left: AtomicUsize,
    /// Where the sections begin in the body.
    sections: Vec<u64>,
}

const UNKNOWN: u8 = 0;
const WHOLE: u8 = 1;
const DAMAGED: u8 = 2;

/// Maps a file. `key` is the secret key, for files that do not contain it. Bloom, growing, classic and fuse filters are used in
/// place; filters of other kinds or with exceptions, and all filters on big-endian machines, are read and verified as by
/// [`load`](super::load()) with the default limits.
///
/// # Errors
/// When the file cannot be mapped, is damaged where it is verified, or needs another key.
pub fn map(
    path: impl AsRef<Path>,
    verify: Verify,
    key: Option<SipKey>,
) -> Result<Mapped, FileError> {
    let path = path.as_ref();
    let map = Map::open(path).map_err(|error| FileError::new(path, error))?;
    let storage = load(map, verify, key).map_err(|error| FileError::new(path, error))?;
    Ok(Mapped { storage })
}

fn load(map: Map, verify: Verify, key: Option<SipKey>) -> Result<Storage, DecodeError> {
    let bytes = map.bytes();
    let header = FileHeader::read(bytes)?;
    if !view::can_be_viewed(&header) {
        let filter = super::read(bytes, Limits::default(), key)?;
        return Ok(Storage::Read(filter));
    }
    let pages = Pages::new(bytes, &header)?;
    pages.check_table()?;
    let page_states = match verify {
        Verify::Lazy => PageStates::new(&header),
        Verify::Full | Verify::Header => PageStates::nothing(),
    };
    let mapping = MappedView::new(map, |bytes| {
        let header = FileHeader::read(bytes)?;
        let pages = Pages::new(bytes, &header)?;
        if verify == Verify::Full {
            pages.check_all()?;
        }
        let mut sections = Sections::new(pages.body(), &header);
        view::view(&header, header.scheme(key)?, &mut sections)
    })?;
    Ok(Storage::Mapped(mapping, page_states))
}

impl Mapped {
    /// The filter itself, which saves a match per lookup. `None` while pages are still to be verified, and if the file was read into
    /// memory.
    #[inline]
    pub fn view(&self) -> Option<&View<'_>> {
        match &self.storage {
            Storage::Mapped(mapping, page_states) => {
                page_states.is_complete().then(|| mapping.view())
            }
            Storage::Read(_) => None,
        }
    }

    /// Whether methods that take key bytes can be called, as [`AnyFilter::accepts_key_bytes`].
    pub fn accepts_key_bytes(&self) -> bool {
        match &self.storage {
            Storage::Mapped(mapping, _) => match mapping.view() {
                View::Classic(filter) if !filter.scheme().is_native() => true,
                view => view.scheme() != HashScheme::Caller,
            },
            Storage::Read(filter) => filter.accepts_key_bytes(),
        }
    }

    /// The hash of a key in this filter, and in every other of its scheme.
    ///
    /// # Panics
    /// On filters for the caller's own hashes, as all methods that take key bytes.
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.scheme().hash(key)
    }

    /// `false` is certain: the key was never inserted. `true` is probable, and also the answer if a page that it depends on is damaged.
    ///
    /// # Panics
    /// On filters for the caller's own hashes.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        match &self.storage {
            Storage::Mapped(mapping, page_states) => key.with_bytes(|key| {
                page_states.damaged(mapping, LookupKey::Key(key)).is_some()
                    || mapping.view().contains(key)
            }),
            Storage::Read(filter) => filter.contains(key),
        }
    }

    /// `contains` for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        match &self.storage {
            Storage::Mapped(mapping, page_states) => {
                page_states
                    .damaged(mapping, LookupKey::Hash(hash))
                    .is_some()
                    || mapping.view().contains_hash(hash)
            }
            Storage::Read(filter) => filter.contains_hash(hash),
        }
    }

    /// `contains` for many keys.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on filters for the caller's own hashes.
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        match &self.storage {
            Storage::Mapped(mapping, page_states) => {
                mapping.view().contains_each(keys, found);
                page_states.mark_damaged(keys, found, |key| {
                    key.with_bytes(|key| page_states.find_damaged(mapping, LookupKey::Key(key)))
                });
            }
            Storage::Read(filter) => filter.contains_each(keys, found),
        }
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        match &self.storage {
            Storage::Mapped(mapping, page_states) => {
                mapping.view().contains_hashes(hashes, found);
                page_states.mark_damaged(hashes, found, |&hash| {
                    page_states.find_damaged(mapping, LookupKey::Hash(hash))
                });
            }
            Storage::Read(filter) => filter.contains_hashes(hashes, found),
        }
    }

    /// `Ok(false)` is certain, `Ok(true)` is probable.
    ///
    /// # Errors
    /// When a page that the answer depends on is damaged: only with [`Verify::Lazy`].
    ///
    /// # Panics
    /// On filters for the caller's own hashes.
    pub fn try_contains(&self, key: impl Key) -> Result<bool, DecodeError> {
        key.with_bytes(|key| {
            self.check(LookupKey::Key(key))?;
            Ok(self.contains(key))
        })
    }

    /// `try_contains` for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As [`Mapped::try_contains`].
    pub fn try_contains_hash(&self, hash: KeyHash) -> Result<bool, DecodeError> {
        self.check(LookupKey::Hash(hash))?;
        Ok(self.contains_hash(hash))
    }

    fn check(&self, key: LookupKey<'_>) -> Result<(), DecodeError> {
        let Storage::Mapped(mapping, page_states) = &self.storage else {
            return Ok(());
        };
        match page_states.damaged(mapping, key) {
            None => Ok(()),
            Some(page) => Err(damage(mapping, page)),
        }
    }

    /// Whether all pages that were read so far are intact: for batches with [`Verify::Lazy`], which answer `true` for keys on damaged
    /// pages.
    ///
    /// # Errors
    /// When one of them is damaged.
    pub fn check_touched(&self) -> Result<(), DecodeError> {
        let Storage::Mapped(mapping, page_states) = &self.storage else {
            return Ok(());
        };
        let is_damaged = |page: &AtomicU8| page.load(Ordering::Relaxed) == DAMAGED;
        match page_states.pages.iter().position(is_damaged) {
            None => Ok(()),
            Some(page) => Err(damage(mapping, page as u64)),
        }
    }

    /// Verifies all pages, also those that were verified before. A file that was read into memory is not read again.
    ///
    /// # Errors
    /// When a page is damaged.
    pub fn verify(&self) -> Result<(), DecodeError> {
        match &self.storage {
            Storage::Mapped(mapping, page_states) => {
                let header = FileHeader::read(mapping.bytes())?;
                let pages = Pages::new(mapping.bytes(), &header)?;
                pages.check_table()?;
                pages.check_all()?;
                page_states.end();
                Ok(())
            }
            Storage::Read(_) => Ok(()),
        }
    }

    /// A verified copy in memory, which can be changed.
    ///
    /// # Errors
    /// When a page is damaged, or the copy takes more memory than allowed.
    pub fn read(&self, limits: Limits) -> Result<AnyFilter, DecodeError> {
        match &self.storage {
            Storage::Mapped(mapping, _) => {
                let key = match self.scheme() {
                    HashScheme::Sip13(key) => Some(key),
                    _ => None,
                };
                super::read(mapping.bytes(), limits, key)
            }
            Storage::Read(filter) => Ok(filter.clone()),
        }
    }

    /// Whether the file is mapped, and was not read into memory.
    pub fn is_in_place(&self) -> bool {
        !matches!(self.storage, Storage::Read(_))
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        match &self.storage {
            Storage::Mapped(mapping, _) => mapping.view().kind(),
            Storage::Read(filter) => filter.kind(),
        }
    }

    /// How keys are hashed.
    pub fn scheme(&self) -> HashScheme {
        match &self.storage {
            Storage::Mapped(mapping, _) => mapping.view().scheme(),
            Storage::Read(filter) => filter.scheme(),
        }
    }

    /// What the keys are, if the file says so.
    pub fn key_type(&self) -> Option<KeyType> {
        match &self.storage {
            Storage::Mapped(mapping, _) => mapping.view().key_type(),
            Storage::Read(filter) => filter.key_type(),
        }
    }

    /// The stats of the filter. Reads all of it, verified or not.
    pub fn stats(&self) -> Stats {
        match &self.storage {
            Storage::Mapped(mapping, _) => mapping.view().stats(),
            Storage::Read(filter) => filter.stats(),
        }
    }
}

fn damage(mapping: &MappedView, page: u64) -> DecodeError {
    let pages =
        FileHeader::read(mapping.bytes()).and_then(|header| Pages::new(mapping.bytes(), &header));
    match pages {
        Ok(pages) => pages.error(page),
        Err(error) => error,
    }
}

impl PageStates {
    fn new(header: &FileHeader<'_>) -> Self {
        let pages = 0..header.body_bytes.div_ceil(PAGE_BYTES);
        let pages: Vec<_> = pages.map(|_| AtomicU8::new(UNKNOWN)).collect();
        Self {
            left: AtomicUsize::new(pages.len()),
            pages,
            sections: header.sections.iter().map(|section| section.0).collect(),
        }
    }

    fn nothing() -> Self {
        Self {
            left: AtomicUsize::new(0),
            pages: Vec::new(),
            sections: Vec::new(),
        }
    }

    /// Whether all pages are known to be intact. `Relaxed` is enough: the pages themselves are never written.
    #[inline]
    fn is_complete(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// All pages are intact.
    fn end(&self) {
        for page in &self.pages {
            if page.swap(WHOLE, Ordering::Relaxed) != WHOLE {
                self.left.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// A damaged page on which an answer depends. Verifies pages that were not verified yet.
    #[inline]
    fn damaged(&self, mapping: &MappedView, key: LookupKey<'_>) -> Option<u64> {
        if self.is_complete() {
            return None;
        }
        self.find_damaged(mapping, key)
    }

    #[inline(never)]
    fn find_damaged(&self, mapping: &MappedView, key: LookupKey<'_>) -> Option<u64> {
        let mut damaged = None;
        mapping.view().each_offset(key, &self.sections, |offset| {
            let page = offset / PAGE_BYTES;
            if !self.is_intact(mapping.bytes(), page) {
                damaged = Some(page);
            }
        });
        damaged
    }

    /// Keys that depend on a damaged page may be in the filter.
    fn mark_damaged<K>(
        &self,
        keys: &[K],
        found: &mut [bool],
        find_damaged: impl Fn(&K) -> Option<u64>,
    ) {
        if self.is_complete() {
            return;
        }
        for (key, found) in keys.iter().zip(found) {
            *found |= find_damaged(key).is_some();
        }
    }

    #[inline]
    fn is_intact(&self, bytes: &[u8], page: u64) -> bool {
        let Some(known) = self.pages.get(page as usize) else {
            return false;
        };
        match known.load(Ordering::Relaxed) {
            UNKNOWN => {
                let whole = check_page(bytes, page).is_ok();
                let state = if whole { WHOLE } else { DAMAGED };
                // If two threads verify one page, only one counts it.
                let first =
                    known.compare_exchange(UNKNOWN, state, Ordering::Relaxed, Ordering::Relaxed);
                if whole && first.is_ok() {
                    self.left.fetch_sub(1, Ordering::Relaxed);
                }
                whole
            }
            known => known == WHOLE,
        }
    }
}

/// Reads the header again, which is small compared with a page.
#[cold]
fn check_page(bytes: &[u8], page: u64) -> Result<(), DecodeError> {
    let header = FileHeader::read(bytes)?;
    Pages::new(bytes, &header)?.check(page)
}

impl fmt::Debug for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match &self.storage {
            Storage::Mapped(_, page_states) if page_states.is_complete() => "in place",
            Storage::Mapped(..) => "in place, pages to be verified",
            Storage::Read(_) => "read",
        };
        write!(f, "Mapped({}, {how}, {:?})", self.kind(), self.scheme())
    }
}
