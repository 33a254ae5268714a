//! `CityHash64`, version 1.0.2, which ClickHouse uses. Later versions differ.

use super::{u32_at, u64_at};

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;
const K3: u64 = 0xc949_d7c7_509e_6557;

/// Combines two words.
#[inline]
pub fn pair(low: u64, high: u64) -> u64 {
    const M: u64 = 0x9ddf_ea08_eb38_2d69;
    let mut a = (low ^ high).wrapping_mul(M);
    a ^= a >> 47;
    let mut b = (high ^ a).wrapping_mul(M);
    b ^= b >> 47;
    b.wrapping_mul(M)
}

/// The hash of a key with a seed.
#[inline]
pub fn with_seed(key: &[u8], seed: u64) -> u64 {
    pair(hash(key).wrapping_sub(K2), seed)
}

#[inline(always)]
fn shift_mix(x: u64) -> u64 {
    x ^ (x >> 47)
}

/// The hash of a key.
#[inline]
pub fn hash(key: &[u8]) -> u64 {
    match key.len() {
        0..=16 => up_to_16(key),
        17..=32 => up_to_32(key),
        33..=64 => up_to_64(key),
        _ => long(key),
    }
}

#[inline]
fn up_to_16(key: &[u8]) -> u64 {
    let length = key.len();
    let wide = length as u64;
    if length > 8 {
        let (a, b) = (u64_at(key, 0), u64_at(key, length - 8));
        pair(a, b.wrapping_add(wide).rotate_right(length as u32)) ^ b
    } else if length >= 4 {
        let a = u64::from(u32_at(key, 0));
        pair(
            wide.wrapping_add(a << 3),
            u64::from(u32_at(key, length - 4)),
        )
    } else if length > 0 {
        let y = u64::from(key[0]) + (u64::from(key[length / 2]) << 8);
        let z = wide + (u64::from(key[length - 1]) << 2);
        shift_mix(y.wrapping_mul(K2) ^ z.wrapping_mul(K3)).wrapping_mul(K2)
    } else {
        K2
    }
}

#[inline]
fn up_to_32(key: &[u8]) -> u64 {
    let length = key.len();
    let a = u64_at(key, 0).wrapping_mul(K1);
    let b = u64_at(key, 8);
    let c = u64_at(key, length - 8).wrapping_mul(K2);
    let d = u64_at(key, length - 16).wrapping_mul(K0);
    pair(
        a.wrapping_sub(b)
            .rotate_right(43)
            .wrapping_add(c.rotate_right(30))
            .wrapping_add(d),
        a.wrapping_add((b ^ K3).rotate_right(20))
            .wrapping_sub(c)
            .wrapping_add(length as u64),
    )
}

/// Half of a key of 33 to 64 bytes: four words, one of them already included in `start`.
#[inline(always)]
fn half(start: u64, second: u64, third: u64, last: u64) -> (u64, u64) {
    let mut a = start;
    let b = a.wrapping_add(last).rotate_right(52);
    let mut c = a.rotate_right(37);
    a = a.wrapping_add(second);
    c = c.wrapping_add(a.rotate_right(7));
    a = a.wrapping_add(third);
    (
        a.wrapping_add(last),
        b.wrapping_add(a.rotate_right(31)).wrapping_add(c),
    )
}

#[inline]
fn up_to_64(key: &[u8]) -> u64 {
    let length = key.len();
    let from_end = |back: usize| u64_at(key, length - back);
    let start =
        u64_at(key, 0).wrapping_add((length as u64).wrapping_add(from_end(16)).wrapping_mul(K0));
    let (v1, v2) = half(start, u64_at(key, 8), u64_at(key, 16), u64_at(key, 24));
    let start = u64_at(key, 16).wrapping_add(from_end(32));
    let (w1, w2) = half(start, from_end(24), from_end(16), from_end(8));
    let mixed = shift_mix(
        v1.wrapping_add(w2)
            .wrapping_mul(K2)
            .wrapping_add(w1.wrapping_add(v2).wrapping_mul(K0)),
    );
    shift_mix(mixed.wrapping_mul(K0).wrapping_add(v2)).wrapping_mul(K2)
}

/// Hashes 32 bytes with two seeds into two words.
#[inline(always)]
fn weak(bytes: &[u8], a: u64, b: u64) -> (u64, u64) {
    let [w, x, y, z] = [0, 8, 16, 24].map(|at| u64_at(bytes, at));
    let start = a.wrapping_add(w);
    let b = b.wrapping_add(start).wrapping_add(z).rotate_right(21);
    let a = start.wrapping_add(x).wrapping_add(y);
    (
        a.wrapping_add(z),
        b.wrapping_add(a.rotate_right(44)).wrapping_add(start),
    )
}

/// The state for long keys, which are processed 64 bytes at a time.
struct State {
    x: u64,
    y: u64,
    z: u64,
    v: (u64, u64),
    w: (u64, u64),
}

impl State {
    #[inline(always)]
    fn take_in(&mut self, block: &[u8]) {
        let Self { x, y, z, v, w } = self;
        *x = x
            .wrapping_add(*y)
            .wrapping_add(v.0)
            .wrapping_add(u64_at(block, 16));
        *x = x.rotate_right(37).wrapping_mul(K1) ^ w.1;
        *y = y.wrapping_add(v.1).wrapping_add(u64_at(block, 48));
        *y = y.rotate_right(42).wrapping_mul(K1) ^ v.0;
        *z = (*z ^ w.0).rotate_right(33);
        *v = weak(block, v.1.wrapping_mul(K1), x.wrapping_add(w.0));
        *w = weak(&block[32..], z.wrapping_add(w.1), *y);
        core::mem::swap(z, x);
    }
}

