//! `Excepting`: exact on both lists, small, and with a choice for conflicts between them.

use crate::{hashes, mixed, soak};
use mayhap_core::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, Cuckoo, Excepting, ExceptingBase,
    ExceptingError, Fuse, GrowingBloom, HashScheme, Hashed, KeyHash, OnConflict, Operation,
    OperationError, PlanError, Ribbon, SipKey, Timestamp, WindowBloom,
};
use proptest::prelude::*;
use std::collections::HashSet;
use std::fmt::Debug;
use std::time::Duration;

fn bloom(keys: &[KeyHash], rate: f64) -> Bloom {
    let mut filter = Bloom::for_hashes(keys.len().max(1), rate).unwrap();
    filter.insert_hashes(keys);
    filter
}

fn list(seed: u64, from: u64, to: u64) -> Vec<KeyHash> {
    hashes(seed, from, to).collect()
}

fn urls(host: &str, count: u64) -> Vec<String> {
    (0..count)
        .map(|i| format!("https://{host}.example/{i}"))
        .collect()
}

/// Looks up all keys of both lists, in batches and, for some, one by one.
fn assert_exact<F: ExceptingBase>(
    filter: &Excepting<F>,
    positives: &[KeyHash],
    exceptions: &[KeyHash],
) {
    for (list, expected) in [(positives, true), (exceptions, false)] {
        let mut found = vec![!expected; list.len()];
        filter.contains_hashes(list, &mut found);
        let wrong = found.iter().filter(|&&found| found != expected).count();
        assert_eq!(wrong, 0, "of {} that are {expected}", list.len());
        for &hash in list.iter().step_by(list.len() / 1000 + 1) {
            assert_eq!(filter.contains_hash(hash), expected);
        }
    }
}

#[test]
fn both_lists_are_exact_and_the_layer_has_the_computed_size() {
    // Bits per positive at 1 %, by the length of the list. The longest list has fewer keys at the same ratio.
    for (positives, exceptions, seeds, table) in [
        (1_000_000, 10_000, 5, 0.0016),
        (1_000_000, 100_000, 3, 0.012),
        (1_000_000, 1_000_000, 1, 0.087),
        (1_000_000, 10_000_000, 1, 0.54),
        (if soak() { 300_000 } else { 50_000 }, 0, 1, 2.04),
    ] {
        let exceptions = if exceptions == 0 {
            100 * positives
        } else {
            exceptions
        };
        let (mut bits, mut corrected, mut planned) = (0.0, 0, 0.0);
        for seed in 1..=seeds {
            let keys = list(seed, 0, positives);
            let others = list(seed + 1000, 0, exceptions);
            let base = bloom(&keys, 0.01);
            let accepted = others
                .iter()
                .filter(|&&hash| base.contains_hash(hash))
                .count();
            let filter = Excepting::build(base, &keys, &others).unwrap();
            assert_exact(&filter, &keys, &others);
            assert_eq!(filter.corrected(), accepted as u64);
            assert_eq!(filter.exceptions(), exceptions);
            assert_eq!(
                filter.size_bytes(),
                filter.base().size_bytes() + filter.exception_bytes()
            );
            bits += 8.0 * filter.exception_bytes() as f64 / (seeds * positives) as f64;
            planned += 8.0 * filter.plan().size_bytes() as f64 / (seeds * positives) as f64;
            corrected += filter.corrected();
        }
        println!(
            "{exceptions} exceptions to {positives} keys: {bits:.5} bits a key ({:.3} of the table, {:.4} of the plan) for {} \
             that are accepted",
            bits / table,
            bits / planned,
            corrected / seeds
        );
        assert!(bits <= 1.2 * table, "{bits} bits, {table} in the table");
        assert!(
            (bits / planned - 1.0).abs() < 0.03,
            "{bits}, planned {planned}"
        );
    }
}

