//! The image of a slot, for snapshots and logs: [`Slot::encode`] and [`Slot::decode`]. It contains the secret of the hash.
//!
//! | bytes | content |
//! | --- | --- |
//! | 8 | `\x89mayhapS` |
//! | 1, 1, 1, 5 | version, kind, whether bits follow, zeros |
//! | 8, 16 | native kinds: hash scheme and its key |
//! | | native kinds: fields of eight bytes, by kind; they include all shapes, so that no size is computed again |
//! | | the bits; RedisBloom's kinds: the concatenated chunks of SCANDUMP |
//!
//! A native image without bits is a *header*: the empty filter of that shape. There are no checksums, because logs, snapshots and DUMP have
//! their own.

mod bloom;
mod counting;
mod cuckoo;
mod fields;
mod growing_cuckoo;
mod loading;
mod pieces;
mod slices;
mod window_cuckoo;

pub(crate) use bloom::{loading_header as bloom_loading_header, parts as bloom_parts};
pub(crate) use cuckoo::{loading_header as cuckoo_loading_header, parts as cuckoo_parts};
pub(crate) use pieces::{load, save};

use crate::native::{NativeBloom, NativeCounting, NativeCuckoo};
use crate::slot::{AnyBloom, AnyCuckoo, Slot};
use fields::{FieldReader, FieldWriter, STEP};
use mayhap_codec::{DecodeError, Limits, Problem, redis};
use std::borrow::Cow;
use std::convert::Infallible;

const MAGIC: [u8; 8] = *b"\x89mayhapS";
const VERSION: u8 = 1;
/// The length of magic, version, kind and flags.
const FRONT: usize = 16;

/// The kind of an image. Numbers never change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ImageKind {
    Missing = 0,
    /// Chunks of SCANDUMP.
    RedisBloom = 1,
    /// A payload of DUMP, for filters that RESTORE accepts and LOADCHUNK does not.
    RedisBloomDump = 2,
    RedisCuckoo = 3,
    FixedBloom = 4,
    /// A chain of layers. Few new keys have one since 10 exists.
    GrowingBloom = 5,
    /// A ring of Bloom filters. Few new keys have one since 13 exists.
    WindowBloom = 6,
    FixedCuckoo = 7,
    /// A chain of tables. Few new keys have one since 11 exists.
    CuckooChain = 8,
    /// A `CountingBloom`. Few new keys have one since 12 exists.
    Counting = 9,
    /// A `GrowingCuckoo` in a Bloom key.
    GrowingSet = 10,
    /// A `GrowingCuckoo` in a cuckoo key.
    GrowingCuckoo = 11,
    /// A `CountingCuckoo` in a counting key.
    CountingCuckoo = 12,
    /// A `WindowCuckoo`.
    WindowSet = 13,
    Other = 255,
}

const IMAGE_KINDS: [ImageKind; 15] = [
    ImageKind::Missing,
    ImageKind::RedisBloom,
    ImageKind::RedisBloomDump,
    ImageKind::RedisCuckoo,
    ImageKind::FixedBloom,
    ImageKind::GrowingBloom,
    ImageKind::WindowBloom,
    ImageKind::FixedCuckoo,
    ImageKind::CuckooChain,
    ImageKind::Counting,
    ImageKind::GrowingSet,
    ImageKind::GrowingCuckoo,
    ImageKind::CountingCuckoo,
    ImageKind::WindowSet,
    ImageKind::Other,
];

/// The version of RDB inside an image, which no engine reads.
const RDB: u16 = 10;

