//! Which parts a filter of each kind has. The numbers of kinds never change.

mod bloom;
mod classic;
mod cuckoo;
mod exceptions;
pub(crate) mod fuse;
mod growing;
mod growing_cuckoo;
mod retouched;
pub(crate) mod ribbon;
mod slices;
pub(super) mod view;
mod window;
mod window_cuckoo;

use super::header::{self, EXCEPTIONS, FileHeader, SLICES};
use super::parts::{Parts, Sections};
use crate::cursor::Cursor;
use crate::{DecodeError, EncodeError, Problem};
use mayhap_core::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, CountingCuckoo, Cuckoo, Excepting, Fuse,
    GrowingBloom, GrowingCuckoo, HashScheme, KeyType, Kind, PlanError, Retouched, Ribbon,
    WindowBloom, WindowCuckoo, WrongKind,
};

/// A filter that native files store: every kind, [`AnyFilter`], `SharedBloom` and [`Excepting`] over `AnyFilter`. Functions that
/// save take it by reference and copy nothing.
///
/// ```
/// # use mayhap_codec::native;
/// use mayhap_core::{Bloom, Fuse};
/// fn size_on_disk(filter: &impl native::NativeFilter) -> usize {
///     native::to_bytes(filter).map_or(0, |bytes| bytes.len())
/// }
/// assert!(size_on_disk(&Bloom::new(1000, 0.01)?) > size_on_disk(&Fuse::build(["a"], 0.01)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait NativeFilter: sealed::ToParts + Sized {
    /// The filter, if it is of this type.
    ///
    /// # Errors
    /// If it is of another kind.
    fn from_any(filter: AnyFilter) -> Result<Self, WrongKind>;
}

pub(super) mod sealed {
    use super::{EncodeError, Parts};

    pub trait ToParts {
        fn to_parts(&self) -> Result<Parts<'_>, EncodeError>;
    }
}

const KINDS: [(Kind, u16); 12] = [
    (Kind::Bloom, 1),
    (Kind::Classic, 2),
    (Kind::Counting, 3),
    (Kind::Growing, 4),
    (Kind::Window, 5),
    (Kind::Cuckoo, 6),
    (Kind::Fuse, 7),
    (Kind::Ribbon, 8),
    (Kind::Retouched, 9),
    (Kind::GrowingCuckoo, 10),
    (Kind::CountingCuckoo, 11),
    (Kind::WindowCuckoo, 12),
];

fn number_of(kind: Kind) -> u16 {
    let known = KINDS.iter().find(|known| known.0 == kind);
    known.map_or(0, |known| known.1)
}

/// The kind of a file's filter, if the number is known.
pub(super) fn kind_of(header: &FileHeader<'_>) -> Option<Kind> {
    let known = KINDS.iter().find(|known| known.1 == header.kind);
    known.map(|known| known.0)
}

/// Whether bits of filters of this kind can be set without losing keys, see [`sections_of_ones`].
pub(super) fn is_repairable(number: u16) -> bool {
    let known = KINDS.iter().find(|known| known.1 == number);
    known.is_some_and(|known| match known.0 {
        Kind::Bloom | Kind::Classic | Kind::Counting | Kind::Growing | Kind::Window => true,
        Kind::Cuckoo
        | Kind::Fuse
        | Kind::Ribbon
        | Kind::Retouched
        | Kind::GrowingCuckoo
        | Kind::CountingCuckoo
        | Kind::WindowCuckoo => false,
    })
}

/// The parts of a filter without exceptions.
fn start<'f>(kind: Kind, scheme: HashScheme, key_type: Option<KeyType>) -> Parts<'f> {
    Parts {
        kind: number_of(kind),
        features: 0,
        scheme,
        key_type,
        is_set: false,
        self_test: header::self_test(scheme),
        plan: Vec::new(),
        sections: Vec::new(),
    }
}

macro_rules! to_parts {
    ($($name:ident, $filter:ty, $kind:ident, $scheme:ident, $write:path;)*) => {
        $(fn $name(filter: &$filter) -> Parts<'_> {
            let mut parts = start(Kind::$kind, filter.$scheme(), filter.key_type());
            $write(filter, &mut parts);
            parts
        }

        impl sealed::ToParts for $filter {
            fn to_parts(&self) -> Result<Parts<'_>, EncodeError> {
                Ok($name(self))
            }
        }

        impl NativeFilter for $filter {
            fn from_any(filter: AnyFilter) -> Result<Self, WrongKind> {
                filter.try_into()
            }
        })*
    };
}

