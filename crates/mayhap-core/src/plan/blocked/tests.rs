//! Proofs for blocked filters: the closed forms with 80 digits, known sizes, every search undone.

use super::*;

type Layout = fn(f64) -> f64;

fn close(value: f64, expected: f64, share: f64) -> bool {
    (value / expected - 1.0).abs() <= share
}

/// The best number of probes and its bits a key by trying them all.
fn best_of_all(asked: f64, blocks: u32, one: impl Fn(f64, u32) -> f64) -> (u32, f64) {
    let bits = |k| {
        let rate = |c| match blocks {
            1 => one(c, k),
            _ => two_blocks(c, |c| one(c, k)),
        };
        // More probes than bits in a block reach no rate at all.
        (
            k * blocks,
            bits_per_key_for(asked, rate).unwrap_or(f64::INFINITY),
        )
    };
    let better = |a: (u32, f64), b: (u32, f64)| if b.1 < a.1 { b } else { a };
    (1..=MAX_BEST_PROBES / blocks)
        .map(bits)
        .reduce(better)
        .unwrap()
}

/// Compares with a printed number, of which the last digit is rounded, and which may be off by
/// 0.02.
fn agrees(value: f64, printed: &str) -> bool {
    let decimals = printed
        .split_once('.')
        .map_or(0, |(_, digits)| digits.len());
    let half_a_digit = 0.5 * libm::pow(10.0, -(decimals as f64));
    (value - printed.parse::<f64>().unwrap()).abs() <= half_a_digit.max(0.02)
}

#[test]
fn rates_are_those_of_the_closed_forms_to_twelve_digits() {
    // The alternating sums, with 80 digits. Down to 1e-16, with nearly full blocks, with keys
    // that fill their block, with 4096 keys a block.
    for (c, block, probes, free, repeated) in [
        (
            10.0,
            512,
            6,
            0.009_549_724_451_569_56,
            0.009_664_748_360_480_207,
        ),
        (
            79.0,
            512,
            21,
            9.975_439_851_861_442e-10,
            1.165_596_221_175_089e-9,
        ),
        (
            200.0,
            512,
            32,
            1.003_084_887_807_53e-13,
            1.170_533_486_110_308e-13,
        ),
        (
            0.5,
            512,
            3,
            0.992_582_597_749_071_9,
            0.992_510_053_954_361_6,
        ),
        (
            1.0,
            4_096,
            8,
            0.997_319_491_146_442_3,
            0.997_303_437_805_766_1,
        ),
        (
            12.0,
            64,
            4,
            0.010_514_416_124_934_03,
            0.011_510_481_253_915_81,
        ),
        (3.0, 8, 8, 0.930_516_548_777_198_5, 0.574_353_254_798_424_5),
        (
            0.25,
            512,
            3,
            0.999_981_567_481_639_8,
            0.999_981_167_487_793_8,
        ),
    ] {
        assert!(
            close(free_rate(c, block, probes), free, 1e-12),
            "{c} {block} {probes}"
        );
        assert!(
            close(repeated_rate(c, block, probes), repeated, 1e-12),
            "{c} {block} {probes}"
        );
    }
    for (c, lanes, lane_bits, split) in [
        (10.0, 8, 32, 0.012_648_451_535_639_11),
        (57.5, 8, 64, 5.515_522_529_682_46e-7),
        (40.0, 16, 32, 8.436_588_308_038_326e-7),
        (400.0, 32, 16, 1.802_982_652_335_206e-16),
        (1.5, 8, 32, 0.962_137_184_946_100_1),
    ] {
        assert!(
            close(split_rate(c, lanes, lane_bits), split, 1e-12),
            "{c} {lanes} {lane_bits}"
        );
    }
}

