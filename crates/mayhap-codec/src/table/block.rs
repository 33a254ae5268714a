//! A block of a table: entries whose keys share prefixes, the compression type, and a checksum.

use super::checksum::Checksum;
use super::too_large;
use crate::cursor::Cursor;
use crate::{DecodeError, Format, Limits, Problem};
use std::borrow::Cow;
use std::ops::ControlFlow;

const STORED: u8 = 0;
const SNAPPY: u8 = 1;
const LZ4: u8 = 4;
const LZ4_HC: u8 = 5;

/// Where a block is.
#[derive(Clone, Copy)]
pub(super) struct Handle {
    pub(super) offset: u64,
    size: u64,
}

/// Bytes of the compression type and the checksum.
const TRAILER: u64 = 5;

impl Handle {
    pub(super) fn read(at: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            offset: at.varint("offset of a block")?,
            size: at.varint("size of a block")?,
        })
    }

    /// The block after this one, whose size differs by so much; `None` if there is no such size.
    pub(super) fn next(self, difference: i64) -> Option<Self> {
        Some(Self {
            offset: self.end(),
            size: self.size.checked_add_signed(difference)?,
        })
    }

    /// Where the next block may begin.
    pub(super) fn end(self) -> u64 {
        self.offset
            .saturating_add(self.size)
            .saturating_add(TRAILER)
    }
}

/// The decompressed bytes of a block.
pub(super) struct Block<'a> {
    bytes: Cow<'a, [u8]>,
    format: Format,
}

impl<'a> Block<'a> {
    pub(super) fn read(
        bytes: &'a [u8],
        handle: Handle,
        format: Format,
        checksum: Checksum,
        limits: Limits,
    ) -> Result<Self, DecodeError> {
        let mut at = Cursor::new(bytes, format);
        at.take("data before a block", handle.offset)?;
        at.check_left("block", handle.size.saturating_add(TRAILER))?;
        let begin = at.clone();
        let summed = at.clone().take("block", handle.size + 1)?;
        let data = at.take("block", handle.size)?;
        let compression = at.u8("kind of compression")?;
        if !checksum.fits(summed, at.u32_le("checksum of a block")?) {
            return Err(begin.error(Problem::Checksum));
        }
        let bytes =
            match compression {
                STORED => Cow::Borrowed(data),
                SNAPPY => {
                    let size = snap::raw::decompress_len(data).ok();
                    // Three bytes of Snappy expand to 64 at most.
                    let size = size.filter(|&size| size as u64 <= 32 * (data.len() as u64 + 1));
                    let Some(size) = size else {
                        return Err(at.value(
                            "size of a block",
                            data.len() as i128,
                            "what its data can hold",
                        ));
                    };
                    if size as u64 > limits.max_bytes {
                        return Err(too_large(&at, size as u64, limits));
                    }
                    let unpacked = snap::raw::Decoder::new().decompress_vec(data);
                    Cow::Owned(unpacked.map_err(|_| {
                        at.value("data of a block", 0, "bytes that Snappy has packed")
                    })?)
                }
                LZ4 | LZ4_HC if format == Format::RocksDb => {
                    Cow::Owned(unpack_lz4(data, &at, format, limits)?)
                }
                other => {
                    return Err(at.value(
                        "kind of compression",
                        i128::from(other),
                        "0 (none), 1 (Snappy), 4 or 5 (LZ4)",
                    ));
                }
            };
        Ok(Self { bytes, format })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// The entries, without the restarts after them.
    pub(super) fn entries(&self) -> Result<Cursor<'_>, DecodeError> {
        let at = Cursor::new(&self.bytes, self.format);
        let restarts = self
            .bytes
            .last_chunk()
            .map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
        let tail = restarts
            .checked_mul(4)
            .and_then(|bytes| bytes.checked_add(4));
        let Some(end) = tail.and_then(|tail| self.bytes.len().checked_sub(tail)) else {
            return Err(at.value(
                "number of restarts",
                restarts as i128,
                "as many as the block has room for",
            ));
        };
        Ok(Cursor::new(&self.bytes[..end], self.format))
    }

    /// Passes keys and values to `each`, in order, until it breaks. All keys together could be much larger than the block, because they
    /// share prefixes.
    pub(super) fn each_entry<B>(
        &self,
        mut each: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<B>, DecodeError>,
    ) -> Result<Option<B>, DecodeError> {
        let mut at = self.entries()?;
        let mut key = Vec::new();
        while at.left() > 0 {
            let shared = at.varint("shared bytes")?;
            let own = at.varint("own bytes")?;
            let value = at.varint("bytes of a value")?;
            if shared > key.len() as u64 {
                return Err(at.value(
                    "shared bytes",
                    i128::from(shared),
                    "at most those of the key before",
                ));
            }
            key.truncate(shared as usize);
            key.extend_from_slice(at.take("key", own)?);
            if let ControlFlow::Break(found) = each(&key, at.take("value", value)?)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The unpacked size, and a block of LZ4. (Tables before format version 2 have no size, and are an error.)
fn unpack_lz4(
    data: &[u8],
    block: &Cursor<'_>,
    format: Format,
    limits: Limits,
) -> Result<Vec<u8>, DecodeError> {
    let invalid = || block.value("data of a block", 0, "bytes that LZ4 has packed");
    let mut at = Cursor::new(data, format);
    let size = at.varint("unpacked size").map_err(|_| invalid())?;
    let packed = at.take("block", at.left())?;
    // A byte of LZ4 expands to 255 at most.
    if size > 255 * (packed.len() as u64 + 1) {
        return Err(invalid());
    }
    if size > limits.max_bytes {
        return Err(too_large(block, size, limits));
    }
    let unpacked = lz4_flex::block::decompress(packed, size as usize).map_err(|_| invalid())?;
    if unpacked.len() as u64 != size {
        return Err(invalid());
    }
    Ok(unpacked)
}
