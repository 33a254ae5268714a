//! How HBase sizes a Bloom chunk, and when it folds one. The codec has the files and the hashes.

use core::f64::consts::LN_2;

use super::check_rate;
use crate::PlanError;

/// The shape of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPlan {
    /// Bytes of its bits.
    pub bytes: u64,
    /// Probes.
    pub probes: u32,
    /// The keys that it takes.
    pub max_keys: u64,
}

/// HBase counts the bits of a chunk in 32 bits.
const MAX_BYTES: u64 = i32::MAX as u64 / 8;

impl ChunkPlan {
    /// The chunk that the writer of an HFile makes: of a wished size, rounded up so that it can be halved `fold_factor` times.
    ///
    /// # Errors
    ///
    /// If the rate is not between 0 and 1, the chunk would not have room for a key, or it would be too large.
    pub fn by_size(size_bytes: u64, rate: f64, fold_factor: u32) -> Result<Self, PlanError> {
        check_rate(rate)?;
        let bytes = foldable(size_bytes, fold_factor)?;
        let bits = 8 * bytes;
        let ideal_keys = (bits as f64 * (LN_2 * LN_2 / -libm::log(rate))) as u64;
        if ideal_keys == 0 {
            return Err(PlanError::InvalidInteger {
                field: "size in bytes",
                value: size_bytes,
                accepted: "enough bytes for one key at this rate",
            });
        }
        let probes = probes(bits, ideal_keys)?;
        let per_probe = libm::log(rate) / f64::from(probes);
        let max_keys =
            -(bits as f64) * 1.0 / f64::from(probes) * libm::log(1.0 - libm::exp(per_probe));
        Ok(Self {
            bytes,
            probes,
            max_keys: max_keys as u64,
        })
    }

    /// A chunk for that many keys.
    ///
    /// # Errors
    ///
    /// If the rate is not between 0 and 1, there are no keys, or the chunk would be too large.
    pub fn by_keys(keys: u64, rate: f64, fold_factor: u32) -> Result<Self, PlanError> {
        check_rate(rate)?;
        super::check_capacity(keys)?;
        let bits = libm::ceil(keys as f64 * (-libm::log(rate) / (LN_2 * LN_2))) as u64;
        Ok(Self {
            bytes: foldable(bits.div_ceil(8), fold_factor)?,
            probes: probes(bits, keys)?,
            max_keys: keys,
        })
    }

    /// The chunk after it was halved while it is more than half empty. One without keys stays as it is.
    #[must_use]
    pub fn folded(mut self, keys: u64) -> Self {
        while keys > 0 && self.bytes.is_multiple_of(2) && self.max_keys > 2 * keys {
            self.bytes /= 2;
            self.max_keys /= 2;
        }
        self
    }
}

/// The number of bits per key is rounded down before it is multiplied, as HBase does.
fn probes(bits: u64, keys: u64) -> Result<u32, PlanError> {
    let probes = libm::ceil(LN_2 * (bits / keys) as f64) as u32;
    if probes == 0 {
        return Err(PlanError::InvalidInteger {
            field: "bits per key",
            value: 0,
            accepted: "at least 1: use a lower rate",
        });
    }
    Ok(probes)
}

fn foldable(bytes: u64, fold_factor: u32) -> Result<u64, PlanError> {
    let multiple = 1_u64.checked_shl(fold_factor);
    let rounded = multiple.and_then(|multiple| bytes.max(1).checked_next_multiple_of(multiple));
    rounded
        .filter(|&bytes| bytes <= MAX_BYTES)
        .ok_or(PlanError::InvalidInteger {
            field: "size in bytes",
            value: bytes,
            accepted: "at most 2^28 - 1 bytes",
        })
}

/// The rate of a chunk's keys for a configured rate: HBase computes with 32-bit floats, and asks a filter of rows and columns
/// twice.
pub fn chunk_rate(configured: f64, is_row_and_column: bool) -> f64 {
    let rate = configured as f32;
    if is_row_and_column {
        let kept = f64::from(1.0 - rate);
        return f64::from((1.0 - libm::sqrt(kept)) as f32);
    }
    f64::from(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_chunk_has_the_known_shape() {
        let chunk = ChunkPlan::by_size(131_072, chunk_rate(0.01, false), 7);
        let expected = ChunkPlan {
            bytes: 131_072,
            probes: 7,
            max_keys: 109_306,
        };
        assert_eq!(chunk, Ok(expected));
        assert_eq!(expected.folded(1).bytes, 2);
        assert_eq!(expected.folded(0), expected);
        assert_eq!(expected.folded(60_000), expected);
        let odd = ChunkPlan::by_size(96, 0.01, 0).map(|chunk| chunk.folded(1));
        assert_eq!(odd.map(|chunk| chunk.bytes), Ok(3));
    }

    #[test]
    fn chunks_that_cannot_be_are_errors() {
        assert!(ChunkPlan::by_size(1, 0.01, 0).is_err());
        assert!(ChunkPlan::by_size(u64::MAX, 0.01, 0).is_err());
        assert!(ChunkPlan::by_size(100, 0.01, 64).is_err());
        assert!(ChunkPlan::by_size(100, 1.0, 7).is_err());
        assert!(ChunkPlan::by_keys(0, 0.01, 7).is_err());
        assert!(ChunkPlan::by_keys(u64::MAX, 0.01, 7).is_err());
        assert!(ChunkPlan::by_keys(10, f64::NAN, 7).is_err());
    }
}
