//! `MurmurHash3`: x64 with 128 bits (Guava) and Cassandra's variant of it, whose tail bytes are signed; x86 with 32 bits as
//! published (BIP 37), and Spark's variant, which treats each tail byte as a word.

use super::{mix64, u32_at, u64_at};

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

#[inline(always)]
fn scrambled1(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

#[inline(always)]
fn scrambled2(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

/// The two halves of the 128 bits, with seed 0.
#[inline]
pub fn hash128(key: &[u8]) -> (u64, u64) {
    with_tail(key, |tail| {
        let mut last = [0; 16];
        last[..tail.len()].copy_from_slice(tail);
        (u64_at(&last, 0), u64_at(&last, 8))
    })
}

/// Cassandra's variant: the tail bytes are signed, so that one above 0x7f inverts all bits above it in its half.
#[inline]
pub fn cassandra(key: &[u8]) -> (u64, u64) {
    with_tail(key, |tail| {
        let word = |bytes: &[u8]| {
            let signed = |byte: u8| i64::from(byte.cast_signed()).cast_unsigned();
            let bytes = bytes.iter().enumerate();
            bytes.fold(0, |word, (at, &byte)| word ^ signed(byte) << (8 * at))
        };
        let (first, second) = tail.split_at(tail.len().min(8));
        (word(first), word(second))
    })
}

/// `tail_words` has the two words of the up to 15 bytes after the last block.
#[inline(always)]
fn with_tail(key: &[u8], tail_words: impl Fn(&[u8]) -> (u64, u64)) -> (u64, u64) {
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let blocks = key.chunks_exact(16);
    let (first, second) = tail_words(blocks.remainder());
    for block in blocks {
        h1 ^= scrambled1(u64_at(block, 0));
        h1 = h1
            .rotate_left(27)
            .wrapping_add(h2)
            .wrapping_mul(5)
            .wrapping_add(0x52dc_e729);
        h2 ^= scrambled2(u64_at(block, 8));
        h2 = h2
            .rotate_left(31)
            .wrapping_add(h1)
            .wrapping_mul(5)
            .wrapping_add(0x3849_5ab5);
    }
    // A half without bytes contributes 0.
    h2 ^= scrambled2(second);
    h1 ^= scrambled1(first);
    h1 ^= key.len() as u64;
    h2 ^= key.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = mix64(h1);
    h2 = mix64(h2);
    h1 = h1.wrapping_add(h2);
    (h1, h2.wrapping_add(h1))
}

#[inline(always)]
fn scrambled32(k: u32) -> u32 {
    k.wrapping_mul(0xcc9e_2d51)
        .rotate_left(15)
        .wrapping_mul(0x1b87_3593)
}

#[inline(always)]
fn step32(hash: u32, k: u32) -> u32 {
    (hash ^ scrambled32(k))
        .rotate_left(13)
        .wrapping_mul(5)
        .wrapping_add(0xe654_6b64)
}

#[inline(always)]
fn finish32(hash: u32, length: usize) -> u32 {
    let mut hash = hash ^ length as u32;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[inline(always)]
fn words32(key: &[u8], seed: u32) -> (u32, &[u8]) {
    let words = key.chunks_exact(4);
    let tail = words.remainder();
    (
        words.fold(seed, |hash, word| step32(hash, u32_at(word, 0))),
        tail,
    )
}

/// As published.
#[inline]
pub fn hash32(key: &[u8], seed: u32) -> u32 {
    let (hash, tail) = words32(key, seed);
    let mut last = [0; 4];
    last[..tail.len()].copy_from_slice(tail);
    finish32(hash ^ scrambled32(u32::from_le_bytes(last)), key.len())
}

/// Spark's variant: each tail byte is signed and processed as a whole word.
#[inline]
pub fn spark(key: &[u8], seed: u32) -> u32 {
    let (hash, tail) = words32(key, seed);
    let hash = tail.iter().fold(hash, |hash, byte| {
        step32(hash, i32::from(byte.cast_signed()).cast_unsigned())
    });
    finish32(hash, key.len())
}
