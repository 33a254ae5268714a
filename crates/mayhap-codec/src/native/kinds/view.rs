//! Views of mapped files: the kinds whose bits are the same in a file and in memory.

use super::{bloom, classic, fuse, growing, refused};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::header::{self, FileHeader};
use crate::native::parts::Sections;
use mayhap_core::{
    BloomView, ClassicView, FuseView, GrowingView, HashScheme, Key, KeyHash, KeyType, Kind, Stats,
};

/// A filter in borrowed bytes. It gives the answers of the filter that was saved, as fast.
#[derive(Debug)]
pub enum View<'a> {
    /// Insert-only.
    Bloom(BloomView<'a>),
    /// Flat bits.
    Classic(ClassicView<'a>),
    /// Layers.
    Growing(GrowingView<'a>),
    /// Built once.
    Fuse(FuseView<'a>),
}

/// A key to look up: its hash, and its bytes for the schemes of other systems.
#[derive(Clone, Copy)]
pub(in crate::native) enum LookupKey<'k> {
    Key(&'k [u8]),
    Hash(KeyHash),
}

/// The same expression for every kind.
macro_rules! each {
    ($view:expr, $filter:ident => $body:expr) => {
        match $view {
            View::Bloom($filter) => $body,
            View::Classic($filter) => $body,
            View::Growing($filter) => $body,
            View::Fuse($filter) => $body,
        }
    };
}

/// Whether the filter of a file can be used in place: one of these kinds, without exceptions.
pub(in crate::native) fn can_be_viewed(header: &FileHeader<'_>) -> bool {
    let kinds = [Kind::Bloom, Kind::Classic, Kind::Growing, Kind::Fuse];
    cfg!(target_endian = "little")
        && header.features == 0
        && super::kind_of(header).is_some_and(|kind| kinds.contains(&kind))
}

/// The filter of a file, in its sections.
pub(in crate::native) fn view<'a>(
    header: &FileHeader<'_>,
    scheme: HashScheme,
    sections: &mut Sections<'a>,
) -> Result<View<'a>, DecodeError> {
    header.check_self_test(header::self_test(scheme))?;
    let mut plan = header.plan()?;
    let at = &mut plan;
    let mut view = match super::kind_of(header) {
        Some(Kind::Bloom) => View::Bloom(view_bloom(at, sections, scheme)?),
        Some(Kind::Classic) => View::Classic(view_classic(at, sections, scheme)?),
        Some(Kind::Growing) => View::Growing(view_growing(at, sections, scheme)?),
        Some(Kind::Fuse) => View::Fuse(view_fuse(at, sections, scheme)?),
        Some(
            Kind::Counting
            | Kind::Window
            | Kind::Cuckoo
            | Kind::Ribbon
            | Kind::Retouched
            | Kind::GrowingCuckoo
            | Kind::CountingCuckoo
            | Kind::WindowCuckoo,
        )
        | None => {
            let accepted = "1, 2, 4 or 7: others are read";
            return Err(at.value("kind of a mapped filter", i128::from(header.kind), accepted));
        }
    };
    plan.finish()?;
    sections.finish(&plan)?;
    each!(&mut view, filter => filter.set_key_type(header.key_type));
    Ok(view)
}

fn view_bloom<'a>(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'a>,
    scheme: HashScheme,
) -> Result<BloomView<'a>, DecodeError> {
    let plan = bloom::read_plan(at)?;
    let lines = sections.take(at, plan.size_bytes())?;
    BloomView::borrowed(plan, scheme, lines).map_err(refused(at))
}

fn view_classic<'a>(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'a>,
    hash_scheme: HashScheme,
) -> Result<ClassicView<'a>, DecodeError> {
    let (plan, scheme) = classic::read_plan(at, hash_scheme)?;
    let bits = sections.take(at, plan.bits.div_ceil(64).saturating_mul(8))?;
    ClassicView::borrowed(plan, scheme, hash_scheme, bits).map_err(refused(at))
}

fn view_growing<'a>(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'a>,
    scheme: HashScheme,
) -> Result<GrowingView<'a>, DecodeError> {
    let head = growing::read_header(at)?;
    let mut layers = Vec::new();
    // Every layer has fields in the plan, which bounds this loop.
    for _ in 0..head.layers {
        layers.push(view_bloom(at, sections, scheme)?);
    }
    GrowingView::from_layers(head.plan, layers, head.in_newest, head.crowded).map_err(refused(at))
}

fn view_fuse<'a>(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'a>,
    scheme: HashScheme,
) -> Result<FuseView<'a>, DecodeError> {
    let (plan, layout) = fuse::read_plan(at)?;
    let cells = sections.any(at)?;
    FuseView::borrowed(plan, layout, scheme, cells).map_err(refused(at))
}

impl View<'_> {
    /// The kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bloom(_) => Kind::Bloom,
            Self::Classic(_) => Kind::Classic,
            Self::Growing(_) => Kind::Growing,
            Self::Fuse(_) => Kind::Fuse,
        }
    }

    /// How keys are hashed.
    pub fn scheme(&self) -> HashScheme {
        match self {
            Self::Bloom(filter) => filter.scheme(),
            Self::Classic(filter) => filter.hash_scheme(),
            Self::Growing(filter) => filter.scheme(),
            Self::Fuse(filter) => filter.scheme(),
        }
    }

    /// What the keys are, if the file says so.
    pub fn key_type(&self) -> Option<KeyType> {
        each!(self, filter => filter.key_type())
    }

    /// `false` is certain: the key was never inserted. `true` is probable.
    ///
    /// # Panics
    /// On filters for the caller's own hashes.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        each!(self, filter => filter.contains(key))
    }

    /// `contains` for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        each!(self, filter => filter.contains_hash(hash))
    }

    /// `contains` for many keys.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on filters for the caller's own hashes.
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        each!(self, filter => filter.contains_each(keys, found));
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        each!(self, filter => filter.contains_hashes(hashes, found));
    }

    /// The stats of the filter. Reads all of it.
    pub fn stats(&self) -> Stats {
        each!(self, filter => filter.stats())
    }

    /// Passes a byte offset in the body for everything that an answer depends on: lines, words or cells, each of which is in one page.
    pub(in crate::native) fn each_offset(
        &self,
        key: LookupKey<'_>,
        sections: &[u64],
        mut show: impl FnMut(u64),
    ) {
        let hash = || match key {
            LookupKey::Key(key) => self.scheme().hash(key),
            LookupKey::Hash(hash) => hash,
        };
        let first = sections.first().copied().unwrap_or(0);
        match self {
            Self::Bloom(filter) => filter.offsets(hash()).for_each(|at| show(first + at)),
            Self::Fuse(filter) => filter.offsets(hash()).for_each(|at| show(first + at)),
            Self::Growing(filter) => {
                let hash = hash();
                for (layer, begin) in filter.layers().zip(sections) {
                    layer.offsets(hash).for_each(|at| show(begin + at));
                }
            }
            Self::Classic(filter) => match key {
                LookupKey::Key(key) => filter.positions_of(key).for_each(|at| show(first + at / 8)),
                LookupKey::Hash(hash) => {
                    let positions = filter.positions_of_hash(hash);
                    positions.for_each(|at| show(first + at / 8));
                }
            },
        }
    }
}