#[test]
fn rates_have_their_documented_edges() {
    let rates = |c, block, probes| {
        [
            free_rate(c, block, probes),
            repeated_rate(c, block, probes),
            split_rate(c, probes, block),
        ]
    };
    for (c, block, probes, expected) in [
        (10.0, 512, 0, 1.0),
        (10.0, 0, 3, 1.0),
        (0.0, 512, 3, 1.0),
        (-1.0, 512, 3, 1.0),
        (0.02, 512, 3, 1.0),
        (1e-320, 512, 3, 1.0),
        (f64::INFINITY, 512, 3, 0.0),
    ] {
        assert!(rates(c, block, probes).iter().all(|rate| close(
            rate + 1.0,
            expected + 1.0,
            1e-15
        )));
    }
    assert!(rates(10.0, 512, 33).iter().all(|rate| rate.is_nan()));
    assert!(rates(f64::NAN, 512, 3).iter().all(|rate| rate.is_nan()));
    assert_eq!(free_rate(10.0, 4, 5).to_bits(), f64::to_bits(1.0));
    assert!(repeated_rate(10.0, 4, 5) < 1.0);
}

#[test]
fn huge_blocks_are_classic_filters() {
    let classic = classic::rate(10_000, 1_000, 7);
    for rate in [free_rate(10.0, 1 << 20, 7), repeated_rate(10.0, 1 << 20, 7)] {
        assert!(
            rate > classic && close(rate, classic, 1e-4),
            "{rate} {classic}"
        );
    }
    assert!(!close(free_rate(10.0, 512, 7), classic, 0.1));
}

#[test]
fn sizes_of_blocks_with_repeated_probes_are_the_known_ones() {
    // Rate; bits a key and probes of one block of 512 bits, two of them, one of 256, one of 64. The
    // two are from the closed form with 40 digits, the others from occupancy by counting.
    for (asked, printed) in [
        (0.05, ["6.32 4", "6.26 4", "6.39 4", "6.84 4"]),
        (0.01, ["9.92 6", "9.68 6", "10.22 6", "12.14 5"]),
        (1.0 / 256.0, ["12.13 8", "11.66 8", "12.70 7", "16.18 6"]),
        (1e-3, ["15.55 9", "14.63 10", "16.70 9", "24.0 7"]),
        (1e-4, ["22.03 12", "19.84 12", "24.88 11", "45.5 9"]),
        (1e-5, ["29.67 14", "25.27 16", "35.6 13", "86.6 10"]),
        (1e-6, ["38.8 16", "31.09 18", "49.8 15", "170 12"]),
    ] {
        let columns = [(1, 512), (2, 512), (1, 256), (1, 64)];
        for ((blocks, block), printed) in columns.into_iter().zip(printed) {
            let (probes, bits) = best_of_all(asked, blocks, |c, k| repeated_rate(c, block, k));
            let (printed_bits, printed_probes) = printed.split_once(' ').unwrap();
            assert!(agrees(bits, printed_bits), "{asked} {printed}: {bits}");
            assert_eq!(probes, printed_probes.parse().unwrap(), "{asked} {printed}");
        }
    }
}

#[test]
fn sizes_of_free_and_split_blocks_are_the_known_ones() {
    // Classic; free in one line of 512 bits and in two; 4x128 and 8x64, each in one and in two;
    // 8x32 and 16x32 in one. Found by the closed forms, before there was any of this code.
    let split: [Layout; 6] = [
        |c| split_rate(c, 4, 128),
        |c| split_rate(c, 8, 64),
        |c| two_blocks(c, |c| split_rate(c, 4, 128)),
        |c| two_blocks(c, |c| split_rate(c, 8, 64)),
        |c| split_rate(c, 8, 32),
        |c| split_rate(c, 16, 32),
    ];
    for (asked, printed) in [
        (0.05, "6.24 6.31 6.25 6.33 7.05 6.91 9.16 7.23 9.50"),
        (0.02, "8.14 8.33 8.18 8.65 8.72 8.48 10.63 9.02 11.16"),
        (0.01, "9.59 9.90 9.66 10.79 10.10 9.77 11.76 10.53 12.46"),
        (
            1.0 / 256.0,
            "11.54 12.10 11.65 14.41 12.19 11.68 13.33 12.85 14.32",
        ),
        (1e-3, "14.38 15.49 14.60 21.6 15.72 14.84 15.72 16.89 17.24"),
        (1e-4, "19.17 21.91 19.79 42 23.61 21.58 20.20 26.34 23.01"),
        (1e-5, "23.96 29.46 25.2 83.5 35.0 30.7 25.38 41.0 30.2"),
        (1e-6, "28.76 38.48 31.0 174.3 51.9 43.1 31.45 64.7 39.2"),
    ] {
        let free = |lines| best_free(asked, 512, lines).unwrap().1;
        let wholes = [classic::ideal_bits_per_key(asked), free(1), free(2)];
        let splits = split.map(|layout| bits_per_key_for(asked, layout).unwrap());
        let ours = wholes.into_iter().chain(splits);
        for (bits, printed) in ours.zip(printed.split(' ')) {
            assert!(agrees(bits, printed), "{asked}: {bits}, not {printed}");
        }
    }
}

