//! Batches in a flat filter, where every probe is a cache line of its own: computes the positions once, prefetches all of them,
//! and only then reads.
//!
//! Lookups have two steps, because the first probes reveal most absent keys: the first probes of all keys, then the rest for the
//! keys that remain.

use crate::simd::prefetch;
use crate::store::bits::Bits;

/// Keys per round.
const KEYS_PER_ROUND: usize = 64;

/// Positions that a round stores. Keys with more are handled one by one: no useful filter has that many.
const MAX_POSITIONS: usize = 1024;

/// Probes of the first step: it leaves 1 in 4 absent keys.
const FIRST_PROBES: usize = 2;

/// Looks up many keys with `probes` positions each: `prefetch` starts to load a position, `has` reads it. Neither step branches
/// on what it reads, because half of such branches would be mispredicted.
pub(crate) fn contains_each<'k, K, P: Iterator<Item = u64>>(
    probes: usize,
    keys: &'k [K],
    found: &mut [bool],
    walk: impl Fn(&'k K) -> P,
    prefetch: impl Fn(u64),
    has: impl Fn(u64) -> bool,
) {
    if probes > MAX_POSITIONS {
        for (key, found) in keys.iter().zip(found) {
            *found = walk(key).all(&has);
        }
        return;
    }
    let rest = probes.saturating_sub(FIRST_PROBES);
    let mut first = [[0; FIRST_PROBES]; KEYS_PER_ROUND];
    // Keeps the iterators of the walks: hashing a key again costs more.
    let mut walks = [const { None }; KEYS_PER_ROUND];
    let mut positions = [0; MAX_POSITIONS];
    for (keys, found) in keys
        .chunks(KEYS_PER_ROUND)
        .zip(found.chunks_mut(KEYS_PER_ROUND))
    {
        for (key, (first, kept)) in keys.iter().zip(first.iter_mut().zip(&mut walks)) {
            let walk = kept.insert(walk(key));
            for (position, at) in first.iter_mut().zip(walk) {
                prefetch(at);
                *position = at;
            }
            if probes < FIRST_PROBES {
                first[1] = first[0];
            }
        }
        let mut remaining = [0; KEYS_PER_ROUND];
        let mut count = 0;
        for (key, (found, first)) in found.iter_mut().zip(&first).enumerate() {
            *found = has(first[0]) & has(first[1]);
            remaining[count] = key;
            count += usize::from(*found);
        }
        if rest == 0 {
            continue;
        }
        for remaining in remaining[..count].chunks(MAX_POSITIONS / rest) {
            for (&key, positions) in remaining.iter().zip(positions.chunks_exact_mut(rest)) {
                for (position, at) in positions.iter_mut().zip(walks[key].iter_mut().flatten()) {
                    prefetch(at);
                    *position = at;
                }
            }
            for (&key, positions) in remaining.iter().zip(positions.chunks_exact(rest)) {
                found[key] = positions.iter().fold(true, |all, &at| all & has(at));
            }
        }
    }
}

/// Calls `work` for all positions of many keys, in order.
pub(crate) fn visit_each<'k, K, S, P: Iterator<Item = u64>>(
    probes: usize,
    keys: &'k [K],
    store: &mut S,
    walk: impl Fn(&'k K) -> P,
    prefetch: impl Fn(&S, u64),
    work: impl Fn(&mut S, u64),
) {
    if probes > MAX_POSITIONS {
        for at in keys.iter().flat_map(walk) {
            work(store, at);
        }
        return;
    }
    let mut positions = [0; MAX_POSITIONS];
    for keys in keys.chunks((MAX_POSITIONS / probes).min(KEYS_PER_ROUND)) {
        let positions = &mut positions[..keys.len() * probes];
        for (key, positions) in keys.iter().zip(positions.chunks_exact_mut(probes)) {
            for (position, at) in positions.iter_mut().zip(walk(key)) {
                prefetch(store, at);
                *position = at;
            }
        }
        for &mut at in positions {
            work(store, at);
        }
    }
}

/// Sets all positions of many keys in order, and reports for each whether one was not set.
pub(crate) fn insert_each<'k, K, P: Iterator<Item = u64>>(
    probes: usize,
    keys: &'k [K],
    is_new: &mut [bool],
    bits: &mut Bits,
    walk: impl Fn(&'k K) -> P,
) {
    if probes > MAX_POSITIONS {
        for (key, is_new) in keys.iter().zip(is_new) {
            *is_new = walk(key).fold(false, |new, at| new | bits.set(at));
        }
        return;
    }
    let mut positions = [0; MAX_POSITIONS];
    let keys_per_round = (MAX_POSITIONS / probes).min(KEYS_PER_ROUND);
    for (keys, is_new) in keys
        .chunks(keys_per_round)
        .zip(is_new.chunks_mut(keys_per_round))
    {
        for (key, positions) in keys.iter().zip(positions.chunks_exact_mut(probes)) {
            for (position, at) in positions.iter_mut().zip(walk(key)) {
                prefetch(bits.word_ptr(at));
                *position = at;
            }
        }
        for (is_new, positions) in is_new.iter_mut().zip(positions.chunks_exact(probes)) {
            // A line that already has all bits is not written, so it need not be written back to memory.
            *is_new = !positions.iter().fold(true, |all, &at| all & bits.has(at));
            if *is_new {
                for &at in positions {
                    bits.set(at);
                }
            }
        }
    }
}
