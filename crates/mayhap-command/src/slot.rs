//! What a key holds.

use crate::image;
use crate::native::{NativeBloom, NativeCounting, NativeCuckoo};
use mayhap_codec::redis::dump::{self, TypeId};
use mayhap_codec::redis::fields::{Sink, Source};
use mayhap_codec::{DecodeError, Limits, redis};
use mayhap_core::PlanError;

/// What a key holds.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Slot {
    /// There is no such key.
    #[default]
    Missing,
    /// A Bloom filter.
    Bloom(Box<Bloom>),
    /// A cuckoo filter.
    Cuckoo(Box<Cuckoo>),
    /// A counting Bloom filter.
    Counting(Box<NativeCounting>),
    /// Something that is the host's, and no filter.
    Other,
}

/// A Bloom filter of either layout.
#[derive(Clone, PartialEq, Debug)]
pub enum Bloom {
    /// As RedisBloom has it, to the byte.
    RedisBloom(redis::Bloom),
    /// Our own.
    Native(NativeBloom),
}

/// A cuckoo filter of either layout.
#[derive(Clone, PartialEq, Debug)]
pub enum Cuckoo {
    /// As RedisBloom has it, to the byte.
    RedisBloom(redis::Cuckoo),
    /// Our own.
    Native(NativeCuckoo),
}

impl Bloom {
    /// Whether so many items fit for certain, without growing.
    pub(crate) fn has_room_for(&self, items: u64) -> bool {
        match self {
            Self::RedisBloom(filter) => items <= filter.keys_until_growth(),
            Self::Native(filter) => filter.has_room_for(items),
        }
    }
}

impl Cuckoo {
    /// Whether it takes more memory when it is full.
    pub(crate) fn grows(&self) -> bool {
        match self {
            Self::RedisBloom(filter) => filter.info().expansion > 0,
            Self::Native(filter) => filter.filter.growth().is_some(),
        }
    }
}

/// The version of the encoding of native filters in DUMP and RDB: the image, in one string or in pieces.
const ENCODING: u16 = 1;

/// The types that filters have in DUMP, RDB and `TYPE`, with the versions of their encodings.
pub const TYPES: [(&[u8; 9], u16); 5] = [
    (b"mayhap-bf", ENCODING),
    (b"mayhap-cf", ENCODING),
    (b"mayhap-cb", ENCODING),
    (b"MBbloom--", 4),
    (b"MBbloomCF", 4),
];

impl Bloom {
    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(match self {
            Self::RedisBloom(filter) => Self::RedisBloom(filter.try_clone()?),
            Self::Native(filter) => Self::Native(filter.try_clone()?),
        })
    }
}

impl Cuckoo {
    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(match self {
            Self::RedisBloom(filter) => Self::RedisBloom(filter.try_clone()?),
            Self::Native(filter) => Self::Native(filter.try_clone()?),
        })
    }
}

