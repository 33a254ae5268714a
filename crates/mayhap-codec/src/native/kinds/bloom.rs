//! `Bloom`: five fields, and a section of lines.

use super::{refused, small};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::parts::{Parts, Section, Sections};
use mayhap_core::plan::{BloomPlan, LinesPerKey};
use mayhap_core::{Bloom, HashScheme};

pub(super) fn write<'f>(filter: &'f Bloom, parts: &mut Parts<'f>) {
    write_plan(filter.plan(), parts);
    write_lines(filter, parts);
}

/// The bits at the moment; other threads may insert meanwhile.
#[cfg(target_has_atomic = "64")]
pub(super) fn write_shared<'f>(filter: &'f mayhap_core::SharedBloom, parts: &mut Parts<'f>) {
    write_plan(filter.plan(), parts);
    let words = filter.plan().size_bytes() / 8;
    let section = Section::Words(words, Box::new(filter.words()));
    parts.sections.push(section);
}

pub(super) fn read(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    scheme: HashScheme,
) -> Result<Bloom, DecodeError> {
    let plan = read_plan(at)?;
    read_lines(at, plan, sections, scheme)
}

pub(super) fn write_plan(plan: &BloomPlan, parts: &mut Parts<'_>) {
    parts.number(plan.capacity());
    parts.rate(plan.false_positive_rate());
    parts.number(plan.lines());
    parts.number(plan.bits_per_line().into());
    parts.number(plan.lines_per_key().count().into());
}

pub(super) fn read_plan(at: &mut Cursor<'_>) -> Result<BloomPlan, DecodeError> {
    let capacity = at.u64_le("capacity")?;
    let rate = at.f64_le("rate")?;
    let lines = at.u64_le("lines")?;
    let words = small(at, "bits per key in a line", "1 to 8")?;
    let count = at.u64_le("lines a key")?;
    let Some(lines_per_key) = LinesPerKey::from_count(count) else {
        return Err(at.value("lines a key", i128::from(count), "1 or 2"));
    };
    BloomPlan::from_shape(capacity, rate, lines, words, lines_per_key).map_err(refused(at))
}

pub(super) fn write_lines<'f>(filter: &'f Bloom, parts: &mut Parts<'f>) {
    parts.sections.push(Section::Bytes(filter.bytes()));
}

pub(super) fn read_lines(
    at: &Cursor<'_>,
    plan: BloomPlan,
    sections: &mut Sections<'_>,
    scheme: HashScheme,
) -> Result<Bloom, DecodeError> {
    let lines = sections.take(at, plan.size_bytes())?;
    Bloom::from_bytes(plan, scheme, lines).map_err(refused(at))
}
