//! The metadata of a filter, in the block `BLMFMET2` or `DFBLMET2`: its shape, and where its chunks are.
//!
//! | bytes | field |
//! | --- | --- |
//! | 4 | version, 3 |
//! | 8 | bytes of all chunks |
//! | 4 | number of probes |
//! | 4 | hash type |
//! | 8 | keys |
//! | 8 | the most keys that the chunks take |
//! | 4 | number of chunks |
//! | | name of the class that compares keys, after its length |
//! | | for each chunk 8 bytes file offset, 4 bytes size on disk, and its first key after its length |
//!
//! Everything is big-endian, and lengths are Hadoop's variable-length integers.

use super::{HashType, row_and_qualifier};
use crate::cursor::Cursor;
use crate::{DecodeError, Format};
use std::cmp::Ordering;

const VERSION: i32 = 3;

/// How the keys of a filter are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparator {
    /// As bytes.
    Bytes,
    /// By row, then by qualifier.
    Cells,
}

/// Classes that compare keys. HBase 2 stores no name for bytes.
const COMPARATORS: [(&str, Comparator); 4] = [
    ("", Comparator::Bytes),
    (
        "org.apache.hadoop.hbase.KeyValue$RawBytesComparator",
        Comparator::Bytes,
    ),
    (
        "org.apache.hadoop.hbase.CellComparatorImpl",
        Comparator::Cells,
    ),
    (
        "org.apache.hadoop.hbase.KeyValue$KVComparator",
        Comparator::Cells,
    ),
];

impl Comparator {
    /// The comparator of a class.
    pub fn from_class(name: &str) -> Option<Self> {
        let known = COMPARATORS.iter().find(|(class, _)| *class == name);
        known.map(|(_, comparator)| *comparator)
    }

    /// `None` if a key is not one of a row and a qualifier.
    pub(super) fn compare(self, a: &[u8], b: &[u8]) -> Option<Ordering> {
        match self {
            Self::Bytes => Some(a.cmp(b)),
            // As bytes they would begin with the length of the row.
            Self::Cells => Some(row_and_qualifier(a)?.cmp(&row_and_qualifier(b)?)),
        }
    }
}

/// Where a chunk is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChunkPlace {
    /// The file offset of its block.
    pub offset: u64,
    /// The size of the block, with its header and checksums.
    pub on_disk_bytes: u32,
    /// The first key in it.
    pub first_key: Vec<u8>,
}

/// The metadata of a filter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meta {
    /// Bytes of all chunks.
    pub total_bytes: i64,
    /// Below 1, every key may be in the filter.
    pub probes: i32,
    /// The hash function.
    pub hash: HashType,
    /// Keys that were added.
    pub keys: i64,
    /// The most keys that the chunks take.
    pub max_keys: i64,
    /// The class that compares keys.
    pub comparator: String,
    /// The chunks, by their first keys.
    pub chunks: Vec<ChunkPlace>,
}

/// Bytes of a chunk's place with an empty key.
const LEAST_CHUNK_BYTES: u64 = 13;