fn exact_on_every_type<F: ExceptingBase + Clone + Debug + PartialEq>(
    base: F,
    positives: &[String],
) {
    let strings = urls("good", 5000);
    let strs: Vec<&str> = strings.iter().map(String::as_str).collect();
    let bytes: Vec<Vec<u8>> = strings.iter().map(|key| key.clone().into_bytes()).collect();
    let filter = Excepting::build(base.clone(), positives, &strings).unwrap();
    assert!(filter == Excepting::build(base.clone(), positives, &strs).unwrap());
    assert!(filter == Excepting::build(base.clone(), positives, bytes.as_slice()).unwrap());
    let hashed: Vec<KeyHash> = strings.iter().map(|key| filter.hash(key)).collect();
    assert!(filter == Excepting::build(base.clone(), positives, &hashed).unwrap());
    let mut found = vec![true; strings.len()];
    filter.contains_each(&strings, &mut found);
    assert!(!found.contains(&true) && !strings.iter().any(|key| filter.contains(key)));
    let mut found = vec![false; positives.len()];
    filter.contains_each(positives, &mut found);
    assert!(!found.contains(&false) && positives.iter().all(|key| filter.contains(key)));
    // Twice as many, in another order: the same filter except for the length of the list.
    let mut repeated = strings.clone();
    repeated.extend(strings.iter().rev().cloned());
    let twice = Excepting::build(base, positives, &repeated).unwrap();
    assert_eq!(twice.exceptions(), 2 * filter.exceptions());
    assert_eq!(twice.corrected(), filter.corrected());
    assert_eq!(twice.exception_bytes(), filter.exception_bytes());
    assert!(filter.corrected() > 50 && filter.keys_inserted() == 0 && filter.overrides() == 0);
    let stats = (
        filter.capacity(),
        filter.estimated_keys(),
        filter.is_over_capacity(),
    );
    assert!(
        stats.0 >= 2000 && stats.1.abs_diff(2000) < 100 && !stats.2,
        "{filter:?} {stats:?}"
    );
    assert!(
        format!("{filter:?}").contains("5000 exceptions"),
        "{filter:?}"
    );
    // Other absent keys have the base's rate or a better one, and the estimated one.
    let absent = urls("other", 200_000);
    let wrong = absent.iter().filter(|key| filter.contains(key)).count();
    let rate = wrong as f64 / absent.len() as f64;
    assert!(
        (rate / filter.estimated_rate() - 1.0).abs() < 0.2,
        "{rate} {filter:?}"
    );
    assert!(filter.estimated_rate() <= filter.false_positive_rate() * 1.1);
}

#[test]
fn every_kind_of_base_and_every_type_of_key_is_exact() {
    let keys = urls("bad", 2000);
    let secret = SipKey::new([5; 16]);
    let rate = 0.03;
    exact_on_every_type(Bloom::from_keys(&keys, rate).unwrap(), &keys);
    exact_on_every_type(ClassicBloom::from_keys(&keys, rate).unwrap(), &keys);
    exact_on_every_type(CountingBloom::from_keys(&keys, rate).unwrap(), &keys);
    let mut keyed = Bloom::keyed(2000, rate, secret).unwrap();
    keyed.extend(&keys);
    exact_on_every_type(keyed, &keys);
    let mut growing = GrowingBloom::new(500, rate).unwrap();
    growing.extend(&keys);
    exact_on_every_type(growing, &keys);
    let mut cuckoo = Cuckoo::keyed(2000, rate, secret).unwrap();
    for key in &keys {
        cuckoo.try_insert(key).unwrap();
    }
    exact_on_every_type(cuckoo.clone(), &keys);
    exact_on_every_type(AnyFilter::from(cuckoo), &keys);
    let scheme = HashScheme::Sip13(secret);
    exact_on_every_type(Ribbon::build_with(&keys, rate, scheme).unwrap(), &keys);
    let ribbon = Ribbon::build(&keys, rate).unwrap();
    exact_on_every_type(AnyFilter::from(ribbon), &keys);
}

