//! Recomputes checksums, so that mutated input reaches the code behind them.

use crc::{CRC_64_REDIS, Crc, Table};
use mayhap_core::foreign::city;
use twox_hash::XxHash3_64;

const CRC: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

/// A native file: the length in its header, the header's checksum, and those of the pages. Bytes without a header are returned unchanged.
pub(crate) fn native(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = header_of_native(bytes);
    let Some(header) = header_bytes(&bytes) else {
        return bytes;
    };
    let after = bytes.len() - header;
    let pages = after.saturating_sub(8).div_ceil((1 << 16) + 8);
    let Some(body) = after.checked_sub(8 * (pages + 1)) else {
        return bytes;
    };
    let table = header + body;
    let sums: Vec<u8> = (0..)
        .zip(bytes[header..table].chunks(1 << 16))
        .flat_map(|(page, bytes)| XxHash3_64::oneshot_with_seed(page, bytes).to_le_bytes())
        .collect();
    let seed = u64::from_le_bytes(*bytes[..header].last_chunk().expect("a header"));
    let last = XxHash3_64::oneshot_with_seed(seed, &sums);
    bytes.truncate(table);
    bytes.extend_from_slice(&sums);
    bytes.extend_from_slice(&last.to_le_bytes());
    bytes
}

/// An index: the checksums of its directories and headers, where they are in the file.
pub(crate) fn index(bytes: &[u8]) -> Vec<u8> {
    const HEADER_BYTES: usize = 4096;
    let mut bytes = bytes.to_vec();
    for begin in [0, HEADER_BYTES] {
        let number = |at: usize| {
            let field = bytes.get(begin + at..)?.first_chunk();
            field.map(|field| u64::from_le_bytes(*field))
        };
        let fields = (number(16), number(24), number(32));
        let (Some(generation), Some(offset), Some(length)) = fields else {
            continue;
        };
        let range = offset as usize..offset.saturating_add(length) as usize;
        let directory = bytes.get(range);
        let sum = directory.map(|bytes| XxHash3_64::oneshot_with_seed(generation, bytes));
        let end = begin + HEADER_BYTES - 8;
        if let (Some(sum), true) = (sum, bytes.len() >= end + 8) {
            bytes[begin + 40..begin + 48].copy_from_slice(&sum.to_le_bytes());
            let sum = XxHash3_64::oneshot(&bytes[begin..end]).to_le_bytes();
            bytes[end..end + 8].copy_from_slice(&sum);
        }
    }
    bytes
}

/// Only the header of a native file: mutated pages stay damaged.
pub(crate) fn header_of_native(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(header) = header_bytes(&bytes) {
        let length = (bytes.len() as u64).to_le_bytes();
        bytes[16..24].copy_from_slice(&length);
        let sum = XxHash3_64::oneshot(&bytes[..header - 8]).to_le_bytes();
        bytes[header - 8..header].copy_from_slice(&sum);
    }
    bytes
}

fn header_bytes(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(12..16)?.try_into().ok()?;
    let length = u32::from_le_bytes(length) as usize;
    (32..=bytes.len()).contains(&length).then_some(length)
}

/// ClickHouse's frames, as far as their lengths are valid.
pub(crate) fn frames(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    while let Some(length) = bytes.get(at + 17..at + 21) {
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        let Some(frame) = bytes.get(at + 16..at + 16 + length) else {
            break;
        };
        let (low, high) = city::hash128(frame);
        bytes[at..at + 8].copy_from_slice(&low.to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&high.to_le_bytes());
        at += 16 + length;
    }
    bytes
}

/// A DUMP payload.
pub fn dump(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some((summed, sum)) = bytes.split_last_chunk_mut::<8>() {
        *sum = CRC.checksum(summed).to_le_bytes();
    }
    bytes
}

/// An RDB file, with its checksum turned off.
pub(crate) fn rdb(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some((_, sum)) = bytes.split_last_chunk_mut::<8>() {
        *sum = [0; 8];
    }
    bytes
}

/// An RDB file with one value, from a DUMP of it.
pub(crate) fn rdb_of_dump(bytes: &[u8]) -> Vec<u8> {
    let mut file = b"REDIS0012".to_vec();
    let value = &bytes[..bytes.len().saturating_sub(10)];
    if let Some((&kind, fields)) = value.split_first() {
        file.extend_from_slice(&[kind, 1, b'k']);
        file.extend_from_slice(fields);
    }
    file.extend_from_slice(&[255, 0, 0, 0, 0, 0, 0, 0, 0]);
    file
}

/// The blocks of an HFile that lead to its filters, with their checksums turned off.
pub(crate) fn hfile(bytes: &[u8]) -> Vec<u8> {
    let magics = [b"FILEINF2", b"BLMFMET2", b"DFBLMET2", b"BLMFBLK2"];
    let starts: Vec<usize> = (0..)
        .zip(bytes.windows(8))
        .filter(|(_, window)| magics.iter().any(|magic| window == *magic))
        .map(|(at, _)| at)
        .collect();
    let mut bytes = bytes.to_vec();
    for at in starts {
        // The type stands behind the magic number, two sizes and an offset.
        if let Some(kind) = bytes.get_mut(at + 24) {
            *kind = 0;
        }
    }
    bytes
}
