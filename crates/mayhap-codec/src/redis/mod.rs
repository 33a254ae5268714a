//! RedisBloom's filters, Bloom and cuckoo, with all that its commands do to one key: [`Bloom`] and [`Cuckoo`].
//!
//! Each is carried in two ways: by SCANDUMP and LOADCHUNK (`decode` and `encode` in [`bloom`] and [`cuckoo`]) and by DUMP and
//! RESTORE ([`dump`]); RDB files hold the same values as DUMP ([`rdb`]).

pub mod bloom;
pub mod cuckoo;
pub mod dump;
pub mod fields;
mod layer;
mod lzf;
mod many;
pub mod plain;
pub mod rdb;
mod text;

mod value;

pub use bloom::{Bloom, BloomInfo, UnionError};
pub use cuckoo::{CUCKOO_HEADER, Cuckoo, CuckooInfo};
pub use text::six_digits;

use std::fmt;

/// The most bytes of a chunk of a SCANDUMP.
pub const MAX_CHUNK: u64 = 16 << 20;

/// A filter of either family.
#[derive(Clone, PartialEq, Debug)]
pub enum Filter {
    /// Type `MBbloom--`.
    Bloom(Bloom),
    /// Type `MBbloomCF`.
    Cuckoo(Cuckoo),
}

impl Filter {
    /// `false` is certain: the key was never inserted. `true` is mayhap.
    pub fn contains(&self, key: &[u8]) -> bool {
        match self {
            Self::Bloom(filter) => filter.contains(key),
            Self::Cuckoo(filter) => filter.contains(key),
        }
    }
}

/// A chunk that belongs nowhere in a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ChunkError {
    /// It would begin before the filter does.
    Iterator {
        /// What came with it.
        iterator: i64,
        /// Its bytes.
        length: u64,
    },
    /// It begins outside of the filter.
    Outside {
        /// What came with it.
        iterator: i64,
        /// Its bytes.
        length: u64,
    },
    /// It runs over the end of its layer or table.
    TooLong {
        /// Its bytes.
        length: u64,
        /// Bytes that there are from its beginning on.
        left: u64,
    },
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iterator { iterator, length } => write!(
                f,
                "a chunk of {length} bytes cannot end at iterator {iterator}: give the one that came with it"
            ),
            Self::Outside { iterator, length } => write!(
                f,
                "a chunk of {length} bytes with iterator {iterator} is outside of the filter: load its own header first"
            ),
            Self::TooLong { length, left } => write!(
                f,
                "a chunk of {length} bytes runs over the end, {left} bytes away: give the iterator that came with it"
            ),
        }
    }
}

impl std::error::Error for ChunkError {}