#[test]
fn a_fuse_can_be_a_base() {
    let keys = list(1, 0, 20_000);
    let others = list(2, 0, 100_000);
    let fuse = Fuse::build(&keys, 0.01).unwrap();
    let filter = Excepting::build(fuse.clone(), &keys, &others).unwrap();
    assert!(filter.corrected() > 300 && filter.keys_until_full() == 0);
    assert_exact(&filter, &keys, &others);
    let any = Excepting::build(AnyFilter::from(fuse), &keys, &others).unwrap();
    assert_eq!(any.exception_bytes(), filter.exception_bytes());
    assert_eq!(
        (any.size_bytes(), any.capacity()),
        (filter.size_bytes(), 20_000)
    );
    let mut any = any;
    let refused = any.try_insert_hash(others[0]).unwrap_err();
    assert!(matches!(
        refused,
        OperationError::Unsupported {
            operation: Operation::Insert,
            ..
        }
    ));
    assert!(any.overrides() == 0 && !any.contains_hash(others[0]));
}

#[test]
fn short_lists_of_every_length_are_exact() {
    let keys = list(1, 0, 5000);
    let base = bloom(&keys, 0.05);
    let accepted: Vec<_> = hashes(2, 0, 10_000)
        .filter(|&hash| base.contains_hash(hash))
        .take(200)
        .collect();
    let mut last = 0;
    for length in (0..20).chain([63, 64, 65, 100, 200]) {
        let others = &accepted[..length];
        let filter = Excepting::build(base.clone(), &keys, others).unwrap();
        assert_exact(&filter, &keys, others);
        assert_eq!(filter.corrected(), length as u64);
        let bytes = filter.exception_bytes();
        assert!(
            bytes <= 8 * length as u64,
            "{length}: {bytes} bytes, more than a list"
        );
        assert!(
            bytes <= 16 + 2 * length as u64 || length < 4,
            "{length}: {bytes}"
        );
        assert!(
            bytes + 2 >= last,
            "{length}: {bytes} bytes, {last} for fewer"
        );
        last = bytes;
    }
}

#[test]
fn empty_lists_leave_the_base_as_it_is() {
    let keys = urls("bad", 100);
    let base = Bloom::from_keys(&keys, 0.01).unwrap();
    let none: &[&str] = &[];
    let filter = Excepting::build(base.clone(), &keys, none).unwrap();
    assert_eq!(
        (
            filter.exceptions(),
            filter.corrected(),
            filter.exception_bytes()
        ),
        (0, 0, 0)
    );
    let exceptions = urls("other", 10_000);
    assert!(
        exceptions
            .iter()
            .all(|key| filter.contains(key) == base.contains(key))
    );
    // No positives are given: the base's keys are not known, and may look like exceptions.
    let filter = Excepting::build(base, none, &exceptions).unwrap();
    assert!(!exceptions.iter().any(|key| filter.contains(key)));
    let filter = Excepting::build(Bloom::new(1, 0.01).unwrap(), none, none).unwrap();
    assert!(!filter.contains("") && filter.corrected() == 0);
}

#[test]
fn exceptions_that_the_base_rejects_anyway_cost_nothing() {
    let keys = list(1, 0, 1000);
    let base = bloom(&keys, 0.01);
    let rejected: Vec<_> = hashes(2, 0, 10_000)
        .filter(|&hash| !base.contains_hash(hash))
        .collect();
    let filter = Excepting::build(base, &keys, &rejected).unwrap();
    assert_eq!((filter.corrected(), filter.exception_bytes()), (0, 0));
    assert_exact(&filter, &keys, &rejected);
}