to_parts! {
    bloom_parts, Bloom, Bloom, scheme, bloom::write;
    classic_parts, ClassicBloom, Classic, hash_scheme, classic::write;
    counting_parts, CountingBloom, Counting, hash_scheme, classic::write_counting;
    growing_parts, GrowingBloom, Growing, scheme, growing::write;
    cuckoo_parts, Cuckoo, Cuckoo, scheme, cuckoo::write;
    window_parts, WindowBloom, Window, scheme, window::write;
    fuse_parts, Fuse, Fuse, scheme, fuse::write;
    ribbon_parts, Ribbon, Ribbon, scheme, ribbon::write;
    retouched_parts, Retouched, Retouched, hash_scheme, retouched::write;
    growing_cuckoo_parts, GrowingCuckoo, GrowingCuckoo, scheme, growing_cuckoo::write;
    counting_cuckoo_parts, CountingCuckoo, CountingCuckoo, scheme, growing_cuckoo::write_counting;
    window_cuckoo_parts, WindowCuckoo, WindowCuckoo, scheme, window_cuckoo::write;
}

#[cfg(target_has_atomic = "64")]
to_parts! {
    shared_parts, mayhap_core::SharedBloom, Bloom, scheme, bloom::write_shared;
}

impl sealed::ToParts for Excepting<AnyFilter> {
    fn to_parts(&self) -> Result<Parts<'_>, EncodeError> {
        if self.base().excepting().is_some() {
            return Err(EncodeError {
                format: super::FORMAT,
                reason: "exceptions on exceptions cannot be stored",
            });
        }
        let mut parts = self.base().to_parts()?;
        parts.features |= EXCEPTIONS;
        exceptions::write(self.parts(), &mut parts);
        Ok(parts)
    }
}

impl NativeFilter for Excepting<AnyFilter> {
    fn from_any(filter: AnyFilter) -> Result<Self, WrongKind> {
        filter.try_into()
    }
}

impl sealed::ToParts for AnyFilter {
    fn to_parts(&self) -> Result<Parts<'_>, EncodeError> {
        match self {
            Self::Bloom(filter) => Ok(bloom_parts(filter)),
            Self::Classic(filter) => Ok(classic_parts(filter)),
            Self::Counting(filter) => Ok(counting_parts(filter)),
            Self::Growing(filter) => Ok(growing_parts(filter)),
            Self::Cuckoo(filter) => Ok(cuckoo_parts(filter)),
            Self::Window(filter) => Ok(window_parts(filter)),
            Self::Fuse(filter) => Ok(fuse_parts(filter)),
            Self::Ribbon(filter) => Ok(ribbon_parts(filter)),
            Self::Retouched(filter) => Ok(retouched_parts(filter)),
            Self::GrowingCuckoo(filter) => Ok(growing_cuckoo_parts(filter)),
            Self::CountingCuckoo(filter) => Ok(counting_cuckoo_parts(filter)),
            Self::WindowCuckoo(filter) => Ok(window_cuckoo_parts(filter)),
            Self::Excepting(filter) => filter.to_parts(),
        }
    }
}

impl NativeFilter for AnyFilter {
    fn from_any(filter: AnyFilter) -> Result<Self, WrongKind> {
        Ok(filter)
    }
}

