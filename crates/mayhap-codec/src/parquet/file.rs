//! The filters of a `.parquet` file: where its metadata says they are.

use super::thrift::{self, WireType, each_element, each_field, zigzag};
use crate::cursor::Cursor;
use crate::format::ContainerRow;
use crate::open::{Location, OpenError, OpenOptions, OpenedFilter};
use crate::{DecodeError, Format};
use mayhap_core::ClassicBloom;
use std::borrow::Cow;

const MAGIC: &[u8; 4] = b"PAR1";

/// A column of a row group that has a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The number of the row group.
    pub row_group: usize,
    /// The path of the column, joined by dots.
    pub name: String,
    /// How values are stored, and so hashed: 1 `INT32`, 2 `INT64`, 4 `FLOAT`, 5 `DOUBLE`, 6 `BYTE_ARRAY`, 7 `FIXED_LEN_BYTE_ARRAY`.
    pub physical_type: i64,
    /// Where the filter begins, with its header.
    pub offset: u64,
    /// How long it is with its header, if the file says so.
    pub length: Option<u64>,
}

/// The columns that have filters, in the order of the file.
///
/// # Errors
/// When the file is not a Parquet file, or its metadata is damaged.
pub fn columns(bytes: &[u8]) -> Result<Vec<Column>, DecodeError> {
    // Two passes, to allocate exactly: a column takes a few bytes in the file and dozens here.
    let mut count = 0;
    each_column(bytes, |_| count += 1)?;
    let mut columns = Vec::with_capacity(count);
    each_column(bytes, |column| columns.push(column))?;
    Ok(columns)
}

fn each_column(bytes: &[u8], mut each: impl FnMut(Column)) -> Result<(), DecodeError> {
    let metadata = metadata(bytes)?;
    let mut at = Cursor::new(metadata, Format::Parquet);
    each_field(&mut at, |at, number, kind| {
        if (number, kind) != (4, WireType::LIST) {
            return Ok(false);
        }
        let mut row_group = 0;
        each_element(at, WireType::STRUCT, |at| {
            read_row_group(at, row_group, &mut each)?;
            row_group += 1;
            Ok(())
        })?;
        Ok(true)
    })
}

/// The metadata: it ends before its length and the magic number at the end of the file.
fn metadata(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    let at = Cursor::new(bytes, Format::Parquet);
    let is_parquet = bytes.starts_with(MAGIC) && bytes.ends_with(MAGIC) && bytes.len() >= 12;
    let Some((body, &[a, b, c, d, ..])) = bytes.split_last_chunk::<8>().filter(|_| is_parquet)
    else {
        return Err(at.value(
            "magic number",
            0,
            "PAR1 at both ends (encrypted files, PARE, cannot be read)",
        ));
    };
    let end = body.len();
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    let start = end.checked_sub(length).filter(|&start| start >= 4);
    match start {
        Some(start) => Ok(&bytes[start..end]),
        None => Err(at.value(
            "length of the metadata",
            length as i128,
            "what the file has room for",
        )),
    }
}

fn read_row_group(
    at: &mut Cursor<'_>,
    row_group: usize,
    each: &mut impl FnMut(Column),
) -> Result<(), DecodeError> {
    each_field(at, |at, number, kind| {
        if (number, kind) != (1, WireType::LIST) {
            return Ok(false);
        }
        each_element(at, WireType::STRUCT, |at| {
            each_field(at, |at, number, kind| {
                if (number, kind) != (3, WireType::STRUCT) {
                    return Ok(false);
                }
                if let Some(column) = read_column(at, row_group)? {
                    each(column);
                }
                Ok(true)
            })
        })?;
        Ok(true)
    })
}

fn read_column(at: &mut Cursor<'_>, row_group: usize) -> Result<Option<Column>, DecodeError> {
    let (mut physical_type, mut path, mut offset, mut length) = (None, None, None, None);
    each_field(at, |at, number, kind| {
        match (number, kind) {
            (1, WireType::I32) => physical_type = Some(zigzag(at)?),
            (3, WireType::LIST) => path = Some(read_path(at)?),
            (14, WireType::I64) => offset = u64::try_from(zigzag(at)?).ok(),
            (15, WireType::I32) => length = u64::try_from(zigzag(at)?).ok(),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let Some(offset) = offset else {
        return Ok(None);
    };
    let (Some(physical_type), Some(name)) = (physical_type, path) else {
        let accepted = "with a type and a path, which every column has";
        return Err(at.value("metadata of a column", 0, accepted));
    };
    Ok(Some(Column {
        row_group,
        name,
        physical_type,
        offset,
        length,
    }))
}

/// Names, joined by dots.
fn read_path(at: &mut Cursor<'_>) -> Result<String, DecodeError> {
    let mut path = String::new();
    let mut first = true;
    each_element(at, WireType::BINARY, |at| {
        if !std::mem::take(&mut first) {
            path.push('.');
        }
        path.push_str(&String::from_utf8_lossy(thrift::binary(at)?));
        Ok(())
    })?;
    Ok(path)
}

/// The bitset of a column's filter.
///
/// # Errors
/// When it is not at the offset of the column, or is of an unknown kind.
pub fn bitset<'a>(bytes: &'a [u8], column: &Column) -> Result<&'a [u8], DecodeError> {
    let mut at = Cursor::new(bytes, Format::Parquet);
    at.take("data before the filter", column.offset)?;
    let start = at.left();
    let mut length = None;
    each_field(&mut at, |at, number, kind| match (number, kind) {
        (1, WireType::I32) => {
            length = u64::try_from(zigzag(at)?).ok();
            Ok(true)
        }
        // Algorithm, hash and compression: unions with one variant each so far, number 1.
        (2..=4, WireType::STRUCT) => {
            each_field(at, |at, choice, _| {
                if choice == 1 {
                    Ok(false)
                } else {
                    Err(at.value(
                        "choice in the header",
                        i128::from(choice),
                        "1 (split blocks, XXH64, uncompressed)",
                    ))
                }
            })?;
            Ok(true)
        }
        _ => Ok(false),
    })?;
    let Some(length) = length else {
        return Err(at.value("length of the bitset", 0, "given in the header"));
    };
    let header = start - at.left();
    if column.length.is_some_and(|all| all != header + length) {
        return Err(at.value(
            "length of the bitset",
            i128::from(length),
            "that of the metadata, less the header",
        ));
    }
    at.take("bitset", length)
}

/// The filter of a column.
///
/// # Errors
/// As [`bitset`], and when the bitset is not a filter.
pub fn filter(bytes: &[u8], column: &Column) -> Result<ClassicBloom, DecodeError> {
    super::decode(bitset(bytes, column)?)
}

pub(crate) const CONTAINER: ContainerRow = ContainerRow {
    contents: |bytes, _| {
        let is_parquet = bytes.starts_with(MAGIC) && bytes.ends_with(MAGIC);
        Ok(is_parquet.then_some(Cow::Borrowed(bytes)))
    },
    formats: &[Format::Parquet],
    open,
};

fn open(bytes: &[u8], _: &OpenOptions) -> Result<Vec<OpenedFilter>, OpenError> {
    let mut opened = Vec::new();
    for column in columns(bytes)? {
        let filter = super::stored(filter(bytes, &column)?);
        let location = Location {
            row_group: Some(column.row_group as u64),
            column: Some(column.name),
            physical_type: Some(column.physical_type),
            ..Location::default()
        };
        opened.push(OpenedFilter { location, filter });
    }
    Ok(opened)
}
