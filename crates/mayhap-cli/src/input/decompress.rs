//! Compressed inputs, detected by their magic numbers.

use super::lz4::Lz4Reader;
use std::io::{self, BufReader, Cursor, Read};

const LONGEST_MAGIC: usize = 6;

/// The input itself, or its decompressed contents.
pub(super) fn by_magic(mut input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut first = Vec::with_capacity(LONGEST_MAGIC);
    // Decides on what is available now, so that a line shorter than a magic number is not delayed.
    while first.len() < LONGEST_MAGIC {
        let mut bytes = [0; LONGEST_MAGIC];
        let read = match input.read(&mut bytes[..LONGEST_MAGIC - first.len()]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        first.extend_from_slice(&bytes[..read]);
        if read == 0 || !may_be_compressed(&first) {
            break;
        }
    }
    let magic = first.clone();
    let whole = Cursor::new(first).chain(input);
    Ok(if magic.starts_with(b"\x1f\x8b") {
        Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(whole)))
    } else if magic.starts_with(b"\x28\xb5\x2f\xfd") {
        Box::new(zstd::Decoder::new(whole)?)
    } else if magic.starts_with(b"BZh") {
        Box::new(bzip2::bufread::MultiBzDecoder::new(BufReader::new(whole)))
    } else if magic.starts_with(b"\xfd7zXZ\0") {
        Box::new(lzma_rust2::XzReader::new(whole, true))
    } else if magic.starts_with(b"\x04\x22\x4d\x18") {
        Box::new(Lz4Reader::new(whole))
    } else {
        Box::new(whole)
    })
}

fn may_be_compressed(first: &[u8]) -> bool {
    [
        &b"\x1f\x8b"[..],
        b"\x28\xb5\x2f\xfd",
        b"BZh",
        b"\xfd7zXZ\0",
        b"\x04\x22\x4d\x18",
    ]
    .iter()
    .any(|magic| magic.starts_with(&first[..first.len().min(magic.len())]))
}
