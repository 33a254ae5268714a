//! Which data blocks a table has: its index, plain or packed, in one block or in two levels.

use super::block::{Block, Handle};
use super::{MAX_PLAIN_INDEX_VERSION, Table};
use crate::cursor::Cursor;
use crate::{DecodeError, Format};
use std::ops::ControlFlow;

const PROPERTIES: &[u8] = b"rocksdb.properties";
const RANGE_DELETIONS: &[u8] = b"rocksdb.range_del";
const INDEX_TYPE: &[u8] = b"rocksdb.block.based.table.index.type";
const IS_DELTA_ENCODED: &[u8] = b"rocksdb.index.value.is.delta.encoded";

/// The layout of RocksDB's indexes.
#[derive(Clone, Copy, Default)]
struct IndexLayout {
    /// Values have no length, and after the first of a run only the difference of the sizes.
    is_packed: bool,
    /// Blocks of the index are found by an index of their own.
    has_two_levels: bool,
    /// The first key of a block follows its handle.
    has_first_keys: bool,
}

/// Passes every data block to `each`, in order.
pub(super) fn each_data_block(
    table: &Table<'_>,
    mut each: impl FnMut(Handle) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let layout = layout(table)?;
    let mut end = 0;
    // A small file could otherwise list one block many times and have endless keys.
    let mut each_once = |handle: Handle| {
        if handle.offset < end {
            let at = Cursor::new(table.bytes, table.format);
            let accepted = "past the blocks before it";
            return Err(at.value("offset of a block", handle.offset.into(), accepted));
        }
        end = handle.end();
        each(handle)
    };
    let index = table.block(table.index)?;
    if !layout.has_two_levels {
        return each_handle(&index, layout, &mut each_once);
    }
    let mut parts_end = 0;
    each_handle(&index, layout, &mut |part: Handle| {
        if part.offset < parts_end {
            let at = Cursor::new(table.bytes, table.format);
            let accepted = "past the parts before it";
            return Err(at.value("offset of an index", part.offset.into(), accepted));
        }
        parts_end = part.end();
        each_handle(&table.block(part)?, layout, &mut each_once)
    })
}

/// LevelDB has one layout; RocksDB says which in the properties of a table.
fn layout(table: &Table<'_>) -> Result<IndexLayout, DecodeError> {
    let mut layout = IndexLayout::default();
    if table.format != Format::RocksDb {
        return Ok(layout);
    }
    let mut properties = None;
    let at = Cursor::new(table.bytes, table.format);
    table.block(table.metaindex)?.each_entry(|name, value| {
        if name == PROPERTIES {
            properties = Some(Handle::read(&mut Cursor::new(value, table.format))?);
        }
        if name == RANGE_DELETIONS {
            let accepted = "0: deleted ranges are not keys, so the table may hold any key";
            return Err(at.value("deleted ranges", 1, accepted));
        }
        Ok(ControlFlow::<()>::Continue(()))
    })?;
    let Some(properties) = properties else {
        if table.version > MAX_PLAIN_INDEX_VERSION {
            return Err(at.value("properties", 0, "a block that says how the index is packed"));
        }
        return Ok(layout);
    };
    table.block(properties)?.each_entry(|name, value| {
        let number = value.first().copied().unwrap_or(0);
        if name == INDEX_TYPE {
            match number {
                0 | 1 => {}
                2 => layout.has_two_levels = true,
                3 => layout.has_first_keys = true,
                other => return Err(at.value("type of the index", other.into(), "0 to 3")),
            }
        }
        if name == IS_DELTA_ENCODED {
            layout.is_packed = number != 0;
        }
        Ok(ControlFlow::<()>::Continue(()))
    })?;
    Ok(layout)
}

fn each_handle(
    index: &Block<'_>,
    layout: IndexLayout,
    each: &mut impl FnMut(Handle) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    if !layout.is_packed {
        let read = |_: &[u8], value: &[u8]| {
            each(Handle::read(&mut Cursor::new(value, index.format()))?)?;
            Ok(ControlFlow::<()>::Continue(()))
        };
        return index.each_entry(read).map(drop);
    }
    let mut at = index.entries()?;
    let mut last: Option<Handle> = None;
    while at.left() > 0 {
        let shared = at.varint("shared bytes")?;
        let own = at.varint("own bytes")?;
        at.take("key", own)?;
        let handle = match last {
            Some(last) if shared > 0 => {
                let difference = at.varint("difference of sizes")?;
                // Zigzag: the lowest bit is the sign.
                let difference = (difference >> 1).cast_signed() ^ -(difference & 1).cast_signed();
                last.next(difference)
                    .ok_or_else(|| at.value("difference of sizes", difference.into(), "a size"))?
            }
            _ => Handle::read(&mut at)?,
        };
        if layout.has_first_keys {
            let length = at.varint("length of a key")?;
            at.take("first key of a block", length)?;
        }
        each(handle)?;
        last = Some(handle);
    }
    Ok(())
}
