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

use crate::native::{NativeBloom, NativeCuckoo};
use crate::slot::{Bloom, Cuckoo, Slot};
use fields::{Reader, Writer};
use mayhap_codec::{DecodeError, Limits, Problem, redis};
use std::borrow::Cow;

const MAGIC: [u8; 8] = *b"\x89mayhapS";
const VERSION: u8 = 1;

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
    join(&parts(slot, true))
}

/// A native filter without its bits; of others, all.
pub(crate) fn header(slot: &Slot) -> Vec<u8> {
    join(&parts(slot, false))
}

fn join(parts: &[Cow<'_, [u8]>]) -> Vec<u8> {
    parts.concat()
}

/// A native Bloom filter without its bits.
pub(crate) fn bloom_header(filter: &NativeBloom) -> Vec<u8> {
    join(&bloom::parts(filter, false))
}

/// A native cuckoo filter without its cells.
pub(crate) fn cuckoo_header(filter: &NativeCuckoo) -> Vec<u8> {
    join(&cuckoo::parts(filter, false))
}

fn parts(slot: &Slot, with_bits: bool) -> Parts<'_> {
    let plain = |kind: Kind, bytes: Vec<u8>| {
        let front = Writer::new(kind as u8, true).finish();
        vec![Cow::Owned(front), Cow::Owned(bytes)]
    };
    match slot {
        Slot::Missing => plain(Kind::Missing, Vec::new()),
        Slot::Other => plain(Kind::Other, Vec::new()),
        Slot::Bloom(filter) => match &**filter {
            Bloom::RedisBloom(filter) if filter.is_scannable() => {
                plain(Kind::RedisBloom, redis::bloom::encode(filter))
            }
            Bloom::RedisBloom(filter) => plain(Kind::RedisBloomDump, filter.dump(RDB)),
            Bloom::Native(filter) => bloom::parts(filter, with_bits),
        },
        Slot::Cuckoo(filter) => match &**filter {
            Cuckoo::RedisBloom(filter) => plain(Kind::RedisCuckoo, redis::cuckoo::encode(filter)),
            Cuckoo::Native(filter) => cuckoo::parts(filter, with_bits),
        },
        Slot::Counting(filter) => counting::parts(filter, with_bits),
    }
}

/// Reads an image, or a header: the filter has no bits then.
pub(crate) fn decode(bytes: &[u8], limits: Limits) -> Result<Slot, DecodeError> {
    let mut at = Reader::new(bytes);
    let (kind, has_bits) = front(&mut at)?;
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
            return Ok(bloom(Bloom::RedisBloom(filter)));
        }
        Kind::RedisBloomDump => match redis::dump::decode(at.rest_within(limits)?, limits)? {
            redis::Filter::Bloom(filter) => return Ok(bloom(Bloom::RedisBloom(filter))),
            redis::Filter::Cuckoo(_) => {
                return Err(at.wrong("kind", kind as u64, "a Bloom filter"));
            }
        },
        Kind::RedisCuckoo => {
            let filter = redis::cuckoo::decode(at.rest_within(limits)?)?;
            return Ok(cuckoo(Cuckoo::RedisBloom(filter)));
        }
        Kind::FixedBloom => bloom(bloom::read_fixed(&mut at, has_bits, limits)?),
        Kind::GrowingBloom => bloom(bloom::read_growing(&mut at, has_bits, limits)?),
        Kind::WindowBloom => bloom(bloom::read_window(&mut at, has_bits, limits)?),
        Kind::FixedCuckoo => cuckoo(cuckoo::read_fixed(&mut at, has_bits, limits)?),
        Kind::GrowingCuckoo => cuckoo(cuckoo::read_growing(&mut at, has_bits, limits)?),
        Kind::Counting => Slot::Counting(Box::new(counting::read(&mut at, has_bits, limits)?)),
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
pub(crate) fn bloom_of_header(bytes: &[u8], limits: Limits) -> Result<Bloom, DecodeError> {
    let mut at = Reader::new(bytes);
    match (front(&mut at)?, decode(bytes, limits)?) {
        ((_, false), Slot::Bloom(filter)) => Ok(*filter),
        ((kind, _), _) => Err(at.wrong("kind", kind as u64, "the header of a Bloom filter")),
    }
}

/// The header of a native cuckoo filter, and nothing else.
pub(crate) fn cuckoo_of_header(bytes: &[u8], limits: Limits) -> Result<Cuckoo, DecodeError> {
    let mut at = Reader::new(bytes);
    match (front(&mut at)?, decode(bytes, limits)?) {
        ((_, false), Slot::Cuckoo(filter)) => Ok(*filter),
        ((kind, _), _) => Err(at.wrong("kind", kind as u64, "the header of a cuckoo filter")),
    }
}
