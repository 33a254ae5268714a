//! What LevelDB's built-in policy chooses, and the rate that its filters have.

/// LevelDB's maximum number of probes.
pub const MAX_PROBES: u32 = 30;
/// The size of its smallest filter.
pub const MIN_BITS: u64 = 64;

/// How much worse its filters are, at least, than filters whose probes are independent.
const MEASURED: f64 = 1.02;
/// In a filter of the smallest size, 12 bits of a key's hash determine all its probes. The measured rate of one key is at least its probes
/// divided by this, at every number of bits per key.
const SMALLEST: f64 = 3000.0;

/// The number of probes, which older RocksDB has too.
pub fn probes(bits_per_key: u32) -> u32 {
    ((f64::from(bits_per_key) * 0.69) as u32).clamp(1, MAX_PROBES)
}

/// A rate that a filter of the built-in policy has at least, from 1 key on. Another filter with this rate is as good.
pub fn rate(keys: u64, bits_per_key: u32) -> f64 {
    let bits = keys.saturating_mul(bits_per_key.into());
    let probes = f64::from(probes(bits_per_key));
    let of_load = |load: f64| libm::pow(-libm::expm1(-load), probes);
    let common = MEASURED * of_load(probes / f64::from(bits_per_key.max(1)));
    if bits >= MIN_BITS {
        return common;
    }
    let keys = keys.max(1) as f64;
    let independent = of_load(probes * keys / MIN_BITS as f64);
    independent.max(keys * probes / SMALLEST).min(common)
}
