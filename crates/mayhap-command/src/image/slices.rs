//! The fields of a table that stores slices, which images of several kinds have: bits of a slice, number of the shape, number of groups that
//! have moved to the next shape, bytes of these, bytes of the others, and the list of slices without a cell, with its length. The bits of a
//! table are its moved groups and the others.

use super::Parts;
use super::fields::{FieldReader, FieldWriter, PartBits};
use mayhap_codec::DecodeError;
use mayhap_core::SliceTableParts;
use std::borrow::Cow;

pub(super) fn write(slices: &SliceTableParts<'_>, out: &mut FieldWriter) {
    out.number(slices.slice_bits.into());
    out.number(slices.shape.into());
    out.number(slices.moved_groups);
    out.number(slices.moved.len() as u64);
    out.number(slices.cells.len() as u64);
    write_pairs(&slices.stash, out);
}

pub(super) fn write_pairs(pairs: &[(u64, u64)], out: &mut FieldWriter) {
    out.number(pairs.len() as u64);
    for &(slice, count) in pairs {
        out.number(slice);
        out.number(count);
    }
}

/// The cells, borrowed.
pub(super) fn push_bits<'f>(slices: &SliceTableParts<'f>, parts: &mut Parts<'f>) {
    parts.push(Cow::Borrowed(slices.moved));
    parts.push(Cow::Borrowed(slices.cells));
}

/// The cells of the moved groups, and of the others.
pub(super) type Cells<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

pub(super) struct SliceFields {
    slice_bits: u32,
    shape: u32,
    moved_groups: u64,
    moved_bytes: u64,
    cell_bytes: u64,
    stash: Vec<(u64, u64)>,
}

impl SliceFields {
    pub(super) fn read(at: &mut FieldReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            slice_bits: at.small("bits of a slice", "16 to 54")?,
            shape: at.small("shape", "at most 150")?,
            moved_groups: at.number("moved groups")?,
            moved_bytes: at.number("bytes of moved groups")?,
            cell_bytes: at.number("bytes of cells")?,
            stash: at.pairs("slices without a cell")?,
        })
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.moved_bytes.saturating_add(self.cell_bytes)
    }

    /// The cells of this table, which come next.
    pub(super) fn take_cells<'a>(&self, bits: &mut PartBits<'a>) -> Result<Cells<'a>, DecodeError> {
        let moved = bits.next(self.moved_bytes)?.unwrap_or_default();
        Ok((moved, bits.next(self.cell_bytes)?.unwrap_or_default()))
    }

    pub(super) fn parts<'c>(
        self,
        payload_bits: u32,
        (moved, cells): &'c Cells<'_>,
    ) -> SliceTableParts<'c> {
        SliceTableParts {
            slice_bits: self.slice_bits,
            payload_bits,
            shape: self.shape,
            moved_groups: self.moved_groups,
            moved,
            cells,
            stash: self.stash,
        }
    }
}