#[test]
fn all_false_positives_of_a_large_universe_can_be_exceptions() {
    let keys = list(1, 0, 1000);
    let base = bloom(&keys, 0.3);
    let universe: Vec<_> = hashes(2, 0, 300_000)
        .filter(|&hash| base.contains_hash(hash))
        .collect();
    assert!(universe.len() > 50_000);
    let filter = Excepting::build(base, &keys, &universe).unwrap();
    assert_exact(&filter, &keys, &universe);
    // 90 exceptions per positive: fewer than eight bits each identify the positives.
    let bits = 8.0 * filter.exception_bytes() as f64 / keys.len() as f64;
    // No exact layer can take fewer bits than log2 C(n + a, a).
    let (n, a) = (keys.len() as f64, filter.corrected() as f64);
    let ln_choices = libm::lgamma(n + a + 1.0) - libm::lgamma(n + 1.0) - libm::lgamma(a + 1.0);
    let limit = ln_choices / std::f64::consts::LN_2 / n;
    println!("{bits:.3} bits a positive, {limit:.3} at least");
    assert!(bits < 1.15 * limit, "{bits} bits, {limit} at least");
    // The first level is a filter of the positives, so few absent keys pass.
    let wrong = hashes(3, 0, 1_000_000)
        .filter(|&hash| filter.contains_hash(hash))
        .count();
    let (rate, reported) = (wrong as f64 / 1e6, filter.estimated_rate());
    assert!(
        (rate / reported - 1.0).abs() < 0.15 && reported < 0.3 / 64.0,
        "{rate}, reported {reported}"
    );
}

#[test]
fn a_key_on_both_lists_is_an_error_that_names_it() {
    let mut keys = urls("bad", 500);
    let mut others = urls("good", 500);
    for number in (0..12).rev() {
        keys.push(format!("both{number}\n"));
        others.insert(100, format!("both{number}\n"));
        others.push(format!("both{number}\n"));
    }
    keys.push("x".repeat(5000));
    others.push("x".repeat(5000));
    let base = Bloom::from_keys(&keys, 0.01).unwrap();
    let error = Excepting::build(base.clone(), &keys, &others).unwrap_err();
    let ExceptingError::Conflict { first, count } = &error else {
        panic!("{error}")
    };
    let expected: Vec<String> = (0..10)
        .map(|number| format!("\"both{number}\\n\""))
        .collect();
    assert_eq!((first, *count), (&expected, 13));
    let message = error.to_string();
    assert!(message.starts_with("positives and exceptions have 13 keys in common, \"both0\\n\","));
    assert!(message.contains(" and 3 more: remove them"), "{message}");
    assert!(message.contains("OnConflict::Block"), "{message}");

    for (on_conflict, found) in [(OnConflict::Block, true), (OnConflict::Allow, false)] {
        let filter = Excepting::build_with(base.clone(), &keys, &others, on_conflict).unwrap();
        assert_eq!(filter.resolved_conflicts(), 13);
        for key in &keys {
            let both = !key.starts_with("https");
            assert_eq!(
                filter.contains(key),
                found || !both,
                "{on_conflict:?}: {key}"
            );
        }
        for key in &others {
            let both = !key.starts_with("https");
            assert_eq!(
                filter.contains(key),
                found && both,
                "{on_conflict:?}: {key}"
            );
        }
    }
    // As if they had never been on the other list.
    let alone: Vec<_> = others
        .iter()
        .filter(|key| key.starts_with("https"))
        .collect();
    let never = Excepting::build(base.clone(), &keys, &alone).unwrap();
    let filter = Excepting::build_with(base, &keys, &others, OnConflict::Block).unwrap();
    assert_eq!(never.exception_bytes(), filter.exception_bytes());
    assert_eq!(
        (never.corrected(), never.resolved_conflicts()),
        (filter.corrected(), 0)
    );
}

