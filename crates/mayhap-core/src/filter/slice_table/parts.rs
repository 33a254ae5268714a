//! What files store of a table, and the checks of what comes from a file.

use super::{MAX_COPIES, SliceTable};
use crate::PlanError;
use crate::filter::slice_entry::SliceEntry;
use crate::plan::counter_width;
use crate::probe::slice::{
    MAX_PAYLOAD_BITS, MAX_SLICE_AND_PAYLOAD_BITS, MAX_SLICE_BITS, MIN_SLICE_BITS, SliceShape,
};
use crate::simd::SliceCells;
use crate::store::Multiset;
use alloc::vec::Vec;

/// The contents of a table, as files store them.
#[derive(Clone, Debug)]
pub struct SliceTableParts<'t> {
    /// The number of bits in a slice.
    pub slice_bits: u32,
    /// The number of bits in the payload of a cell.
    pub payload_bits: u32,
    /// The number of the shape.
    pub shape: u32,
    /// How many groups have moved to the next shape.
    pub moved_groups: u64,
    /// The cells of these groups.
    pub moved: &'t [u8],
    /// The cells of all other groups.
    pub cells: &'t [u8],
    /// Slices without a cell, with the lowest bit set, and their copies, in ascending order. In a table with payloads, these plus 1 in
    /// place of the copies.
    pub stash: Vec<(u64, u64)>,
}

