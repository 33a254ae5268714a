//! `WindowCuckoo`: seven fields, three for each table; three sections a table: the cells of the groups that have moved to the next
//! shape, those of the others, and the stash.

use super::growing_cuckoo::{push_slices, read_slices};
use super::{refused, small};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::parts::{Parts, Sections};
use mayhap_core::plan::WindowCuckooPlan;
use mayhap_core::{HashScheme, Timestamp, WindowCuckoo};

/// Bits of a cell for the number of an epoch.
const EPOCH_BITS: u32 = 4;

pub(super) fn write<'f>(filter: &'f WindowCuckoo, parts: &mut Parts<'f>) {
    let plan = filter.plan();
    parts.number(plan.keys_per_window());
    parts.rate(plan.false_positive_rate());
    parts.number(plan.epoch_ms());
    parts.number(plan.epochs().into());
    parts.number(filter.start().0);
    parts.number(filter.newest().0);
    parts.number(filter.tables().len() as u64);
    for slices in filter.tables() {
        push_slices(slices, parts);
    }
}

pub(super) fn read(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    scheme: HashScheme,
) -> Result<WindowCuckoo, DecodeError> {
    let (keys, rate) = (at.u64_le("keys a window")?, at.f64_le("rate")?);
    let epoch_ms = at.u64_le("length of an epoch")?;
    let epochs = small(at, "epochs", "2 to 14")?;
    let plan = WindowCuckooPlan::from_shape(keys, rate, epoch_ms, epochs).map_err(refused(at))?;
    let start = Timestamp(at.u64_le("start")?);
    let newest = Timestamp(at.u64_le("newest")?);
    let count = at.u64_le("tables")?;
    let mut tables = Vec::new();
    // Every table has fields in the plan, which bounds this loop.
    for _ in 0..count {
        tables.push(read_slices(at, sections, EPOCH_BITS)?);
    }
    WindowCuckoo::from_tables(plan, scheme, (start, newest), tables).map_err(refused(at))
}
