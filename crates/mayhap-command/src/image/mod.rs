//! A slot as bytes, for snapshots and logs: [`Slot::encode`] and [`Slot::decode`]. The secret of the hash is in them.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `\x89mayhapS` |
//! | 1, 1, 1, 5 | version, kind, whether bits follow, zeros |
//! | 8, 16 | of native kinds: hash scheme and its key |
//! | | of native kinds: fields of eight bytes, by kind; all shapes are in them, so that nothing is reckoned anew |
//! | | the bits; of RedisBloom's kinds, a SCANDUMP end to end |
//!
//! Without its bits a native filter is a *header*: the filter of that shape with no bit set. There are no checksums: logs,
//! snapshots and DUMP have their own.

mod bloom;
mod counting;
mod cuckoo;
mod fields;
mod pieces;

pub(crate) use cuckoo::{loading_header, parts as cuckoo_parts};
pub(crate) use pieces::{load, save};

use crate::native::{NativeBloom, NativeCounting, NativeCuckoo};
use crate::slot::{AnyBloom, AnyCuckoo, Slot};
use fields::{Reader, STEP, Writer};
use mayhap_codec::{DecodeError, Limits, Problem, redis};
use std::borrow::Cow;
use std::convert::Infallible;

const MAGIC: [u8; 8] = *b"\x89mayhapS";
const VERSION: u8 = 1;
/// Bytes of magic, version, kind and flags.
const FRONT: usize = 16;

/// What the bytes are of. Numbers never change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Missing = 0,
    /// A SCANDUMP.
    RedisBloom = 1,
    /// A DUMP, for what RESTORE takes and LOADCHUNK does not.
    RedisBloomDump = 2,
    RedisCuckoo = 3,
    FixedBloom = 4,
    GrowingBloom = 5,
    WindowBloom = 6,
    FixedCuckoo = 7,
    GrowingCuckoo = 8,
    Counting = 9,
    Other = 255,
}

const KINDS: [Kind; 11] = [
    Kind::Missing,
    Kind::RedisBloom,
    Kind::RedisBloomDump,
    Kind::RedisCuckoo,
    Kind::FixedBloom,
    Kind::GrowingBloom,
    Kind::WindowBloom,
    Kind::FixedCuckoo,
    Kind::GrowingCuckoo,
    Kind::Counting,
    Kind::Other,
];

/// The version of RDB inside of an image, which no engine looks at.
const RDB: u16 = 10;

/// Whether these are the first bytes of an image.
pub(crate) fn is_image(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The bytes of an image, end to end: the bits of native filters are borrowed, so that an image can be written without a copy of them.
type Parts<'a> = Vec<Cow<'a, [u8]>>;

/// The whole slot.
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

/// The parts of a native filter; of others, none.
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

/// The whole slot, piece by piece, as its bits lie in memory: besides the filter this takes a few MiB at most. Only the rare filter of
/// RedisBloom's that no SCANDUMP can have is put together as a whole first.
pub(crate) fn write<E>(slot: &Slot, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let front = |kind: Kind| Writer::new(kind as u8, true).finish();
    match slot {
        Slot::Missing => put(&front(Kind::Missing)),
        Slot::Other => put(&front(Kind::Other)),
        Slot::Bloom(filter) => match &**filter {
            AnyBloom::RedisBloom(filter) if filter.is_scannable() => {
                put(&front(Kind::RedisBloom))?;
                let mut next = filter.scan(0);
                while let Some((iterator, chunk)) = next {
                    put(&chunk)?;
                    next = filter.scan(iterator);
                }
                Ok(())
            }
            AnyBloom::RedisBloom(filter) => {
                put(&front(Kind::RedisBloomDump))?;
                put(&filter.dump(RDB))
            }
            AnyBloom::Native(_) => put_all(&parts(slot), put),
        },
        Slot::Cuckoo(filter) => match &**filter {
            AnyCuckoo::RedisBloom(filter) => {
                put(&front(Kind::RedisCuckoo))?;
                put(&filter.header())?;
                filter.filter().tables().try_for_each(put)
            }
            AnyCuckoo::Native(_) => put_all(&parts(slot), put),
        },
        Slot::Counting(_) => put_all(&parts(slot), put),
    }
}

/// Reads an image, or a header: the filter has no bits then.
pub(crate) fn decode(bytes: &[u8], limits: Limits) -> Result<Slot, DecodeError> {
    read(&mut Reader::new(bytes), limits)
}

/// The fields of an image are read at once, when there are no more.
const FIELDS: u64 = 64 << 10;

/// Reads an image of so many bytes front to back, the bits step by step. `more` reads the next bytes into a buffer.
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
            Reader::new(&begin)
        } else {
            Reader::with_rest(&begin, length, more)
        };
        match read(&mut at, limits) {
            // The fields go on: there are lists in them. Of the bits nothing was read.
            Err(error) if !is_all && is_cut(&error) => wanted = wanted.saturating_mul(4),
            read => return read,
        }
    }
}