/// The filter of a file whose pages were verified.
pub(super) fn from_parts(
    header: &FileHeader<'_>,
    scheme: HashScheme,
    sections: &mut Sections<'_>,
) -> Result<AnyFilter, DecodeError> {
    header.check_self_test(header::self_test(scheme))?;
    let mut plan = header.plan()?;
    let at = &mut plan;
    let mut filter = match kind_of(header) {
        Some(Kind::Bloom) => bloom::read(at, sections, scheme)?.into(),
        Some(Kind::Classic) => classic::read(at, sections, scheme)?.into(),
        Some(Kind::Counting) => classic::read_counting(at, sections, scheme)?.into(),
        Some(Kind::Growing) => growing::read(at, sections, scheme)?.into(),
        Some(Kind::Cuckoo) => cuckoo::read(at, sections, scheme)?.into(),
        Some(Kind::Window) => window::read(at, sections, scheme)?.into(),
        Some(Kind::Fuse) => fuse::read(at, sections, scheme)?.into(),
        Some(Kind::Ribbon) => ribbon::read(at, sections, scheme)?.into(),
        Some(Kind::Retouched) => retouched::read(at, sections, scheme)?.into(),
        Some(Kind::GrowingCuckoo) => {
            let mut filter = growing_cuckoo::read(at, sections, scheme)?;
            filter.set_is_set(header.is_set);
            filter.into()
        }
        Some(Kind::CountingCuckoo) => growing_cuckoo::read_counting(at, sections, scheme)?.into(),
        Some(Kind::WindowCuckoo) => window_cuckoo::read(at, sections, scheme)?.into(),
        None => return Err(at.value("kind", i128::from(header.kind), "1 to 12")),
    };
    if header.features & SLICES != 0 {
        filter = slices::read(filter, at)?;
    }
    if header.features & EXCEPTIONS != 0 {
        filter = exceptions::read(header, filter, at, sections)?;
    }
    plan.finish()?;
    sections.finish(&plan)?;
    filter.set_key_type(header.key_type);
    Ok(filter)
}

/// How many bits of each section can be set without losing keys; later sections have none.
pub(super) fn sections_of_ones(
    header: &FileHeader<'_>,
    scheme: HashScheme,
) -> Result<Vec<u64>, DecodeError> {
    let at = &mut header.plan()?;
    let all = header.sections.iter().map(|&(_, length)| 8 * length);
    let first = |bits: u64| all.clone().take(1).map(|all| all.min(bits)).collect();
    Ok(match kind_of(header) {
        Some(Kind::Bloom) => first(u64::MAX),
        Some(Kind::Classic) => first(classic::bits(at, scheme)?),
        Some(Kind::Counting) => first(classic::counting_bits(at, scheme)?),
        Some(Kind::Growing) => {
            let layers = growing::read_header(at)?.layers;
            all.take(layers.try_into().unwrap_or(usize::MAX)).collect()
        }
        Some(Kind::Window) => all.collect(),
        // Ones would lose keys.
        Some(Kind::Cuckoo) => return Err(irreparable(header, "cuckoo filters")),
        Some(Kind::Fuse) => return Err(irreparable(header, "fuse filters")),
        Some(Kind::Ribbon) => return Err(irreparable(header, "ribbon filters")),
        Some(Kind::Retouched) => return Err(irreparable(header, "retouched filters")),
        Some(Kind::GrowingCuckoo) => return Err(irreparable(header, "growing-cuckoo filters")),
        Some(Kind::CountingCuckoo) => return Err(irreparable(header, "counting-cuckoo filters")),
        Some(Kind::WindowCuckoo) => return Err(irreparable(header, "window-cuckoo filters")),
        None => return Err(irreparable(header, "filters of an unknown kind")),
    })
}

fn irreparable(header: &FileHeader<'_>, what: &'static str) -> DecodeError {
    header.at.error(Problem::Irreparable { what })
}

/// A field that is smaller than eight bytes in memory.
fn small<T: TryFrom<u64>>(
    at: &mut Cursor<'_>,
    field: &'static str,
    accepted: &'static str,
) -> Result<T, DecodeError> {
    let begin = at.clone();
    let number = at.u64_le(field)?;
    T::try_from(number).map_err(|_| begin.value(field, i128::from(number), accepted))
}

/// A field that is 0 or 1.
fn flag(at: &mut Cursor<'_>, field: &'static str) -> Result<bool, DecodeError> {
    let begin = at.clone();
    match at.u64_le(field)? {
        0 => Ok(false),
        1 => Ok(true),
        number => Err(begin.value(field, i128::from(number), "0 or 1")),
    }
}

/// An error of the core, with the position in the file.
fn refused(at: &Cursor<'_>) -> impl FnOnce(PlanError) -> DecodeError {
    let error = at.error(Problem::Checksum);
    move |refused| DecodeError {
        problem: Problem::Plan(refused),
        ..error
    }
}
