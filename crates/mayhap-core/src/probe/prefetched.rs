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

/// Up to this size, lookups do not prefetch: the CPU overlaps the loads of a few keys by itself, and more is not needed for the
/// shared cache. With prefetching, present keys took 29 instead of 21 ns in 1.2 MB of bits, and 38 instead of 28 ns in 4.8 MB of
/// counters.
pub(crate) const SHARED_CACHE_BYTES: u64 = 8 << 20;

/// How many keys ahead such a lookup prefetches.
const NEAR_KEYS: usize = 8;

/// Probes that are read without a branch in such a filter, where reading is cheaper than a misprediction.
const CACHED_FIRST_PROBES: usize = 3;

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

/// `contains_each` for a filter that is in a core's own cache: nothing is prefetched.
pub(crate) fn contains_each_cached<'k, K, P: Iterator<Item = u64>>(
    keys: &'k [K],
    found: &mut [bool],
    walk: impl Fn(&'k K) -> P,
    has: impl Fn(u64) -> bool,
) {
    for (key, found) in keys.iter().zip(found) {
        *found = has_all(walk(key), &has);
    }
}

/// `contains_each` for a filter that is in the shared cache: all positions of a key are prefetched, a few keys ahead.
pub(crate) fn contains_each_near<'k, K, P: Iterator<Item = u64>>(
    probes: usize,
    keys: &'k [K],
    found: &mut [bool],
    walk: impl Fn(&'k K) -> P,
    prefetch: impl Fn(u64),
    has: impl Fn(u64) -> bool,
) {
    if probes > MAX_POSITIONS / NEAR_KEYS {
        return contains_each_cached(keys, found, walk, has);
    }
    let locate = |key: &'k K, positions: &mut [u64]| {
        for (position, at) in positions.iter_mut().zip(walk(key)) {
            prefetch(at);
            *position = at;
        }
    };
    let mut positions = [0; MAX_POSITIONS];
    let ring = &mut positions[..NEAR_KEYS * probes];
    let (lead, rest) = keys.split_at(keys.len().min(NEAR_KEYS));
    for (key, slot) in lead.iter().zip(ring.chunks_exact_mut(probes)) {
        locate(key, slot);
    }
    let mut rest = rest.iter();
    for found in found.chunks_mut(NEAR_KEYS) {
        for (found, slot) in found.iter_mut().zip(ring.chunks_exact_mut(probes)) {
            *found = has_all(slot.iter().copied(), &has);
            if let Some(key) = rest.next() {
                locate(key, slot);
            }
        }
    }
}

/// Whether all positions are set. The first ones are read without a branch, which for an absent key would be mispredicted half of
/// the time; after three of them, one absent key in eight remains.
#[inline(always)]
fn has_all(mut probes: impl Iterator<Item = u64>, has: impl Fn(u64) -> bool) -> bool {
    let mut first = true;
    for at in probes.by_ref().take(CACHED_FIRST_PROBES) {
        first &= has(at);
    }
    first && probes.all(has)
}

/// Calls `work` with all positions of many keys, in order, many at a time.
pub(crate) fn visit_each<'k, K, S, P: Iterator<Item = u64>>(
    probes: usize,
    keys: &'k [K],
    store: &mut S,
    walk: impl Fn(&'k K) -> P,
    prefetch: impl Fn(&S, u64),
    work: impl Fn(&mut S, &[u64]),
) {
    if probes > MAX_POSITIONS {
        for at in keys.iter().flat_map(walk) {
            work(store, &[at]);
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
        work(store, positions);
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
