//! Tests of the classic filter: a published table, and every inverse at its rounding edge.

use super::*;

/// Pei Cao, "Bloom Filters - the math", <http://pages.cs.wisc.edu/~cao/papers/summary-cache/node8.html>, tables 3 to 5: the row
/// is m/n from 2 to 32, the column k from 1. Up to m/n = 15 and k = 8 the values are from the page itself. The rest is from
/// programs that name the page as their source; they have k above 8 only for m/n from 13 to 20.
pub(in crate::plan) const CAO: &str = "\
 2 0.393 0.400
 3 0.283 0.237 0.253
 4 0.221 0.155 0.147 0.160
 5 0.181 0.109 0.092 0.092 0.101
 6 0.154 0.0804 0.0609 0.0561 0.0578 0.0638
 7 0.133 0.0618 0.0423 0.0359 0.0347 0.0364
 8 0.118 0.0489 0.0306 0.024 0.0217 0.0216 0.0229
 9 0.105 0.0397 0.0228 0.0166 0.0141 0.0133 0.0135 0.0145
10 0.0952 0.0329 0.0174 0.0118 0.00943 0.00844 0.00819 0.00846
11 0.0869 0.0276 0.0136 0.00864 0.0065 0.00552 0.00513 0.00509
12 0.08 0.0236 0.0108 0.00646 0.00459 0.00371 0.00329 0.00314
13 0.074 0.0203 0.00875 0.00492 0.00332 0.00255 0.00217 0.00199 0.00194
14 0.0689 0.0177 0.00718 0.00381 0.00244 0.00179 0.00146 0.00129 0.00121 0.0012
15 0.0645 0.0156 0.00596 0.003 0.00183 0.00128 0.001 0.000852 0.000775 0.000744
16 0.0606 0.0138 0.005 0.00239 0.00139 0.000935 0.000702 0.000574 0.000505 0.00047 0.000459
17 0.0571 0.0123 0.00423 0.00193 0.00107 0.000692 0.000499 0.000394 0.000335 0.000302 0.000287 0.000284
18 0.054 0.0111 0.00362 0.00158 0.000839 0.000519 0.00036 0.000275 0.000226 0.000198 0.000183 0.000176
19 0.0513 0.00998 0.00312 0.0013 0.000663 0.000394 0.000264 0.000194 0.000155 0.000132 0.000118 0.000111 0.000109
20 0.0488 0.00906 0.0027 0.00108 0.00053 0.000303 0.000196 0.00014 0.000108 8.89e-05 7.77e-05 7.12e-05 6.79e-05 6.71e-05
21 0.0465 0.00825 0.00236 0.000905 0.000427 0.000236 0.000147 0.000101
22 0.0444 0.00755 0.00207 0.000764 0.000347 0.000185 0.000112 7.46e-05
23 0.0425 0.00694 0.00183 0.000649 0.000285 0.000147 8.56e-05 5.55e-05
24 0.0408 0.00639 0.00162 0.000555 0.000235 0.000117 6.63e-05 4.17e-05
25 0.0392 0.00591 0.00145 0.000478 0.000196 9.44e-05 5.18e-05 3.16e-05
26 0.0377 0.00548 0.00129 0.000413 0.000164 7.66e-05 4.08e-05 2.42e-05
27 0.0364 0.0051 0.00116 0.000359 0.000138 6.26e-05 3.24e-05 1.87e-05
28 0.0351 0.00475 0.00105 0.000314 0.000117 5.15e-05 2.59e-05 1.46e-05
29 0.0339 0.00444 0.000949 0.000276 9.96e-05 4.26e-05 2.09e-05 1.14e-05
30 0.0328 0.00416 0.000862 0.000243 8.53e-05 3.55e-05 1.69e-05 9.01e-06
31 0.0317 0.0039 0.000785 0.000215 7.33e-05 2.97e-05 1.38e-05 7.16e-06
32 0.0308 0.00367 0.000717 0.000191 6.33e-05 2.5e-05 1.13e-05 5.73e-06
";

/// Near 1, near 0, and where k changes; the last two are stricter than any sensible request.
const RATES: [f64; 9] = [0.999, 0.5, 0.1, 0.01, 3e-3, 1e-3, 1e-4, 1e-6, 1e-12];
const KEYS: [u64; 7] = [1, 2, 10, 6_550, 1_000_000, 999_999_937, MILLION_MILLION];
const MILLION_MILLION: u64 = 1_000_000_000_000;
const FULL: f64 = f64::INFINITY;

