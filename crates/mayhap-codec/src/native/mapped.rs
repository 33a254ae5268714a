//! Files that are asked where they lie: nothing is read at first but the header and the table of checksums, and pages come into
//! memory as questions need them.

use super::file::OpenError;
use super::header::Header;
use super::kinds::view::{self, Asked, View};
use super::pages::{PAGE_BYTES, Pages};
use super::parts::Sections;
use crate::map::{Map, Seen};
use crate::{DecodeError, Limits};
use mayhap_core::{AnyFilter, HashScheme, KeyHash, Kind, SipKey, Stats};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// When the pages of a mapped file are held against their checksums. Header and table are verified in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Verify {
    /// All of them, before the first answer.
    #[default]
    Full,
    /// Each when it is first touched: a damaged page is noticed by the questions that need it.
    Lazy,
    /// Never: for files that were verified before, or may answer anything.
    Header,
}

/// A filter in a mapped file.
///
/// ```
/// use mayhap_codec::native::{self, HashKey, Verify};
/// # let folder = std::env::temp_dir().join(format!("mayhap-map-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("seen.mayhap");
/// let seen = mayhap_core::Bloom::from_keys(&["apple", "pear"], 0.01)?;
/// native::save(&seen.into(), HashKey::Inside, &path)?;
/// let seen = native::map(&path, Verify::Full, None)?;
/// assert!(seen.contains("pear"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// What is seen is the file as it is. [`save`](super::save) replaces files as a whole, and who has mapped the old one keeps it; but
/// when somebody writes into a mapped file in place, answers can be wrong, and when somebody cuts it short, a question that touches
/// what is gone stops the program with a signal (SIGBUS), as with any mapping.
pub struct Mapped {
    held: Held,
}

enum Held {
    Seen(Seen, Watch),
    Read(AnyFilter),
}

/// What is known of the pages.
struct Watch {
    /// `UNKNOWN`, `WHOLE` or `DAMAGED`.
    pages: Vec<AtomicU8>,
    /// How many are not known to be whole.
    left: AtomicUsize,
    /// Where the sections begin in the body.
    sections: Vec<u64>,
}

const UNKNOWN: u8 = 0;
const WHOLE: u8 = 1;
const DAMAGED: u8 = 2;

/// Maps a file. `key` is the secret key, for files that do not contain it. Bloom, growing, classic and fuse filters are asked in
/// place; filters of other kinds or with exceptions, and all on machines with the highest byte first, are read and verified as by
/// [`open`](super::open) with the default limits.
///
/// # Errors
/// When the file cannot be mapped, is damaged where it is verified, or needs another key.
pub fn map(
    path: impl AsRef<Path>,
    verify: Verify,
    key: Option<SipKey>,
) -> Result<Mapped, OpenError> {
    let map = Map::open(path.as_ref()).map_err(OpenError::Io)?;
    let held = hold(map, verify, key).map_err(OpenError::Decode)?;
    Ok(Mapped { held })
}

fn hold(map: Map, verify: Verify, key: Option<SipKey>) -> Result<Held, DecodeError> {
    let bytes = map.bytes();
    let header = Header::read(bytes)?;
    if !view::can_be_seen(&header) {
        let filter = super::read(bytes, Limits::default(), key)?;
        return Ok(Held::Read(filter));
    }
    let pages = Pages::of(bytes, &header)?;
    pages.check_table()?;
    let watch = match verify {
        Verify::Lazy => Watch::new(&header),
        Verify::Full | Verify::Header => Watch::nothing(),
    };
    let seen = Seen::new(map, |bytes| {
        let header = Header::read(bytes)?;
        let pages = Pages::of(bytes, &header)?;
        if verify == Verify::Full {
            pages.check_all()?;
        }
        let mut sections = Sections::new(pages.body(), &header);
        view::see(&header, header.scheme(key)?, &mut sections)
    })?;
    Ok(Held::Seen(seen, watch))
}

