//! How many shards a static set of equations has, and how many slots each. With as many slots as keys, about every fourth seed
//! solves a shard whose keys, placed at random, stay within half a row of an even spread: the spread of n places is
//! sqrt(n) / 2 at most. The system is the ribbon of Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and
//! Xor" (2021), with shards in the place of their spare slots.

/// Keys of a shard on average with rows of 64 slots: sqrt(1400) / 2 is 19, half a row 32.
const NARROW_KEYS: u64 = 1400;
/// The same with rows of 128 slots.
const WIDE_KEYS: u64 = 5000;

/// Shards for a number of keys with rows of 64 slots. Rounds to the nearest, but up from 0.
pub(crate) fn narrow_shards(keys: u64) -> u64 {
    ((keys + NARROW_KEYS / 2) / NARROW_KEYS).max(1)
}

/// The same with rows of 128 slots.
pub(crate) fn wide_shards(keys: u64) -> u64 {
    ((keys + WIDE_KEYS / 2) / WIDE_KEYS).max(1)
}

/// Slots of a shard at an attempt: a few more than keys, which halves the attempts where it costs little. Where the keys are
/// not spread as they should, later attempts take more and more.
pub(crate) fn shard_slots(keys: u64, attempt: u16) -> u64 {
    keys + keys / 400 + keys * u64::from(attempt / 64) / 16
}

/// Where a directory expects shards of rows of 64 slots to begin: every so many slots.
pub(crate) fn narrow_shard_slots() -> u64 {
    shard_slots(NARROW_KEYS, 0)
}

/// The same with rows of 128 slots.
pub(crate) fn wide_shard_slots() -> u64 {
    shard_slots(WIDE_KEYS, 0)
}
