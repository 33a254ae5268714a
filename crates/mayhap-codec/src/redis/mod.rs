//! RedisBloom's filters with all operations of its commands on one key: [`Bloom`] and [`Cuckoo`].
//!
//! Each has two encodings: that of SCANDUMP and LOADCHUNK (`decode` and `encode` in [`bloom`] and [`cuckoo`]) and that of DUMP and
//! RESTORE ([`dump`]), which RDB files contain, too ([`rdb`]).

pub mod bloom;
pub mod cuckoo;
pub mod dump;
pub mod fields;
mod layer;
mod lzf;
mod many;
pub mod plain;
pub mod rdb;
pub(crate) mod rows;
mod text;
mod value;

pub use bloom::{Bloom, BloomInfo, UnionError};
pub use cuckoo::{CUCKOO_HEADER, Cuckoo, CuckooInfo};
pub use text::six_digits;

use std::fmt;

/// The maximum length of a SCANDUMP chunk.
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
    /// `false` is certain: the key was never inserted. `true` is probable.
    pub fn contains(&self, key: &[u8]) -> bool {
        match self {
            Self::Bloom(filter) => filter.contains(key),
            Self::Cuckoo(filter) => filter.contains(key),
        }
    }
}

/// A chunk that does not fit into a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChunkError {
    /// It would begin before the filter does.
    Iterator {
        /// The iterator of the chunk.
        iterator: i64,
        /// The length of the chunk.
        length: u64,
    },
    /// It begins outside the filter.
    Outside {
        /// The iterator of the chunk.
        iterator: i64,
        /// The length of the chunk.
        length: u64,
    },
    /// It extends past the end of its layer or table.
    TooLong {
        /// The length of the chunk.
        length: u64,
        /// Bytes from its beginning to that end.
        left: u64,
    },
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iterator { iterator, length } => write!(
                f,
                "a chunk of {length} bytes cannot end at iterator {iterator}: use the iterator that SCANDUMP returned with it"
            ),
            Self::Outside { iterator, length } => write!(
                f,
                "a chunk of {length} bytes with iterator {iterator} is outside of the filter: load its own header first"
            ),
            Self::TooLong { length, left } => write!(
                f,
                "a chunk of {length} bytes is longer than the {left} bytes left: use the iterator that SCANDUMP returned with it"
            ),
        }
    }
}

impl std::error::Error for ChunkError {}
