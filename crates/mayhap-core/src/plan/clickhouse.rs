//! How `ClickHouse` turns the rate of a `bloom_filter` index into bits per row and probes.
//!
//! Its index files hold neither number, so whoever reads one must repeat the choice that was made when it was written. `ClickHouse`
//! looks the rate up in a printed table; here the table is computed, in the three digits it was printed with, and its one misprint
//! and the two corners of the search are kept.
//!
//! It is no advice: [`classic::plan`] finds sizes to the bit and keeps rates below 0.0001 as well. The file itself and the hashes
//! are the codec's.

use super::classic;

/// Bits a row that are tried, fewest first.
const BITS_PER_ROW: core::ops::RangeInclusive<u32> = 2..=19;
/// Probes that are tried, fewest first: as many as there are seeds.
const PROBES: core::ops::RangeInclusive<u32> = 1..=15;
/// Rates from here on get [`LOOSEST`], in `ClickHouse` since November 2023 (its pull request
/// 57034); before, they got [`TIGHTEST`].
const LOOSE_RATE: f64 = 0.283;
const LOOSEST: (u32, u32) = (2, 2);
const TIGHTEST: (u32, u32) = (19, 13);

/// The bits per row and the probes of an index that was declared as `bloom_filter(max_rate)`.
///
/// The fewest bits with which some number of probes keeps the rate, then the fewest probes that do: bits and probes round up. Rates
/// from 0.283 on give (2, 2). Where nothing tight enough is known, which begins below 0.000109, the answer is (19, 13), and so it
/// is for 0 and for NaN.
///
/// `ClickHouse` never settles on a single probe: it looks for the most probes that do *not* do and adds one. From 0.221 up to 0.237
/// one probe does for every size it tries, so the search finds nothing and these rates, too, get (19, 13).
///
/// A rate counts as what its `f64` is, not as the decimal it was written as: 0.0012 is a hair less than 12/10000 and does not get
/// the (14, 10) of that entry. This is so where the table is held in `long double`, on Linux; a build for macOS on ARM may differ
/// for rates that are table entries.
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

/// An entry of the printed table, exactly: `digits / scale`, three digits and a power of ten.
struct TableEntry {
    digits: f64,
    scale: f64,
}

impl TableEntry {
    /// The classic rate at so many bits per key and so many probes, to the nearest third digit.
    fn for_bits_and_probes(bits_per_row: u32, probes: u32) -> Self {
        if (bits_per_row, probes) == (5, 3) {
            // 0.0918; printed as 0.092.
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

    /// Whether `digits / scale <= rate`, without any rounding: a fused multiply-add keeps the sign.
    fn is_at_most(&self, rate: f64) -> bool {
        libm::fma(rate, self.scale, -self.digits) >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rate, bits per row, probes: what `ClickHouse` 26.9.2.1 wrote for 800 rows. The bits follow from the size of the filter, the
    /// probes from which of 1 to 15 gives its very bytes.
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
    fn every_observed_pair_comes_out() {
        for (rate, bits_per_row, probes) in OBSERVED {
            assert_eq!(
                bits_per_row_and_probes(rate),
                (bits_per_row, probes),
                "{rate}"
            );
        }
    }

    #[test]
    fn computed_entries_are_the_printed_ones() {
        let mut compared = 0;
        for row in classic::tests::CAO.lines() {
            let mut numbers = row.split_whitespace();
            let bits_per_row: u32 = numbers.next().unwrap().parse().unwrap();
            for (printed, probes) in numbers.zip(1..) {
                let entry = TableEntry::for_bits_and_probes(bits_per_row, probes);
                let printed: f64 = printed.parse().unwrap();
                // Both are the nearest f64 to the same decimal, so they are the same f64.
                assert_eq!((entry.digits / entry.scale).to_bits(), printed.to_bits());
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
    fn rates_out_of_reach_get_the_tightest_pair() {
        for rate in [0.000_109, 0.000_05, 1e-300, 0.0, -1.0, f64::NAN] {
            assert_eq!(bits_per_row_and_probes(rate), (19, 13), "{rate}");
        }
        assert_eq!(bits_per_row_and_probes(0.000_111), (19, 12));
    }

    #[test]
    fn rates_for_which_one_probe_would_do_fall_through() {
        for rate in [0.221, 0.23, 0.237] {
            assert_eq!(bits_per_row_and_probes(rate), (19, 13), "{rate}");
        }
        assert_eq!(bits_per_row_and_probes(0.221_f64.next_down()), (4, 2));
        assert_eq!(bits_per_row_and_probes(0.237_f64.next_up()), (3, 2));
    }

    #[test]
    fn a_rate_is_compared_as_it_is_and_not_as_it_was_written() {
        // The nearest f64 to the entry lies below it, above it, below the misprint.
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