fn is_cut(error: &DecodeError) -> bool {
    matches!(error.problem, Problem::Cut { what, .. } if what != "bits")
}

/// A large filter in RedisBloom's layout: its header is read, and its bits as chunks are loaded.
fn redis_filter(
    begin: &[u8],
    length: u64,
    more: &mut dyn FnMut(&mut [u8]) -> Result<(), DecodeError>,
    limits: Limits,
) -> Option<Result<Slot, DecodeError>> {
    let (kind, _) = front(&mut Reader::new(begin)).ok()?;
    let body = begin.get(FRONT..)?;
    let mut sizes = Vec::new();
    // The length must be that of the bits, or the usual way says what is wrong.
    let fits = |header: usize, sizes: &[u64]| {
        let bits = sizes
            .iter()
            .fold(0, |sum: u64, size| sum.saturating_add(*size));
        length > begin.len() as u64 && length.checked_sub((FRONT + header) as u64) == Some(bits)
    };
    match kind {
        Kind::RedisBloom => {
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
        Kind::RedisCuckoo => {
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

/// Gives the bits of parts of these sizes, in chunks that stay inside of a part; the position is where the chunk ends, counted from 1.
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
                let at = Reader::new(&[]);
                return Err(at.wrong("chunk", position, "inside of the filter"));
            }
        }
    }
    Ok(())
}

fn read(at: &mut Reader<'_>, limits: Limits) -> Result<Slot, DecodeError> {
    let (kind, has_bits) = front(at)?;
    let bloom = |filter| Slot::Bloom(Box::new(filter));
    let cuckoo = |filter| Slot::Cuckoo(Box::new(filter));
    let slot = match kind {
        Kind::Missing | Kind::Other => {
            at.finish()?;
            return Ok(if kind == Kind::Missing {
                Slot::Missing
            } else {
                Slot::Other
            });
        }
        Kind::RedisBloom => {
            let filter = redis::bloom::decode(at.rest_within(limits)?)?;
            return Ok(bloom(AnyBloom::RedisBloom(filter)));
        }
        Kind::RedisBloomDump => match redis::dump::decode(at.rest_within(limits)?, limits)? {
            redis::Filter::Bloom(filter) => return Ok(bloom(AnyBloom::RedisBloom(filter))),
            redis::Filter::Cuckoo(_) => {
                return Err(at.wrong("kind", kind as u64, "a Bloom filter"));
            }
        },
        Kind::RedisCuckoo => {
            let filter = redis::cuckoo::decode(at.rest_within(limits)?)?;
            return Ok(cuckoo(AnyCuckoo::RedisBloom(filter)));
        }
        Kind::FixedBloom => bloom(bloom::read_fixed(at, has_bits, limits)?),
        Kind::GrowingBloom => bloom(bloom::read_growing(at, has_bits, limits)?),
        Kind::WindowBloom => bloom(bloom::read_window(at, has_bits, limits)?),
        Kind::FixedCuckoo => cuckoo(cuckoo::read_fixed(at, has_bits, limits)?),
        Kind::GrowingCuckoo => cuckoo(cuckoo::read_growing(at, has_bits, limits)?),
        Kind::Counting => Slot::Counting(Box::new(counting::read(at, has_bits, limits)?)),
    };
    at.finish()?;
    Ok(slot)
}

/// What all images begin with: the kind, and whether the bits follow.
fn front(at: &mut Reader<'_>) -> Result<(Kind, bool), DecodeError> {
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
    let Some(kind) = KINDS.into_iter().find(|&kind| kind as u8 == front[1]) else {
        return Err(at.wrong("kind", front[1].into(), "0 to 9, or 255"));
    };
    let has_bits = match front[2..] {
        [has_bits @ (0 | 1), 0, 0, 0, 0, 0] => has_bits == 1,
        _ => return Err(at.wrong("flags", front[2].into(), "0 or 1, and zeros")),
    };
    Ok((kind, has_bits))
}

/// The header of a native Bloom filter, and nothing else.
pub(crate) fn bloom_from_header(bytes: &[u8], limits: Limits) -> Result<AnyBloom, DecodeError> {
    let mut at = Reader::new(bytes);
    match (front(&mut at)?, decode(bytes, limits)?) {
        ((_, false), Slot::Bloom(filter)) => Ok(*filter),
        ((kind, _), _) => Err(at.wrong("kind", kind as u64, "the header of a Bloom filter")),
    }
}

/// The header of a native cuckoo filter, and nothing else.
pub(crate) fn cuckoo_from_header(bytes: &[u8], limits: Limits) -> Result<AnyCuckoo, DecodeError> {
    let mut at = Reader::new(bytes);
    match (front(&mut at)?, decode(bytes, limits)?) {
        ((_, false), Slot::Cuckoo(filter)) => Ok(*filter),
        ((kind, _), _) => Err(at.wrong("kind", kind as u64, "the header of a cuckoo filter")),
    }
}
