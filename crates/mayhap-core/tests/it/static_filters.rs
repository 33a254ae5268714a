//! What the static filters `Fuse` and `Ribbon` guarantee: no key is lost, the rate is kept, they are small, and depend only on
//! the set of keys.

use crate::{hashes, soak};
use mayhap_core::plan::{FusePlan, RibbonPlan};
use mayhap_core::{
    BuildStatic, Fuse, FuseCells, FuseLayout, FuseView, HashScheme, KeyHash, PlanError, Ribbon,
    RibbonColumns, SipKey, StaticFilter,
};

/// Cells of several widths, typed and packed, and columns with and without a wide part, up to 32.
const RATES: [f64; 7] = [0.7, 0.5, 0.01, 1.0 / 256.0, 1e-4, 1e-7, 1e-9];

/// Runs a law for both kinds.
macro_rules! both {
    ($($law:ident)*) => {$(
        mod $law {
            #[test]
            fn fuse() {
                super::$law::<super::FuseCells>();
            }

            #[test]
            fn ribbon() {
                super::$law::<super::RibbonColumns>();
            }
        }
    )*};
}

both! {
    no_key_is_lost_at_any_size_and_width
    many_small_sets_can_be_built
    keys_of_all_kinds_are_found_under_every_scheme
    counters_used_as_hashes_can_be_built
    order_and_duplicates_do_not_matter
    a_million_equal_keys_are_one_key
    a_filter_without_keys_finds_nothing
    single_and_batch_agree_on_every_answer
    the_requested_rate_is_kept
    impossible_rates_are_rejected
    results_must_match_the_number_of_keys
    key_bytes_need_a_scheme_with_a_hash_function
    debug_builds_detect_a_hash_of_another_scheme
    debug_output_is_readable
}

fn contains_all<T: BuildStatic>(filter: &StaticFilter<T>, keys: &[KeyHash]) -> bool {
    let mut found = vec![false; keys.len()];
    filter.contains_hashes(keys, &mut found);
    found.iter().all(|&found| found) && keys.iter().all(|&key| filter.contains_hash(key))
}

fn no_key_is_lost_at_any_size_and_width<T: BuildStatic>() {
    let mut sizes = vec![100, 1000, 2099, 2100, 2101, 100_000, 1_000_000];
    sizes.extend(1..=66);
    if soak() {
        sizes.extend([10_000_000, 100_000_000]);
    }
    for count in sizes {
        let keys: Vec<_> = hashes(1, 0, count).collect();
        for rate in RATES {
            let filter = StaticFilter::<T>::build(&keys, rate).unwrap();
            assert!(contains_all(&filter, &keys), "{filter:?}");
            assert_eq!(filter.len(), count);
            assert_eq!(filter.estimated_keys(), count);
            assert_eq!(filter.capacity(), count);
            assert!(!filter.is_over_capacity() && filter.keys_until_full() == 0);
            assert!(!filter.is_empty() && filter.estimated_rate() <= rate * 1.000_001);
        }
    }
}

fn many_small_sets_can_be_built<T: BuildStatic>() {
    for seed in 0..2000 {
        let keys: Vec<_> = hashes(seed, 0, seed % 200 + 1).collect();
        let filter = StaticFilter::<T>::build(&keys, 0.01).unwrap();
        assert!(contains_all(&filter, &keys), "{filter:?}");
    }
}

fn keys_of_all_kinds_are_found_under_every_scheme<T: BuildStatic>() {
    let mut keys: Vec<Vec<u8>> = (0..20_000_u32).map(|i| i.to_le_bytes().to_vec()).collect();
    keys.extend((0..5000).map(|i| format!("https://www.example.com/shared/{i}").into_bytes()));
    keys.extend((0..=255_u8).map(|byte| vec![byte]));
    keys.push(Vec::new());
    keys.push(vec![7; 1 << 20]);
    for scheme in [HashScheme::Xxh3, HashScheme::Sip13(SipKey::new([7; 16]))] {
        let filter = StaticFilter::<T>::build_with(&keys, 0.001, scheme).unwrap();
        assert_eq!(filter.scheme(), scheme);
        let mut found = vec![false; keys.len()];
        filter.contains_each(&keys, &mut found);
        assert!(found.iter().all(|&found| found));
        assert!(keys.iter().all(|key| filter.contains(key)));
        // The same keys, hashed in advance.
        let hashed: Vec<_> = keys.iter().map(|key| filter.hash(key)).collect();
        assert!(filter == StaticFilter::build_with(&hashed, 0.001, scheme).unwrap());
    }
    let of_bytes = StaticFilter::<T>::build(&keys, 0.001).unwrap();
    assert_eq!(of_bytes.scheme(), HashScheme::Xxh3);
    let of_hashes = StaticFilter::<T>::build(&[KeyHash::from_u64(1)], 0.1).unwrap();
    assert_eq!(of_hashes.scheme(), HashScheme::Caller);
}

