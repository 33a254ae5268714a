//! The value of a key: a filter of either layout, or none.

use crate::image;
use crate::native::{NativeBloom, NativeCounting, NativeCuckoo};
use mayhap_codec::redis::dump::{self, TypeId};
use mayhap_codec::redis::fields::{Sink, Source};
use mayhap_codec::{DecodeError, Limits, redis};
use mayhap_core::PlanError;

/// The value of a key.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Slot {
    /// The key does not exist.
    #[default]
    Missing,
    /// A Bloom filter.
    Bloom(Box<AnyBloom>),
    /// A cuckoo filter.
    Cuckoo(Box<AnyCuckoo>),
    /// A counting Bloom filter.
    Counting(Box<NativeCounting>),
    /// A value of the host that is not a filter.
    Other,
}

/// A Bloom filter of either layout.
#[derive(Clone, PartialEq, Debug)]
pub enum AnyBloom {
    /// Byte-exact with RedisBloom.
    RedisBloom(redis::Bloom),
    /// The native layout.
    Native(NativeBloom),
}

/// A cuckoo filter of either layout.
#[derive(Clone, PartialEq, Debug)]
pub enum AnyCuckoo {
    /// Byte-exact with RedisBloom.
    RedisBloom(redis::Cuckoo),
    /// The native layout.
    Native(NativeCuckoo),
}

impl AnyBloom {
    /// Whether this number of items definitely fits without growing.
    pub(crate) fn has_room_for(&self, items: u64) -> bool {
        match self {
            Self::RedisBloom(filter) => items <= filter.keys_until_growth(),
            Self::Native(filter) => filter.has_room_for(items),
        }
    }
}

impl AnyCuckoo {
    /// Whether it grows when it is full.
    pub(crate) fn grows(&self) -> bool {
        match self {
            Self::RedisBloom(filter) => filter.info().expansion > 0,
            Self::Native(filter) => filter.filter.grows(),
        }
    }
}

/// The version of the encoding of native filters in DUMP and RDB: the image, in one or several strings.
const ENCODING: u16 = 1;

/// The types of filters in DUMP, RDB and `TYPE`, with the versions of their encodings.
pub const TYPES: [(&[u8; 9], u16); 5] = [
    (b"mayhap-bf", ENCODING),
    (b"mayhap-cf", ENCODING),
    (b"mayhap-cb", ENCODING),
    (b"MBbloom--", 4),
    (b"MBbloomCF", 4),
];

impl AnyBloom {
    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(match self {
            Self::RedisBloom(filter) => Self::RedisBloom(filter.try_clone()?),
            Self::Native(filter) => Self::Native(filter.try_clone()?),
        })
    }
}

impl AnyCuckoo {
    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(match self {
            Self::RedisBloom(filter) => Self::RedisBloom(filter.try_clone()?),
            Self::Native(filter) => Self::Native(filter.try_clone()?),
        })
    }
}

impl Slot {
    /// A copy, or an error if memory runs out, where `Clone` would abort the process.
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

