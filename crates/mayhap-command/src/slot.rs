//! What a key holds.

use crate::image;
use crate::native::{NativeBloom, NativeCounting, NativeCuckoo};
use mayhap_codec::redis::dump;
use mayhap_codec::{DecodeError, Format, Limits, Problem, redis};

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

/// The types of native filters in DUMP and RDB, and the version of their encoding: one string, the image.
const TYPES: [&[u8; 9]; 3] = [b"mayhap-bf", b"mayhap-cf", b"mayhap-cb"];
const ENCODING: u16 = 1;

impl Slot {
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
        let string = |name| dump::of_string(name, ENCODING, &self.encode(), rdb_version);
        match self {
            Self::Missing | Self::Other => Vec::new(),
            Self::Bloom(filter) => match &**filter {
                Bloom::RedisBloom(filter) => filter.dump(rdb_version),
                Bloom::Native(_) => string(TYPES[0]),
            },
            Self::Cuckoo(filter) => match &**filter {
                Cuckoo::RedisBloom(filter) => filter.dump(rdb_version),
                Cuckoo::Native(_) => string(TYPES[1]),
            },
            Self::Counting(_) => string(TYPES[2]),
        }
    }

    /// Reads what `DUMP` answered, here or in a RedisBloom.
    ///
    /// # Errors
    /// When it is no filter, its checksum is wrong, or it takes more memory than allowed.
    pub fn restore(payload: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        if let Some(value) = dump::string_of(payload, &TYPES, limits)? {
            let wrong = |field, value| DecodeError {
                format: Format::RedisBloomDump,
                offset: 0,
                problem: Problem::Value {
                    field,
                    value,
                    accepted: "what DUMP answered here",
                },
            };
            if value.version != ENCODING {
                return Err(wrong("version of the encoding", value.version.into()));
            }
            let slot = Self::decode(&value.bytes, limits)?;
            let is_of_type = slot.type_name().as_bytes() == value.name;
            return is_of_type.then_some(slot).ok_or(wrong("type", 0));
        }
        Ok(match dump::decode(payload, limits)? {
            redis::Filter::Bloom(filter) => Self::Bloom(Box::new(Bloom::RedisBloom(filter))),
            redis::Filter::Cuckoo(filter) => Self::Cuckoo(Box::new(Cuckoo::RedisBloom(filter))),
        })
    }
}