impl SliceTable {
    /// The number of the shape, how many groups have moved to the next one, the bytes of those and of the others, and the stash in
    /// ascending order.
    pub(in crate::filter) fn parts(&self) -> SliceTableParts<'_> {
        let mut stash: Vec<_> = self.stash.iter().collect();
        stash.sort_unstable();
        let next = self.next.as_ref();
        SliceTableParts {
            slice_bits: self.slice_bits(),
            payload_bits: self.payload_bits(),
            shape: self.cells.shape().step(),
            moved_groups: self.moved,
            moved: next.map_or(&[], |next| next.groups(0..self.moved_to(next))),
            cells: self.cells.groups(self.moved..self.cells.shape().groups()),
            stash,
        }
    }

    /// The number of the shape of the groups that have moved, and the bits of their payloads; without such groups, those of the
    /// others.
    pub(in crate::filter) fn moved_shape(&self) -> (u32, u32) {
        let shape = self.next.as_ref().unwrap_or(&self.cells).shape();
        (shape.step(), shape.payload_bits())
    }

    /// A table from existing parts, which may come from an untrusted file. Groups have moved to the next shape, with equal payloads.
    pub(in crate::filter) fn from_parts(parts: SliceTableParts<'_>) -> Result<Self, PlanError> {
        let moved = (parts.shape.saturating_add(1), parts.payload_bits);
        Self::open(parts, moved, None)
    }

    /// The same for a table that counts. `moved` is the shape of the groups that have moved, as [`moved_shape`](Self::moved_shape)
    /// returns it.
    pub(in crate::filter) fn from_counting_parts(
        parts: SliceTableParts<'_>,
        moved: (u32, u32),
        rests: Vec<(u64, u64)>,
    ) -> Result<Self, PlanError> {
        let is_width = |bits| counter_width::WIDTHS.contains(&bits);
        let is_next = if parts.moved_groups == 0 {
            moved == (parts.shape, parts.payload_bits)
        } else {
            moved.0 == parts.shape && moved.1 > parts.payload_bits
                || moved.0 == parts.shape.saturating_add(1)
        };
        if !is_width(parts.payload_bits) || !is_width(moved.1) || !is_next {
            return Err(PlanError::InvalidInteger {
                field: "counter bits",
                value: parts.payload_bits.into(),
                accepted: "2, 4 or 8, and more or in the next shape for groups that have moved",
            });
        }
        Self::open(parts, moved, Some(rests))
    }

    fn open(
        parts: SliceTableParts<'_>,
        moved: (u32, u32),
        rests: Option<Vec<(u64, u64)>>,
    ) -> Result<Self, PlanError> {
        let invalid = |field, value, accepted| PlanError::InvalidInteger {
            field,
            value,
            accepted,
        };
        if !(MIN_SLICE_BITS..=MAX_SLICE_BITS).contains(&parts.slice_bits) {
            return Err(invalid("slice bits", parts.slice_bits.into(), "16 to 54"));
        }
        let max_payload = MAX_PAYLOAD_BITS.min(MAX_SLICE_AND_PAYLOAD_BITS - parts.slice_bits);
        if parts.payload_bits.max(moved.1) > max_payload {
            let accepted = "at most 8, and at most 58 together with the slice";
            return Err(invalid("payload bits", parts.payload_bits.into(), accepted));
        }
        let shape = SliceShape::new(parts.slice_bits, parts.payload_bits, parts.shape);
        let shape = shape.ok_or(invalid(
            "shape",
            parts.shape.into(),
            "one that the slices fit",
        ))?;
        let has_next = parts.moved_groups > 0;
        let larger = has_next.then(|| SliceShape::new(parts.slice_bits, moved.1, moved.0));
        let larger = larger.flatten();
        if has_next && (larger.is_none() || parts.moved_groups >= shape.groups()) {
            let accepted = "fewer than there are, and none in the largest shape";
            return Err(invalid("moved groups", parts.moved_groups, accepted));
        }
        let ratio = larger.map_or(0, |larger| larger.groups() / shape.groups());
        let moved_bytes = larger.map_or(0, |larger| {
            parts.moved_groups * ratio * larger.group_bytes()
        });
        let bytes = (shape.groups() - parts.moved_groups) * shape.group_bytes();
        if parts.moved.len() as u64 != moved_bytes || parts.cells.len() as u64 != bytes {
            let given = (parts.moved.len() + parts.cells.len()) as u64;
            return Err(invalid("bytes", given, "as many as the cells need"));
        }
        let mut cells = SliceCells::zeroed(shape)?;
        let live = parts.moved_groups..shape.groups();
        cells.groups_mut(live.clone()).copy_from_slice(parts.cells);
        let mut counts = count_entries(&cells, live)?;
        let mut table = Self::from_cells(cells);
        table.moved = parts.moved_groups;
        if let Some(larger) = larger {
            let mut next = SliceCells::zeroed(larger)?;
            let live = 0..parts.moved_groups * ratio;
            next.groups_mut(live.clone()).copy_from_slice(parts.moved);
            let moved = count_entries(&next, live)?;
            counts = (counts.0 + moved.0, counts.1 + moved.1);
            table.next = Some(next);
        }
        let max_payload_bits = match rests {
            None => parts.payload_bits,
            // One that moves between widths.
            Some(_) => MAX_PAYLOAD_BITS,
        };
        table.check_stash(&parts.stash, max_payload_bits)?;
        for &(number, count) in &parts.stash {
            let (times, stored) = table.stashed(number, count);
            let is_new = SliceEntry::copies(table.cells_of(number), stored.slice) == 0;
            counts = (counts.0 + times, counts.1 + times - u64::from(is_new));
        }
        if parts.payload_bits > 0 && counts.1 > 0 {
            let accepted = "none in a table with payloads";
            return Err(invalid("copies of slices", counts.1, accepted));
        }
        (table.keys, table.copies) = counts;
        table.stash = Multiset::from_distinct(parts.stash)?;
        table.update_plain();
        if let Some(rests) = rests {
            table.open_counters(rests)?;
        }
        Ok(table)
    }

    fn check_stash(&self, stash: &[(u64, u64)], payload_bits: u32) -> Result<(), PlanError> {
        let max_count = match payload_bits {
            0 => MAX_COPIES,
            bits => 1 << bits,
        };
        let is_valid = |&(number, count): &(u64, u64)| {
            number == self.number(number) && (1..=max_count).contains(&count)
        };
        if stash.is_sorted_by(|a, b| a.0 < b.0) && stash.iter().all(is_valid) {
            Ok(())
        } else {
            Err(PlanError::InvalidInteger {
                field: "stash",
                value: stash.len() as u64,
                accepted: "distinct slices in ascending order, each once or twice or with a payload",
            })
        }
    }
}

/// The number of entries in some groups, and how many of them are copies of another; an error if one cannot be where it is.
fn count_entries(
    cells: &SliceCells,
    groups: core::ops::Range<u64>,
) -> Result<(u64, u64), PlanError> {
    let invalid = |value| PlanError::InvalidInteger {
        field: "cell",
        value,
        accepted: "a slice in one of its windows",
    };
    let shape = cells.shape();
    let used_bits = u64::from(shape.windows() + 1) * u64::from(shape.cell_bits());
    let (mut keys, mut twelfths) = (0, 0);
    for group in groups {
        for entry in SliceEntry::of_group(cells, group) {
            if !entry.is_valid(shape) {
                return Err(invalid(group));
            }
            keys += 1;
            // Of `copies` equal entries all but one are copies. There are at most four.
            let copies = SliceEntry::copies(cells, entry.slice(shape)).max(1);
            twelfths += 12 * (copies - 1) / copies;
        }
        let last = cells.groups(group..group + 1).last();
        if used_bits % 8 != 0 && last.is_some_and(|last| last >> (used_bits % 8) != 0) {
            return Err(invalid(group));
        }
    }
    Ok((keys, twelfths / 12))
}
