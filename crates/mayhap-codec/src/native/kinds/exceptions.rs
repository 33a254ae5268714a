//! The exceptions of `Excepting`, after the parts of its base: seven fields; a section of hashes or two for each level of the
//! layer, and one of the keys that override it.

use super::{refused, small};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::header::FileHeader;
use crate::native::parts::{Parts, Section, Sections, words};
use mayhap_core::{
    AnyFilter, Excepting, ExceptingError, ExceptionLayer, ExceptionParts, RetrievalParts,
};

const LIST: u64 = 0;
const ONE_LEVEL: u64 = 1;
const OF_EXCEPTIONS: u64 = 2;
const OF_POSITIVES: u64 = 3;

pub(super) fn write(exceptions: ExceptionParts, parts: &mut Parts<'_>) {
    parts.number(exceptions.positives);
    parts.number(exceptions.corrected);
    parts.number(exceptions.exceptions);
    parts.number(exceptions.resolved_conflicts);
    parts.number(exceptions.inserted);
    let (form, levels) = match exceptions.layer {
        ExceptionLayer::List(hashes) => {
            parts.sections.push(Section::own_words(hashes));
            (LIST, Vec::new())
        }
        ExceptionLayer::OneLevel(second) => (ONE_LEVEL, vec![second]),
        ExceptionLayer::OfExceptions(first, second) => (OF_EXCEPTIONS, vec![first, second]),
        ExceptionLayer::OfPositives(first, second) => (OF_POSITIVES, vec![first, second]),
    };
    parts.number(form);
    // The last level has one bit; the others state how many they have.
    let first_bits = levels.first().map_or(0, |first| first.bits);
    parts.number(first_bits.into());
    for level in levels {
        parts.sections.push(Section::entries(&level.directory));
        parts.sections.push(Section::own_words(level.words));
    }
    parts
        .sections
        .push(Section::own_words(exceptions.overrides));
}

pub(super) fn read(
    header: &FileHeader<'_>,
    base: AnyFilter,
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
) -> Result<AnyFilter, DecodeError> {
    let positives = at.u64_le("positives")?;
    let corrected = at.u64_le("exceptions that the base accepts")?;
    let exceptions = at.u64_le("exceptions")?;
    let settled = at.u64_le("hashes on both lists")?;
    let inserted = at.u64_le("keys inserted")?;
    let form_at = at.clone();
    let form = at.u64_le("form of the layer")?;
    let bits = small(at, "bits of the first level", "at most 32")?;
    let layer = match form {
        LIST => ExceptionLayer::List(words(sections.whole(at, 8)?).collect()),
        ONE_LEVEL => ExceptionLayer::OneLevel(level(bits, at, sections)?),
        OF_EXCEPTIONS => {
            let first = level(bits, at, sections)?;
            ExceptionLayer::OfExceptions(first, level(1, at, sections)?)
        }
        OF_POSITIVES => {
            let first = level(bits, at, sections)?;
            ExceptionLayer::OfPositives(first, level(1, at, sections)?)
        }
        form => return Err(form_at.value("form of the layer", i128::from(form), "0 to 3")),
    };
    if form == LIST && bits != 0 {
        let accepted = "0 for a list";
        return Err(form_at.value("bits of the first level", i128::from(bits), accepted));
    }
    let parts = ExceptionParts {
        positives,
        corrected,
        exceptions,
        resolved_conflicts: settled,
        inserted,
        layer,
        overrides: words(sections.whole(at, 8)?).collect(),
    };
    match Excepting::from_parts(base, parts) {
        Ok(filter) => Ok(filter.into()),
        Err(ExceptingError::Plan(error)) => Err(refused(at)(error)),
        Err(_) => {
            let accepted = "one that can have exceptions: 1 to 4 and 6 to 8, with a walk of ours";
            Err(at.value("kind", i128::from(header.kind), accepted))
        }
    }
}

fn level(
    bits: u8,
    at: &Cursor<'_>,
    sections: &mut Sections<'_>,
) -> Result<RetrievalParts, DecodeError> {
    Ok(RetrievalParts {
        bits,
        directory: sections.entries(at)?,
        words: words(sections.whole(at, 8)?).collect(),
    })
}
