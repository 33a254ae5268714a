//! What a key holds.

use crate::image;
use crate::native::{NativeBloom, NativeCounting, NativeCuckoo};
use mayhap::PlanError;
use mayhap_codec::redis::dump::{self, TypeId};
use mayhap_codec::redis::fields::{Sink, Source};
use mayhap_codec::{DecodeError, Limits, redis};

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

/// The version of the encoding of native filters in DUMP and RDB: one string, the image.
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

    /// Reads what [`encode`](Self::encode) wrote: the same slot, to the bit.
    ///
    /// # Errors
    /// When it is something else, or takes more memory than allowed.
    pub fn decode(bytes: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        image::decode(bytes, limits)
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
            LaidOut::Native => out.string(&self.encode()),
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
            let slot = Self::decode(&at.string("filter")?, limits)?;
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
            LaidOut::Bloom(_) | LaidOut::Native => give("MAYHAP.LOAD", &[key, &self.encode()]),
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

/// What a slot holds, by its layout.
enum LaidOut<'a> {
    None,
    Bloom(&'a redis::Bloom),
    Cuckoo(&'a redis::Cuckoo),
    Native,
}
