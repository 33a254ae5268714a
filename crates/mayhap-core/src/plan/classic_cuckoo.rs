//! The size of a `ClassicCuckoo`: buckets of one-byte fingerprints, a power of two of them, and a chain of such tables.
//!
//! A lookup of an absent key reads 2 b slots per table, each of which holds its fingerprint with probability fill / 255:
//!
//! ```text
//! 1 - (1 - 1/255)^(2 b fill), and over a chain 1 - the product of the complements
//! ```
//!
//! so the rate grows with every table: fingerprints do not get longer, because the layout is that of another system.

use crate::PlanError;

/// Fingerprints are 1 to this; 0 is a free slot.
pub(crate) const FINGERPRINTS: u64 = 255;

/// 2^40 buckets exceed the memory of any machine, and are far from every overflow.
const MAX_BUCKETS: u64 = 1 << 40;

/// The shape of a [`ClassicCuckoo`](crate::ClassicCuckoo).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassicCuckooPlan {
    buckets: u64,
    bucket_size: u8,
    max_moves: u16,
    expansion: u16,
}

impl ClassicCuckooPlan {
    /// A first table with slots for `capacity` keys, in buckets of `bucket_size` slots: `capacity / bucket_size`, rounded down,
    /// is rounded up to a power of two. An insert moves at most `max_moves` fingerprints. Each further table has `expansion`
    /// times the buckets, rounded up to a power of two; 0 for a filter that does not grow.
    ///
    /// # Errors
    /// If the capacity is below two buckets or above 2^40, the bucket size is 0, the number of moves is 0, or the expansion is
    /// above 32768.
    pub fn new(
        capacity: u64,
        bucket_size: u8,
        max_moves: u16,
        expansion: u16,
    ) -> Result<Self, PlanError> {
        if capacity > MAX_BUCKETS || capacity < 2 * u64::from(bucket_size) {
            return Err(PlanError::InvalidInteger {
                field: "capacity",
                value: capacity,
                accepted: "twice the bucket size or more, at most 2^40",
            });
        }
        // `from_buckets` rejects a bucket size of 0.
        let buckets = (capacity / u64::from(bucket_size.max(1))).next_power_of_two();
        let expansion = match expansion {
            0 => 0,
            // Above 2^15 there is no next power of two, and `from_buckets` rejects it.
            _ => expansion.checked_next_power_of_two().unwrap_or(expansion),
        };
        Self::from_buckets(buckets, bucket_size, max_moves, expansion)
    }

    /// The same from stored numbers.
    ///
    /// # Errors
    /// If the number of buckets of the first table is not a power of two, or more than 2^40; if the expansion is neither 0 nor a
    /// power of two up to 32768; otherwise as [`ClassicCuckooPlan::new`].
    pub fn from_buckets(
        buckets: u64,
        bucket_size: u8,
        max_moves: u16,
        expansion: u16,
    ) -> Result<Self, PlanError> {
        let check = |field, value: u64, sound, accepted| {
            if sound {
                Ok(())
            } else {
                Err(PlanError::InvalidInteger {
                    field,
                    value,
                    accepted,
                })
            }
        };
        check(
            "buckets",
            buckets,
            buckets.is_power_of_two() && buckets <= MAX_BUCKETS,
            "a power of two up to 2^40",
        )?;
        check(
            "bucket_size",
            u64::from(bucket_size),
            bucket_size > 0,
            "1 to 255",
        )?;
        check(
            "max_moves",
            u64::from(max_moves),
            max_moves > 0,
            "1 to 65535",
        )?;
        check(
            "expansion",
            u64::from(expansion),
            expansion == 0 || expansion.is_power_of_two(),
            "0, or a power of two up to 32768",
        )?;
        Ok(Self {
            buckets,
            bucket_size,
            max_moves,
            expansion,
        })
    }

    /// Buckets of table `number`.
    ///
    /// # Errors
    /// If it is too large for any machine, or the filter does not grow.
    pub fn buckets_of(&self, number: u32) -> Result<u64, PlanError> {
        u64::from(self.expansion)
            .checked_pow(number)
            .and_then(|factor| self.buckets.checked_mul(factor))
            .filter(|buckets| (1..=MAX_BUCKETS).contains(buckets))
            .ok_or(PlanError::InvalidInteger {
                field: "tables",
                value: u64::from(number) + 1,
                accepted: "one if the expansion is 0, otherwise tables of at most 2^40 buckets",
            })
    }

    /// Bytes of table `number`: a slot is a byte.
    ///
    /// # Errors
    /// As [`ClassicCuckooPlan::buckets_of`].
    pub fn size_bytes_of(&self, number: u32) -> Result<u64, PlanError> {
        Ok(self.buckets_of(number)? * u64::from(self.bucket_size))
    }

    /// The share of absent keys that a table does not find if this share of its slots is in use.
    pub(crate) fn passes(&self, fill: f64) -> f64 {
        let slots = 2.0 * f64::from(self.bucket_size) * fill;
        libm::exp(slots * libm::log1p(-1.0 / FINGERPRINTS as f64))
    }

    /// Buckets of the first table.
    pub fn buckets(&self) -> u64 {
        self.buckets
    }

    /// Slots in a bucket.
    pub fn bucket_size(&self) -> u8 {
        self.bucket_size
    }

    /// How many fingerprints an insert may move.
    pub fn max_moves(&self) -> u16 {
        self.max_moves
    }

    /// The growth factor of each further table; 0 if there is none.
    pub fn expansion(&self) -> u16 {
        self.expansion
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_and_expansion_are_rounded_up_to_powers_of_two() {
        let plan = ClassicCuckooPlan::new(5000, 7, 20, 3).unwrap();
        assert_eq!((plan.buckets(), plan.expansion()), (1024, 4));
        assert_eq!(plan.buckets_of(2), Ok(16 * 1024));
        assert_eq!(plan.size_bytes_of(1), Ok(7 * 4 * 1024));
        assert_eq!(ClassicCuckooPlan::new(7, 2, 20, 1).unwrap().buckets(), 4);
        let same = ClassicCuckooPlan::new(64, 2, 20, 0).unwrap();
        assert!(same.buckets_of(0) == Ok(32) && same.buckets_of(1).is_err());
    }

    #[test]
    fn invalid_requests_name_the_field() {
        let refused = |plan: Result<_, PlanError>| match plan {
            Err(PlanError::InvalidInteger { field, .. }) => field,
            _ => "nothing",
        };
        assert_eq!(refused(ClassicCuckooPlan::new(3, 2, 20, 1)), "capacity");
        assert_eq!(
            refused(ClassicCuckooPlan::new(u64::MAX, 2, 20, 1)),
            "capacity"
        );
        assert_eq!(refused(ClassicCuckooPlan::new(10, 0, 20, 1)), "bucket_size");
        assert_eq!(refused(ClassicCuckooPlan::new(10, 2, 0, 1)), "max_moves");
        assert_eq!(
            refused(ClassicCuckooPlan::new(10, 2, 20, 40_000)),
            "expansion"
        );
        for buckets in [0, 3, 1 << 41] {
            let plan = ClassicCuckooPlan::from_buckets(buckets, 2, 20, 1);
            assert_eq!(refused(plan), "buckets");
        }
        let plan = ClassicCuckooPlan::from_buckets(2, 2, 20, 32768).unwrap();
        assert!(plan.buckets_of(3).is_err() && plan.buckets_of(u32::MAX).is_err());
    }
}
