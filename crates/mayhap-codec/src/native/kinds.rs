//! Which parts a filter of each kind has. The numbers of kinds never change.

mod bloom;
mod classic;
mod cuckoo;
mod exceptions;
mod fuse;
mod growing;
mod retouched;
mod ribbon;
pub(super) mod view;
mod window;

use super::FilterRef;
use super::header::{self, EXCEPTIONS, FileHeader};
use super::parts::{Parts, Sections};
use crate::cursor::Cursor;
use crate::{DecodeError, EncodeError, Problem};
use mayhap_core::{AnyFilter, HashScheme, Kind, PlanError};

const KINDS: [(Kind, u16); 9] = [
    (Kind::Bloom, 1),
    (Kind::Classic, 2),
    (Kind::Counting, 3),
    (Kind::Growing, 4),
    (Kind::Window, 5),
    (Kind::Cuckoo, 6),
    (Kind::Fuse, 7),
    (Kind::Ribbon, 8),
    (Kind::Retouched, 9),
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

fn empty_parts<'f>(kind: Kind, scheme: HashScheme) -> Parts<'f> {
    Parts {
        kind: number_of(kind),
        features: 0,
        scheme,
        self_test: header::self_test(scheme),
        plan: Vec::new(),
        sections: Vec::new(),
    }
}

/// The parts of a filter that is not in an [`AnyFilter`].
pub(super) fn to_parts_ref(filter: FilterRef<'_>) -> Parts<'_> {
    let (kind, scheme) = match filter {
        FilterRef::Bloom(filter) => (Kind::Bloom, filter.scheme()),
        FilterRef::Counting(filter) => (Kind::Counting, filter.hash_scheme()),
        FilterRef::Growing(filter) => (Kind::Growing, filter.scheme()),
        FilterRef::Cuckoo(filter) => (Kind::Cuckoo, filter.scheme()),
        FilterRef::Window(filter) => (Kind::Window, filter.scheme()),
    };
    let mut parts = empty_parts(kind, scheme);
    write_ref(filter, &mut parts);
    parts
}

fn write_ref<'f>(filter: FilterRef<'f>, parts: &mut Parts<'f>) {
    match filter {
        FilterRef::Bloom(filter) => bloom::write(filter, parts),
        FilterRef::Counting(filter) => classic::write_counting(filter, parts),
        FilterRef::Growing(filter) => growing::write(filter, parts),
        FilterRef::Cuckoo(filter) => cuckoo::write(filter, parts),
        FilterRef::Window(filter) => window::write(filter, parts),
    }
}

/// The parts of a filter.
pub(super) fn to_parts(filter: &AnyFilter) -> Result<Parts<'_>, EncodeError> {
    let mut parts = empty_parts(filter.kind(), filter.scheme());
    match filter {
        AnyFilter::Excepting(filter) => {
            parts.features = EXCEPTIONS;
            write(filter.base(), &mut parts)?;
            exceptions::write(filter.parts(), &mut parts);
        }
        filter => write(filter, &mut parts)?,
    }
    Ok(parts)
}

/// The parts of a filter without exceptions.
fn write<'f>(filter: &'f AnyFilter, parts: &mut Parts<'f>) -> Result<(), EncodeError> {
    match filter {
        AnyFilter::Bloom(filter) => write_ref(FilterRef::Bloom(filter), parts),
        AnyFilter::Classic(filter) => classic::write(filter, parts),
        AnyFilter::Counting(filter) => write_ref(FilterRef::Counting(filter), parts),
        AnyFilter::Growing(filter) => write_ref(FilterRef::Growing(filter), parts),
        AnyFilter::Cuckoo(filter) => write_ref(FilterRef::Cuckoo(filter), parts),
        AnyFilter::Window(filter) => write_ref(FilterRef::Window(filter), parts),
        AnyFilter::Fuse(filter) => fuse::write(filter, parts),
        AnyFilter::Ribbon(filter) => ribbon::write(filter, parts),
        AnyFilter::Retouched(filter) => retouched::write(filter, parts),
        AnyFilter::Excepting(_) => {
            return Err(EncodeError {
                format: super::FORMAT,
                reason: "exceptions on exceptions cannot be stored",
            });
        }
    }
    Ok(())
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
        _ => return Err(at.value("kind", i128::from(header.kind), "1 to 9")),
    };
    if header.features & EXCEPTIONS != 0 {
        filter = exceptions::read(header, filter, at, sections)?;
    }
    plan.finish()?;
    sections.finish(&plan)?;
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
        Some(Kind::Cuckoo | Kind::Fuse | Kind::Ribbon | Kind::Retouched) | None => {
            let kind = i128::from(header.kind);
            let accepted = "1 to 5 (bloom, classic, counting, growing, window): ones would lose keys of the others";
            return Err(header.at.value("kind to be repaired", kind, accepted));
        }
    })
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
