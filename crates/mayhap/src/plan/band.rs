//! How many shards a static set of equations has, and how many slots each. With as many slots as keys, about every fourth seed
//! solves a shard whose keys, placed at random, stay within half a row of an even spread: the spread of n places is
//! sqrt(n) / 2 at most.

/// Keys of a shard on average with rows of 128 slots: sqrt(5000) / 2 is 35, half a row 64.
const WIDE_KEYS: u64 = 5000;

/// Shards for so many keys with rows of 128 slots. Rounds to the nearest, but up from 0.
pub(crate) fn wide_shards(keys: u64) -> u64 {
    ((keys + WIDE_KEYS / 2) / WIDE_KEYS).max(1)
}

/// Slots of a shard at an attempt: a few more than keys, which halves the attempts where it costs little. Where the keys are
/// not spread as they should, later attempts take more and more.
pub(crate) fn shard_slots(keys: u64, attempt: u16) -> u64 {
    keys + keys / 400 + keys * u64::from(attempt / 32) / 32
}

/// Slots of a shard on average.
pub(crate) fn mean_shard_slots(keys: u64, shards: u64) -> u64 {
    shard_slots(keys / shards, 0)
}