#[test]
fn equal_lists_can_be_resolved_to_either_side() {
    let keys = list(1, 0, 30_000);
    let base = bloom(&keys, 0.01);
    let error = Excepting::build(base.clone(), &keys, &keys).unwrap_err();
    assert!(
        matches!(error, ExceptingError::Conflict { count: 30_000, .. }),
        "{error}"
    );
    let message = error.to_string();
    // Hashes are shown as numbers.
    assert!(
        message.contains(&format!("{:#018x}, ", keys[0].to_u64())),
        "{message}"
    );
    let block = Excepting::build_with(base.clone(), &keys, &keys, OnConflict::Block).unwrap();
    assert!(block.corrected() == 0 && block.exception_bytes() == 0);
    assert_exact(&block, &keys, &[]);
    let allow = Excepting::build_with(base, &keys, &keys, OnConflict::Allow).unwrap();
    assert_exact(&allow, &[], &keys);
}

/// A key with a chosen hash.
#[derive(Clone, Debug)]
struct Chosen(u64, &'static str);

impl Hashed for &Chosen {
    const SCHEME: HashScheme = HashScheme::Caller;

    fn hash_with(&self, _: &HashScheme) -> KeyHash {
        KeyHash::from_u64(self.0)
    }

    fn key_bytes(&self) -> Option<Vec<u8>> {
        Some(self.1.into())
    }
}

#[test]
fn different_keys_with_one_hash_are_detected_and_resolved() {
    let hash = |number| mixed(number);
    let positives = [
        Chosen(hash(1), "a"),
        Chosen(hash(2), "b"),
        Chosen(hash(2), "bb"),
        Chosen(hash(3), "c"),
    ];
    let clashing = [
        Chosen(hash(9), "x"),
        Chosen(hash(2), "y"),
        Chosen(hash(3), "z"),
        Chosen(hash(2), "w"),
    ];
    let keys: Vec<_> = positives
        .iter()
        .map(|key| KeyHash::from_u64(key.0))
        .collect();
    let base = bloom(&keys, 0.01);
    let error = Excepting::build(base.clone(), &positives, &clashing).unwrap_err();
    let ExceptingError::Collision { first, count: 2 } = &error else {
        panic!("{error}")
    };
    assert_eq!(first[0], ["\"bb\"".to_string(), "\"y\"".to_string()]);
    assert_eq!(first[1], ["\"c\"".to_string(), "\"z\"".to_string()]);
    let message = error.to_string();
    assert!(
        message.contains("positive \"c\" and exception \"z\": build"),
        "{message}"
    );
    assert!(message.contains("another secret key"), "{message}");
    for (on_conflict, found) in [(OnConflict::Block, true), (OnConflict::Allow, false)] {
        let filter =
            Excepting::build_with(base.clone(), &positives, &clashing, on_conflict).unwrap();
        assert_eq!(filter.resolved_conflicts(), 2);
        assert!(filter.contains_hash(keys[0]));
        assert_eq!(filter.contains_hash(keys[1]), found);
        assert_eq!(filter.contains_hash(keys[3]), found);
    }
    // A key on both lists comes first.
    let conflict = [Chosen(hash(2), "y"), Chosen(hash(3), "c")];
    let error = Excepting::build(base, &positives, &conflict).unwrap_err();
    assert!(
        matches!(error, ExceptingError::Conflict { count: 1, .. }),
        "{error}"
    );
}

#[test]
fn positives_missing_from_the_base_are_an_error_that_names_them() {
    let keys = urls("bad", 1000);
    let base = Bloom::from_keys(&keys[..900], 1e-9).unwrap();
    let error = Excepting::build(base, &keys, &["x"]).unwrap_err();
    let ExceptingError::NotInBase { first, count: 100 } = &error else {
        panic!("{error}")
    };
    assert_eq!(first.len(), 10);
    assert_eq!(first[0], "\"https://bad.example/900\"");
    let message = error.to_string();
    assert!(message.starts_with("the base filter lacks 100 of the positives, \"https://bad"));
    assert!(
        message.ends_with("and 90 more: insert all positives into it first"),
        "{message}"
    );
}

#[test]
fn a_window_cannot_be_a_base() {
    let window = WindowBloom::new(100, 0.01, Duration::from_secs(60), Timestamp(0)).unwrap();
    let none: &[&str] = &[];
    let error = Excepting::build(AnyFilter::from(window), none, none).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a window filter cannot have exceptions: use one that never loses keys and has no exceptions yet"
    );
}

