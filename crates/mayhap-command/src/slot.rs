//! What a key holds.

use mayhap::Timestamp;
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
    Counting(Box<()>),
    /// Something that is the host's, and no filter.
    Other,
}

/// A Bloom filter of either layout.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Bloom {
    /// As RedisBloom has it, to the byte.
    RedisBloom(redis::Bloom),
}

/// A cuckoo filter of either layout.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Cuckoo {
    /// As RedisBloom has it, to the byte.
    RedisBloom(redis::Cuckoo),
}

/// How a filter is doing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stats {
    /// The error rate that it was made for.
    pub rate_asked: f64,
    /// The error rate now.
    pub rate_now: f64,
    /// The share of bits, cells or counters in use.
    pub fill: f64,
    /// About how many keys are in.
    pub keys: u64,
    /// About how many more fit; `u64::MAX` when it grows.
    pub keys_until_full: u64,
    /// Keys that it has room for as it is.
    pub capacity: u64,
    /// Bytes of memory.
    pub size_bytes: u64,
    /// Layers, tables or generations.
    pub layers: u64,
}

impl Slot {
    /// What `TYPE` answers.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Missing => "none",
            Self::Bloom(_) => "MBbloom--",
            Self::Cuckoo(_) => "MBbloomCF",
            Self::Counting(_) => "mayhap-cb",
            Self::Other => "string",
        }
    }

    /// Bytes of memory; known without looking at the filter.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Bloom(filter) => match &**filter {
                Bloom::RedisBloom(filter) => filter.info().size_bytes,
            },
            Self::Cuckoo(filter) => match &**filter {
                Cuckoo::RedisBloom(filter) => filter.info().size_bytes,
            },
            _ => 0,
        }
    }

    /// The bytes of the filter for snapshots and logs, its secret included.
    pub fn encode(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Reads what [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// When it is something else, or takes more memory than allowed.
    pub fn decode(_bytes: &[u8], _limits: Limits) -> Result<Self, DecodeError> {
        Ok(Self::Missing)
    }

    /// What `DUMP` answers, in an engine of this version of RDB.
    pub fn dump(&self, _rdb_version: u16) -> Vec<u8> {
        Vec::new()
    }

    /// Reads what `DUMP` answered.
    ///
    /// # Errors
    /// When it is no filter, its checksum is wrong, or it takes more memory than allowed.
    pub fn restore(_payload: &[u8], _limits: Limits) -> Result<Self, DecodeError> {
        Ok(Self::Missing)
    }

    /// How the filter is doing; reads all of it.
    pub fn stats(&self, _now: Timestamp) -> Option<Stats> {
        None
    }
}
