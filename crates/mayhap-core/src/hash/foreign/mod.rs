//! The hash functions of other systems, exactly as those systems compute them, including their quirks. Frozen: files depend on
//! them.

pub mod city;
pub mod leveldb;
pub mod lookup3;
pub mod murmur2;
pub mod murmur3;
mod xxh64;
pub mod xxph3;

pub use xxh64::hash as xxh64;

/// Little-endian words of a key.
#[inline(always)]
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let word = bytes[at..]
        .first_chunk()
        .expect("the caller has checked the length");
    u32::from_le_bytes(*word)
}

#[inline(always)]
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let word = bytes[at..]
        .first_chunk()
        .expect("the caller has checked the length");
    u64::from_le_bytes(*word)
}

/// The finalizer of `MurmurHash3`'s 64-bit halves; ClickHouse uses it alone to hash integers.
#[inline]
pub fn mix64(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}
