//! LevelDB's hash with the seed of its Bloom filter, and RocksDB's older variant, whose tail bytes are signed.

use super::u32_at;

const SEED: u32 = 0xbc9f_1d34;
const M: u32 = 0xc6a4_a793;

/// LevelDB's hash.
#[inline]
pub fn hash(key: &[u8]) -> u32 {
    with_tail(key, u32::from)
}

/// RocksDB's hash before format version 5.
#[inline]
pub fn signed(key: &[u8]) -> u32 {
    with_tail(key, |byte| i32::from(byte.cast_signed()).cast_unsigned())
}

#[inline(always)]
fn with_tail(key: &[u8], widened: impl Fn(u8) -> u32) -> u32 {
    let mut hash = SEED ^ (key.len() as u32).wrapping_mul(M);
    let words = key.chunks_exact(4);
    let tail = words.remainder();
    for word in words {
        hash = hash.wrapping_add(u32_at(word, 0)).wrapping_mul(M);
        hash ^= hash >> 16;
    }
    if !tail.is_empty() {
        for (at, &byte) in tail.iter().enumerate() {
            hash = hash.wrapping_add(widened(byte) << (8 * at));
        }
        hash = hash.wrapping_mul(M);
        hash ^= hash >> 24;
    }
    hash
}
