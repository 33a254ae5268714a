//! Filters that are seen where they lie: the kinds whose bits in a file are those in memory.

use super::{bloom, classic, fuse, growing, refused};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::header::{self, Header};
use crate::native::parts::Sections;
use mayhap_core::{
    BloomView, ClassicView, FuseView, GrowingView, HashScheme, KeyHash, Kind, Stats,
};

/// A filter in somebody else's bytes. It answers as the filter that was saved, and as fast.
#[derive(Debug)]
#[non_exhaustive]
pub enum View<'a> {
    /// Insert-only.
    Bloom(BloomView<'a>),
    /// Flat bits.
    Classic(ClassicView<'a>),
    /// A chain of layers.
    Growing(GrowingView<'a>),
    /// Built once.
    Fuse(FuseView<'a>),
}

/// What is asked about: the hash is enough, but for the walks of other systems.
#[derive(Clone, Copy)]
pub(in crate::native) enum Asked<'k> {
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

/// Whether the filter of a file can be seen, and need not be read: one of these kinds, without exceptions.
pub(in crate::native) fn can_be_seen(header: &Header<'_>) -> bool {
    let kinds = [Kind::Bloom, Kind::Classic, Kind::Growing, Kind::Fuse];
    cfg!(target_endian = "little")
        && header.features == 0
        && super::kind_of(header).is_some_and(|kind| kinds.contains(&kind))
}

/// The filter of a file, in its sections.
pub(in crate::native) fn see<'a>(
    header: &Header<'_>,
    scheme: HashScheme,
    sections: &mut Sections<'a>,
) -> Result<View<'a>, DecodeError> {
    header.check_self_test(header::self_test(scheme))?;
    let mut plan = header.plan()?;
    let at = &mut plan;
    let view = match super::kind_of(header) {
        Some(Kind::Bloom) => View::Bloom(see_bloom(at, sections, scheme)?),
        Some(Kind::Classic) => View::Classic(see_classic(at, sections, scheme)?),
        Some(Kind::Growing) => View::Growing(see_growing(at, sections, scheme)?),
        Some(Kind::Fuse) => View::Fuse(see_fuse(at, sections, scheme)?),
        _ => {
            let accepted = "1, 2, 4 or 7: others are read";
            return Err(at.value("kind to be seen", i128::from(header.kind), accepted));
        }
    };
    plan.finish()?;
    sections.finish(&plan)?;
    Ok(view)
}

fn see_bloom<'a>(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'a>,
    scheme: HashScheme,
) -> Result<BloomView<'a>, DecodeError> {
    let plan = bloom::read_plan(at)?;
    let lines = sections.take(at, plan.size_bytes())?;
    BloomView::borrowed(plan, scheme, lines).map_err(refused(at))
}

fn see_classic<'a>(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'a>,
    hash_scheme: HashScheme,
) -> Result<ClassicView<'a>, DecodeError> {
    let (plan, scheme) = classic::read_plan(at, hash_scheme)?;
    let bits = sections.take(at, plan.bits.div_ceil(64).saturating_mul(8))?;
    ClassicView::borrowed(plan, scheme, hash_scheme, bits).map_err(refused(at))
}

fn see_growing<'a>(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'a>,
    scheme: HashScheme,
) -> Result<GrowingView<'a>, DecodeError> {
    let head = growing::read_head(at)?;
    let mut layers = Vec::new();
    // A layer has fields of its own, so that this ends with the plan at the latest.
    for _ in 0..head.layers {
        layers.push(see_bloom(at, sections, scheme)?);
    }
    GrowingView::from_layers(head.plan, layers, head.in_newest, head.crowded).map_err(refused(at))
}

fn see_fuse<'a>(
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

    /// `false` is certain: the key was never inserted. `true` is mayhap.
    ///
    /// # Panics
    /// On filters for the caller's own hashes.
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
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
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        each!(self, filter => filter.contains_each(keys, found));
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        each!(self, filter => filter.contains_hashes(hashes, found));
    }

    /// What the filter is and how it is doing. Reads the whole filter.
    pub fn stats(&self) -> Stats {
        each!(self, filter => filter.stats())
    }

    /// Shows every byte of the body on which an answer depends: one of each line, word or cell, which lie in one page each.
    pub(in crate::native) fn each_offset(
        &self,
        asked: Asked<'_>,
        sections: &[u64],
        mut show: impl FnMut(u64),
    ) {
        let hash = || match asked {
            Asked::Key(key) => self.scheme().hash(key),
            Asked::Hash(hash) => hash,
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
            Self::Classic(filter) => match asked {
                Asked::Key(key) => filter.positions_of(key).for_each(|at| show(first + at / 8)),
                Asked::Hash(hash) => {
                    let positions = filter.positions_of_hash(hash);
                    positions.for_each(|at| show(first + at / 8));
                }
            },
        }
    }
}
