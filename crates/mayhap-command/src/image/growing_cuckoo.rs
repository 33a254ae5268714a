//! The filter of images of keys that grow in place: Bloom keys, whose items form a set, cuckoo keys, and counting keys.
//!
//! Fields: capacity, whether it is a maximum, rate, number of tables. For every table, the oldest first: capacity, the fields of its slices
//! (`slices.rs`), and the list of slices with their extra copies, with its length. A counting key has three more: bits of a counter, and the
//! number of the shape and the bits of a counter of the groups that have moved. A header has no tables: the filter is new.

use super::Parts;
use super::fields::{FieldReader, FieldWriter};
use super::slices::{self, Cells, SliceFields};
use crate::native::{counting_with_memory, with_memory};
use mayhap_codec::{DecodeError, Limits};
use mayhap_core::plan::GrowingCuckooPlan;
use mayhap_core::{
    CountingCuckoo, CountingCuckooTable, GrowingCuckoo, GrowingCuckooTable, HashScheme,
    SliceTableParts,
};

pub(super) fn write_plan(plan: &GrowingCuckooPlan, out: &mut FieldWriter) {
    out.number(plan.capacity());
    out.number(plan.maximum().is_some().into());
    out.rate(plan.false_positive_rate());
}

/// All fields; without bits, those of the new filter.
pub(super) fn write_fields(filter: &GrowingCuckoo, with_bits: bool, out: &mut FieldWriter) {
    write_plan(filter.plan(), out);
    if !with_bits {
        return out.number(0);
    }
    out.number(filter.keys_in_tables().len() as u64);
    for table in filter.tables() {
        write_table(table.capacity, &table.slices, &table.extra_copies, out);
    }
}

/// The same for a filter that counts.
pub(super) fn write_counting_fields(
    filter: &CountingCuckoo,
    with_bits: bool,
    out: &mut FieldWriter,
) {
    write_plan(filter.plan(), out);
    if !with_bits {
        return out.number(0);
    }
    out.number(filter.tables().len() as u64);
    for table in filter.tables() {
        let counter_bits = table.slices.payload_bits;
        write_table(table.capacity, &table.slices, &table.rests, out);
        out.number(counter_bits.into());
        out.number(table.moved_shape.into());
        out.number(table.moved_counter_bits.into());
    }
}

fn write_table(
    capacity: u64,
    slices: &SliceTableParts<'_>,
    copies: &[(u64, u64)],
    out: &mut FieldWriter,
) {
    out.number(capacity);
    slices::write(slices, out);
    slices::write_pairs(copies, out);
}

/// The cells of every table, borrowed.
pub(super) fn push_bits<'f>(
    tables: impl Iterator<Item = SliceTableParts<'f>>,
    parts: &mut Parts<'f>,
) {
    tables.for_each(|slices| slices::push_bits(&slices, parts));
}

/// The fields of a table.
struct TableFields {
    capacity: u64,
    slices: SliceFields,
    copies: Vec<(u64, u64)>,
    /// 0 in a filter that does not count, as the next two.
    counter_bits: u32,
    moved_shape: u32,
    moved_counter_bits: u32,
}

impl TableFields {
    fn read(at: &mut FieldReader<'_>, counts: bool) -> Result<Self, DecodeError> {
        let mut fields = Self {
            capacity: at.number("capacity of a table")?,
            slices: SliceFields::read(at)?,
            copies: at.pairs("extra copies")?,
            counter_bits: 0,
            moved_shape: 0,
            moved_counter_bits: 0,
        };
        if counts {
            fields.counter_bits = at.small("bits of a counter", "2, 4 or 8")?;
            fields.moved_shape = at.small("shape of moved groups", "at most 150")?;
            fields.moved_counter_bits =
                at.small("bits of a counter of moved groups", "2, 4 or 8")?;
        }
        Ok(fields)
    }
}

/// The plan of a filter, its tables and their cells; none for a header.
struct FilterFields<'a> {
    plan: GrowingCuckooPlan,
    tables: Vec<TableFields>,
    cells: Vec<Cells<'a>>,
}

impl<'a> FilterFields<'a> {
    fn read(
        at: &mut FieldReader<'a>,
        has_bits: bool,
        limits: Limits,
        counts: bool,
    ) -> Result<Self, DecodeError> {
        let capacity = at.number("capacity")?;
        let has_maximum = at.flag("has a maximum")?;
        let rate = at.rate("rate")?;
        let plan = GrowingCuckooPlan::from_shape(capacity, has_maximum, rate);
        let plan = plan.map_err(|error| at.plan_error(error))?;
        let count = at.number("tables")?;
        if has_bits == (count == 0) {
            return Err(at.wrong("tables", count, "1 or more, and none in a header"));
        }
        // Each table has fields, so a wrong count ends with the bytes at the latest.
        let tables = (0..count).map(|_| TableFields::read(at, counts));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        let (new_bytes, _) = if counts {
            plan.counting_size_and_tables_at(capacity)
        } else {
            plan.size_and_tables_at(capacity)
        };
        let sizes = tables.iter().map(|table| table.slices.size_bytes());
        let size_bytes = sizes.fold(0, u64::saturating_add);
        let size_bytes = if has_bits { size_bytes } else { new_bytes };
        let mut bits = at.bits(has_bits, size_bytes, limits)?;
        let cells = tables
            .iter()
            .map(|table| table.slices.take_cells(&mut bits));
        let cells = cells.collect::<Result<Vec<_>, DecodeError>>()?;
        Ok(Self {
            plan,
            tables,
            cells,
        })
    }
}

pub(super) fn read(
    at: &mut FieldReader<'_>,
    scheme: HashScheme,
    has_bits: bool,
    limits: Limits,
) -> Result<GrowingCuckoo, DecodeError> {
    let fields = FilterFields::read(at, has_bits, limits, false)?;
    let plan = fields.plan;
    let tables = fields.tables.into_iter().zip(&fields.cells);
    let tables = tables.map(|(table, cells)| GrowingCuckooTable {
        capacity: table.capacity,
        slices: table.slices.parts(0, cells),
        extra_copies: table.copies,
    });
    let filter = if has_bits {
        GrowingCuckoo::from_tables(plan, scheme, tables)
    } else {
        with_memory(plan, scheme)
    };
    filter.map_err(|error| at.plan_error(error))
}

/// The same for a filter that counts.
pub(super) fn read_counting(
    at: &mut FieldReader<'_>,
    scheme: HashScheme,
    has_bits: bool,
    limits: Limits,
) -> Result<CountingCuckoo, DecodeError> {
    let fields = FilterFields::read(at, has_bits, limits, true)?;
    let plan = fields.plan;
    let tables = fields.tables.into_iter().zip(&fields.cells);
    let tables = tables.map(|(table, cells)| CountingCuckooTable {
        capacity: table.capacity,
        slices: table.slices.parts(table.counter_bits, cells),
        moved_shape: table.moved_shape,
        moved_counter_bits: table.moved_counter_bits,
        rests: table.copies,
    });
    let filter = if has_bits {
        CountingCuckoo::from_tables(plan, scheme, tables)
    } else {
        counting_with_memory(plan, scheme)
    };
    filter.map_err(|error| at.plan_error(error))
}