/// Random inserts of absent keys, positives and exceptions, against an exact set.
fn later_inserts(positives: u64, exceptions: u64, operations: u64, seed: u64) -> (u64, u64) {
    let keys = list(seed, 0, positives);
    let others = list(seed + 1, 0, exceptions);
    // Full of positives, so that many exceptions are accepted; later keys go into new layers.
    let mut base = GrowingBloom::for_hashes(positives as usize, 0.05).unwrap();
    base.insert_hashes(&keys);
    let accepted: Vec<_> = others
        .iter()
        .copied()
        .filter(|&hash| base.contains_hash(hash))
        .collect();
    let mut filter = Excepting::build(base, &keys, &others).unwrap();
    let mut inserted: HashSet<KeyHash> = keys.iter().copied().collect();
    for step in 0..operations {
        let random = mixed(seed ^ mixed(step));
        let key = match random % 16 {
            0 => keys[(random >> 8) as usize % keys.len()],
            1 => others[(random >> 8) as usize % others.len()],
            2 if !accepted.is_empty() => accepted[(random >> 8) as usize % accepted.len()],
            _ => KeyHash::from_u64(mixed(random)),
        };
        let known = filter.contains_hash(key);
        assert!(known || !inserted.contains(&key), "step {step}: lost");
        assert_eq!(filter.insert_hash(key), !known, "step {step}");
        assert!(filter.contains_hash(key), "step {step}: lost at once");
        inserted.insert(key);
    }
    let all: Vec<_> = inserted.iter().copied().collect();
    let kept: Vec<_> = accepted
        .into_iter()
        .filter(|hash| !inserted.contains(hash))
        .collect();
    assert_exact(&filter, &all, &kept);
    // The base rejected others before, and has more keys now.
    let newly = others
        .iter()
        .filter(|hash| !inserted.contains(hash) && filter.contains_hash(**hash));
    let newly = newly.count() as u64;
    assert!(
        newly as f64 <= 0.02 * exceptions as f64 + 5.0,
        "{newly} of {exceptions}"
    );
    assert_eq!(filter.keys_inserted(), operations);
    assert_eq!(
        filter.size_bytes(),
        filter.base().size_bytes() + filter.exception_bytes()
    );
    (filter.overrides(), filter.exception_bytes())
}

#[test]
fn later_inserts_lose_no_key_and_bring_back_no_exception() {
    let operations = if soak() { 5_000_000 } else { 100_000 };
    for (positives, exceptions) in [
        (100_000, 10_000),
        (20_000, 200_000),
        (1000, 1_000_000),
        (10, 10),
    ] {
        let (overrides, bytes) = later_inserts(positives, exceptions, operations, 7);
        println!("{exceptions} exceptions to {positives}: {overrides} overrides, {bytes} bytes");
    }
}

#[test]
fn an_inserted_exception_is_no_longer_an_exception() {
    let keys = urls("bad", 1000);
    let others = urls("good", 1000);
    for any in [false, true] {
        let mut cuckoo = Cuckoo::new(2000, 0.05).unwrap();
        for key in &keys {
            cuckoo.try_insert(key).unwrap();
        }
        let base = AnyFilter::from(cuckoo.clone());
        let mut filter = Excepting::build(base, &keys, &others).unwrap();
        let mut typed = Excepting::build(cuckoo, &keys, &others).unwrap();
        for key in &others {
            // Any number of times: keys cannot be removed, so copies are not stored.
            for _ in 0..6 {
                let (known, new) = if any {
                    (filter.contains(key), filter.try_insert(key))
                } else {
                    (typed.contains(key), typed.try_insert(key))
                };
                assert_eq!(new, Ok(!known), "{key}");
            }
        }
        let found = |key: &&String| {
            if any {
                filter.contains(key)
            } else {
                typed.contains(key)
            }
        };
        assert!(others.iter().all(|key| found(&key)) && keys.iter().all(|key| found(&key)));
        let (overrides, corrected) = if any {
            (filter.overrides(), filter.corrected())
        } else {
            (typed.overrides(), typed.corrected())
        };
        // The corrected exceptions, and those that the layer denied by chance.
        assert!(corrected >= 5, "{corrected}");
        assert!(
            (corrected..corrected + 50).contains(&overrides),
            "{overrides}"
        );
    }
}

