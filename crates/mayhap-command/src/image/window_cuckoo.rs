//! The filter of images of windows.
//!
//! Fields: keys of a window, rate, length of an epoch, epochs, start, newest time, number of tables, and the fields of the slices of every
//! table (`slices.rs`). A header has no tables: the filter is new.

use super::Parts;
use super::fields::{FieldReader, FieldWriter};
use super::slices::{self, SliceFields};
use mayhap_codec::{DecodeError, Limits};
use mayhap_core::plan::WindowCuckooPlan;
use mayhap_core::{HashScheme, Timestamp, WindowCuckoo};

/// Bits of a cell for the number of an epoch.
const EPOCH_BITS: u32 = 4;

/// All fields; without bits, those of the new filter.
pub(super) fn write_fields(filter: &WindowCuckoo, with_bits: bool, out: &mut FieldWriter) {
    let plan = filter.plan();
    out.number(plan.keys_per_window());
    out.rate(plan.false_positive_rate());
    out.number(plan.epoch_ms());
    out.number(plan.epochs().into());
    out.number(filter.start().0);
    if !with_bits {
        out.number(filter.start().0);
        return out.number(0);
    }
    out.number(filter.newest().0);
    out.number(filter.tables().len() as u64);
    for table in filter.tables() {
        slices::write(&table, out);
    }
}

/// The cells of every table, borrowed.
pub(super) fn push_bits<'f>(filter: &'f WindowCuckoo, parts: &mut Parts<'f>) {
    for table in filter.tables() {
        slices::push_bits(&table, parts);
    }
}

pub(super) fn read(
    at: &mut FieldReader<'_>,
    scheme: HashScheme,
    has_bits: bool,
    limits: Limits,
) -> Result<WindowCuckoo, DecodeError> {
    let (keys, rate) = (at.number("keys a window")?, at.rate("rate")?);
    let epoch_ms = at.number("length of an epoch")?;
    let epochs = at.small("epochs", "2 to 14")?;
    let plan = WindowCuckooPlan::from_shape(keys, rate, epoch_ms, epochs);
    let plan = plan.map_err(|error| at.plan_error(error))?;
    let start = Timestamp(at.number("start")?);
    let newest = Timestamp(at.number("newest")?);
    let count = at.number("tables")?;
    if has_bits == (count == 0) || !has_bits && newest != start {
        return Err(at.wrong("tables", count, "1 or more, and none in a header"));
    }
    // Each table has fields, so a wrong count ends with the bytes at the latest.
    let tables = (0..count).map(|_| SliceFields::read(at));
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
    let sizes = tables.iter().map(SliceFields::size_bytes);
    let size_bytes = sizes.fold(0, u64::saturating_add);
    let size_bytes = if has_bits {
        size_bytes
    } else {
        plan.size_bytes()
    };
    let mut bits = at.bits(has_bits, size_bytes, limits)?;
    if !has_bits {
        let filter = WindowCuckoo::from_plan(plan, scheme, start);
        return filter.map_err(|error| at.plan_error(error));
    }
    let cells = tables.iter().map(|table| table.take_cells(&mut bits));
    let cells = cells.collect::<Result<Vec<_>, DecodeError>>()?;
    let tables = tables.into_iter().zip(&cells);
    let tables = tables.map(|(table, cells)| table.parts(EPOCH_BITS, cells));
    WindowCuckoo::from_tables(plan, scheme, (start, newest), tables)
        .map_err(|error| at.plan_error(error))
}