fn counters_used_as_hashes_can_be_built<T: BuildStatic>() {
    // Counters are not good hashes, but building must not fail.
    let keys: Vec<_> = (0..1_000_000).map(KeyHash::from_u64).collect();
    assert!(contains_all(
        &StaticFilter::<T>::build(&keys, 0.01).unwrap(),
        &keys
    ));
}

fn order_and_duplicates_do_not_matter<T: BuildStatic>() {
    for count in [1, 2, 50, 1000, 100_000, 800_000] {
        for rate in [0.01, 1e-9] {
            let mut keys: Vec<_> = hashes(2, 0, count).collect();
            let once = StaticFilter::<T>::build(&keys, rate).unwrap();
            keys.reverse();
            assert!(
                StaticFilter::build(&keys, rate).unwrap() == once,
                "{once:?}"
            );
            keys.push(keys[0]);
            assert!(
                StaticFilter::build(&keys, rate).unwrap() == once,
                "{once:?}"
            );
            // Twice the items would have more shards.
            keys.extend(hashes(2, 0, count));
            let twice = StaticFilter::build(&keys, rate).unwrap();
            assert!(twice == once && twice.len() == count, "{once:?}");
        }
    }
}

fn a_million_equal_keys_are_one_key<T: BuildStatic>() {
    let keys = vec!["the same"; 1_000_000];
    let filter = StaticFilter::<T>::build(&keys, 0.01).unwrap();
    assert!(filter == StaticFilter::build(&["the same"], 0.01).unwrap());
    assert!(filter.len() == 1 && filter.contains("the same") && filter.size_bytes() < 100);
}

fn a_filter_without_keys_finds_nothing<T: BuildStatic>() {
    for rate in RATES {
        let filter = StaticFilter::<T>::build(&[] as &[&str], rate).unwrap();
        assert!(filter.is_empty() && filter.estimated_keys() == 0 && filter.size_bytes() == 0);
        assert!(filter.estimated_rate() < f64::MIN_POSITIVE);
        let mut found = [true; 3];
        filter.contains_each(&["", "a", "b"], &mut found);
        assert!(!filter.contains("") && !filter.contains("a") && found == [false; 3]);
    }
}

fn single_and_batch_agree_on_every_answer<T: BuildStatic>() {
    for count in [1, 1000, 100_000, 1_000_000] {
        for rate in RATES {
            let keys: Vec<_> = hashes(3, 0, count).collect();
            let filter = StaticFilter::<T>::build(&keys, rate).unwrap();
            let queried: Vec<_> = hashes(3, count / 2, count / 2 + 3000).collect();
            for len in [0, 1, 11, 12, 31, 32, 33, 64, 65, queried.len()] {
                let queried = &queried[..len];
                let mut found = vec![false; len];
                filter.contains_hashes(queried, &mut found);
                let single: Vec<_> = queried
                    .iter()
                    .map(|&key| filter.contains_hash(key))
                    .collect();
                assert_eq!(found, single, "{filter:?}");
            }
        }
    }
}

/// The share of absent keys that are found, and the estimated share, over filters of seeds 1..=S.
fn measured_rate<T: BuildStatic>(count: u64, rate: f64, seeds: u64, queries: u64) -> (f64, f64) {
    let mut found = vec![false; 1 << 14];
    let (mut wrong, mut estimated) = (0, 0.0);
    for seed in 1..=seeds {
        let keys: Vec<_> = hashes(seed, 0, count).collect();
        let filter = StaticFilter::<T>::build(&keys, rate).unwrap();
        estimated += filter.estimated_rate() / seeds as f64;
        for from in (0..queries).step_by(1 << 14) {
            let to = queries.min(from + (1 << 14));
            let queried: Vec<_> = hashes(seed ^ 0xFFFF_0000, from, to).collect();
            filter.contains_hashes(&queried, &mut found[..queried.len()]);
            wrong += found[..queried.len()]
                .iter()
                .filter(|&&found| found)
                .count();
        }
    }
    (wrong as f64 / (seeds * queries) as f64, estimated)
}

