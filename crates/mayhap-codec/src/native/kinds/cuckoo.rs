//! `Cuckoo`: whether it grows and how many tables it has, five fields for each; a section of cells a table, and one of twins if
//! it grows.

use super::{flag, growing, refused, small};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::parts::{Parts, Section, Sections, words};
use mayhap_core::plan::CuckooPlan;
use mayhap_core::{Cuckoo, HashScheme};
use std::borrow::Cow;

pub(super) fn write<'f>(filter: &'f Cuckoo, parts: &mut Parts<'f>) {
    let growth = filter.growth();
    parts.number(growth.is_some().into());
    if let Some(growth) = growth {
        growing::write_plan(growth, parts);
        parts.number(filter.tables().count() as u64);
    }
    let mut twins = filter.extra_copies();
    for (plan, cells) in filter.tables() {
        parts.number(plan.capacity());
        parts.rate(plan.false_positive_rate());
        parts.number(plan.cells());
        parts.number(plan.fingerprint_bits().into());
        parts.sections.push(Section::Bytes(Cow::Borrowed(cells)));
        if let Some((number, twins)) = twins.next() {
            parts.number(number.into());
            let count = 2 * twins.len() as u64;
            let twins = twins.into_iter().flat_map(|(twin, times)| [twin, times]);
            parts.sections.push(Section::Words(count, Box::new(twins)));
        }
    }
}

pub(super) fn read(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    scheme: HashScheme,
) -> Result<Cuckoo, DecodeError> {
    if !flag(at, "grows")? {
        let plan = read_plan(at)?;
        let cells = sections.take(at, plan.size_bytes())?;
        return Cuckoo::from_bytes(plan, scheme, cells).map_err(refused(at));
    }
    let growth = growing::read_plan(at)?;
    let count = at.u64_le("tables")?;
    let mut tables = Vec::new();
    // Every table has fields in the plan, which bounds this loop.
    for _ in 0..count {
        let plan = read_plan(at)?;
        let number = small(at, "number of a table", "at most 1000")?;
        let cells = sections.take(at, plan.size_bytes())?;
        let twins = read_twins(at, sections)?;
        tables.push((plan, number, cells, twins));
    }
    Cuckoo::from_tables(growth, scheme, tables).map_err(refused(at))
}

fn read_plan(at: &mut Cursor<'_>) -> Result<CuckooPlan, DecodeError> {
    let capacity = at.u64_le("capacity")?;
    let rate = at.f64_le("rate")?;
    let cells = at.u64_le("cells")?;
    let fingerprint_bits = small(at, "bits of a fingerprint", "4 to 26")?;
    CuckooPlan::from_shape(capacity, rate, cells, fingerprint_bits).map_err(refused(at))
}

/// Pairs of a twin and how often it is in, by rising twins.
fn read_twins<'a>(
    at: &Cursor<'_>,
    sections: &mut Sections<'a>,
) -> Result<impl Iterator<Item = (u64, u64)> + use<'a>, DecodeError> {
    let bytes = sections.whole(at, 16)?;
    let twins = words(bytes).step_by(2);
    let times = words(bytes).skip(1).step_by(2);
    Ok(twins.zip(times))
}
