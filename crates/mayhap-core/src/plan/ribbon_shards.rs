//! How many shards a static system of equations has, and how many slots each. With as many slots as keys, about every fourth seed
//! solves a shard whose keys, placed at random, stay within half a row of an even distribution: n positions deviate from it by at
//! most about sqrt(n) / 2. This is the ribbon of Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and Xor"
//! (2021), with shards instead of their spare slots.

/// Keys per shard, on average, with rows of 64 slots: sqrt(1400) / 2 is 19, half a row is 32.
const NARROW_KEYS: u64 = 1400;
/// The same with rows of 128 slots.
const WIDE_KEYS: u64 = 5000;

/// The number of shards for a number of keys with rows of 64 slots. Rounds to the nearest, but at least 1.
pub(crate) fn narrow_shards(keys: u64) -> u64 {
    ((keys + NARROW_KEYS / 2) / NARROW_KEYS).max(1)
}

/// The same with rows of 128 slots.
pub(crate) fn wide_shards(keys: u64) -> u64 {
    ((keys + WIDE_KEYS / 2) / WIDE_KEYS).max(1)
}

/// Slots of a shard at an attempt: a few more than keys, which halves the attempts at little cost. For keys that are badly
/// distributed, later attempts take more and more.
pub(crate) fn shard_slots(keys: u64, attempt: u16) -> u64 {
    keys + keys / 400 + keys * u64::from(attempt / 64) / 16
}

/// The slots between the expected starts of two shards in a directory, with rows of 64 slots.
pub(crate) fn narrow_shard_slots() -> u64 {
    shard_slots(NARROW_KEYS, 0)
}

/// The same with rows of 128 slots.
pub(crate) fn wide_shard_slots() -> u64 {
    shard_slots(WIDE_KEYS, 0)
}
