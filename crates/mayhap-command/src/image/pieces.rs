//! Images as the strings of a value in DUMP and RDB. A large image is split into several strings: the engine, and this crate when it loads
//! them, needs memory for each string besides the filter.
//!
//! | strings | content |
//! | --- | --- |
//! | 1 | an image of at most 16 MiB |
//! | | or, for a larger image: |
//! | 1 | `\x89mayhapP`, and 8 bytes: the size of the image |
//! | 1 | its fields, without the bits |
//! | n | its bits in pieces of at most 16 MiB |

use super::{decode, decode_from, parts};
use crate::slot::Slot;
use mayhap_codec::redis::fields::{Sink, Source};
use mayhap_codec::{DecodeError, Limits};

const PIECES_MAGIC: [u8; 8] = *b"\x89mayhapP";

/// The largest piece.
const PIECE: usize = 16 << 20;

/// Writes the image of a slot.
pub(crate) fn save(slot: &Slot, out: &mut impl Sink) {
    let parts = parts(slot);
    let size: usize = parts.iter().map(|part| part.len()).sum();
    if size <= PIECE {
        return out.string(&parts.concat());
    }
    out.string(&[PIECES_MAGIC, (size as u64).to_le_bytes()].concat());
    for part in &parts {
        for piece in part.chunks(PIECE) {
            out.string(piece);
        }
    }
}

/// Reads the image of a slot.
pub(crate) fn load<S: Source>(at: &mut S, limits: Limits) -> Result<Slot, DecodeError> {
    let first = at.string("filter")?;
    let Some(size) = first.strip_prefix(&PIECES_MAGIC) else {
        return decode(&first, limits);
    };
    let Ok(size) = size.try_into().map(u64::from_le_bytes) else {
        let length = i128::from(size.len() as u64);
        return Err(at.value("length of the size of a filter", length, "8"));
    };
    let mut left = size;
    let mut piece: Option<S::Bytes> = None;
    let mut used = 0;
    let mut more = |mut bytes: &mut [u8]| {
        while !bytes.is_empty() {
            let rest = piece.as_deref().and_then(|piece| piece.get(used..));
            let rest = rest.unwrap_or_default();
            if rest.is_empty() {
                piece = Some(next_piece(at, &mut left)?);
                used = 0;
                continue;
            }
            let count = rest.len().min(bytes.len());
            let (now, later) = bytes.split_at_mut(count);
            now.copy_from_slice(&rest[..count]);
            bytes = later;
            used += count;
        }
        Ok(())
    };
    decode_from(size, &mut more, limits)
}

/// The next piece; `left` bytes of the image remain.
fn next_piece<S: Source>(at: &mut S, left: &mut u64) -> Result<S::Bytes, DecodeError> {
    let piece = at.string("piece of a filter")?;
    match left.checked_sub(piece.len() as u64) {
        Some(rest) if !piece.is_empty() => {
            *left = rest;
            Ok(piece)
        }
        _ => Err(at.value(
            "bytes of a piece",
            piece.len() as i128,
            "1 or more, and not more than are left",
        )),
    }
}
