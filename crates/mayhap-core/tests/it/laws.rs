//! The laws of `Bloom`: no key is ever lost, single and batch calls agree, `insert` distinguishes new from repeated keys, filters
//! share hashes.

use crate::{hashes, soak};
use mayhap_core::plan::{BloomPlan, LinesPerKey};
use mayhap_core::{Bloom, HashScheme, Kernel, KeyHash, SipKey};

/// All shapes: one and two lines, every number of bits per line, few and many lines.
fn shapes() -> Vec<BloomPlan> {
    let rates = [
        0.5, 0.2, 0.1, 0.05, 0.03, 0.01, 0.0075, 0.0039, 0.001, 3e-4, 1e-4, 1e-5, 1e-6,
    ];
    let mut shapes = Vec::new();
    for rate in rates {
        for lines in [LinesPerKey::One, LinesPerKey::Two] {
            for capacity in [1, 10, 1000, 30_000] {
                shapes.push(BloomPlan::with_lines_per_key(capacity, rate, lines).unwrap());
            }
        }
    }
    shapes
}

/// Keys of many kinds: sequential numbers, long shared prefixes, every single byte, the empty key, and a megabyte.
fn difficult_keys() -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = (0..20_000_u32).map(|i| i.to_le_bytes().to_vec()).collect();
    keys.extend(
        (0..5_000)
            .map(|i| format!("https://www.example.com/a/very/long/shared/prefix/{i}").into_bytes()),
    );
    keys.extend((0..=255_u8).map(|byte| vec![byte]));
    keys.push(Vec::new());
    keys.extend((0..3_u8).map(|byte| vec![byte; 1 << 20]));
    keys
}

#[test]
fn no_difficult_key_is_lost_in_any_shape_scheme_or_kernel() {
    let keys = difficult_keys();
    let schemes = [HashScheme::Xxh3, HashScheme::Sip13(SipKey::new([7; 16]))];
    for kernel in Kernel::available() {
        for scheme in schemes {
            for rate in [0.05, 0.01, 0.001, 1e-5] {
                let plan = BloomPlan::new(keys.len() as u64, rate).unwrap();
                let mut filter = Bloom::from_plan(plan, scheme).unwrap().with_kernel(kernel);
                let mut batch = filter.clone();
                for key in &keys {
                    filter.insert(key);
                    assert!(
                        filter.contains(key),
                        "{kernel}: lost at once, {} bytes",
                        key.len()
                    );
                }
                batch.extend(&keys);
                assert_eq!(filter, batch, "{kernel}: `extend` and `insert` differ");
                let mut found = vec![false; keys.len()];
                filter.contains_each(&keys, &mut found);
                assert!(
                    found.iter().all(|&found| found),
                    "{kernel}: lost by contains_each"
                );
            }
        }
    }
}

#[test]
fn no_key_is_lost_among_ten_million() {
    let total: u64 = if soak() { 1_000_000_000 } else { 12_000_000 };
    let kernels: Vec<_> = Kernel::available().collect();
    let rates = [0.01, 0.0039, 0.0001];
    let per_filter = total / (kernels.len() * rates.len()) as u64;
    let mut queried = 0;
    for &kernel in &kernels {
        for rate in rates {
            let mut filter = Bloom::for_hashes(per_filter as usize, rate)
                .unwrap()
                .with_kernel(kernel);
            let chunk = 1 << 16;
            let chunks = || {
                (0..per_filter)
                    .step_by(chunk)
                    .map(|from| hashes(5, from, per_filter.min(from + chunk as u64)))
            };
            for hashes in chunks() {
                filter.insert_hashes(&hashes.collect::<Vec<_>>());
            }
            for hashes in chunks() {
                let hashes: Vec<_> = hashes.collect();
                let mut found = vec![false; hashes.len()];
                filter.contains_hashes(&hashes, &mut found);
                assert!(
                    found.iter().all(|&found| found),
                    "{kernel} at {rate}: lost in a batch"
                );
                assert!(
                    hashes.iter().all(|&hash| filter.contains_hash(hash)),
                    "{kernel} at {rate}: lost one by one"
                );
                queried += hashes.len() as u64;
            }
        }
        println!("no false negative: kernel {kernel} ran");
    }
    println!("no false negative in {queried} keys");
    assert!(queried >= total / 10 * 9);
}

