//! How Accumulo sizes a row of its dynamic filter. The codec has the files.

use super::{check_capacity, check_rate};
use crate::PlanError;

/// The number of hash functions of every filter that Accumulo writes.
pub const PROBES: u32 = 5;

/// The bits of a row for that many keys, rounded up.
///
/// # Errors
///
/// If the rate is not between 0 and 1, there are no keys, or there would be more than 2^31 - 1 bits.
pub fn vector_size(keys: u64, rate: f64) -> Result<u32, PlanError> {
    check_rate(rate)?;
    check_capacity(keys)?;
    let probes = f64::from(PROBES);
    let per_probe = libm::pow(rate, 1.0 / probes);
    let bits = libm::ceil(-probes * keys as f64 / libm::log(1.0 - per_probe));
    if bits > f64::from(i32::MAX) {
        return Err(PlanError::InvalidInteger {
            field: "capacity",
            value: keys,
            accepted: "fewer keys a row: a row has at most 2^31 - 1 bits",
        });
    }
    Ok(bits as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_accumulos_sizes() {
        for (keys, rate, bits) in [
            (1_048_576, 0.005, 12_321_010),
            (100, 0.005, 1176),
            (1, 0.005, 12),
            (1, 0.5, 3),
            (100_000, 0.01, 984_881),
        ] {
            assert_eq!(vector_size(keys, rate), Ok(bits), "{keys} {rate}");
        }
        assert!(vector_size(u64::MAX, 0.01).is_err());
        assert!(vector_size(0, 0.01).is_err() && vector_size(1, 1.0).is_err());
    }
}