#[inline]
fn long(key: &[u8]) -> u64 {
    let length = key.len();
    let wide = length as u64;
    let mut x = u64_at(key, 0);
    let mut y = u64_at(key, length - 16) ^ K1;
    let mut z = u64_at(key, length - 56) ^ K0;
    let v = weak(&key[length - 64..], wide, y);
    let w = weak(&key[length - 32..], wide.wrapping_mul(K1), K0);
    z = z.wrapping_add(shift_mix(v.1).wrapping_mul(K1));
    x = z.wrapping_add(x).rotate_right(39).wrapping_mul(K1);
    y = y.rotate_right(33).wrapping_mul(K1);
    // v and w already include the last 1 to 64 bytes.
    let mut state = State { x, y, z, v, w };
    for block in key[..(length - 1) & !63].chunks_exact(64) {
        state.take_in(block);
    }
    let State { x, y, z, v, w } = state;
    pair(
        pair(v.0, w.0)
            .wrapping_add(shift_mix(y).wrapping_mul(K1))
            .wrapping_add(z),
        pair(v.1, w.1).wrapping_add(x),
    )
}

/// `CityHash128`, low half first: ClickHouse's checksum.
pub fn hash128(bytes: &[u8]) -> (u64, u64) {
    let wide = bytes.len() as u64;
    match bytes.len() {
        16.. => with_seeds(&bytes[16..], u64_at(bytes, 0) ^ K3, u64_at(bytes, 8)),
        8..16 => with_seeds(
            &[],
            u64_at(bytes, 0) ^ wide.wrapping_mul(K0),
            u64_at(bytes, bytes.len() - 8) ^ K1,
        ),
        _ => with_seeds(bytes, K0, K1),
    }
}

/// Mixes a word.
#[inline(always)]
fn mixed(word: u64) -> u64 {
    shift_mix(word.wrapping_mul(K1)).wrapping_mul(K1)
}

fn with_seeds(bytes: &[u8], x: u64, y: u64) -> (u64, u64) {
    if bytes.len() < 128 {
        return murmur(bytes, x, y);
    }
    let z = (bytes.len() as u64).wrapping_mul(K1);
    let first = (y ^ K1)
        .rotate_right(49)
        .wrapping_mul(K1)
        .wrapping_add(u64_at(bytes, 0));
    let v = (
        first,
        first
            .rotate_right(42)
            .wrapping_mul(K1)
            .wrapping_add(u64_at(bytes, 8)),
    );
    let w = (
        y.wrapping_add(z)
            .rotate_right(35)
            .wrapping_mul(K1)
            .wrapping_add(x),
        x.wrapping_add(u64_at(bytes, 88))
            .rotate_right(53)
            .wrapping_mul(K1),
    );
    let mut state = State { x, y, z, v, w };
    let pairs = bytes.chunks_exact(128);
    let rest = pairs.remainder().len();
    for block in pairs.flat_map(|pair| pair.chunks_exact(64)) {
        state.take_in(block);
    }
    let State {
        mut x,
        mut y,
        z,
        mut v,
        mut w,
    } = state;
    y = y
        .wrapping_add(w.0.rotate_right(37).wrapping_mul(K0))
        .wrapping_add(z);
    x = x.wrapping_add(v.0.wrapping_add(z).rotate_right(49).wrapping_mul(K0));
    // The rest, from its end, in steps of 32 bytes that may overlap bytes already processed.
    for done in (32..rest + 32).step_by(32) {
        let tail = &bytes[bytes.len() - done..];
        y = y
            .wrapping_sub(x)
            .rotate_right(42)
            .wrapping_mul(K0)
            .wrapping_add(v.1);
        w.0 = w.0.wrapping_add(u64_at(tail, 16));
        x = x.rotate_right(49).wrapping_mul(K0).wrapping_add(w.0);
        w.0 = w.0.wrapping_add(v.0);
        v = weak(tail, v.0, v.1);
    }
    x = pair(x, v.0);
    y = pair(y, w.0);
    (
        pair(x.wrapping_add(v.1), w.1).wrapping_add(y),
        pair(x.wrapping_add(w.1), y.wrapping_add(v.1)),
    )
}

fn murmur(bytes: &[u8], mut a: u64, mut b: u64) -> (u64, u64) {
    let wide = bytes.len() as u64;
    let (mut c, mut d);
    if bytes.len() <= 16 {
        a = mixed(a);
        c = b.wrapping_mul(K1).wrapping_add(up_to_16(bytes));
        let word = if bytes.len() >= 8 {
            u64_at(bytes, 0)
        } else {
            c
        };
        d = shift_mix(a.wrapping_add(word));
    } else {
        let from_end = |back: usize| u64_at(bytes, bytes.len() - back);
        c = pair(from_end(8).wrapping_add(K1), a);
        d = pair(b.wrapping_add(wide), c.wrapping_add(from_end(16)));
        a = a.wrapping_add(d);
        // All but the last 16 bytes, rounded up to pairs of words.
        for words in bytes[..(bytes.len() - 1) & !15].chunks_exact(16) {
            a = (a ^ mixed(u64_at(words, 0))).wrapping_mul(K1);
            b ^= a;
            c = (c ^ mixed(u64_at(words, 8))).wrapping_mul(K1);
            d ^= c;
        }
    }
    a = pair(a, c);
    b = pair(d, b);
    (a ^ b, pair(b, a))
}