fn the_requested_rate_is_kept<T: BuildStatic>() {
    // Five standard deviations of sampling. Small filters need many seeds: the cells of a few keys differ a lot.
    let max = if soak() { 100_000_000 } else { 4_000_000 };
    for (count, seeds) in [
        (1, 500),
        (10, 500),
        (1000, 10),
        (100_000, 4),
        (1_000_000, 1),
    ] {
        for rate in [0.1, 0.05, 0.01, 1.0 / 256.0, 0.001, 1e-4, 1.0 / 65536.0] {
            let queries = ((1e4 / rate) as u64).min(max) / seeds;
            let (measured, estimated) = measured_rate::<T>(count, rate, seeds, queries);
            let expected = (seeds * queries) as f64 * estimated;
            // A tiny filter's rate depends on its one or two fingerprints.
            let spread = if count <= 10 { 0.3 } else { 0.0 };
            let margin = 5.0 / expected.sqrt() + spread;
            println!(
                "{count} keys: requested {rate:.3e}, estimated {estimated:.3e}, measured {measured:.3e}, margin {margin:.3}"
            );
            assert!(estimated <= rate * 1.000_001);
            assert!(
                (measured / estimated - 1.0).abs() <= margin,
                "{count} keys: requested {rate:e}, estimated {estimated:e}, measured {measured:e}"
            );
        }
    }
    // 32 bits: no false positive is expected.
    assert!(measured_rate::<T>(100_000, 1e-9, 1, max).0 < 1e-6);
}

fn impossible_rates_are_rejected<T: BuildStatic>() {
    let refused = |rate| {
        let from_keys = StaticFilter::<T>::build(&["a"], rate).unwrap_err();
        let from_none = StaticFilter::<T>::build(&[] as &[KeyHash], rate).unwrap_err();
        assert_eq!(from_keys.to_string(), from_none.to_string());
        assert!(
            matches!(
                from_keys,
                PlanError::InvalidNumber {
                    field: "false_positive_rate",
                    ..
                }
            ),
            "{from_keys}"
        );
        from_keys.to_string()
    };
    for rate in [0.0, -0.0, 1.0, 1.5, -0.01, f64::NAN, f64::INFINITY] {
        assert!(refused(rate).contains("above 0 and below 1"));
    }
    for rate in [1e-10, f64::MIN_POSITIVE] {
        assert!(refused(rate).contains("2^-32"));
    }
    // With a million keys, hash collisions add to 2^-32.
    let keys: Vec<_> = hashes(5, 0, 1_000_000).collect();
    let error = StaticFilter::<T>::build(&keys, 1.0 / 4_294_967_296.0).unwrap_err();
    assert!(error.to_string().contains("collision rate"), "{error}");
}

#[test]
fn too_many_keys_are_rejected() {
    for error in [
        FusePlan::new(u64::MAX, 0.01).unwrap_err(),
        RibbonPlan::new(u64::MAX, 0.01).unwrap_err(),
    ] {
        assert!(matches!(
            error,
            PlanError::InvalidInteger { field: "items", .. }
        ));
    }
}

/// The panic message of a programming error.
fn panic_message(mistake: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(mistake).unwrap_err();
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().unwrap().to_string(),
    }
}

fn results_must_match_the_number_of_keys<T: BuildStatic>() {
    let of_keys = panic_message(|| {
        let filter = StaticFilter::<T>::build(&["a"], 0.1).unwrap();
        filter.contains_each(&["a", "b"], &mut [false]);
    });
    assert!(of_keys.contains("one place in `found` for every key"));
    let of_hashes = panic_message(|| {
        let filter = StaticFilter::<T>::build(&[KeyHash::from_u64(1)], 0.1).unwrap();
        filter.contains_hashes(&[KeyHash::from_u64(1)], &mut []);
    });
    assert!(of_hashes.contains("one place in `found` for every hash"));
}

fn key_bytes_need_a_scheme_with_a_hash_function<T: BuildStatic>() {
    let message = panic_message(|| {
        _ = StaticFilter::<T>::build_with(&["a"], 0.1, HashScheme::Caller);
    });
    assert!(message.contains("has no hash function"), "{message}");
}

