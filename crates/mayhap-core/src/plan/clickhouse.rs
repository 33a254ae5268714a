//! How ClickHouse derives bits per row and probes from the rate of a `bloom_filter` index.
//!
//! Its index files store neither number, so a reader must repeat the choice of the writer. ClickHouse looks the rate up in a
//! printed table; here the table is computed to the three digits that were printed, including its one misprint and the two edge
//! cases of the search.
//!
//! Do not use it for new filters: [`classic::plan`] is exact to the bit and also supports rates below 0.0001. The codec has the
//! file format and the hashes.

use super::classic;

/// The bits per row to try, fewest first.
const BITS_PER_ROW: core::ops::RangeInclusive<u32> = 2..=19;
/// The probes to try, fewest first: as many as there are seeds.
const PROBES: core::ops::RangeInclusive<u32> = 1..=15;
/// Rates from here on get [`LOOSEST`], in ClickHouse since November 2023 (its pull request 57034); before, they got [`TIGHTEST`].
const LOOSE_RATE: f64 = 0.283;
const LOOSEST: (u32, u32) = (2, 2);
const TIGHTEST: (u32, u32) = (19, 13);

/// The bits per row and the probes of an index that was declared as `bloom_filter(max_rate)`.
///
/// The fewest bits with which some number of probes keeps the rate, then the fewest probes that do: both round up. Rates from
/// 0.283 on give (2, 2). Rates that are too strict for the table, below 0.000109, give (19, 13), and so do 0 and NaN.
///
/// ClickHouse never chooses a single probe: it searches for the largest number of probes that is *not* enough and adds one. From
/// 0.221 to 0.237 one probe is enough for every size that it tries, so the search finds nothing and these rates also get (19,
/// 13).
///
/// A rate is compared as an `f64`, not as the decimal that was written: 0.0012 is slightly less than 12/10000 and does not get
/// the (14, 10) of that entry. This holds if the table is stored as `long double`, as on Linux; a build for macOS on ARM may
/// differ for rates that are table entries.
pub fn bits_per_row_and_probes(max_rate: f64) -> (u32, u32) {
    if max_rate >= LOOSE_RATE {
        return LOOSEST;
    }
    for bits_per_row in BITS_PER_ROW {
        let keeps = |&probes: &u32| {
            TableEntry::for_bits_and_probes(bits_per_row, probes).is_at_most(max_rate)
        };
        match PROBES.into_iter().find(keeps) {
            None | Some(1) => {}
            Some(probes) => return (bits_per_row, probes),
        }
    }
    TIGHTEST
}

/// An entry of the printed table, exactly: `digits / scale`, three digits and a power of ten. Cassandra has the same table.
pub(super) struct TableEntry {
    digits: f64,
    scale: f64,
}

impl TableEntry {
    /// The classic rate at this many bits per key and probes, rounded to three digits.
    pub(super) fn for_bits_and_probes(bits_per_row: u32, probes: u32) -> Self {
        if (bits_per_row, probes) == (5, 3) {
            // 0.0918, misprinted as 0.092.
            return Self {
                digits: 920.0,
                scale: 1e4,
            };
        }
        let rate = classic::rate(u64::from(bits_per_row), 1, probes);
        let mut scale = 1.0;
        while rate * scale < 100.0 {
            scale *= 10.0;
        }
        Self {
            digits: libm::round(rate * scale),
            scale,
        }
    }

    /// The `f64` that the decimal is read as: both numbers are exact, and the quotient is rounded once.
    pub(super) fn value(&self) -> f64 {
        self.digits / self.scale
    }

    /// Whether `digits / scale <= rate`, without rounding: a fused multiply-add preserves the sign.
    fn is_at_most(&self, rate: f64) -> bool {
        libm::fma(rate, self.scale, -self.digits) >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rate, bits per row, probes: what ClickHouse 26.9.2.1 wrote for 800 rows. The bits follow from the size of the filter; the
    /// probes are those of 1 to 15 that reproduce its bytes.
    const OBSERVED: [(f64, u32, u32); 26] = [
        (0.9, 2, 2),
        (0.6, 2, 2),
        (0.5, 2, 2),
        (0.4, 2, 2),
        (0.3, 2, 2),
        (0.25, 3, 2),
        (0.2, 4, 2),
        (0.15, 4, 3),
        (0.1, 5, 3),
        (0.08, 6, 3),
        (0.05, 7, 3),
        (0.04, 7, 4),
        (0.03, 8, 4),
        (0.025, 8, 4),
        (0.02, 9, 4),
        (0.015, 9, 5),
        (0.01, 10, 5),
        (0.008, 11, 5),
        (0.005, 12, 5),
        (0.003, 13, 6),
        (0.002, 13, 8),
        (0.001, 15, 7),
        (0.0005, 16, 10),
        (0.0002, 18, 10),
        (0.0001, 19, 13),
        (0.00001, 19, 13),
    ];

    #[test]
    fn every_observed_pair_is_reproduced() {
        for (rate, bits_per_row, probes) in OBSERVED {
            assert_eq!(
                bits_per_row_and_probes(rate),
                (bits_per_row, probes),
                "{rate}"
            );
        }
    }

    #[test]
    fn computed_entries_match_the_printed_table() {
        let mut compared = 0;
        for row in classic::tests::CAO.lines() {
            let mut numbers = row.split_whitespace();
            let bits_per_row: u32 = numbers.next().unwrap().parse().unwrap();
            for (printed, probes) in numbers.zip(1..) {
                let entry = TableEntry::for_bits_and_probes(bits_per_row, probes);
                let printed: f64 = printed.parse().unwrap();
                // Both are the nearest f64 to the same decimal, so they are the same f64.
                assert_eq!(entry.value().to_bits(), printed.to_bits());
                compared += 1;
            }
        }
        assert_eq!(compared, 252);
    }

    #[test]
    fn loose_rates_get_the_loosest_pair() {
        for rate in [0.283, 0.5, 1.0, 7.0, f64::INFINITY] {
            assert_eq!(bits_per_row_and_probes(rate), (2, 2), "{rate}");
        }
        assert_eq!(bits_per_row_and_probes(0.283_f64.next_down()), (3, 2));
    }

    #[test]
    fn too_strict_rates_get_the_tightest_pair() {
        for rate in [0.000_109, 0.000_05, 1e-300, 0.0, -1.0, f64::NAN] {
            assert_eq!(bits_per_row_and_probes(rate), (19, 13), "{rate}");
        }
        assert_eq!(bits_per_row_and_probes(0.000_111), (19, 12));
    }

    #[test]
    fn rates_that_need_only_one_probe_get_the_tightest_pair() {
        for rate in [0.221, 0.23, 0.237] {
            assert_eq!(bits_per_row_and_probes(rate), (19, 13), "{rate}");
        }
        assert_eq!(bits_per_row_and_probes(0.221_f64.next_down()), (4, 2));
        assert_eq!(bits_per_row_and_probes(0.237_f64.next_up()), (3, 2));
    }

    #[test]
    fn rates_are_compared_as_f64_and_not_as_decimals() {
        // The nearest f64 to the entry is below it, above it, and below the misprint.
        for (rate, at, above) in [
            (0.0012, (15, 7), (14, 10)),
            (0.001, (15, 7), (15, 7)),
            (0.092, (6, 2), (5, 3)),
        ] {
            assert_eq!(bits_per_row_and_probes(rate), at, "{rate}");
            assert_eq!(bits_per_row_and_probes(rate.next_up()), above, "{rate}");
        }
        assert_eq!(bits_per_row_and_probes(0.001_f64.next_down()), (15, 8));
    }
}
