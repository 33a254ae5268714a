//! A block of an HFile: a header, the data, and checksums of both.

use crate::crc_table::CrcTable;
use crate::cursor::Cursor;
use crate::{DecodeError, Format, Limits, Problem, inflate};
use crc::{CRC_32_ISCSI, CRC_32_ISO_HDLC, Crc};
use std::borrow::Cow;

pub(super) const HEADER_BYTES: u64 = 33;

const CRC_32: Crc<u32, CrcTable> = Crc::<u32, CrcTable>::new(&CRC_32_ISO_HDLC);
const CRC_32C: Crc<u32, CrcTable> = Crc::<u32, CrcTable>::new(&CRC_32_ISCSI);

/// How the data of all blocks is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Codec {
    None,
    Gzip,
}

/// The unpacked content of a block.
pub(super) struct Block<'a> {
    pub(super) magic: [u8; 8],
    pub(super) data: Cow<'a, [u8]>,
    /// Where the next block begins.
    pub(super) end: u64,
}

impl<'a> Block<'a> {
    /// Reads the block at an offset and verifies its checksums.
    pub(super) fn read(
        bytes: &'a [u8],
        offset: u64,
        codec: Codec,
        limits: Limits,
    ) -> Result<Self, DecodeError> {
        let header = Header::read(bytes, offset)?;
        let mut at = Cursor::new(bytes, Format::HBase);
        at.take("data before a block", offset)?;
        let start = at.clone();
        let summed = at.take("block", header.summed_bytes)?;
        header.verify(&start, summed, at.take("checksums", header.checksum_bytes)?)?;
        let data = &summed[HEADER_BYTES as usize..];
        let data = match codec {
            Codec::None if data.len() as u64 == header.unpacked_bytes => Cow::Borrowed(data),
            Codec::None => {
                let accepted = "the size of the data";
                let value = i128::from(header.unpacked_bytes);
                return Err(start.value("uncompressed size of a block", value, accepted));
            }
            Codec::Gzip => Cow::Owned(inflate::gzip(&start, data, header.unpacked_bytes, limits)?),
        };
        Ok(Self {
            magic: header.magic,
            data,
            end: header.end(offset),
        })
    }

    /// The magic number of the block at an offset, and where the next one begins, without its data.
    pub(super) fn skip(bytes: &[u8], offset: u64) -> Result<([u8; 8], u64), DecodeError> {
        let header = Header::read(bytes, offset)?;
        Ok((header.magic, header.end(offset)))
    }
}

struct Header {
    magic: [u8; 8],
    unpacked_bytes: u64,
    checksum_type: u8,
    bytes_per_checksum: u64,
    /// Of header and data.
    summed_bytes: u64,
    checksum_bytes: u64,
}

impl Header {
    fn read(bytes: &[u8], offset: u64) -> Result<Self, DecodeError> {
        let mut at = Cursor::new(bytes, Format::HBase);
        at.take("data before a block", offset)?;
        let start = at.clone();
        let magic = at.take("magic number of a block", 8)?;
        let on_disk = at.u32_be("size of a block")?;
        let unpacked = at.u32_be("uncompressed size of a block")?;
        at.take("offset of the block before", 8)?;
        let checksum_type = at.u8("checksum type")?;
        let bytes_per_checksum = at.u32_be("bytes per checksum")?;
        let summed = at.u32_be("size of header and data")?;
        // Everything but the header, and everything but the checksums.
        let on_disk = u64::from(on_disk) + HEADER_BYTES;
        let summed_bytes = u64::from(summed);
        if !(HEADER_BYTES..=on_disk).contains(&summed_bytes) {
            let accepted = "at least the header, and at most the block";
            return Err(at.value("size of header and data", i128::from(summed), accepted));
        }
        start.check_left("block", on_disk)?;
        Ok(Self {
            magic: *magic.first_chunk().unwrap_or(&[0; 8]),
            unpacked_bytes: u64::from(unpacked),
            checksum_type,
            bytes_per_checksum: u64::from(bytes_per_checksum),
            summed_bytes,
            checksum_bytes: on_disk - summed_bytes,
        })
    }

    fn end(&self, offset: u64) -> u64 {
        offset + self.summed_bytes + self.checksum_bytes
    }

    fn verify(
        &self,
        start: &Cursor<'_>,
        summed: &[u8],
        checksums: &[u8],
    ) -> Result<(), DecodeError> {
        let crc = match self.checksum_type {
            0 => return Ok(()),
            1 => CRC_32,
            2 => CRC_32C,
            other => {
                let accepted = "0 (none), 1 (CRC-32) or 2 (CRC-32C)";
                return Err(start.value("checksum type", i128::from(other), accepted));
            }
        };
        let (checksums, rest) = checksums.as_chunks::<4>();
        if self.bytes_per_checksum == 0 || !rest.is_empty() {
            let value = i128::from(self.bytes_per_checksum);
            return Err(start.value("bytes per checksum", value, "a number that fits the block"));
        }
        let pieces = summed.chunks(self.bytes_per_checksum as usize);
        if pieces.len() != checksums.len() {
            let accepted = "one for every piece of the block";
            return Err(start.value("checksums", checksums.len() as i128, accepted));
        }
        for (piece, checksum) in pieces.zip(checksums) {
            if crc.checksum(piece) != u32::from_be_bytes(*checksum) {
                return Err(start.error(Problem::Checksum));
            }
        }
        Ok(())
    }
}