fn debug_builds_detect_a_hash_of_another_scheme<T: BuildStatic>() {
    if cfg!(debug_assertions) {
        let message = panic_message(|| {
            let filter = StaticFilter::<T>::build(&["a"], 0.1).unwrap();
            filter.contains_hash(KeyHash::from_u64(1));
        });
        assert!(
            message.contains("another hash scheme or secret key"),
            "{message}"
        );
    }
}

fn debug_output_is_readable<T: BuildStatic>() {
    let keyed = HashScheme::Sip13(SipKey::new([9; 16]));
    let filter = StaticFilter::<T>::build_with(&["a", "b"], 0.01, keyed).unwrap();
    let text = format!("{filter:?}");
    assert!(text.starts_with(T::NAME), "{text}");
    assert!(text.contains("2 keys at 0.01: "), "{text}");
    assert!(
        text.contains("SipKey(..)"),
        "the secret stays out of it: {text}"
    );
}

#[test]
fn static_filters_are_send_and_sync() {
    fn sendable<T: Send + Sync>() {}
    sendable::<Fuse>();
    sendable::<FusePlan>();
    sendable::<Ribbon>();
    sendable::<RibbonPlan>();
}

/// How many of a million absent keys are found: depends on the whole filter, so it changes with any bit.
fn strangers_found<T: BuildStatic>(count: u64, rate: f64) -> usize {
    let keys: Vec<_> = hashes(6, 0, count).collect();
    let filter = StaticFilter::<T>::build(&keys, rate).unwrap();
    hashes(7, 0, 1_000_000)
        .filter(|&key| filter.contains_hash(key))
        .count()
}

#[test]
fn the_bits_are_the_same_with_any_number_of_threads() {
    // Known answers: the same with and without the feature `parallel`.
    // Cells of 8 bits are those of the first release.
    let fuse = [
        (1000, 1.0 / 256.0, 3963),
        (700_000, 1.0 / 256.0, 3962),
        (1000, 0.01, 7889),
        (1_500_000, 0.01, 7713),
        (6_000_000, 0.01, 7838),
    ];
    let found =
        fuse.map(|(count, rate, _)| (count, rate, strangers_found::<FuseCells>(count, rate)));
    assert_eq!(found, fuse);
    for (count, ribbon) in [(1000, 9586), (700_000, 10_090), (1_500_000, 10_091)] {
        assert_eq!(
            strangers_found::<RibbonColumns>(count, 0.01),
            ribbon,
            "{count}"
        );
    }
}

#[test]
fn a_fuse_takes_nine_bits_per_key() {
    let count = if soak() { 10_000_000 } else { 4_000_000 };
    let keys: Vec<_> = hashes(4, 0, count).collect();
    let filter = Fuse::build(&keys, 1.0 / 256.0).unwrap();
    let bits = 8.0 * filter.size_bytes() as f64 / count as f64;
    println!("{filter:?}: {bits:.3} bits/key");
    assert!(bits < 9.2);
    let planned = filter.plan().size_bytes() as f64;
    assert!((filter.size_bytes() as f64 / planned - 1.0).abs() < 0.02);
}

#[test]
fn the_size_of_a_fuse_follows_its_rate() {
    for (count, max) in [(100_000, 1.18), (1_000_000, 1.131)] {
        let keys: Vec<_> = hashes(4, 0, count).collect();
        for bits in [4, 5, 7, 8, 9, 13, 16, 20] {
            let filter = Fuse::build(&keys, 0.5_f64.powi(bits)).unwrap();
            let per_key = 8.0 * filter.size_bytes() as f64 / count as f64;
            println!("{filter:?}: {per_key:.3} bits/key");
            assert_eq!(i32::from(filter.plan().cell_bits()), bits);
            assert!(per_key <= max * f64::from(bits), "{filter:?}: {per_key}");
            assert_eq!(filter.size_bytes(), filter.plan().size_bytes());
        }
    }
}

