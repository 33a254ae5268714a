//! Data that a container has compressed by DEFLATE.

use crate::cursor::Cursor;
use crate::{DecodeError, Limits, Problem};
use flate2::bufread::{GzDecoder, ZlibDecoder};
use std::io::Read;

/// The most bytes that a byte can stand for.
const MAX_RATIO: u64 = 1032;

/// Unpacks a gzip stream of that size. `at` is where errors are reported.
pub(crate) fn gzip(
    at: &Cursor<'_>,
    packed: &[u8],
    size: u64,
    limits: Limits,
) -> Result<Vec<u8>, DecodeError> {
    unpack(at, packed.len(), GzDecoder::new(packed), size, limits)
}

/// The same for a zlib stream.
pub(crate) fn zlib(
    at: &Cursor<'_>,
    packed: &[u8],
    size: u64,
    limits: Limits,
) -> Result<Vec<u8>, DecodeError> {
    unpack(at, packed.len(), ZlibDecoder::new(packed), size, limits)
}

fn unpack(
    at: &Cursor<'_>,
    packed_bytes: usize,
    unpacking: impl Read,
    size: u64,
    limits: Limits,
) -> Result<Vec<u8>, DecodeError> {
    if size > limits.max_bytes {
        return Err(at.error(Problem::TooLarge {
            bytes: size,
            limit: limits.max_bytes,
        }));
    }
    if size > MAX_RATIO * (packed_bytes as u64 + 1) {
        let accepted = "what its compressed data can hold";
        return Err(at.value("size of a block", i128::from(size), accepted));
    }
    // Grows with what is really there, and not by what the file says.
    let mut unpacked = Vec::new();
    let read = unpacking.take(size + 1).read_to_end(&mut unpacked);
    if read.is_err() || unpacked.len() as u64 != size {
        let accepted = "compressed data of the size that the file says";
        return Err(at.value("data of a block", unpacked.len() as i128, accepted));
    }
    Ok(unpacked)
}