impl Mapped {
    /// The filter itself, for who asks it millions of questions: one match here, and none for each of them. `None` while pages are
    /// still to be verified, and when the file was read.
    #[inline]
    pub fn view(&self) -> Option<&View<'_>> {
        match &self.held {
            Held::Seen(seen, watch) => watch.is_over().then(|| seen.view()),
            Held::Read(_) => None,
        }
    }

    /// Whether methods that take key bytes can be called, as [`AnyFilter::accepts_key_bytes`].
    pub fn accepts_key_bytes(&self) -> bool {
        match &self.held {
            Held::Seen(seen, _) => match seen.view() {
                View::Classic(filter) if !filter.scheme().is_native() => true,
                view => view.scheme() != HashScheme::Caller,
            },
            Held::Read(filter) => filter.accepts_key_bytes(),
        }
    }

    /// The hash under which this filter, and every other of its scheme, knows a key.
    ///
    /// # Panics
    /// On filters for the caller's own hashes, as all methods that take key bytes.
    pub fn hash(&self, key: impl AsRef<[u8]>) -> KeyHash {
        self.scheme().hash(key.as_ref())
    }

    /// `false` is certain: the key was never inserted. `true` is mayhap, also when a page that the answer depends on turns out to be
    /// damaged.
    ///
    /// # Panics
    /// On filters for the caller's own hashes.
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        let key = key.as_ref();
        match &self.held {
            Held::Seen(seen, watch) => {
                watch.damaged(seen, Asked::Key(key)).is_some() || seen.view().contains(key)
            }
            Held::Read(filter) => filter.contains(key),
        }
    }

    /// `contains` for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        match &self.held {
            Held::Seen(seen, watch) => {
                watch.damaged(seen, Asked::Hash(hash)).is_some() || seen.view().contains_hash(hash)
            }
            Held::Read(filter) => filter.contains_hash(hash),
        }
    }

    /// `contains` for many keys.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on filters for the caller's own hashes.
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        match &self.held {
            Held::Seen(seen, watch) => {
                seen.view().contains_each(keys, found);
                watch.doubt(seen, keys, found, |key| Asked::Key(key.as_ref()));
            }
            Held::Read(filter) => filter.contains_each(keys, found),
        }
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        match &self.held {
            Held::Seen(seen, watch) => {
                seen.view().contains_hashes(hashes, found);
                watch.doubt(seen, hashes, found, |&hash| Asked::Hash(hash));
            }
            Held::Read(filter) => filter.contains_hashes(hashes, found),
        }
    }

    /// `Ok(false)` is certain, `Ok(true)` is mayhap.
    ///
    /// # Errors
    /// When a page that the answer depends on is damaged: only with [`Verify::Lazy`].
    ///
    /// # Panics
    /// On filters for the caller's own hashes.
    pub fn try_contains(&self, key: impl AsRef<[u8]>) -> Result<bool, DecodeError> {
        let key = key.as_ref();
        self.check(Asked::Key(key))?;
        Ok(self.contains(key))
    }

    /// `try_contains` for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As [`Mapped::try_contains`].
    pub fn try_contains_hash(&self, hash: KeyHash) -> Result<bool, DecodeError> {
        self.check(Asked::Hash(hash))?;
        Ok(self.contains_hash(hash))
    }

    fn check(&self, asked: Asked<'_>) -> Result<(), DecodeError> {
        let Held::Seen(seen, watch) = &self.held else {
            return Ok(());
        };
        match watch.damaged(seen, asked) {
            None => Ok(()),
            Some(page) => Err(damage(seen, page)),
        }
    }

    /// Whether all pages that were touched so far are whole: for those who ask batches with [`Verify::Lazy`], in which damage is a
    /// `true`.
    ///
    /// # Errors
    /// When one of them is damaged.
    pub fn check_touched(&self) -> Result<(), DecodeError> {
        let Held::Seen(seen, watch) = &self.held else {
            return Ok(());
        };
        let is_damaged = |page: &AtomicU8| page.load(Ordering::Relaxed) == DAMAGED;
        match watch.pages.iter().position(is_damaged) {
            None => Ok(()),
            Some(page) => Err(damage(seen, page as u64)),
        }
    }

    /// Holds all pages against their checksums, also those that were verified before. A file that was read is not looked at again.
    ///
    /// # Errors
    /// When a page is damaged.
    pub fn verify(&self) -> Result<(), DecodeError> {
        match &self.held {
            Held::Seen(seen, watch) => {
                let header = Header::read(seen.bytes())?;
                let pages = Pages::of(seen.bytes(), &header)?;
                pages.check_table()?;
                pages.check_all()?;
                watch.end();
                Ok(())
            }
            Held::Read(_) => Ok(()),
        }
    }

    /// A verified copy in memory, which can be filled.
    ///
    /// # Errors
    /// When a page is damaged, or the copy takes more memory than allowed.
    pub fn read(&self, limits: Limits) -> Result<AnyFilter, DecodeError> {
        match &self.held {
            Held::Seen(seen, _) => {
                let key = match self.scheme() {
                    HashScheme::Sip13(key) => Some(key),
                    _ => None,
                };
                super::read(seen.bytes(), limits, key)
            }
            Held::Read(filter) => Ok(filter.clone()),
        }
    }

    /// Whether the file is asked in place, and was not read.
    pub fn is_in_place(&self) -> bool {
        !matches!(self.held, Held::Read(_))
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        match &self.held {
            Held::Seen(seen, _) => seen.view().kind(),
            Held::Read(filter) => filter.kind(),
        }
    }

    /// How keys are hashed.
    pub fn scheme(&self) -> HashScheme {
        match &self.held {
            Held::Seen(seen, _) => seen.view().scheme(),
            Held::Read(filter) => filter.scheme(),
        }
    }

    /// What the filter is and how it is doing. Reads the whole filter, verified or not.
    pub fn stats(&self) -> Stats {
        match &self.held {
            Held::Seen(seen, _) => seen.view().stats(),
            Held::Read(filter) => filter.stats(),
        }
    }
}