#[test]
fn single_and_batch_agree_on_every_answer_and_every_bit_in_every_shape() {
    for plan in shapes() {
        let keys: Vec<_> = hashes(1, 0, plan.capacity()).collect();
        let absent: Vec<_> = hashes(2, 0, 2000).collect();
        for kernel in Kernel::available() {
            let mut single = Bloom::from_plan(plan, HashScheme::Caller)
                .unwrap()
                .with_kernel(kernel);
            let mut batch = single.clone();
            for &hash in &keys {
                single.insert_hash(hash);
            }
            batch.insert_hashes(&keys);
            assert_eq!(single, batch, "{kernel}, {plan}");
            for queried in [&keys, &absent] {
                // Includes batches that are shorter than the prefetch distance, and empty ones.
                for len in [0, 1, 63, 64, 65, queried.len()] {
                    let queried = &queried[..len.min(queried.len())];
                    let mut found = vec![false; queried.len()];
                    single.contains_hashes(queried, &mut found);
                    let one_by_one: Vec<_> = queried
                        .iter()
                        .map(|&hash| single.contains_hash(hash))
                        .collect();
                    assert_eq!(found, one_by_one, "{kernel}, {plan}");
                }
            }
        }
    }
}

#[test]
fn insert_is_true_for_definitely_new_keys_and_false_for_repeated_ones() {
    for plan in shapes() {
        for kernel in Kernel::available() {
            let mut filter = Bloom::from_plan(plan, HashScheme::Caller)
                .unwrap()
                .with_kernel(kernel);
            for hash in hashes(3, 0, plan.capacity()) {
                let known = filter.contains_hash(hash);
                assert_eq!(filter.insert_hash(hash), !known, "{kernel}, {plan}");
                assert!(
                    !filter.insert_hash(hash),
                    "{kernel}, {plan}: a repeated key is not new"
                );
            }
        }
    }
}

#[test]
fn an_insert_sets_as_many_bits_as_planned() {
    for plan in shapes() {
        for hash in hashes(4, 0, 50) {
            let mut filter = Bloom::from_plan(plan, HashScheme::Caller).unwrap();
            filter.insert_hash(hash);
            assert_eq!(filter.set_bits(), u64::from(plan.probes()), "{plan}");
        }
    }
}

#[test]
fn filters_of_one_scheme_share_hashes() {
    let small = Bloom::from_keys(&["a", "b"], 0.01).unwrap();
    let large = Bloom::from_keys(&["b", "c"], 0.0001).unwrap();
    let hash = small.hash("b");
    assert!(small.contains_hash(hash) && large.contains_hash(hash));
    assert!(!large.contains_hash(small.hash("a")));
}

#[test]
fn cleared_filters_are_empty_and_from_keys_accepts_an_empty_slice() {
    let keys: Vec<_> = (0..1000_u32).map(u32::to_le_bytes).collect();
    let mut filter = Bloom::from_keys(&keys, 0.01).unwrap();
    assert!(!filter.is_empty());
    filter.clear();
    assert!(filter.is_empty() && filter == Bloom::new(1000, 0.01).unwrap());
    assert_eq!(filter.estimated_keys(), 0);
    let none = Bloom::from_keys(&[] as &[&str], 0.01).unwrap();
    assert!(none.is_empty() && !none.contains(""));
}

#[test]
fn the_bits_of_a_known_key_are_where_the_format_specifies() {
    // Pins the walk: files written today must open tomorrow. Computed by hand from probe/blocked.rs: byte w of the hash, modulo
    // 64, is the bit in word w; the line is the high half of hash * FIRST times the number of lines.
    let hash = 0x8877_6655_4433_2211_u64;
    let plan = BloomPlan::with_lines_per_key(1000, 0.0039, LinesPerKey::One).unwrap();
    let mut filter = Bloom::from_plan(plan, HashScheme::Caller).unwrap();
    filter.insert_hash(KeyHash::from_u64(hash));
    let mixed = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let line = ((u128::from(mixed) * u128::from(plan.lines())) >> 64) as usize;
    let row = (mixed >> 32 & 7) as usize;
    let left_out = match plan.bits_per_line() {
        7 => Some((7 + row) % 8),
        8 => None,
        other => panic!("0.39 % has 7 or 8 words, not {other}"),
    };
    for (at, word) in filter.words().enumerate() {
        let expected = if at / 8 == line && Some(at % 8) != left_out {
            1 << (hash >> (8 * (at % 8)) & 63)
        } else {
            0
        };
        assert_eq!(word, expected, "word {at}");
    }
}

#[test]
fn debug_output_is_readable() {
    let mut filter = Bloom::keyed(1000, 0.01, SipKey::new([9; 16])).unwrap();
    filter.insert("a");
    let text = format!("{filter:?}");
    assert!(
        text.contains("1000 keys at 0.01") && text.contains("lines of 64 bytes"),
        "{text}"
    );
    assert!(!text.contains('9'), "the secret stays out of it: {text}");
}

#[test]
fn filters_are_send_and_sync() {
    fn sendable<T: Send + Sync>() {}
    sendable::<Bloom>();
    sendable::<mayhap_core::SharedBloom>();
    sendable::<KeyHash>();
    sendable::<BloomPlan>();
}
