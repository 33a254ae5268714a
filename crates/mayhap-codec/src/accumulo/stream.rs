//! The bytes of the block: the functor's class, a header, and each row with a header of its own. Big-endian.
//!
//! | bytes | field |
//! | --- | --- |
//! | 2 | length of the class's name, then the name |
//! | 4 | version, -2; -1 and unversioned headers are Hadoop's |
//! | 4 | number of hash functions |
//! | 1 | hash type: 0 Jenkins, 1 Murmur |
//! | 4 | bits of a row |
//! | 4 | keys a row |
//! | 4 | keys in the last row |
//! | 4 | number of rows |
//! | | for each row the first four fields, and a serialised `java.util.BitSet` |

use super::{Filter, Functor, Shape, is_accepted};
use crate::bits;
use crate::cursor::Cursor;
use crate::hadoop::HashType;
use crate::{DecodeError, EncodeError, Format};

const VERSION: i32 = -2;
const HADOOP_VERSION: i32 = -1;

/// What Java writes for a `BitSet` before the number of its longs: the description of the class, and that of an array of longs.
const BIT_SET: &[u8] = b"\xac\xed\x00\x05\x73\x72\x00\x10java.util.BitSet\x6e\xfd\x88\x7e\x39\x34\xab\x21\x03\x00\x01\x5b\x00\x04bits\x74\x00\x02[J\x78\x70\x75\x72\x00\x02[J\x78\x20\x04\xb5\x12\xb1\x75\x93\x02\x00\x00\x78\x70";
const BIT_SET_END: u8 = 0x78;

/// Bytes of the shortest row: an unversioned header, and one byte of bits.
const LEAST_ROW_BYTES: u64 = 9;

/// Reads the block. Bytes after it are ignored, as Accumulo does.
///
/// # Errors
/// When it is not such a block, its functor is not one of Accumulo's, or a row differs in shape from the whole.
pub fn decode(bytes: &[u8]) -> Result<Filter, DecodeError> {
    read(&mut Cursor::new(bytes, Format::Accumulo))
}

/// The same for bytes that are nothing else.
pub(super) fn decode_whole(bytes: &[u8]) -> Result<Filter, DecodeError> {
    let mut at = Cursor::new(bytes, Format::Accumulo);
    let filter = read(&mut at)?;
    at.finish()?;
    Ok(filter)
}

fn read(at: &mut Cursor<'_>) -> Result<Filter, DecodeError> {
    let length = at.u16_be("length of the functor's name")?;
    let name = at.take("name of the functor", u64::from(length))?;
    let known = |functor: &Functor| functor.class().as_bytes() == name;
    let Some(functor) = Functor::ALL.into_iter().find(known) else {
        let accepted =
            "that of Accumulo's RowFunctor, ColumnFamilyFunctor or ColumnQualifierFunctor";
        return Err(at.value("name of the functor", i128::from(length), accepted));
    };
    let (_, shape) = read_header(at)?;
    let keys_a_row = at.i32_be("keys a row")?;
    let keys_in_last = at.i32_be("keys in the last row")?;
    let count = at.i32_be("number of rows")?;
    let Ok(count) = u64::try_from(count) else {
        return Err(at.value("number of rows", i128::from(count), "0 to 2^31 - 1"));
    };
    at.check_left("rows", LEAST_ROW_BYTES * count)?;
    let mut rows = Vec::with_capacity(count as usize);
    for _ in 0..count {
        rows.push(read_row(at, shape)?);
    }
    Ok(Filter {
        functor,
        shape,
        rows,
        keys_a_row,
        keys_in_last,
    })
}

/// How the bits of a row are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowBits {
    BitSet,
    Bytes,
}

