//! Many keys at once in a flat filter, where every probe is a cache line of its own: positions are computed once, memory is asked
//! for all of them, and only then is anything looked at.
//!
//! Questions go in two steps, since an absent key is mostly known by its first probes: those of all keys first, the rest for the
//! keys that are still in doubt.

use crate::simd::prefetch;
use crate::store::bits::Bits;

/// Keys a round.
const KEYS_PER_ROUND: usize = 64;

/// Positions that a round keeps. Keys with more go one by one: no filter of any use has so many.
const MAX_POSITIONS: usize = 1024;

/// Probes of the first step: 1 in 4 absent keys is left then.
const FIRST_PROBES: usize = 2;

/// Answers for many keys, which have `probes` positions each: `ask` starts to load a position, `has` looks at it. Neither step
/// branches on what it finds, since half of such branches would be guessed wrong.
pub(crate) fn contains_each<'k, K, P: Iterator<Item = u64>>(
    probes: usize,
    keys: &'k [K],
    found: &mut [bool],
    walk: impl Fn(&'k K) -> P,
    ask: impl Fn(u64),
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
    // Walks that go on where they stopped: to hash a key again costs more than to keep them.
    let mut walks = [const { None }; KEYS_PER_ROUND];
    let mut places = [0; MAX_POSITIONS];
    for (keys, found) in keys
        .chunks(KEYS_PER_ROUND)
        .zip(found.chunks_mut(KEYS_PER_ROUND))
    {
        for (key, (first, kept)) in keys.iter().zip(first.iter_mut().zip(&mut walks)) {
            let walk = kept.insert(walk(key));
            for (place, at) in first.iter_mut().zip(walk) {
                ask(at);
                *place = at;
            }
            if probes < FIRST_PROBES {
                first[1] = first[0];
            }
        }
        let mut doubtful = [0; KEYS_PER_ROUND];
        let mut count = 0;
        for (key, (found, first)) in found.iter_mut().zip(&first).enumerate() {
            *found = has(first[0]) & has(first[1]);
            doubtful[count] = key;
            count += usize::from(*found);
        }
        if rest == 0 {
            continue;
        }
        for doubtful in doubtful[..count].chunks(MAX_POSITIONS / rest) {
            for (&key, places) in doubtful.iter().zip(places.chunks_exact_mut(rest)) {
                for (place, at) in places.iter_mut().zip(walks[key].iter_mut().flatten()) {
                    ask(at);
                    *place = at;
                }
            }
            for (&key, places) in doubtful.iter().zip(places.chunks_exact(rest)) {
                found[key] = places.iter().fold(true, |all, &at| all & has(at));
            }
        }
    }
}

/// Works on all positions of many keys, in order.
pub(crate) fn visit_each<'k, K, S, P: Iterator<Item = u64>>(
    probes: usize,
    keys: &'k [K],
    store: &mut S,
    walk: impl Fn(&'k K) -> P,
    ask: impl Fn(&S, u64),
    work: impl Fn(&mut S, u64),
) {
    if probes > MAX_POSITIONS {
        for at in keys.iter().flat_map(walk) {
            work(store, at);
        }
        return;
    }
    let mut places = [0; MAX_POSITIONS];
    for keys in keys.chunks((MAX_POSITIONS / probes).min(KEYS_PER_ROUND)) {
        let places = &mut places[..keys.len() * probes];
        for (key, places) in keys.iter().zip(places.chunks_exact_mut(probes)) {
            for (place, at) in places.iter_mut().zip(walk(key)) {
                ask(store, at);
                *place = at;
            }
        }
        for &mut at in places {
            work(store, at);
        }
    }
}

/// Sets all positions of many keys, and tells of each whether one was not set: whatever came before it is in already.
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
    let mut places = [0; MAX_POSITIONS];
    let at_once = (MAX_POSITIONS / probes).min(KEYS_PER_ROUND);
    for (keys, is_new) in keys.chunks(at_once).zip(is_new.chunks_mut(at_once)) {
        for (key, places) in keys.iter().zip(places.chunks_exact_mut(probes)) {
            for (place, at) in places.iter_mut().zip(walk(key)) {
                prefetch(bits.word_ptr(at));
                *place = at;
            }
        }
        for (is_new, places) in is_new.iter_mut().zip(places.chunks_exact(probes)) {
            // A line that has all bits already is not written to, and need not go back to memory.
            *is_new = !places.iter().fold(true, |all, &at| all & bits.has(at));
            if *is_new {
                for &at in places {
                    bits.set(at);
                }
            }
        }
    }
}
