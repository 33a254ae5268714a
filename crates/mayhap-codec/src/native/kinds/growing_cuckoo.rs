//! `GrowingCuckoo` and `CountingCuckoo`: four fields, and four or seven for each table; four sections a table: the cells of the groups
//! that have moved to another shape, those of the others, the stash, and the copies that are not in cells.

use super::{flag, refused, small};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::parts::{Parts, Section, Sections, words};
use mayhap_core::plan::GrowingCuckooPlan;
use mayhap_core::{
    CountingCuckoo, CountingCuckooTable, GrowingCuckoo, GrowingCuckooTable, HashScheme,
    SliceTableParts,
};
use std::borrow::Cow;

pub(super) fn write<'f>(filter: &'f GrowingCuckoo, parts: &mut Parts<'f>) {
    parts.is_set = filter.is_set();
    write_plan(filter.plan(), filter.tables().count(), parts);
    for table in filter.tables() {
        parts.number(table.capacity);
        push_slices(table.slices, parts);
        push_pairs(table.extra_copies, parts);
    }
}

pub(super) fn write_counting<'f>(filter: &'f CountingCuckoo, parts: &mut Parts<'f>) {
    write_plan(filter.plan(), filter.tables().len(), parts);
    for table in filter.tables() {
        let counter_bits = table.slices.payload_bits;
        parts.number(table.capacity);
        push_slices(table.slices, parts);
        parts.number(counter_bits.into());
        parts.number(table.moved_shape.into());
        parts.number(table.moved_counter_bits.into());
        push_pairs(table.rests, parts);
    }
}

fn write_plan(plan: &GrowingCuckooPlan, tables: usize, parts: &mut Parts<'_>) {
    parts.number(plan.capacity());
    parts.number(plan.maximum().is_some().into());
    parts.rate(plan.false_positive_rate());
    parts.number(tables as u64);
}

/// The fields and sections of a table that stores slices.
pub(super) fn push_slices<'f>(slices: SliceTableParts<'f>, parts: &mut Parts<'f>) {
    parts.number(slices.slice_bits.into());
    parts.number(slices.shape.into());
    parts.number(slices.moved_groups);
    for cells in [slices.moved, slices.cells] {
        parts.sections.push(Section::Bytes(Cow::Borrowed(cells)));
    }
    push_pairs(slices.stash, parts);
}

fn push_pairs(pairs: Vec<(u64, u64)>, parts: &mut Parts<'_>) {
    let words = pairs.into_iter().flat_map(|(slice, count)| [slice, count]);
    parts.sections.push(Section::own_words(words.collect()));
}

pub(super) fn read(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    scheme: HashScheme,
) -> Result<GrowingCuckoo, DecodeError> {
    let (plan, count) = read_plan(at)?;
    let mut tables = Vec::new();
    // Every table has fields in the plan, which bounds this loop.
    for _ in 0..count {
        tables.push(GrowingCuckooTable {
            capacity: at.u64_le("capacity of a table")?,
            slices: read_slices(at, sections, 0)?,
            extra_copies: pairs(at, sections)?,
        });
    }
    GrowingCuckoo::from_tables(plan, scheme, tables).map_err(refused(at))
}

pub(super) fn read_counting(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    scheme: HashScheme,
) -> Result<CountingCuckoo, DecodeError> {
    let (plan, count) = read_plan(at)?;
    let mut tables = Vec::new();
    // As above.
    for _ in 0..count {
        let capacity = at.u64_le("capacity of a table")?;
        let mut slices = read_slices(at, sections, 0)?;
        slices.payload_bits = small(at, "counter bits", "2, 4 or 8")?;
        let moved_shape = small(at, "shape of moved groups", "at most 150")?;
        let moved_counter_bits = small(at, "counter bits of moved groups", "2, 4 or 8")?;
        tables.push(CountingCuckooTable {
            capacity,
            slices,
            moved_shape,
            moved_counter_bits,
            rests: pairs(at, sections)?,
        });
    }
    CountingCuckoo::from_tables(plan, scheme, tables).map_err(refused(at))
}

/// The plan, and the number of tables.
fn read_plan(at: &mut Cursor<'_>) -> Result<(GrowingCuckooPlan, u64), DecodeError> {
    let capacity = at.u64_le("capacity")?;
    let has_maximum = flag(at, "has a maximum")?;
    let rate = at.f64_le("rate")?;
    let plan = GrowingCuckooPlan::from_shape(capacity, has_maximum, rate).map_err(refused(at))?;
    Ok((plan, at.u64_le("tables")?))
}

/// A table that stores slices.
pub(super) fn read_slices<'a>(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'a>,
    payload_bits: u32,
) -> Result<SliceTableParts<'a>, DecodeError> {
    let slice_bits = small(at, "slice bits", "16 to 54")?;
    let shape = small(at, "shape", "at most 150")?;
    let moved_groups = at.u64_le("moved groups")?;
    Ok(SliceTableParts {
        slice_bits,
        payload_bits,
        shape,
        moved_groups,
        moved: sections.any(at)?,
        cells: sections.any(at)?,
        stash: pairs(at, sections)?,
    })
}

fn pairs(at: &Cursor<'_>, sections: &mut Sections<'_>) -> Result<Vec<(u64, u64)>, DecodeError> {
    let bytes = sections.whole(at, 16)?;
    let firsts = words(bytes).step_by(2);
    let seconds = words(bytes).skip(1).step_by(2);
    Ok(firsts.zip(seconds).collect())
}