fn read_header(at: &mut Cursor<'_>) -> Result<(RowBits, Shape), DecodeError> {
    let first = at.i32_be("version")?;
    let (bits, probes, hash) = match first {
        1.. => (RowBits::Bytes, first, HashType::Jenkins),
        VERSION | HADOOP_VERSION => {
            let probes = at.i32_be("number of hash functions")?;
            let number = at.u8("hash type")?;
            let Ok(hash) = HashType::from_number(number) else {
                let accepted = "0 for Jenkins or 1 for Murmur";
                return Err(at.value("hash type", i128::from(number), accepted));
            };
            let bits = if first == VERSION {
                RowBits::BitSet
            } else {
                RowBits::Bytes
            };
            (bits, probes, hash)
        }
        other => {
            let accepted = "-2, -1, or a number of hash functions above 0";
            return Err(at.value("version", i128::from(other), accepted));
        }
    };
    let count = u32::try_from(probes).ok();
    let Some(count) = count.filter(|&count| is_accepted(count)) else {
        return Err(at.value("number of hash functions", i128::from(probes), "1 to 4096"));
    };
    let vector_size = at.i32_be("bits of a row")?;
    let size = u32::try_from(vector_size).ok().filter(|&size| size > 0);
    let Some(vector_size) = size else {
        return Err(at.value("bits of a row", i128::from(vector_size), "1 to 2^31 - 1"));
    };
    let shape = Shape {
        probes: count,
        hash,
        vector_size,
    };
    Ok((bits, shape))
}

fn read_row(at: &mut Cursor<'_>, whole: Shape) -> Result<Vec<u64>, DecodeError> {
    let (kind, shape) = read_header(at)?;
    if shape != whole {
        let value = i128::from(shape.vector_size);
        return Err(at.value("shape of a row", value, "that of the whole"));
    }
    if kind == RowBits::Bytes {
        let bytes = u64::from(shape.vector_size).div_ceil(8);
        return Ok(bits::from_bytes(at.take("bits of a row", bytes)?));
    }
    let start = at.take("BitSet", BIT_SET.len() as u64)?;
    if start != BIT_SET {
        let accepted = "a serialised java.util.BitSet";
        return Err(at.value("bits of a row", i128::from(start[0]), accepted));
    }
    let count = at.i32_be("longs of a row")?;
    let longs = u64::try_from(count).ok();
    // Java leaves out longs at the end that are zero.
    let Some(longs) = longs.filter(|&longs| longs <= shape.words() as u64) else {
        let accepted = "at most what the bits of a row take";
        return Err(at.value("longs of a row", i128::from(count), accepted));
    };
    let words = bits::from_longs(at.take("longs of a row", 8 * longs)?);
    let end = at.u8("end of a row")?;
    if end != BIT_SET_END {
        return Err(at.value("end of a row", i128::from(end), "120"));
    }
    Ok(words)
}

/// The bytes of the block, in version -2.
///
/// # Errors
/// When there are more than 2^31 - 1 rows.
pub fn encode(filter: &Filter) -> Result<Vec<u8>, EncodeError> {
    let rows = i32::try_from(filter.rows.len()).map_err(|_| EncodeError {
        format: Format::Accumulo,
        reason: "it has more than 2^31 - 1 rows",
    })?;
    let words: usize = filter.rows.iter().map(Vec::len).sum();
    let mut out = Vec::with_capacity(100 + 120 * filter.rows.len() + 8 * words);
    let name = filter.functor.class();
    out.extend_from_slice(&(name.len() as u16).to_be_bytes());
    out.extend_from_slice(name.as_bytes());
    write_header(filter.shape, &mut out);
    for number in [filter.keys_a_row, filter.keys_in_last, rows] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    for row in &filter.rows {
        write_header(filter.shape, &mut out);
        out.extend_from_slice(BIT_SET);
        out.extend_from_slice(&(row.len() as u32).to_be_bytes());
        bits::to_longs(row.iter().copied(), &mut out);
        out.push(BIT_SET_END);
    }
    Ok(out)
}

fn write_header(shape: Shape, out: &mut Vec<u8>) {
    out.extend_from_slice(&VERSION.to_be_bytes());
    out.extend_from_slice(&shape.probes.to_be_bytes());
    out.push(shape.hash.number());
    out.extend_from_slice(&shape.vector_size.to_be_bytes());
}