/// Copies of all bytes give equal filters, in memory of their own and borrowed at any address.
#[test]
fn cells_of_every_width_can_be_stored_and_borrowed() {
    for count in [0, 1, 1000] {
        let keys: Vec<_> = hashes(8, 0, count).collect();
        let strangers: Vec<_> = hashes(9, 0, 5000).collect();
        for bits in 4..=32 {
            let filter = Fuse::build(&keys, 0.5_f64.powi(bits)).unwrap();
            let (plan, layout, scheme) = (*filter.plan(), filter.layout(), filter.scheme());
            let bytes = filter.bytes();
            assert_eq!(bytes.len() as u64, filter.size_bytes());
            let copy = Fuse::from_bytes(plan, layout, scheme, &bytes).unwrap();
            assert!(copy == filter, "{filter:?}");
            // The last byte of memory is the last that a view may read, which miri or a sanitizer would notice.
            let mut memory = vec![0; bytes.len() + 4];
            for before in 0..4 {
                memory[before..before + bytes.len()].copy_from_slice(&bytes);
                let borrowed = &memory[before..before + bytes.len()];
                let Ok(view) = FuseView::borrowed(plan, layout, scheme, borrowed) else {
                    assert!(bits == 16 || bits == 32, "{filter:?}");
                    continue;
                };
                assert!(keys.iter().all(|&key| view.contains_hash(key)));
                let mut found = vec![false; strangers.len()];
                view.contains_hashes(&strangers, &mut found);
                for (&key, found) in strangers.iter().zip(found) {
                    assert_eq!(view.contains_hash(key), filter.contains_hash(key));
                    assert_eq!(found, filter.contains_hash(key));
                    let offsets: Vec<_> = view.offsets(key).collect();
                    assert!(offsets.iter().all(|&at| at < bytes.len() as u64));
                    assert_eq!(offsets.len(), if count == 0 { 0 } else { 6 });
                }
            }
        }
    }
}

#[test]
fn impossible_widths_and_lengths_are_rejected() {
    for bits in [0, 1, 2, 3, 33, 64, 255] {
        let error = FusePlan::from_shape(1000, 0.01, bits, 1).unwrap_err();
        assert!(error.to_string().contains("4 to 32"), "{error}");
    }
    let keys: Vec<_> = hashes(8, 0, 1000).collect();
    for bits in 4..=32 {
        let filter = Fuse::build(&keys, 0.5_f64.powi(bits)).unwrap();
        let (plan, layout, scheme) = (*filter.plan(), filter.layout(), filter.scheme());
        let bytes = filter.bytes().into_owned();
        let is_rejected = |bytes: &[u8]| {
            Fuse::from_bytes(plan, layout, scheme, bytes).is_err()
                && FuseView::borrowed(plan, layout, scheme, bytes).is_err()
        };
        assert!(is_rejected(&[]) && is_rejected(&bytes[1..]));
        assert!(is_rejected(&[bytes.as_slice(), &[0]].concat()));
        // Bits that belong to no cell.
        if ![8, 16, 32].contains(&bits) {
            let mut forged = bytes.clone();
            *forged.last_mut().unwrap() = 0x80;
            assert!(is_rejected(&forged), "{filter:?}");
        }
        // The cells of another width.
        for other in (4..=32).filter(|&other| other != bits) {
            let plan = FusePlan::from_shape(1000, 0.01, other as u8, 1).unwrap();
            assert!(Fuse::from_bytes(plan, layout, scheme, &bytes).is_err());
        }
        // More cells than any memory.
        let layout = FuseLayout {
            starts: 1 << 40,
            ..layout
        };
        let plan = FusePlan::from_shape(1000, 0.01, bits as u8, 1 << 40).unwrap();
        assert!(Fuse::from_bytes(plan, layout, scheme, &bytes).is_err());
    }
}

#[test]
fn a_ribbon_is_within_two_percent_of_the_limit_at_any_rate() {
    let mut sizes = vec![
        (1000, 1.08),
        (10_000, 1.025),
        (100_000, 1.02),
        (1_000_000, 1.02),
    ];
    if soak() {
        sizes.extend([(10_000_000, 1.02), (100_000_000, 1.02)]);
    }
    for (count, max) in sizes {
        let keys: Vec<_> = hashes(4, 0, count).collect();
        // Between powers of two, as at 3.4e-4, mixing costs most.
        for rate in [0.01, 1.0 / 256.0, 0.001, 3.4e-4, 1e-4, 1e-6, 1e-9] {
            let filter = Ribbon::build(&keys, rate).unwrap();
            let bits = 8.0 * filter.size_bytes() as f64 / count as f64;
            let over = bits / -rate.log2();
            println!("{filter:?}: {bits:.3} bits/key, {over:.4} of the limit");
            assert!(over <= max, "{filter:?}: {over}");
            let planned = filter.plan().size_bytes() as f64;
            assert!((filter.size_bytes() as f64 / planned - 1.0).abs() < 0.04);
        }
    }
}
