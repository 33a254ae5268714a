//! Images as the strings of a value in DUMP and RDB. A large image is several strings, because an engine takes memory for each string that it
//! saves or loads, and so do we when we load it: a filter of gigabytes would need its size once or twice more.
//!
//! | strings | what |
//! | --- | --- |
//! | 1 | an image of at most 16 MiB |
//! | | or, for a larger image: |
//! | 1 | `\x89mayhapP`, and 8 bytes: the size of the image |
//! | 1 | its fields, without the bits |
//! | n | its bits in pieces of at most 16 MiB; a piece has bits of one layer only |

use super::fields::Reader;
use super::{Kind, MAGIC, bloom_of_header, decode, front, parts};
use crate::slot::{Bloom, Slot};
use mayhap_codec::redis::fields::{Place, Sink, Source};
use mayhap_codec::{DecodeError, Limits, Problem};

const PIECES_MAGIC: [u8; 8] = *b"\x89mayhapP";

/// The most bytes of a piece.
const PIECE: usize = 16 << 20;

/// Where an image says whether bits follow.
const HAS_BITS: usize = MAGIC.len() + 2;

/// Writes a slot.
pub(crate) fn save(slot: &Slot, out: &mut impl Sink) {
    let parts = parts(slot, true);
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

/// Reads a slot.
pub(crate) fn load(at: &mut impl Source, limits: Limits) -> Result<Slot, DecodeError> {
    let first = at.string("filter")?;
    let Some(size) = first.strip_prefix(&PIECES_MAGIC) else {
        return decode(&first, limits);
    };
    let Ok(size) = size.try_into().map(u64::from_le_bytes) else {
        let length = i128::from(size.len() as u64);
        return Err(at.value("length of the size of a filter", length, "8"));
    };
    let mut left = size;
    let fields = next_piece(at, &mut left)?;
    let mut header = fields.to_vec();
    if let Some(has_bits) = header.get_mut(HAS_BITS) {
        *has_bits = 0;
    }
    let (kind, _) = front(&mut Reader::new(&header))?;
    if let Kind::FixedBloom | Kind::GrowingBloom | Kind::WindowBloom = kind {
        let mut filter = bloom_of_header(&header, limits)?;
        load_bits(&mut filter, at, left)?;
        return Ok(Slot::Bloom(Box::new(filter)));
    }
    // Others are checked as a whole.
    let mut image = fields.to_vec();
    while left > 0 {
        let piece = next_piece(at, &mut left)?;
        let room = image.try_reserve_exact(piece.len().max(left.min(PIECE as u64) as usize));
        room.map_err(|_| too_large(at, size, limits))?;
        image.extend_from_slice(&piece);
    }
    decode(&image, limits)
}

/// An empty Bloom filter, whose size the limits allow, takes its bits as they come.
fn load_bits(filter: &mut Bloom, at: &mut impl Source, mut left: u64) -> Result<(), DecodeError> {
    let Bloom::Native(filter) = filter else {
        return Ok(());
    };
    let expected: u64 = filter.layers().iter().map(|layer| layer.size_bytes()).sum();
    if left != expected {
        let bytes = i128::from(left);
        return Err(at.value("bytes of the bits", bytes, "those of the layers"));
    }
    while left > 0 {
        let piece = next_piece(at, &mut left)?;
        let position = (1 + expected - left).cast_signed();
        let taken = filter.load_chunk(position, &piece);
        taken.map_err(|_| {
            let length = piece.len() as i128;
            at.value("bytes of a piece", length, "at most those left of a layer")
        })?;
    }
    Ok(())
}

/// The next of the pieces, of which so many bytes are left.
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

fn too_large(at: &impl Place, bytes: u64, limits: Limits) -> DecodeError {
    at.error(Problem::TooLarge {
        bytes,
        limit: limits.most_bytes,
    })
}
