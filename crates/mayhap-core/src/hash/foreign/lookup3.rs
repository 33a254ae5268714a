//! Bob Jenkins' lookup3, `hashlittle`: one of Hadoop's two hashes.

/// The hash of a key.
#[inline]
pub fn hash(key: &[u8], seed: u32) -> u32 {
    let start = 0xdead_beef_u32
        .wrapping_add(key.len() as u32)
        .wrapping_add(seed);
    let mut state = [start; 3];
    let mut rest = key;
    while rest.len() > 12 {
        add(&mut state, &rest[..12]);
        mix(&mut state);
        rest = &rest[12..];
    }
    if !rest.is_empty() {
        add(&mut state, rest);
        finish(&mut state);
    }
    state[2]
}

/// Adds up to twelve bytes, little-endian.
#[inline]
fn add(state: &mut [u32; 3], bytes: &[u8]) {
    for (word, bytes) in state.iter_mut().zip(bytes.chunks(4)) {
        let mut whole = [0; 4];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = word.wrapping_add(u32::from_le_bytes(whole));
    }
}

#[inline]
fn mix(state: &mut [u32; 3]) {
    let [mut a, mut b, mut c] = *state;
    // Each step: subtract one word, xor with its rotation, then add the third.
    for (first, second) in [(4, 6), (16, 19)] {
        let third = if first == 4 { 8 } else { 4 };
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(third);
        b = b.wrapping_add(a);
    }
    *state = [a, b, c];
}

#[inline]
fn finish(state: &mut [u32; 3]) {
    // (changed word, other word, rotation)
    for (to, from, turn) in [
        (2, 1, 14),
        (0, 2, 11),
        (1, 0, 25),
        (2, 1, 16),
        (0, 2, 4),
        (1, 0, 14),
        (2, 1, 24),
    ] {
        state[to] = (state[to] ^ state[from]).wrapping_sub(state[from].rotate_left(turn));
    }
}