#[test]
fn a_full_base_rejects_keys_and_nothing_changes() {
    let keys = list(1, 0, 100);
    let others = list(2, 0, 10_000);
    let mut base = Cuckoo::for_hashes(100, 0.05).unwrap();
    for &key in &keys {
        base.try_insert_hash(key).unwrap();
    }
    let mut filter = Excepting::build(base, &keys, &others).unwrap();
    let mut refused = 0;
    for key in hashes(3, 0, 1000) {
        let before = filter.clone();
        match filter.try_insert_hash(key) {
            Ok(_) => assert!(filter.contains_hash(key)),
            Err(OperationError::Full(_)) => {
                refused += 1;
                assert!(filter == before, "a refused key left a trace");
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 500);
    assert_exact(&filter, &keys, &[]);
}

#[test]
fn plan_errors_are_passed_on() {
    let error = ExceptingError::from(PlanError::OutOfMemory { size_bytes: 7 });
    assert!(error.to_string().contains("7 bytes"));
    assert!(std::error::Error::source(&error).is_none());
}

#[test]
#[should_panic(expected = "has no hash function")]
fn bytes_need_a_base_that_hashes() {
    let base = Bloom::for_hashes(10, 0.01).unwrap();
    _ = Excepting::build(base, &["a"], &["b"]);
}

#[test]
#[should_panic(expected = "one place in `found` for every key")]
fn results_must_match_the_number_of_keys() {
    let none: &[&str] = &[];
    let filter = Excepting::build(Bloom::new(10, 0.01).unwrap(), none, none).unwrap();
    filter.contains_each(&["a", "b"], &mut [false]);
}

#[test]
fn filters_with_exceptions_are_send_and_sync() {
    fn sendable<T: Send + Sync>() {}
    sendable::<Excepting<Bloom>>();
    sendable::<Excepting<AnyFilter>>();
    sendable::<ExceptingError>();
}

proptest! {
    #[test]
    fn any_two_lists_are_exact_after_conflicts_are_resolved(
        positives in prop::collection::vec(0_u64..400, 0..200),
        exceptions in prop::collection::vec(0_u64..400, 0..400),
        rate in 0.01_f64..0.9,
        block in any::<bool>(),
    ) {
        let hashed = |list: &[u64]| -> Vec<KeyHash> {
            list.iter().map(|&at| KeyHash::from_u64(mixed(at))).collect()
        };
        let (keys, others) = (hashed(&positives), hashed(&exceptions));
        let on_conflict = if block { OnConflict::Block } else { OnConflict::Allow };
        let base = bloom(&keys, rate);
        let filter = Excepting::build_with(base.clone(), &keys, &others, on_conflict).unwrap();
        for key in &keys {
            prop_assert_eq!(filter.contains_hash(*key), block || !others.contains(key));
        }
        for key in &others {
            prop_assert_eq!(filter.contains_hash(*key), block && keys.contains(key));
        }
        let both = keys.iter().collect::<HashSet<_>>();
        let both = others.iter().filter(|key| both.contains(key)).collect::<HashSet<_>>();
        prop_assert_eq!(filter.resolved_conflicts(), both.len() as u64);
        prop_assert_eq!(Excepting::build(base, &keys, &others).is_ok(), both.is_empty());
    }
}
