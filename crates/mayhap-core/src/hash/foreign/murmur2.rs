//! MurmurHash2: 32 bits with Hadoop's and with HBase's own tail, and 32 and 64 bits (64A) as published, which RedisBloom uses.

use super::u32_at;

const M32: u32 = 0x5bd1_e995;
const M64: u64 = 0xc6a4_a793_5bd1_e995;

/// Processes words of four bytes, before the tail.
#[inline]
fn body(key: &[u8], seed: u32) -> u32 {
    let mut hash = seed ^ key.len() as u32;
    for word in key.chunks_exact(4) {
        let mut k = u32_at(word, 0).wrapping_mul(M32);
        k ^= k >> 24;
        hash = hash.wrapping_mul(M32) ^ k.wrapping_mul(M32);
    }
    hash
}

#[inline]
fn finish(mut hash: u32) -> u32 {
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M32);
    hash ^ (hash >> 15)
}

/// Hadoop's variant: the tail bytes are signed, and the last one is the lowest.
#[inline]
pub fn hadoop(key: &[u8], seed: u32) -> u32 {
    let mut hash = body(key, seed);
    let tail = key.chunks_exact(4).remainder();
    if !tail.is_empty() {
        for (at, &byte) in tail.iter().rev().enumerate() {
            hash ^= (i32::from(byte.cast_signed()) << (8 * at)).cast_unsigned();
        }
        hash = hash.wrapping_mul(M32);
    }
    finish(hash)
}

/// HBase's variant: the tail bytes are signed.
#[inline]
pub fn hbase(key: &[u8], seed: u32) -> u32 {
    let mut hash = body(key, seed);
    let tail = key.chunks_exact(4).remainder();
    if !tail.is_empty() {
        for (at, &byte) in tail.iter().enumerate() {
            hash ^= (i32::from(byte.cast_signed()) << (8 * at)).cast_unsigned();
        }
        hash = hash.wrapping_mul(M32);
    }
    finish(hash)
}

/// As published.
#[inline]
pub fn hash32(key: &[u8], seed: u32) -> u32 {
    let mut hash = body(key, seed);
    let tail = key.chunks_exact(4).remainder();
    if !tail.is_empty() {
        for (at, &byte) in tail.iter().enumerate() {
            hash ^= u32::from(byte) << (8 * at);
        }
        hash = hash.wrapping_mul(M32);
    }
    finish(hash)
}

/// `MurmurHash64A`.
#[inline]
pub fn hash64(key: &[u8], seed: u64) -> u64 {
    let mut hash = seed ^ (key.len() as u64).wrapping_mul(M64);
    let (words, tail) = key.as_chunks();
    for word in words {
        let mut k = u64::from_le_bytes(*word).wrapping_mul(M64);
        k ^= k >> 47;
        hash = (hash ^ k.wrapping_mul(M64)).wrapping_mul(M64);
    }
    if !tail.is_empty() {
        for (at, &byte) in tail.iter().enumerate() {
            hash ^= u64::from(byte) << (8 * at);
        }
        hash = hash.wrapping_mul(M64);
    }
    hash ^= hash >> 47;
    hash = hash.wrapping_mul(M64);
    hash ^ (hash >> 47)
}