impl Meta {
    /// Reads the content of the block. Bytes after it are ignored, as HBase does.
    ///
    /// # Errors
    /// When it is not such metadata, or its version, hash type or comparator is not known.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut at = Cursor::new(bytes, Format::HBase);
        let version = at.i32_be("version")?;
        if version != VERSION {
            return Err(at.value("version", i128::from(version), "3"));
        }
        let total_bytes = at.i64_be("bytes of all chunks")?;
        let probes = at.i32_be("number of probes")?;
        let hash = at.i32_be("hash type")?;
        let Some(hash) = HashType::from_number(hash) else {
            let accepted = "0 (jenkins), 1 (murmur) or 2 (murmur3)";
            return Err(at.value("hash type", i128::from(hash), accepted));
        };
        let keys = at.i64_be("number of keys")?;
        let max_keys = at.i64_be("most keys")?;
        let count = at.i32_be("number of chunks")?;
        let Ok(count) = u64::try_from(count) else {
            return Err(at.value("number of chunks", i128::from(count), "0 to 2^31 - 1"));
        };
        let comparator = String::from_utf8_lossy(bytes_of(&mut at, "comparator")?).into_owned();
        if Comparator::from_class(&comparator).is_none() {
            let accepted = "the class of a comparator for bytes or for cells";
            return Err(at.value("comparator", comparator.len() as i128, accepted));
        }
        at.check_left("chunks", LEAST_CHUNK_BYTES * count)?;
        let mut chunks = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let offset = at.i64_be("offset of a chunk")?;
            let size = at.i32_be("size of a chunk")?;
            let (Ok(offset), Ok(on_disk_bytes)) = (u64::try_from(offset), u32::try_from(size))
            else {
                return Err(at.value("place of a chunk", i128::from(offset), "not negative"));
            };
            chunks.push(ChunkPlace {
                offset,
                on_disk_bytes,
                first_key: bytes_of(&mut at, "first key of a chunk")?.to_vec(),
            });
        }
        Ok(Self {
            total_bytes,
            probes,
            hash,
            keys,
            max_keys,
            comparator,
            chunks,
        })
    }

    /// The content of the block.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&VERSION.to_be_bytes());
        out.extend_from_slice(&self.total_bytes.to_be_bytes());
        out.extend_from_slice(&self.probes.to_be_bytes());
        out.extend_from_slice(&self.hash.number().to_be_bytes());
        out.extend_from_slice(&self.keys.to_be_bytes());
        out.extend_from_slice(&self.max_keys.to_be_bytes());
        out.extend_from_slice(&(self.chunks.len() as u32).to_be_bytes());
        put_bytes(self.comparator.as_bytes(), &mut out);
        for chunk in &self.chunks {
            out.extend_from_slice(&chunk.offset.to_be_bytes());
            out.extend_from_slice(&chunk.on_disk_bytes.to_be_bytes());
            put_bytes(&chunk.first_key, &mut out);
        }
        out
    }
}

/// Bytes after their length.
fn bytes_of<'a>(at: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], DecodeError> {
    let length = vint(at, what)?;
    at.take(what, length)
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_vint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Numbers up to here are one byte. Below it, the first byte is minus the number of bytes that follow.
const ONE_BYTE: i8 = -112;

/// Hadoop's variable-length integer, which is not negative here.
fn vint(at: &mut Cursor<'_>, what: &'static str) -> Result<u64, DecodeError> {
    let first = at.u8(what)?.cast_signed();
    if first >= 0 {
        return Ok(u64::from(first.unsigned_abs()));
    }
    if !(ONE_BYTE - 8..ONE_BYTE).contains(&first) {
        return Err(at.value(what, i128::from(first), "a length that is not negative"));
    }
    let count = i16::from(ONE_BYTE) - i16::from(first);
    let mut number = 0_u64;
    for _ in 0..count {
        number = number << 8 | u64::from(at.u8(what)?);
    }
    Ok(number)
}

fn put_vint(number: u64, out: &mut Vec<u8>) {
    if number <= 127 {
        out.push(number as u8);
        return;
    }
    let bytes = number.to_be_bytes();
    let skipped = number.leading_zeros() as usize / 8;
    let count = (bytes.len() - skipped) as i8;
    out.push((ONE_BYTE - count).cast_unsigned());
    out.extend_from_slice(&bytes[skipped..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_hadoops() {
        for (number, bytes) in [
            (0, &[0][..]),
            (127, &[0x7f]),
            (128, &[0x8f, 0x80]),
            (255, &[0x8f, 0xff]),
            (256, &[0x8e, 1, 0]),
            (65_536, &[0x8d, 1, 0, 0]),
            (u64::MAX, &[0x88, 255, 255, 255, 255, 255, 255, 255, 255]),
        ] {
            let mut out = Vec::new();
            put_vint(number, &mut out);
            assert_eq!(out, bytes);
            let mut at = Cursor::new(bytes, Format::HBase);
            assert_eq!(vint(&mut at, "length"), Ok(number));
        }
        for bytes in [&[0xff][..], &[0x90], &[0x87, 1], &[0x80], &[0x8e, 1], &[]] {
            let mut at = Cursor::new(bytes, Format::HBase);
            assert!(vint(&mut at, "length").is_err(), "{bytes:?}");
        }
    }
}