impl Slot {
    /// A copy, or an error where the memory for it is not there. `Clone` would end the program then.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(match self {
            Self::Missing => Self::Missing,
            Self::Bloom(filter) => Self::Bloom(Box::new(filter.try_clone()?)),
            Self::Cuckoo(filter) => Self::Cuckoo(Box::new(filter.try_clone()?)),
            Self::Counting(filter) => Self::Counting(Box::new(filter.try_clone()?)),
            Self::Other => Self::Other,
        })
    }

    /// What `TYPE` answers.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Missing => "none",
            Self::Bloom(filter) => match **filter {
                Bloom::RedisBloom(_) => "MBbloom--",
                Bloom::Native(_) => "mayhap-bf",
            },
            Self::Cuckoo(filter) => match **filter {
                Cuckoo::RedisBloom(_) => "MBbloomCF",
                Cuckoo::Native(_) => "mayhap-cf",
            },
            Self::Counting(_) => "mayhap-cb",
            Self::Other => "string",
        }
    }

    /// Bytes of memory; known without looking at the filter.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Missing | Self::Other => 0,
            Self::Bloom(filter) => match &**filter {
                Bloom::RedisBloom(filter) => filter.info().size_bytes,
                Bloom::Native(filter) => filter.size_bytes(),
            },
            Self::Cuckoo(filter) => match &**filter {
                Cuckoo::RedisBloom(filter) => filter.info().size_bytes,
                Cuckoo::Native(filter) => filter.size_bytes(),
            },
            Self::Counting(filter) => filter.size_bytes(),
        }
    }

    /// The bytes of the filter for snapshots and logs, the secret of its hash included: whoever has them can choose keys that
    /// collide. `image/` has the table of bytes.
    pub fn encode(&self) -> Vec<u8> {
        image::encode(self)
    }

    /// The same bytes, piece by piece: this takes a few MiB besides the filter, however large that is.
    ///
    /// # Errors
    /// Those of `put`, at once.
    pub fn write<E>(&self, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        image::write(self, &mut put)
    }

    /// Reads what [`encode`](Self::encode) wrote: the same slot, to the bit.
    ///
    /// # Errors
    /// When it is something else, or takes more memory than allowed.
    pub fn decode(bytes: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        image::decode(bytes, limits)
    }

    /// The same, of so many bytes that are read front to back: `more` reads the next ones into a buffer. This takes a few MiB besides
    /// the filter.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and those of `more`.
    pub fn decode_from(
        length: u64,
        mut more: impl FnMut(&mut [u8]) -> Result<(), DecodeError>,
        limits: Limits,
    ) -> Result<Self, DecodeError> {
        image::decode_from(length, &mut more, limits)
    }

    /// What `DUMP` answers, in an engine of this version of RDB; nothing for what is no filter.
    pub fn dump(&self, rdb_version: u16) -> Vec<u8> {
        let name = self.type_name().as_bytes();
        let of_filter = TYPES.iter().find(|(filter, _)| *filter == name);
        of_filter.map_or_else(Vec::new, |(name, version)| {
            let id = TypeId::new(name, *version);
            dump::write(id, rdb_version, |out| self.save(out))
        })
    }

    /// Reads what `DUMP` answered, here or in a RedisBloom.
    ///
    /// # Errors
    /// When it is no filter, its checksum is wrong, or it takes more memory than allowed.
    pub fn restore(payload: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        dump::read(payload, limits, |id, fields| Self::load(id, fields, limits))
    }

    /// Writes the fields of the value, as the type of [`type_name`](Self::type_name) has them; nothing for what is no filter.
    pub fn save(&self, out: &mut impl Sink) {
        match self.laid_out() {
            LaidOut::None => {}
            LaidOut::Bloom(filter) => filter.save(out),
            LaidOut::Cuckoo(filter) => filter.save(out),
            LaidOut::Native => image::save(self, out),
        }
    }

    /// Reads the fields of a value of this type.
    ///
    /// # Errors
    /// When the type is no filter's or newer, the fields are not those of one, or it takes more memory than allowed.
    pub fn load(id: TypeId, at: &mut impl Source, limits: Limits) -> Result<Self, DecodeError> {
        let is_native = |(name, version): &&(&[u8; 9], u16)| *version == ENCODING && id.is(name);
        if let Some((name, _)) = TYPES.iter().find(is_native) {
            if id.version() != ENCODING.into() {
                let version = i128::from(id.version());
                return Err(at.value("version of the encoding", version, "1"));
            }
            let slot = image::load(at, limits)?;
            let is_of_type = slot.type_name().as_bytes() == *name;
            return if is_of_type {
                Ok(slot)
            } else {
                Err(id.refused(at, "that of the filter in it"))
            };
        }
        Ok(match redis::Filter::load(id, at)? {
            redis::Filter::Bloom(filter) => Self::Bloom(Box::new(Bloom::RedisBloom(filter))),
            redis::Filter::Cuckoo(filter) => Self::Cuckoo(Box::new(Cuckoo::RedisBloom(filter))),
        })
    }

    /// Whether answers depend on the time of the command: then others need it to do the same.
    pub fn is_timed(&self) -> bool {
        matches!(self, Self::Bloom(filter) if matches!(&**filter, Bloom::Native(filter) if filter.is_window()))
    }

    /// The commands that make the same filter in a missing key, here or, of RedisBloom's layout, in a RedisBloom. Each is given
    /// as soon as it is made, so that one chunk is in memory at a time.
    pub fn give_commands(&self, key: &[u8], give: &mut impl FnMut(&str, &[&[u8]])) {
        let mut chunks = |name, header: Vec<u8>, scan: &dyn Fn(i64) -> Option<(i64, Vec<u8>)>| {
            let mut next = Some((1, header));
            while let Some((iterator, chunk)) = next {
                give(name, &[key, iterator.to_string().as_bytes(), &chunk]);
                next = scan(iterator);
            }
        };
        match self.laid_out() {
            LaidOut::None => {}
            LaidOut::Bloom(filter) if filter.is_scannable() => {
                chunks("BF.LOADCHUNK", filter.header(), &|at| filter.scan(at));
            }
            LaidOut::Cuckoo(filter) => {
                chunks("CF.LOADCHUNK", filter.header(), &|at| filter.piece(at));
            }
            LaidOut::Bloom(_) | LaidOut::Native => match self.native_chunks() {
                Some((name, header, scan)) => chunks(name, header, &*scan),
                None => give("MAYHAP.LOAD", &[key, &self.encode()]),
            },
        }
    }

    /// The chunks of a native filter that is larger than one of them: the command that loads them, the first one and those after it.
    fn native_chunks(&self) -> Option<NativeChunks<'_>> {
        if self.size_bytes() <= redis::MAX_CHUNK {
            return None;
        }
        match self {
            Self::Bloom(filter) => match &**filter {
                Bloom::Native(filter) => {
                    let header = image::bloom_header(filter);
                    Some(("BF.LOADCHUNK", header, Box::new(|at| filter.scan(at))))
                }
                Bloom::RedisBloom(_) => None,
            },
            Self::Cuckoo(filter) => match &**filter {
                // Of an empty one, and of one that is being loaded, there are no chunks.
                Cuckoo::Native(filter) if filter.staged.is_none() => {
                    let (_, header) = filter.scan(0)?;
                    Some(("CF.LOADCHUNK", header, Box::new(|at| filter.scan(at))))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn laid_out(&self) -> LaidOut<'_> {
        match self {
            Self::Missing | Self::Other => LaidOut::None,
            Self::Bloom(filter) => match &**filter {
                Bloom::RedisBloom(filter) => LaidOut::Bloom(filter),
                Bloom::Native(_) => LaidOut::Native,
            },
            Self::Cuckoo(filter) => match &**filter {
                Cuckoo::RedisBloom(filter) => LaidOut::Cuckoo(filter),
                Cuckoo::Native(_) => LaidOut::Native,
            },
            Self::Counting(_) => LaidOut::Native,
        }
    }
}

type NativeChunks<'a> = (
    &'static str,
    Vec<u8>,
    Box<dyn Fn(i64) -> Option<(i64, Vec<u8>)> + 'a>,
);

/// What a slot holds, by its layout.
enum LaidOut<'a> {
    None,
    Bloom(&'a redis::Bloom),
    Cuckoo(&'a redis::Cuckoo),
    Native,
}
