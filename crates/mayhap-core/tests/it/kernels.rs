//! Every kernel of this CPU runs, is reported, and agrees with Portable on every answer and every bit.

use crate::hashes;
use mayhap_core::plan::{
    BloomPlan, CuckooPlan, GrowingCuckooPlan, GrowingPlan, LinesPerKey, WindowCuckooPlan,
};
use mayhap_core::{
    Bloom, Cuckoo, GrowingBloom, GrowingCuckoo, HashScheme, Kernel, KeyHash, Ribbon, Timestamp,
    WindowCuckoo,
};
use std::time::Duration;

/// What the operating system reports about the CPU, independently of `Kernel`.
fn kernels_of_this_cpu() -> Vec<&'static str> {
    // Under user-mode emulation, /proc/cpuinfo describes the host.
    match std::env::consts::ARCH {
        "x86_64" => {}
        // Every CPU that runs Linux for aarch64 has NEON.
        "aarch64" => return vec!["portable", "neon"],
        _ => return vec!["portable"],
    }
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags: Vec<&str> = info
        .lines()
        .find(|line| line.starts_with("flags"))
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let has = |flag| flags.contains(&flag);
    let mut kernels = vec!["portable"];
    if has("avx2") {
        kernels.push("avx2");
    }
    if has("avx512f") && has("avx512bw") {
        kernels.push("avx512");
    }
    kernels
}

#[test]
fn every_kernel_of_this_cpu_runs_and_gives_equal_answers_and_equal_bytes() {
    let mut ran = Vec::new();
    for kernel in Kernel::available() {
        for rate in [0.3, 0.1, 0.05, 0.02, 0.01, 0.0039, 0.001, 1e-4, 1e-6] {
            for lines in [LinesPerKey::One, LinesPerKey::Two] {
                // Small enough to stay in cache, and large enough for the prefetching loop.
                for capacity in [700, 600_000] {
                    agrees_with_portable(
                        kernel,
                        BloomPlan::with_lines_per_key(capacity, rate, lines).unwrap(),
                    );
                }
            }
        }
        println!("kernel {kernel}: ran");
        ran.push(kernel.to_string());
    }
    if cfg!(target_os = "linux") {
        assert_eq!(
            ran,
            kernels_of_this_cpu(),
            "a kernel that the CPU has and that did not run"
        );
    }
}

fn agrees_with_portable(kernel: Kernel, plan: BloomPlan) {
    let few = plan.capacity().min(20_000);
    let keys: Vec<_> = hashes(11, 0, few).collect();
    let queried: Vec<_> = hashes(11, few / 2, 2 * few).collect();
    let empty = Bloom::from_plan(plan, HashScheme::Caller).unwrap();
    let mut portable = empty.clone().with_kernel(Kernel::Portable);
    let mut other = empty.with_kernel(kernel);
    assert_eq!(other.kernel(), kernel);
    let (singly, batched) = keys.split_at(keys.len() / 2);
    for &hash in singly {
        assert_eq!(
            portable.insert_hash(hash),
            other.insert_hash(hash),
            "{kernel}, {plan}"
        );
    }
    portable.insert_hashes(batched);
    other.insert_hashes(batched);
    assert_eq!(portable, other, "{kernel}, {plan}: the stores differ");
    let mut expected = vec![false; queried.len()];
    let mut found = vec![false; queried.len()];
    portable.contains_hashes(&queried, &mut expected);
    other.contains_hashes(&queried, &mut found);
    assert_eq!(expected, found, "{kernel}, {plan}: batch");
    for (&hash, &expected) in queried.iter().zip(&expected) {
        assert_eq!(
            other.contains_hash(hash),
            expected,
            "{kernel}, {plan}: single"
        );
    }
}

#[test]
fn chains_of_layers_give_equal_answers_with_every_kernel_single_and_batched() {
    // In cache; partly out of cache; and more layers than a batch looks up together.
    for (first, keys, rate) in [
        (10, 3_000, 0.01),
        (150_000, 470_000, 0.01),
        (500, 20_000, 1e-5),
        (1, 30_000, 0.3),
    ] {
        let mut portable = GrowingBloom::for_hashes(first, rate)
            .unwrap()
            .with_kernel(Kernel::Portable);
        portable.insert_hashes(&hashes(12, 0, keys).collect::<Vec<_>>());
        portable = portable.with_kernel(Kernel::Portable);
        let queried: Vec<_> = hashes(12, keys - 5_000.min(keys), keys + 20_000).collect();
        let expected: Vec<_> = queried
            .iter()
            .map(|&hash| portable.contains_hash(hash))
            .collect();
        assert!(
            expected[..5_000.min(keys as usize)]
                .iter()
                .all(|&found| found)
        );
        for kernel in Kernel::available() {
            let other = portable.clone().with_kernel(kernel);
            let mut found = vec![true; queried.len()];
            other.contains_hashes(&queried, &mut found);
            assert_eq!(expected, found, "{kernel}, {other:?}: batch");
            for (&hash, &expected) in queried.iter().zip(&expected) {
                assert_eq!(other.contains_hash(hash), expected, "{kernel}, {other:?}");
            }
        }
    }
}

