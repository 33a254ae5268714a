//! XXPH3, RocksDB's frozen preview of XXH3: similar to the final function, but no value is equal.

use super::{u32_at, u64_at};

const P1: u64 = 0x9e37_79b1_85eb_ca87;
const P2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const P3: u64 = 0x1656_67b1_9e37_79f9;
const P4: u64 = 0x85eb_ca77_c2b2_ae63;
const P5: u64 = 0x27d4_eb2f_1656_67c5;
const Q1: u64 = 0x9e37_79b1;
const Q2: u64 = 0x85eb_ca77;
const Q3: u64 = 0xc2b2_ae3d;

const STRIPE: usize = 64;
const BLOCK: usize = 16 * STRIPE;

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn avalanche(mut hash: u64) -> u64 {
    hash ^= hash >> 37;
    hash = hash.wrapping_mul(P3);
    hash ^ (hash >> 32)
}

#[inline(always)]
fn secret(at: usize) -> u64 {
    u64_at(&SECRET, at)
}

/// Mixes 16 bytes of the key with 16 bytes of the secret.
#[inline(always)]
fn mixed(key: &[u8], at: usize, under: usize) -> u64 {
    fold(
        u64_at(key, at) ^ secret(under),
        u64_at(key, at + 8) ^ secret(under + 8),
    )
}

/// The hash of a key, with seed 0.
#[inline]
pub fn hash(key: &[u8]) -> u64 {
    let length = key.len();
    let wide = length as u64;
    match length {
        0 => fold(secret(0), P2),
        1..=3 => {
            let ends = u64::from(key[0])
                | u64::from(key[length / 2]) << 8
                | u64::from(key[length - 1]) << 16
                | wide << 24;
            avalanche((ends ^ u64::from(u32_at(&SECRET, 0))).wrapping_mul(P1))
        }
        4..=8 => {
            let ends = u64::from(u32_at(key, 0)) | u64::from(u32_at(key, length - 4)) << 32;
            let x = ends ^ secret(0);
            let y = wide.wrapping_add((x ^ (x >> 51)).wrapping_mul(Q1));
            avalanche((y ^ (y >> 47)).wrapping_mul(P2))
        }
        9..=16 => {
            let low = u64_at(key, 0) ^ secret(0);
            let high = u64_at(key, length - 8) ^ secret(8);
            let sum = wide.wrapping_add(low).wrapping_add(high);
            avalanche(sum.wrapping_add(fold(low, high)))
        }
        17..=128 => {
            let mut sum = wide.wrapping_mul(P1);
            for pair in 0..=(length - 1) / 32 {
                sum = sum
                    .wrapping_add(mixed(key, 16 * pair, 32 * pair))
                    .wrapping_add(mixed(key, length - 16 * (pair + 1), 32 * pair + 16));
            }
            avalanche(sum)
        }
        129..=240 => {
            let mut sum = wide.wrapping_mul(P1);
            for part in 0..8 {
                sum = sum.wrapping_add(mixed(key, 16 * part, 16 * part));
            }
            sum = avalanche(sum);
            for part in 8..length / 16 {
                sum = sum.wrapping_add(mixed(key, 16 * part, 16 * (part - 8) + 3));
            }
            avalanche(sum.wrapping_add(mixed(key, length - 16, 119)))
        }
        _ => long(key),
    }
}

fn long(key: &[u8]) -> u64 {
    let mut lanes = [Q3, P1, P2, P3, P4, Q2, P5, Q1];
    let stripe = |bytes: &[u8], under: usize, lanes: &mut [u64; 8]| {
        for (at, lane) in lanes.iter_mut().enumerate() {
            let word = u64_at(bytes, 8 * at);
            let under = word ^ secret(under + 8 * at);
            let product = (under & 0xffff_ffff).wrapping_mul(under >> 32);
            *lane = lane.wrapping_add(word).wrapping_add(product);
        }
    };
    let blocks = key.chunks_exact(BLOCK);
    let rest = blocks.remainder();
    for block in blocks {
        for (number, bytes) in block.chunks_exact(STRIPE).enumerate() {
            stripe(bytes, 8 * number, &mut lanes);
        }
        for (at, lane) in lanes.iter_mut().enumerate() {
            *lane = (*lane ^ (*lane >> 47) ^ secret(128 + 8 * at)).wrapping_mul(Q1);
        }
    }
    for (number, bytes) in rest.chunks_exact(STRIPE).enumerate() {
        stripe(bytes, 8 * number, &mut lanes);
    }
    if !key.len().is_multiple_of(STRIPE) {
        stripe(&key[key.len() - STRIPE..], 121, &mut lanes);
    }
    let mut sum = (key.len() as u64).wrapping_mul(P1);
    for (at, pair) in lanes.chunks_exact(2).enumerate() {
        sum = sum.wrapping_add(fold(
            pair[0] ^ secret(11 + 16 * at),
            pair[1] ^ secret(19 + 16 * at),
        ));
    }
    avalanche(sum)
}

/// The default secret of XXH3, which is a constant of the function.
#[rustfmt::skip]
const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
];
