//! What no file of Hadoop's shows: refusals, and choices that nobody recorded.

use super::*;
use crate::Problem;

fn field(error: &DecodeError) -> &'static str {
    match error.problem {
        Problem::Value { field, .. } => field,
        Problem::Cut { what, .. } => what,
        Problem::Trailing { .. } => "end",
        _ => "plan",
    }
}

fn ints(numbers: &[i32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_be_bytes())
        .collect()
}

#[test]
fn headers_that_no_filter_has_are_refused_by_field() {
    let newer = |functions: i32, hash_type: u8, size: i32| {
        [
            ints(&[-1, functions]),
            vec![hash_type],
            ints(&[size]),
            vec![0],
        ]
        .concat()
    };
    assert!(bloom::decode(&newer(3, 1, 8)).is_ok());
    assert!(bloom::decode(&[ints(&[3, 8]), vec![0]].concat()).is_ok());
    for (bytes, expected) in [
        (ints(&[0, 8, 0]), "version"),
        (ints(&[-2, 8, 0]), "version"),
        (newer(0, 1, 8), "number of hash functions"),
        (newer(4097, 1, 8), "number of hash functions"),
        (ints(&[i32::MAX, 8, 0]), "number of hash functions"),
        (newer(3, 2, 8), "hash type"),
        (newer(3, 1, 0), "vector size"),
        (newer(3, 1, -8), "vector size"),
        (newer(3, 1, 9), "bits"),
        (newer(3, 1, i32::MAX), "bits"),
        ([newer(3, 1, 8), vec![0]].concat(), "end"),
    ] {
        let error = bloom::decode(&bytes).unwrap_err();
        assert_eq!(field(&error), expected, "{error}");
    }
}

#[test]
fn what_lies_past_the_last_bit_or_counter_must_be_zero() {
    let mut bytes = bloom::encode(&bloom::create(9, 1, HashType::Murmur).unwrap()).unwrap();
    *bytes.last_mut().unwrap() = 2;
    assert!(bloom::decode(&bytes).is_err());
    let counters = counting::create(17, 1, HashType::Murmur).unwrap();
    let mut bytes = counting::encode(&counters).unwrap();
    *bytes.last_mut().unwrap() = 0x0f;
    assert!(counting::decode(&bytes).is_ok());
    *bytes.last_mut().unwrap() = 0x10;
    assert_eq!(field(&counting::decode(&bytes).unwrap_err()), "last long");
}

#[test]
fn not_twice_is_nothing() {
    for size in [1, 63, 64, 65, 128, 1000] {
        let mut filter = bloom::create(size, 3, HashType::Jenkins).unwrap();
        filter.insert("a");
        let (before, set) = (filter.clone(), filter.set_bits());
        bloom::not(&mut filter);
        assert_eq!(filter.set_bits(), u64::from(size) - set);
        bloom::not(&mut filter);
        assert_eq!(filter, before);
    }
}

#[test]
fn filters_that_do_not_fit_are_refused_and_left_alone() {
    let filled = |size, functions| {
        let mut filter = bloom::create(size, functions, HashType::Jenkins).unwrap();
        filter.insert("a");
        filter
    };
    let before = filled(100, 3);
    for other in [filled(101, 3), filled(100, 4)] {
        for operation in [bloom::and, bloom::or, bloom::xor] {
            let mut filter = before.clone();
            assert!(operation(&mut filter, &other).is_err());
            assert_eq!(filter, before);
        }
    }
    let rows = |nr, keys: u8| {
        let mut filter = dynamic::create(100, 3, HashType::Jenkins, nr).unwrap();
        (0..keys).for_each(|key| filter.add([key]).unwrap());
        filter
    };
    let mut filter = rows(5, 8);
    assert!(filter.or(&rows(5, 10)).is_ok(), "two rows each");
    assert!(filter.or(&rows(5, 11)).is_err(), "three rows");
    assert!(filter.or(&rows(6, 8)).is_err(), "other rows");
    let mut counters = counting::create(100, 3, HashType::Jenkins).unwrap();
    let other = counting::create(100, 2, HashType::Jenkins).unwrap();
    assert!(counting::and(&mut counters, &other).is_err());
}

#[test]
fn empty_keys_are_refused_everywhere() {
    let hash_type = HashType::Murmur;
    let mut counters = counting::create(10, 2, hash_type).unwrap();
    assert_eq!(counting::add(&mut counters, ""), Err(HadoopError::EmptyKey));
    assert_eq!(
        counting::contains(&counters, ""),
        Err(HadoopError::EmptyKey)
    );
    assert_eq!(
        counting::delete(&mut counters, ""),
        Err(HadoopError::EmptyKey)
    );
    assert_eq!(
        counting::approximate_count(&counters, ""),
        Err(HadoopError::EmptyKey)
    );
    let mut rows = dynamic::create(10, 2, hash_type, 1).unwrap();
    assert_eq!(rows.add(""), Err(HadoopError::EmptyKey));
    assert_eq!(rows.contains(""), Err(HadoopError::EmptyKey));
    let mut touched = retouched::create(10, 2, hash_type).unwrap();
    assert_eq!(touched.add("", 1.0), Err(HadoopError::EmptyKey));
    assert_eq!(
        touched.add_false_positive("", 1.0),
        Err(HadoopError::EmptyKey)
    );
    assert_eq!(touched.contains(""), Err(HadoopError::EmptyKey));
    let cleared = touched.selective_clearing("", Clearing::Ratio);
    assert_eq!(cleared, Err(HadoopError::EmptyKey));
}

#[test]
fn rows_are_those_of_the_whole_and_can_be_taken_one_by_one() {
    let mut filter = dynamic::create(70, 2, HashType::Murmur, 0).unwrap();
    for key in ["a", "b", "c"] {
        filter.add(key).unwrap();
    }
    assert_eq!((filter.rows(), filter.keys_in_last()), (4, 1), "a row each");
    let row = |number| filter.row(number).unwrap();
    assert!(row(0).is_empty());
    assert!(row(1).contains("a") && row(2).contains("b") && row(3).contains("c"));
    assert!(filter.row(4).is_none());

    let bytes = dynamic::encode(&filter).unwrap();
    assert_eq!(dynamic::decode(&bytes).unwrap(), filter);
    let first_row = 13 + 12;
    let refused = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        field(&dynamic::decode(&bytes).unwrap_err())
    };
    assert_eq!(refused(first_row + 7, 3), "hash functions of a row");
    assert_eq!(refused(first_row + 8, 0), "hash type of a row");
    assert_eq!(refused(first_row + 12, 71), "vector size of a row");
    assert_eq!(refused(first_row - 1, 0), "number of rows");
    assert_eq!(refused(first_row - 4, 1), "rows");
}

#[test]
fn clearing_at_random_takes_one_of_the_first_bits() {
    let mut filter = retouched::create(1000, 3, HashType::Jenkins).unwrap();
    filter.add("a", 1.0).unwrap();
    let random = |number| Clearing::Random { number };
    assert_eq!(filter.selective_clearing("a", random(5)), Ok(2));
    assert_eq!(filter.contains("a"), Ok(true), "as in Hadoop");
    // Fewer bits than hash functions: Hadoop's index is then out of range.
    let mut small = retouched::create(2, 3, HashType::Jenkins).unwrap();
    small.not();
    let refused = Err(HadoopError::NothingToClear(random(2)));
    assert_eq!(small.selective_clearing("a", random(2)), refused);
    assert_eq!(small.selective_clearing("a", random(4)), Ok(1));
}
