//! XXH64, which Parquet's filters use.

use twox_hash::XxHash64;

/// The hash of a key, with seed 0.
#[inline]
pub fn hash(key: &[u8]) -> u64 {
    XxHash64::oneshot(0, key)
}