    /// The name that `TYPE` replies with.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Missing => "none",
            Self::Bloom(filter) => match **filter {
                AnyBloom::RedisBloom(_) => "MBbloom--",
                AnyBloom::Native(_) => "mayhap-bf",
            },
            Self::Cuckoo(filter) => match **filter {
                AnyCuckoo::RedisBloom(_) => "MBbloomCF",
                AnyCuckoo::Native(_) => "mayhap-cf",
            },
            Self::Counting(_) => "mayhap-cb",
            Self::Other => "string",
        }
    }

    /// Bytes of memory, known without reading the filter.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Missing | Self::Other => 0,
            Self::Bloom(filter) => match &**filter {
                AnyBloom::RedisBloom(filter) => filter.info().size_bytes,
                AnyBloom::Native(filter) => filter.size_bytes(),
            },
            Self::Cuckoo(filter) => match &**filter {
                AnyCuckoo::RedisBloom(filter) => filter.info().size_bytes,
                AnyCuckoo::Native(filter) => filter.size_bytes(),
            },
            Self::Counting(filter) => filter.size_bytes(),
        }
    }

    /// The bytes of the filter for snapshots and logs. They include the secret of its hash, with which attackers can craft colliding keys.
    /// `image/` documents the format.
    pub fn encode(&self) -> Vec<u8> {
        image::encode(self)
    }

    /// Writes the same bytes in parts, which takes a few MiB besides the filter.
    ///
    /// # Errors
    /// The first error of `put`.
    pub fn write<E>(&self, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        image::write(self, &mut put)
    }

    /// Decodes the bytes of [`encode`](Self::encode): the same slot, to the bit.
    ///
    /// # Errors
    /// If the bytes are invalid, or take more memory than allowed.
    pub fn decode(bytes: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        image::decode(bytes, limits)
    }

    /// Decodes `length` bytes that are read front to back: `more` reads the next ones into a buffer. This takes a few MiB besides the
    /// filter.
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

    /// The payload of `DUMP` for this version of RDB; empty if the slot holds no filter.
    pub fn dump(&self, rdb_version: u16) -> Vec<u8> {
        let name = self.type_name().as_bytes();
        let of_filter = TYPES.iter().find(|(filter, _)| *filter == name);
        of_filter.map_or_else(Vec::new, |(name, version)| {
            let id = TypeId::new(name, *version);
            dump::write(id, rdb_version, |out| self.save(out))
        })
    }

    /// Decodes a payload of `DUMP`, ours or RedisBloom's.
    ///
    /// # Errors
    /// If it is not a filter, its checksum is wrong, or it takes more memory than allowed.
    pub fn restore(payload: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        dump::read(payload, limits, |id, fields| Self::load(id, fields, limits))
    }

    /// Writes the fields of the value in the encoding of its [type](Self::type_name); nothing if the slot holds no filter.
    pub fn save(&self, out: &mut impl Sink) {
        match self.by_layout() {
            ByLayout::None => {}
            ByLayout::Bloom(filter) => filter.save(out),
            ByLayout::Cuckoo(filter) => filter.save(out),
            ByLayout::Native => image::save(self, out),
        }
    }

    /// Reads the fields of a value of this type.
    ///
    /// # Errors
    /// If the type is unknown or too new, the fields are invalid, or the filter takes more memory than allowed.
    pub fn load(id: TypeId, at: &mut impl Source, limits: Limits) -> Result<Self, DecodeError> {
        let is_native = |(name, version): &&(&[u8; 9], u16)| *version == ENCODING && id.is(name);
        if let Some((name, _)) = TYPES.iter().find(is_native) {
            if id.version() != u64::from(ENCODING) {
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
            redis::Filter::Bloom(filter) => Self::Bloom(Box::new(AnyBloom::RedisBloom(filter))),
            redis::Filter::Cuckoo(filter) => Self::Cuckoo(Box::new(AnyCuckoo::RedisBloom(filter))),
        })
    }

    /// Whether replies depend on the time of the command, so that replicas need that time.
    pub fn is_timed(&self) -> bool {
        matches!(self, Self::Bloom(filter) if matches!(&**filter, AnyBloom::Native(filter) if filter.is_window()))
    }

    /// Calls `give` with the commands that create the same filter in a missing key; for RedisBloom's layout, RedisBloom accepts them too. One
    /// chunk is in memory at a time.
    pub fn give_commands(&self, key: &[u8], give: &mut impl FnMut(&str, &[&[u8]])) {
        let mut chunks = |name, header: Vec<u8>, scan: &dyn Fn(i64) -> Option<(i64, Vec<u8>)>| {
            let mut next = Some((1, header));
            while let Some((iterator, chunk)) = next {
                give(name, &[key, iterator.to_string().as_bytes(), &chunk]);
                next = scan(iterator);
            }
        };
        match self.by_layout() {
            ByLayout::None => {}
            ByLayout::Bloom(filter) if filter.is_scannable() => {
                chunks("BF.LOADCHUNK", filter.header(), &|at| filter.scan(at));
            }
            ByLayout::Cuckoo(filter) => {
                chunks("CF.LOADCHUNK", filter.header(), &|at| filter.piece(at));
            }
            ByLayout::Bloom(_) | ByLayout::Native => match self.native_chunks() {
                Some((name, header, scan)) => chunks(name, header, &*scan),
                None => give("MAYHAP.LOAD", &[key, &self.encode()]),
            },
        }
    }

    /// The chunks of a native filter that is larger than one chunk: the command that loads them, the first chunk and the following ones.
    fn native_chunks(&self) -> Option<NativeChunks<'_>> {
        if self.size_bytes() <= redis::MAX_CHUNK {
            return None;
        }
        match self {
            Self::Bloom(filter) => match &**filter {
                AnyBloom::Native(filter) if !filter.is_loading() => {
                    let (_, header) = filter.scan(0)?;
                    Some(("BF.LOADCHUNK", header, Box::new(|at| filter.scan(at))))
                }
                // A filter that is being loaded has no chunks.
                _ => None,
            },
            Self::Cuckoo(filter) => match &**filter {
                // Empty filters, and those that are being loaded, have no chunks.
                AnyCuckoo::Native(filter) if filter.loading.is_none() => {
                    let (_, header) = filter.scan(0)?;
                    Some(("CF.LOADCHUNK", header, Box::new(|at| filter.scan(at))))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn by_layout(&self) -> ByLayout<'_> {
        match self {
            Self::Missing | Self::Other => ByLayout::None,
            Self::Bloom(filter) => match &**filter {
                AnyBloom::RedisBloom(filter) => ByLayout::Bloom(filter),
                AnyBloom::Native(_) => ByLayout::Native,
            },
            Self::Cuckoo(filter) => match &**filter {
                AnyCuckoo::RedisBloom(filter) => ByLayout::Cuckoo(filter),
                AnyCuckoo::Native(_) => ByLayout::Native,
            },
            Self::Counting(_) => ByLayout::Native,
        }
    }
}

type NativeChunks<'a> = (
    &'static str,
    Vec<u8>,
    Box<dyn Fn(i64) -> Option<(i64, Vec<u8>)> + 'a>,
);

/// The filter of a slot, by its layout.
enum ByLayout<'a> {
    None,
    Bloom(&'a redis::Bloom),
    Cuckoo(&'a redis::Cuckoo),
    Native,
}