#[test]
fn cuckoo_batches_give_the_answers_of_single_lookups_with_every_kernel() {
    // Fingerprints of 4 to 26 bits, so cells of nearly all widths; the smallest tables, in which windows wrap around; and one that
    // is prefetched.
    for fingerprint_bits in [4, 5, 7, 8, 10, 11, 13, 16, 19, 22, 25, 26] {
        for (cells, keys) in [(3, 2), (4, 3), (9, 6), (1_000, 900), (600_000, 20_000)] {
            let plan = CuckooPlan::from_shape(keys, 0.1, cells, fingerprint_bits).unwrap();
            let mut filter = Cuckoo::from_plan(plan, HashScheme::Caller).unwrap();
            for hash in hashes(13, 0, keys) {
                // The tiny ones may be full.
                let _ = filter.try_insert_hash(hash);
            }
            let queried: Vec<_> = hashes(13, keys / 2, keys / 2 + 2_003).collect();
            cuckoo_agrees(&filter, &queried);
        }
    }
}

#[test]
fn cuckoo_batches_of_every_length_are_answered_to_the_end() {
    // Shorter than a round, than the prefetched ones, and with every remainder; in cache and not.
    for cells in [200, 600_000] {
        let plan = CuckooPlan::from_shape(150, 0.1, cells, 10).unwrap();
        let mut filter = Cuckoo::from_plan(plan, HashScheme::Caller).unwrap();
        let keys: Vec<_> = hashes(14, 0, 150).collect();
        filter.try_insert_hashes(&keys).unwrap();
        for length in 0..keys.len() {
            let mut found = vec![false; length];
            filter.contains_hashes(&keys[..length], &mut found);
            assert!(found.iter().all(|&found| found), "{length} keys");
            cuckoo_agrees(&filter, &hashes(15, 0, length as u64).collect::<Vec<_>>());
        }
    }
}

#[test]
fn cuckoo_chains_give_equal_answers_with_every_kernel() {
    for (first, keys, rate) in [
        (10, 3_000, 0.01),
        (150_000, 470_000, 0.05),
        (1, 20_000, 0.3),
    ] {
        let mut filter =
            Cuckoo::growing_from_plan(GrowingPlan::new(first, rate).unwrap(), HashScheme::Caller)
                .unwrap();
        filter
            .try_insert_hashes(&hashes(16, 0, keys).collect::<Vec<_>>())
            .unwrap();
        let queried: Vec<_> = hashes(16, keys - 2_000, keys + 2_001).collect();
        cuckoo_agrees(&filter, &queried);
    }
}

#[test]
fn growing_cuckoo_batches_and_single_lookups_agree_with_every_kernel() {
    // Slices of 16 to 54 bits, one group and several, several tables, and every state of a sweep.
    for (plan, sizes) in [
        (GrowingCuckooPlan::with_maximum(100, 0.01), 1..12),
        (GrowingCuckooPlan::with_maximum(1_000_000, 0.01), 1..40),
        (GrowingCuckooPlan::with_maximum(1_000_000_000, 1e-6), 1..12),
        (GrowingCuckooPlan::new(1, 0.3), 90..95),
    ] {
        let mut filter = GrowingCuckoo::from_plan(plan.unwrap(), HashScheme::Caller).unwrap();
        let mut keys = 0;
        for size in sizes {
            let more: Vec<_> = hashes(17, keys, size * 5_003).collect();
            filter.try_insert_hashes(&more).unwrap();
            keys = size * 5_003;
            let queried: Vec<_> = hashes(17, keys - 2_000, keys + 2_003).collect();
            let expected: Vec<_> = queried
                .iter()
                .map(|&hash| filter.contains_hash(hash))
                .collect();
            assert!(expected[..2_000].iter().all(|&found| found));
            for kernel in Kernel::available() {
                let filter = filter.clone().with_kernel(kernel);
                let single = queried.iter().map(|&hash| filter.contains_hash(hash));
                assert!(single.eq(expected.iter().copied()), "{kernel}, {filter:?}");
                for length in [0, 1, 7, 31, 33, queried.len()] {
                    let mut found = vec![false; length];
                    filter.contains_hashes(&queried[..length], &mut found);
                    assert_eq!(found, expected[..length], "{kernel}, {filter:?}");
                }
            }
        }
    }
}