#[test]
fn the_formula_of_parquet_promises_too_much() {
    // bits = -8 / ln(1 - p^(1/8)) is the classic formula with 8 probes.
    for (promised, factor) in [(0.01, 1.46), (1e-3, 2.08), (1e-4, 3.23)] {
        let bits_per_key = -8.0 / libm::log1p(-libm::pow(promised, 0.125));
        assert!(close(
            split_rate(bits_per_key, 8, 32) / promised,
            factor,
            0.003
        ));
    }
}

#[test]
fn the_best_probes_are_found_without_trying_all() {
    for block in [1, 8, 64, 256, 512, 4_096] {
        for blocks in [1, 2] {
            for asked in [0.9, 0.3, 0.05, 0.01, 1e-3, 1e-5, 1e-9] {
                let all = best_of_all(asked, blocks, |c, k| free_rate(c, block, k));
                let (probes, bits) = best_free(asked, block, blocks).unwrap();
                assert!(
                    probes == all.0 && close(bits, all.1, 1e-15),
                    "{block} {blocks} {asked}"
                );
            }
        }
    }
}

#[test]
fn sizes_keep_the_rate_and_a_little_less_breaks_it() {
    let layouts: [Layout; 4] = [
        |c| free_rate(c, 512, 6),
        |c| split_rate(c, 8, 32),
        |c| two_blocks(c, |c| repeated_rate(c, 512, 3)),
        |c| 0.1 * libm::exp(-c), // needs fewer bits than a classic filter, and none from 0.1 on
    ];
    for layout in layouts {
        for asked in [0.999_9, 0.7, 0.099, 0.01, 1e-4, 1e-9] {
            let bits = bits_per_key_for(asked, layout).unwrap();
            assert!(layout(bits) <= asked, "{asked}");
            assert!(
                bits < 1e-300 || layout(bits * (1.0 - 2.0 * PRECISION)) > asked,
                "{asked}"
            );
        }
    }
}

#[test]
fn bad_requests_are_refused_by_name() {
    for wrong in [0.0, 1.0, f64::NAN] {
        let refused = [
            best_free(wrong, 512, 1).err(),
            bits_per_key_for(wrong, |_| 0.5).err(),
        ];
        for error in refused {
            assert!(matches!(
                error,
                Some(PlanError::InvalidNumber {
                    field: "false_positive_rate",
                    ..
                })
            ));
        }
    }
    assert!(matches!(
        best_free(0.1, 0, 1),
        Err(PlanError::InvalidInteger {
            field: "block_bits",
            ..
        })
    ));
    for blocks in [0, 25] {
        let refused = best_free(0.1, 512, blocks);
        assert!(matches!(
            refused,
            Err(PlanError::InvalidInteger {
                field: "blocks_per_key",
                ..
            })
        ));
    }
    // A layout that never gets there, and one that cannot be computed.
    for layout in [|_| 0.5, |_| f64::NAN] as [Layout; 2] {
        let refused = bits_per_key_for(0.01, layout);
        assert!(matches!(
            refused,
            Err(PlanError::InvalidNumber { value: 0.01, .. })
        ));
    }
}
