//! Which parts a filter of each kind has. The numbers of kinds never change.

mod bloom;
mod classic;
mod cuckoo;
mod fuse;
mod growing;
pub(super) mod view;
mod window;

use super::header::{self, Header};
use super::parts::{Parts, Sections};
use crate::cursor::Cursor;
use crate::{DecodeError, EncodeError, Problem};
use mayhap::{AnyFilter, HashScheme, Kind, PlanError};

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
pub(super) fn kind_of(header: &Header<'_>) -> Option<Kind> {
    let known = KINDS.iter().find(|known| known.1 == header.kind);
    known.map(|known| known.0)
}

/// The parts of a filter.
pub(super) fn take_apart(filter: &AnyFilter) -> Result<Parts<'_>, EncodeError> {
    let scheme = filter.scheme();
    let mut parts = Parts {
        kind: number_of(filter.kind()),
        scheme,
        self_test: header::self_test(scheme),
        plan: Vec::new(),
        sections: Vec::new(),
    };
    match filter {
        AnyFilter::Bloom(filter) => bloom::write(filter, &mut parts),
        AnyFilter::Classic(filter) => classic::write(filter, &mut parts),
        AnyFilter::Counting(filter) => classic::write_counting(filter, &mut parts),
        AnyFilter::Growing(filter) => growing::write(filter, &mut parts),
        AnyFilter::Cuckoo(filter) => cuckoo::write(filter, &mut parts),
        AnyFilter::Window(filter) => window::write(filter, &mut parts),
        AnyFilter::Fuse(filter) => fuse::write(filter, &mut parts),
        _ => {
            return Err(EncodeError {
                format: super::FORMAT,
                reason: "files of this kind are not written yet: write a bloom, classic, counting, growing, window, cuckoo or fuse filter",
            });
        }
    }
    Ok(parts)
}

/// The filter of a file whose pages are whole.
pub(super) fn put_together(
    header: &Header<'_>,
    scheme: HashScheme,
    sections: &mut Sections<'_>,
) -> Result<AnyFilter, DecodeError> {
    header.check_self_test(header::self_test(scheme))?;
    let mut plan = header.plan()?;
    let at = &mut plan;
    let filter = match kind_of(header) {
        Some(Kind::Bloom) => bloom::read(at, sections, scheme)?.into(),
        Some(Kind::Classic) => classic::read(at, sections, scheme)?.into(),
        Some(Kind::Counting) => classic::read_counting(at, sections, scheme)?.into(),
        Some(Kind::Growing) => growing::read(at, sections, scheme)?.into(),
        Some(Kind::Cuckoo) => cuckoo::read(at, sections, scheme)?.into(),
        Some(Kind::Window) => window::read(at, sections, scheme)?.into(),
        Some(Kind::Fuse) => fuse::read(at, sections, scheme)?.into(),
        _ => return Err(at.value("kind", i128::from(header.kind), "1 to 7")),
    };
    plan.finish()?;
    sections.finish(&plan)?;
    Ok(filter)
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

/// What the core refuses, with the place in the file.
fn refused(at: &Cursor<'_>) -> impl FnOnce(PlanError) -> DecodeError {
    let error = at.error(Problem::Checksum);
    move |refused| DecodeError {
        problem: Problem::Plan(refused),
        ..error
    }
}