/// Whether these bytes begin like an image.
pub(crate) fn is_image(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The bytes of an image in parts. The bits of native filters are borrowed, so that they are not copied.
type Parts<'a> = Vec<Cow<'a, [u8]>>;

/// The image of a slot.
pub(crate) fn encode(slot: &Slot) -> Vec<u8> {
    let mut out = Vec::new();
    let Ok(()) = write(slot, &mut |bytes| {
        out.extend_from_slice(bytes);
        Ok::<_, Infallible>(())
    });
    out
}

/// A native Bloom filter without its bits.
pub(crate) fn bloom_header(filter: &NativeBloom) -> Vec<u8> {
    bloom::parts(filter, false).concat()
}

/// A native cuckoo filter without its cells.
pub(crate) fn cuckoo_header(filter: &NativeCuckoo) -> Vec<u8> {
    cuckoo::parts(filter, false).concat()
}

/// A counting filter without its counters.
pub(crate) fn counting_header(filter: &NativeCounting) -> Vec<u8> {
    counting::parts(filter, false).concat()
}

fn put_all<E>(
    parts: &[Cow<'_, [u8]>],
    put: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    parts.iter().try_for_each(|part| put(part))
}

/// The parts of a native filter; empty for other slots.
fn parts(slot: &Slot) -> Parts<'_> {
    match slot {
        Slot::Missing | Slot::Other => Vec::new(),
        Slot::Bloom(filter) => match &**filter {
            AnyBloom::RedisBloom(_) => Vec::new(),
            AnyBloom::Native(filter) => bloom::parts(filter, true),
        },
        Slot::Cuckoo(filter) => match &**filter {
            AnyCuckoo::RedisBloom(_) => Vec::new(),
            AnyCuckoo::Native(filter) => cuckoo::parts(filter, true),
        },
        Slot::Counting(filter) => counting::parts(filter, true),
    }
}

/// Writes the image of a slot in parts, which takes a few MiB at most besides the filter. Only a filter of RedisBloom's layout that SCANDUMP
/// cannot represent, which is rare, is copied as a whole.
pub(crate) fn write<E>(slot: &Slot, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let front = |kind: ImageKind| FieldWriter::new(kind as u8, true).finish();
    match slot {
        Slot::Missing => put(&front(ImageKind::Missing)),
        Slot::Other => put(&front(ImageKind::Other)),
        Slot::Bloom(filter) => match &**filter {
            AnyBloom::RedisBloom(filter) if filter.is_scannable() => {
                put(&front(ImageKind::RedisBloom))?;
                let mut next = filter.scan(0);
                while let Some((iterator, chunk)) = next {
                    put(&chunk)?;
                    next = filter.scan(iterator);
                }
                Ok(())
            }
            AnyBloom::RedisBloom(filter) => {
                put(&front(ImageKind::RedisBloomDump))?;
                put(&filter.dump(RDB))
            }
            AnyBloom::Native(_) => put_all(&parts(slot), put),
        },
        Slot::Cuckoo(filter) => match &**filter {
            AnyCuckoo::RedisBloom(filter) => {
                put(&front(ImageKind::RedisCuckoo))?;
                put(&filter.header())?;
                filter.filter().tables().try_for_each(put)
            }
            AnyCuckoo::Native(_) => put_all(&parts(slot), put),
        },
        Slot::Counting(_) => put_all(&parts(slot), put),
    }
}

/// Decodes an image or a header; the filter of a header is empty.
pub(crate) fn decode(bytes: &[u8], limits: Limits) -> Result<Slot, DecodeError> {
    read(&mut FieldReader::new(bytes), limits)
}

/// How many bytes are read first: the fields of most images are shorter.
const FIELDS: u64 = 64 << 10;

/// Decodes an image of `length` bytes front to back, the bits step by step. `more` reads the next bytes into a buffer.
pub(crate) fn decode_from(
    length: u64,
    more: &mut dyn FnMut(&mut [u8]) -> Result<(), DecodeError>,
    limits: Limits,
) -> Result<Slot, DecodeError> {
    let mut begin = Vec::new();
    let mut wanted = FIELDS;
    loop {
        let held = begin.len();
        begin.resize(wanted.min(length) as usize, 0);
        more(&mut begin[held..])?;
        let is_all = begin.len() as u64 == length;
        if let Some(filter) = redis_filter(&begin, length, more, limits) {
            return filter;
        }
        let mut at = if is_all {
            FieldReader::new(&begin)
        } else {
            FieldReader::with_rest(&begin, length, more)
        };
        match read(&mut at, limits) {
            // There are more fields, because some are lists. No bits were read yet.
            Err(error) if !is_all && is_cut(&error) => wanted = wanted.saturating_mul(4),
            read => return read,
        }
    }
}

fn is_cut(error: &DecodeError) -> bool {
    matches!(error.problem, Problem::Cut { what, .. } if what != "bits")
}

/// Decodes a large filter of RedisBloom's layout: reads its header, and loads its bits in chunks.
fn redis_filter(
    begin: &[u8],
    length: u64,
    more: &mut dyn FnMut(&mut [u8]) -> Result<(), DecodeError>,
    limits: Limits,
) -> Option<Result<Slot, DecodeError>> {
    let (kind, _) = front(&mut FieldReader::new(begin)).ok()?;
    let body = begin.get(FRONT..)?;
    let mut sizes = Vec::new();
    // If the length does not match the bits, the decoder of whole images reports what is wrong.
    let fits = |header: usize, sizes: &[u64]| {
        let bits = sizes
            .iter()
            .fold(0, |sum: u64, size| sum.saturating_add(*size));
        length > begin.len() as u64 && length.checked_sub((FRONT + header) as u64) == Some(bits)
    };
    match kind {
        ImageKind::RedisBloom => {
            let header = redis::Bloom::header_in(body)?;
            let filter = redis::Bloom::from_header(header, limits).ok()?;
            sizes.extend(filter.layer_bytes());
            if !fits(header.len(), &sizes) {
                return None;
            }
            let mut filter = filter;
            let loaded = load_chunks(&body[header.len()..], &sizes, more, |position, chunk| {
                filter.load_chunk(position, chunk).is_ok()
            });
            Some(loaded.map(|()| Slot::Bloom(Box::new(AnyBloom::RedisBloom(filter)))))
        }
        ImageKind::RedisCuckoo => {
            let header = body.get(..redis::CUCKOO_HEADER)?;
            let mut filter = redis::Cuckoo::from_header(header, limits).ok()?;
            sizes.extend(filter.filter().tables().map(|table| table.len() as u64));
            if !fits(header.len(), &sizes) {
                return None;
            }
            let loaded = load_chunks(&body[header.len()..], &sizes, more, |position, chunk| {
                filter.load_chunk(position, chunk).is_ok()
            });
            Some(loaded.map(|()| Slot::Cuckoo(Box::new(AnyCuckoo::RedisBloom(filter)))))
        }
        _ => None,
    }
}

/// Passes on the bits of parts of these sizes, in chunks that do not cross the end of a part. The position is the end of a chunk, counted
/// from 1.
fn load_chunks(
    mut begin: &[u8],
    sizes: &[u64],
    more: &mut dyn FnMut(&mut [u8]) -> Result<(), DecodeError>,
    mut load: impl FnMut(i64, &[u8]) -> bool,
) -> Result<(), DecodeError> {
    let mut step = vec![0; STEP];
    let mut position: u64 = 1;
    for &size in sizes {
        let mut left = size;
        while left > 0 {
            let chunk = &mut step[..STEP.min(left as usize)];
            let (first, rest) = chunk.split_at_mut(begin.len().min(chunk.len()));
            let (here, later) = begin.split_at(first.len());
            first.copy_from_slice(here);
            begin = later;
            if !rest.is_empty() {
                more(rest)?;
            }
            left -= chunk.len() as u64;
            position += chunk.len() as u64;
            if !load(position.cast_signed(), chunk) {
                let at = FieldReader::new(&[]);
                return Err(at.wrong("chunk", position, "inside of the filter"));
            }
        }
    }
    Ok(())
}

fn read(at: &mut FieldReader<'_>, limits: Limits) -> Result<Slot, DecodeError> {
    let (kind, has_bits) = front(at)?;
    let bloom = |filter| Slot::Bloom(Box::new(filter));
    let cuckoo = |filter| Slot::Cuckoo(Box::new(filter));
    let counting = |filter| Slot::Counting(Box::new(filter));
    let slot = match kind {
        ImageKind::Missing | ImageKind::Other => {
            at.finish()?;
            return Ok(if kind == ImageKind::Missing {
                Slot::Missing
            } else {
                Slot::Other
            });
        }
        ImageKind::RedisBloom => {
            let filter = redis::bloom::decode(at.rest_within(limits)?)?;
            return Ok(bloom(AnyBloom::RedisBloom(filter)));
        }
        ImageKind::RedisBloomDump => match redis::dump::decode(at.rest_within(limits)?, limits)? {
            redis::Filter::Bloom(filter) => return Ok(bloom(AnyBloom::RedisBloom(filter))),
            redis::Filter::Cuckoo(_) => {
                return Err(at.wrong("kind", kind as u64, "a Bloom filter"));
            }
        },
        ImageKind::RedisCuckoo => {
            let filter = redis::cuckoo::decode(at.rest_within(limits)?)?;
            return Ok(cuckoo(AnyCuckoo::RedisBloom(filter)));
        }
        ImageKind::FixedBloom => bloom(bloom::read_fixed(at, has_bits, limits)?),
        ImageKind::GrowingBloom => bloom(bloom::read_growing(at, has_bits, limits)?),
        ImageKind::WindowBloom => bloom(bloom::read_window(at, has_bits, limits)?),
        ImageKind::FixedCuckoo => cuckoo(cuckoo::read_fixed(at, has_bits, limits)?),
        ImageKind::CuckooChain => cuckoo(cuckoo::read_chain(at, has_bits, limits)?),
        ImageKind::GrowingSet => bloom(bloom::read_set(at, has_bits, limits)?),
        ImageKind::WindowSet => bloom(bloom::read_window_set(at, has_bits, limits)?),
        ImageKind::GrowingCuckoo => cuckoo(cuckoo::read_growing(at, has_bits, limits)?),
        ImageKind::Counting => counting(counting::read_bloom(at, has_bits, limits)?),
        ImageKind::CountingCuckoo => counting(counting::read_cuckoo(at, has_bits, limits)?),
    };
    at.finish()?;
    Ok(slot)
}

/// Reads the beginning of an image: the kind, and whether bits follow.
fn front(at: &mut FieldReader<'_>) -> Result<(ImageKind, bool), DecodeError> {
    if at.take("magic", 8)? != MAGIC {
        return Err(at.error(Problem::Value {
            field: "magic",
            value: 0,
            accepted: "that of a filter of ours",
        }));
    }
    let front = at.take("version and kind", 8)?;
    if front[0] != VERSION {
        return Err(at.wrong("version", front[0].into(), "1"));
    }
    let Some(kind) = IMAGE_KINDS.into_iter().find(|&kind| kind as u8 == front[1]) else {
        return Err(at.wrong("kind", front[1].into(), "0 to 13, or 255"));
    };
    let has_bits = match front[2..] {
        [has_bits @ (0 | 1), 0, 0, 0, 0, 0] => has_bits == 1,
        _ => return Err(at.wrong("flags", front[2].into(), "0 or 1, and zeros")),
    };
    Ok((kind, has_bits))
}

/// Decodes the header of a native Bloom filter.
pub(crate) fn bloom_from_header(bytes: &[u8], limits: Limits) -> Result<AnyBloom, DecodeError> {
    let mut at = FieldReader::new(bytes);
    match (front(&mut at)?, decode(bytes, limits)?) {
        ((_, false), Slot::Bloom(filter)) => Ok(*filter),
        ((kind, _), _) => Err(at.wrong("kind", kind as u64, "the header of a Bloom filter")),
    }
}

/// Decodes the header of a native cuckoo filter.
pub(crate) fn cuckoo_from_header(bytes: &[u8], limits: Limits) -> Result<AnyCuckoo, DecodeError> {
    let mut at = FieldReader::new(bytes);
    match (front(&mut at)?, decode(bytes, limits)?) {
        ((_, false), Slot::Cuckoo(filter)) => Ok(*filter),
        ((kind, _), _) => Err(at.wrong("kind", kind as u64, "the header of a cuckoo filter")),
    }
}