#[test]
fn ribbon_batches_give_the_answers_of_single_lookups() {
    // One group of columns and several, with and without an extra column; and one filter that is prefetched. A batch has other
    // code than a single lookup, for every kernel.
    for (keys, rate) in [
        (2_000, 0.5),
        (2_000, 0.3),
        (2_000, 0.01),
        (2_000, 0.0039),
        (2_000, 0.003),
        (2_000, 2e-5),
        (2_000, 1e-8),
        (250_000, 1e-7),
    ] {
        let present: Vec<_> = hashes(17, 0, keys).collect();
        let filter = Ribbon::build(&present, rate).unwrap();
        let queried: Vec<_> = hashes(17, keys - 1_000, keys + 10_001).collect();
        let mut found = vec![false; queried.len()];
        filter.contains_hashes(&queried, &mut found);
        for (at, (&hash, &found)) in queried.iter().zip(&found).enumerate() {
            assert_eq!(filter.contains_hash(hash), found, "{at}, {filter:?}");
            assert!(found || at >= 1_000, "{filter:?} lost a key");
        }
    }
}

/// Checks that batches with every kernel give the answers of single lookups.
fn cuckoo_agrees(filter: &Cuckoo, queried: &[KeyHash]) {
    let expected: Vec<_> = queried
        .iter()
        .map(|&hash| filter.contains_hash(hash))
        .collect();
    for kernel in Kernel::available() {
        let other = filter.clone().with_kernel(kernel);
        assert_eq!(other.kernel(), kernel);
        // Every answer is written, whatever was there before.
        for before in [false, true] {
            let mut found = vec![before; queried.len()];
            other.contains_hashes(queried, &mut found);
            assert_eq!(expected, found, "{kernel}, {other:?}");
        }
    }
}

#[test]
fn a_kernel_that_the_cpu_lacks_is_not_used() {
    for kernel in [Kernel::Portable, Kernel::Neon, Kernel::Avx2, Kernel::Avx512] {
        let filter = Bloom::new(10, 0.01).unwrap().with_kernel(kernel);
        assert_eq!(filter.kernel() == kernel, kernel.is_available());
    }
}