fn grid() -> impl Iterator<Item = (u64, f64)> {
    KEYS.into_iter()
        .flat_map(|keys| RATES.map(|requested| (keys, requested)))
}

fn close(value: f64, expected: f64, margin: f64) -> bool {
    (value - expected).abs() <= margin
}

#[test]
fn rates_match_the_published_table() {
    let mut compared = 0;
    for row in CAO.lines() {
        let mut numbers = row.split_whitespace();
        let ratio: u64 = numbers.next().unwrap().parse().unwrap();
        for (published, probes) in numbers.zip(1..) {
            let published: f64 = published.parse().unwrap();
            let ours = rate(ratio * 1_000, 1_000, probes);
            // Half a unit of the third digit, for rounding.
            let half = 0.5 * libm::pow(10.0, libm::floor(libm::log10(published)) - 2.0);
            // The one misprint of the table: 0.0918 is printed with two digits, as 0.092.
            let half = if row.starts_with(" 5") && probes == 3 {
                5.0 * half
            } else {
                half
            };
            assert!(
                close(ours, published, half),
                "m/n = {ratio}, k = {probes}: {ours}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 252);
    assert!(rate(5_000, 1_000, 3) < 0.091_85);
}

#[test]
fn rates_are_accurate_at_both_ends() {
    // One key in 2^40 bits: 1 - e^-a is a (1 - a/2); without expm1 only four digits would be right.
    let tiny = libm::exp2(-40.0);
    assert!(close(
        rate(1 << 40, 1, 1) / (tiny * (1.0 - tiny / 2.0)),
        1.0,
        1e-15
    ));
    // Forty keys per bit: the rate differs from 1 by e^-40, which only its logarithm can represent.
    assert!(close(ln_rate(1, 40, 1) / -libm::exp(-40.0), 1.0, 1e-15));
}

#[test]
fn formulas_have_their_documented_edges() {
    for (value, expected) in [
        (rate(0, 0, 1), 1.0),
        (rate(0, 5, 3), 1.0),
        (rate(64, 0, 0), 1.0),
        (rate(64, 5, 0), 1.0),
        (rate(64, 0, 3), 0.0),
        (rate(1, u64::MAX, 1), 1.0),
        (rate_from_set_bits(0, 3, 0), 1.0),
        (rate_from_set_bits(8, 3, 9), 1.0),
        (rate_from_set_bits(8, 0, 4), 1.0),
        (rate_from_set_bits(8, 3, 4), 0.125),
        (ideal_bits_per_key(1.0), 0.0),
        (ideal_bits_per_key(0.0), FULL),
        (estimated_keys(0, 3, 0), FULL),
        (estimated_keys(64, 3, 64), FULL),
        (estimated_keys(64, 3, 65), FULL),
        (estimated_keys(64, 3, 0), 0.0),
        (estimated_keys_error(64, 3, 64), FULL),
        (estimated_keys_error(64, 3, 0), 0.0),
        (best_probes(0, 7).into(), 1.0),
        (best_probes(7, 0).into(), 1.0),
        (best_probes(u64::MAX, 1).into(), u32::MAX.into()),
    ] {
        assert_eq!(value.abs().to_bits(), f64::to_bits(expected));
    }
}

#[test]
fn best_probes_are_never_beaten_and_never_zero() {
    for keys in [1, 3, 100, 12_345] {
        for bits in (1..2_000).chain([50_000, 1_000_000]) {
            let best = best_probes(bits, keys);
            let ours = ln_rate(bits, keys, best);
            assert!(best >= 1);
            assert!((1..=best + 3).all(|other| ours <= ln_rate(bits, keys, other)));
        }
    }
    // Far more keys than bits: (m/n) ln 2 rounds down to 0.
    assert_eq!(best_probes(10, MILLION_MILLION), 1);
}

#[test]
fn ideal_bits_are_minimal_for_fractional_probes() {
    let ideal = |bits: u64, keys: u64| libm::exp(-(bits as f64 / keys as f64) * LN_2 * LN_2);
    for (keys, requested) in grid() {
        let bits = bits(keys, requested).unwrap();
        assert!(
            ideal(bits, keys) <= requested * (1.0 + 1e-13),
            "{keys} {requested}"
        );
        // One bit changes the rate by 0.48/n, and the comparison is accurate to 1e-13.
        let one_less_shows = keys < MILLION_MILLION;
        assert!(!one_less_shows || ideal(bits - 1, keys) > requested * (1.0 - 1e-13));
    }
    assert_eq!(bits(1_000_000, 0.01), Ok(9_585_059));
    assert_eq!(bits(1, 0.999_999), Ok(1));
}

#[test]
fn a_plan_keeps_the_rate_and_one_bit_less_breaks_it() {
    for (keys, requested) in grid() {
        let plan = plan(keys, requested).unwrap();
        let ours = rate(plan.bits, keys, plan.probes);
        assert_eq!(plan.rate_at_capacity.to_bits(), ours.to_bits());
        assert!(plan.probes >= 1 && ours <= requested, "{keys} {requested}");
        for probes in 1..=60 {
            assert!(
                rate(plan.bits - 1, keys, probes) > requested,
                "{keys} {requested} {probes}"
            );
        }
        // An integer number of probes never saves bits. It costs 5 % at most, except where even one probe is too many: 70 times
        // the bits at a rate of 0.999.
        let ideal = bits(keys, requested).unwrap();
        let max = if requested > 0.5 { 70.0 } else { 1.05 };
        assert!(plan.bits >= ideal && plan.bits as f64 <= max * ideal as f64 + 1.0);
    }
    // The usual answer for a million keys at 1 % is 9_585_059 bits and 7 probes.
    assert!(close(rate(9_585_059, 1_000_000, 7), 0.010_039, 5e-7));
    let million = plan(1_000_000, 0.01).unwrap();
    assert_eq!((million.bits, million.probes), (9_592_955, 7));
}

#[test]
fn invalid_requests_name_the_field() {
    let errors = |keys, rate| [bits(keys, rate).unwrap_err(), plan(keys, rate).unwrap_err()];
    for wrong in [0.0, 1.0, -0.5, 2.0, f64::NAN, f64::INFINITY] {
        for error in errors(9, wrong) {
            assert!(matches!(
                error,
                PlanError::InvalidNumber {
                    field: "false_positive_rate",
                    ..
                }
            ));
        }
    }
    // No key at all, and 9.6 bits for each of 2^64 - 1 keys.
    for error in errors(0, 0.01).into_iter().chain(errors(u64::MAX, 0.01)) {
        assert!(matches!(
            error,
            PlanError::InvalidInteger {
                field: "capacity",
                ..
            }
        ));
    }
}

#[test]
fn estimates_match_the_published_values() {
    // Half full at 7 probes: (m/7) ln 2 keys, plus or minus 0.554 sqrt(m) / 7.
    assert!(close(
        estimated_keys(10_000_000, 7, 5_000_000),
        990_210.26,
        0.01
    ));
    assert!(close(
        estimated_keys_error(10_000_000, 7, 5_000_000),
        250.2,
        0.1
    ));
    // The two forms of the error agree at the switch, 1 % of the bits.
    let below = estimated_keys_error(1 << 40, 5, 10_995_116_277);
    let above = estimated_keys_error(1 << 40, 5, 10_995_116_278);
    assert!(
        below < above && above / below < 1.0 + 1e-9,
        "{below} {above}"
    );
}

#[test]
fn estimates_of_simulated_filters_have_the_stated_standard_error() {
    let (bits, probes, keys, trials) = (4_096_u64, 4, 710, 2_000);
    let (mut seed, mut sum, mut squares, mut stated) = (1_u64, 0.0, 0.0, 0.0);
    for _ in 0..trials {
        let mut store = [false; 4_096];
        for _ in 0..keys * probes {
            // SplitMix64 (Steele, Lea, Flood 2014).
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            store[((mixed ^ (mixed >> 31)) % bits) as usize] = true;
        }
        let set_bits = store.iter().filter(|&&bit| bit).count() as u64;
        let off = estimated_keys(bits, probes, set_bits) - f64::from(keys);
        sum += off;
        squares += off * off;
        stated += estimated_keys_error(bits, probes, set_bits);
    }
    let trials = f64::from(trials);
    let (mean, stated) = (sum / trials, stated / trials);
    let spread = libm::sqrt(squares / trials);
    // Five sigma of the mean, plus half a key for the bias of the estimator; five sigma of the spread.
    assert!(
        mean.abs() < 0.5 + 5.0 * stated / libm::sqrt(trials),
        "mean {mean}"
    );
    assert!(
        close(spread / stated, 1.0, 5.0 / libm::sqrt(2.0 * trials)),
        "{spread} {stated}"
    );
}