fn damage(seen: &Seen, page: u64) -> DecodeError {
    let pages = Header::read(seen.bytes()).and_then(|header| Pages::of(seen.bytes(), &header));
    match pages {
        Ok(pages) => pages.error(page),
        Err(error) => error,
    }
}

impl Watch {
    fn new(header: &Header<'_>) -> Self {
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

    /// Whether all pages are known to be whole. Nothing else is published by these atomics: the pages themselves are only read.
    #[inline]
    fn is_over(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// All pages are whole.
    fn end(&self) {
        for page in &self.pages {
            if page.swap(WHOLE, Ordering::Relaxed) != WHOLE {
                self.left.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// A damaged page on which an answer depends. Pages that were not verified are now.
    #[inline]
    fn damaged(&self, seen: &Seen, asked: Asked<'_>) -> Option<u64> {
        if self.is_over() {
            return None;
        }
        self.find_damaged(seen, asked)
    }

    #[inline(never)]
    fn find_damaged(&self, seen: &Seen, asked: Asked<'_>) -> Option<u64> {
        let mut damaged = None;
        seen.view().each_offset(asked, &self.sections, |offset| {
            let page = offset / PAGE_BYTES;
            if !self.is_whole(seen.bytes(), page) {
                damaged = Some(page);
            }
        });
        damaged
    }

    /// Of what depends on a damaged page, nobody knows more than mayhap.
    fn doubt<'k, K>(
        &self,
        seen: &Seen,
        keys: &'k [K],
        found: &mut [bool],
        asked: impl Fn(&'k K) -> Asked<'k>,
    ) {
        if self.is_over() {
            return;
        }
        for (key, found) in keys.iter().zip(found) {
            *found |= self.find_damaged(seen, asked(key)).is_some();
        }
    }

    #[inline]
    fn is_whole(&self, bytes: &[u8], page: u64) -> bool {
        let Some(known) = self.pages.get(page as usize) else {
            return false;
        };
        match known.load(Ordering::Relaxed) {
            UNKNOWN => {
                let whole = check_page(bytes, page).is_ok();
                let state = if whole { WHOLE } else { DAMAGED };
                // Of two threads that verify one page, one counts it.
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

/// The header is read again, which is little beside a page.
#[cold]
fn check_page(bytes: &[u8], page: u64) -> Result<(), DecodeError> {
    let header = Header::read(bytes)?;
    Pages::of(bytes, &header)?.check(page)
}

impl fmt::Debug for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match &self.held {
            Held::Seen(_, watch) if watch.is_over() => "in place",
            Held::Seen(..) => "in place, pages to be verified",
            Held::Read(_) => "read",
        };
        write!(f, "Mapped({}, {how}, {:?})", self.kind(), self.scheme())
    }
}