/// Callers that are compiled for AVX2 in a program that is not: single lookups are inlined into them, and must preserve their
/// vector registers, including the upper halves.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "a function of another instruction set")]
mod in_a_caller_with_avx2 {
    use mayhap_core::{Bloom, KeyHash, Ribbon, SharedBloom};
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi64, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_xor_si256,
    };

    type Vector = [u64; 4];
    /// As many as fit the registers besides those of a lookup.
    const VECTORS: usize = 6;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(vector: &Vector) -> __m256i {
        // SAFETY: there are four words to read.
        unsafe { _mm256_loadu_si256(std::ptr::from_ref(vector).cast()) }
    }

    /// The next of six vectors, each computed from itself and its neighbour.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn step(vector: __m256i, next: __m256i) -> __m256i {
        _mm256_add_epi64(_mm256_xor_si256(vector, next), vector)
    }

    /// Computes with vectors while it queries or fills a filter, key by key. Each has a name: an array would be in memory, not in
    /// registers. (A macro, because a closure would not be inlined.)
    macro_rules! with_vectors {
        ($name:ident, $filter:ty, |$f:ident, $hash:ident| $ask:expr) => {
            #[inline(never)]
            #[target_feature(enable = "avx2")]
            fn $name($f: &mut $filter, hashes: &[KeyHash], vectors: &mut [Vector; VECTORS]) -> u64 {
                let [a, b, c, d, e, f] = &*vectors;
                let (mut a, mut b, mut c) = (load(a), load(b), load(c));
                let (mut d, mut e, mut f) = (load(d), load(e), load(f));
                let mut found = 0;
                for &$hash in hashes {
                    a = step(a, b);
                    b = step(b, c);
                    c = step(c, d);
                    d = step(d, e);
                    e = step(e, f);
                    f = step(f, a);
                    found += u64::from($ask);
                }
                for (vector, stored) in vectors.iter_mut().zip([a, b, c, d, e, f]) {
                    // SAFETY: there is room to write four words.
                    unsafe { _mm256_storeu_si256(std::ptr::from_mut(vector).cast(), stored) };
                }
                found
            }
        };
    }

    with_vectors!(contains, Bloom, |filter, hash| filter.contains_hash(hash));
    with_vectors!(insert, Bloom, |filter, hash| filter.insert_hash(hash));
    with_vectors!(contains_shared, SharedBloom, |filter, hash| filter
        .contains_hash(hash));
    with_vectors!(insert_shared, SharedBloom, |filter, hash| filter
        .insert_hash(hash));
    with_vectors!(contains_ribbon, Ribbon, |filter, hash| filter
        .contains_hash(hash));

    /// The same with plain words.
    fn worked_on(mut vectors: [Vector; VECTORS], rounds: usize) -> [Vector; VECTORS] {
        for _ in 0..rounds {
            for at in 0..VECTORS {
                let next = vectors[(at + 1) % VECTORS];
                for (word, next) in vectors[at].iter_mut().zip(next) {
                    *word = (*word ^ next).wrapping_add(*word);
                }
            }
        }
        vectors
    }

    #[test]
    fn vector_registers_of_the_caller_are_preserved() {
        if !std::is_x86_feature_detected!("avx2") {
            return;
        }
        let hashes: Vec<KeyHash> = crate::hashes(5, 0, 100).collect();
        let vectors: [Vector; VECTORS] =
            std::array::from_fn(|at| std::array::from_fn(|word| (4 * at + word) as u64 + 1));
        let expected = worked_on(vectors, hashes.len());
        for rate in [0.01, 1e-5] {
            let check = |name: &str, run: &mut dyn FnMut(&mut [Vector; VECTORS]) -> u64| {
                let mut stored = vectors;
                let found = run(&mut stored);
                assert!(found > 90, "{name}");
                assert_eq!(stored, expected, "{name} at {rate}");
            };
            let mut filter = Bloom::for_hashes(100, rate).unwrap();
            let mut shared = SharedBloom::for_hashes(100, rate).unwrap();
            let mut ribbon = Ribbon::build(&hashes, rate).unwrap();
            // SAFETY: the CPU has AVX2.
            unsafe {
                check("insert", &mut |stored| insert(&mut filter, &hashes, stored));
                check("contains", &mut |stored| {
                    contains(&mut filter, &hashes, stored)
                });
                check("insert_shared", &mut |stored| {
                    insert_shared(&mut shared, &hashes, stored)
                });
                check("contains_shared", &mut |stored| {
                    contains_shared(&mut shared, &hashes, stored)
                });
                check("contains_ribbon", &mut |stored| {
                    contains_ribbon(&mut ribbon, &hashes, stored)
                });
            }
        }
    }
}

#[test]
fn window_cuckoo_batches_of_every_kernel_agree_with_single_lookups_at_any_time() {
    // The second is large enough for the prefetching loop; the last has wide cells.
    for (planned, rate, count) in [(100, 0.3, 90), (600_000, 0.01, 600_000), (50, 1e-9, 400)] {
        let window = Duration::from_secs(8);
        let plan = WindowCuckooPlan::with_epochs(planned, rate, window, 8).unwrap();
        let mut filled = WindowCuckoo::from_plan(plan, HashScheme::Caller, Timestamp(0)).unwrap();
        for (at, key) in (0..).zip(hashes(63, 0, count)) {
            let now = Timestamp(at * 16_000 / count);
            filled.try_insert_hash(key, now).unwrap();
        }
        for kernel in Kernel::available() {
            let filter = filled.clone().with_kernel(kernel);
            assert_eq!(filter.kernel(), kernel);
            for later in [0, 999, 1_000, 4_321, 8_500, 20_000] {
                let now = Timestamp(filter.newest().0 + later);
                for length in [1, 3, 4, 7, 8, 31, 64, 2_000] {
                    let keys: Vec<_> = hashes(63, count.saturating_sub(1_000), count + 1_000)
                        .take(length)
                        .collect();
                    let mut found = vec![false; keys.len()];
                    filter.contains_hashes(&keys, now, &mut found);
                    for (&key, &found) in keys.iter().zip(&found) {
                        assert_eq!(filter.contains_hash(key, now), found, "{kernel}");
                    }
                }
            }
        }
    }
}
