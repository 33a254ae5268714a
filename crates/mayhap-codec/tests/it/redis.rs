//! RedisBloom beyond the golden files: RDB files, old encodings, odd layouts, chunks that do not fit, and damage.

use crc::{CRC_64_REDIS, Crc};
use mayhap_codec::redis::fields::{Sink, Source};
use mayhap_codec::redis::{
    Bloom, ChunkError, Cuckoo, Filter, UnionError, bloom, cuckoo, dump, rdb,
};
use mayhap_codec::{Limits, Problem};
use mayhap_core::Full;

const TYPES: &[u8] = include_bytes!("../data/redis-types.rdb");
const BLOOM: &[u8] = include_bytes!("../data/redisbloom-bloom.dump");
const CUCKOO: &[u8] = include_bytes!("../data/redisbloom-cuckoo.dump");

fn limits() -> Limits {
    Limits::default()
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    Crc::<u64>::new(&CRC_64_REDIS).checksum(bytes).to_le_bytes()
}

/// A file of Redis with more entries before its end.
fn spliced(more: &[u8]) -> Vec<u8> {
    let mut file = TYPES[..TYPES.len() - 9].to_vec();
    file.extend_from_slice(more);
    file.push(255);
    let sum = checksum(&file);
    file.extend_from_slice(&sum);
    file
}

/// An entry of a file: type, key, and a DUMP without type and trailer.
fn entry(key: &str, payload: &[u8]) -> Vec<u8> {
    let mut entry = vec![payload[0], key.len() as u8];
    entry.extend_from_slice(key.as_bytes());
    entry.extend_from_slice(&payload[1..payload.len() - 10]);
    entry
}

/// Two filters, and what else a file may have around them.
fn file_with_filters() -> Vec<u8> {
    let mut more = vec![252];
    more.extend_from_slice(&1_900_000_000_123_u64.to_le_bytes());
    more.extend(entry("seen", BLOOM));
    // Of another module: what it says beside its values, and a value with every tag.
    more.extend([247, 0x81, 1, 2, 3, 4, 5, 6, 7, 8, 2, 1, 5, 1, b'x', 0]);
    more.extend([
        7, 5, b'o', b't', b'h', b'e', b'r', 0x81, 9, 9, 9, 9, 9, 9, 9, 9,
    ]);
    more.extend([
        1, 7, 2, 0x80, 0, 1, 0, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0,
    ]);
    more.extend([5, 0xc1, 1, 1, 0]);
    // Another database; old scores in decimal, idle time, old expiry.
    more.extend([254, 11, 251, 2, 0, 248, 60, 253, 1, 0, 0, 0]);
    more.extend([3, 1, b'z', 2, 1, b'a', 3, b'1', b'.', b'5', 1, b'b', 254]);
    more.extend(entry("blocked", CUCKOO));
    spliced(&more)
}

#[test]
fn a_file_of_every_other_type_is_passed_over_to_its_end() {
    assert_eq!(rdb::filters(TYPES, limits()), Ok(Vec::new()));
}

#[test]
fn filters_are_found_by_database_and_key() {
    let found = rdb::filters(&file_with_filters(), limits()).unwrap();
    let names: Vec<_> = found
        .iter()
        .map(|entry| (entry.database, entry.key.as_slice(), entry.expires))
        .collect();
    let expected: [(u64, &[u8], _); 2] = [
        (3, b"seen", Some(1_900_000_000_123)),
        (11, b"blocked", None),
    ];
    assert_eq!(names, expected);
    assert_eq!(found[0].filter.dump(12), BLOOM);
    assert_eq!(found[1].filter.dump(12), CUCKOO);
    assert!(found[1].filter.contains(b"key-0"));
}

#[test]
fn a_file_that_is_cut_or_damaged_is_an_error() {
    let file = file_with_filters();
    for end in 0..file.len() {
        assert!(rdb::filters(&file[..end], limits()).is_err(), "{end}");
    }
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (at % 8);
        // A version before 5 has no checksum; its file is too long then.
        assert!(rdb::filters(&damaged, limits()).is_err(), "{at}");
    }
    let mut longer = file;
    longer.push(0);
    assert!(rdb::filters(&longer, limits()).is_err());
}

#[test]
fn newer_types_are_refused_by_number() {
    let error = rdb::filters(&spliced(&[26, 1, b'k', 0]), limits()).unwrap_err();
    assert!(matches!(error.problem, Problem::Value { value: 26, .. }));
}

/// The fields of a module's value.
enum Field<'a> {
    Number(u64),
    Double(f64),
    String(&'a [u8]),
}

fn length(length: u64) -> Vec<u8> {
    let mut out = vec![0x81];
    out.extend_from_slice(&length.to_be_bytes());
    out
}

fn payload(id: u64, fields: &[Field<'_>]) -> Vec<u8> {
    let mut out = vec![7];
    out.extend(length(id));
    for field in fields {
        match field {
            Field::Number(number) => {
                out.push(2);
                out.extend(length(*number));
            }
            Field::Double(number) => {
                out.push(4);
                out.extend_from_slice(&number.to_le_bytes());
            }
            Field::String(bytes) => {
                out.push(5);
                out.extend(length(bytes.len() as u64));
                out.extend_from_slice(bytes);
            }
        }
    }
    out.extend([0, 9, 0]);
    let sum = checksum(&out);
    out.extend_from_slice(&sum);
    out
}

const BLOOM_ID: u64 = 0x3016_e5a2_89be_f800;
const CUCKOO_ID: u64 = 0x3016_e5a2_8982_1400;

#[test]
fn older_encodings_of_dumps_are_read() {
    use Field::{Double, Number, String};
    let bits = [0x5a; 16];
    for version in 0..=4 {
        let mut fields = vec![Number(3), Number(1)];
        if version >= 2 {
            fields.push(Number(if version == 2 { 0 } else { 5 }));
        }
        if version >= 4 {
            fields.push(Number(7));
        }
        // 12.8 bits for each of ten keys.
        fields.extend([Number(10), Double(0.002), Number(9), Double(12.8)]);
        if version >= 1 {
            fields.extend([Number(128), Number(0)]);
        }
        fields.extend([String(&bits), Number(3)]);
        let filter = dump::decode(&payload(BLOOM_ID | version, &fields), limits()).unwrap();
        let Filter::Bloom(filter) = &filter else {
            panic!("a Bloom filter");
        };
        let expansion = if version == 4 { 7 } else { 2 };
        assert_eq!(filter.info().expansion, Some(expansion));
        assert_eq!((filter.info().items, filter.info().capacity), (3, 10));
        assert_eq!(bloom::encode(filter)[73..], bits);
        let width = if version < 3 {
            "hashwidth:32"
        } else {
            "hashwidth:64"
        };
        assert!(filter.debug_lines()[1].contains(width));
        let again = dump::decode(&filter.dump(10), limits()).unwrap();
        assert_eq!(again, Filter::Bloom(filter.clone()));
    }
    let table = [7; 8];
    let fields = [
        Number(2),
        Number(4),
        Number(16),
        String(&table),
        String(&table),
    ];
    let filter = dump::decode(&payload(CUCKOO_ID | 3, &fields), limits()).unwrap();
    let Filter::Cuckoo(filter) = &filter else {
        panic!("a cuckoo filter");
    };
    let expected = "bktsize:2 buckets:4 items:16 deletes:0 filters:2 max_iterations:20 expansion:1";
    assert_eq!(filter.debug_line(), expected);
    let newer = dump::decode(&payload(CUCKOO_ID | 5, &fields), limits()).unwrap_err();
    assert!(matches!(newer.problem, Problem::Value { value: 5, .. }));
}

fn layer_header(bytes: u64, error: f64, capacity: u64, n2: u8) -> Vec<u8> {
    let bits_per_entry = 9.0;
    let mut out = Vec::new();
    for long in [bytes, 8 * bytes, 0] {
        out.extend_from_slice(&long.to_le_bytes());
    }
    out.extend_from_slice(&error.to_le_bytes());
    out.extend_from_slice(&f64::to_le_bytes(bits_per_entry));
    out.extend_from_slice(&7_u32.to_le_bytes());
    out.extend_from_slice(&capacity.to_le_bytes());
    out.push(n2);
    out
}

fn header(options: u32, layers: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![0; 8];
    for word in [layers.len() as u32, options, 2] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend(layers.concat());
    out
}

/// The iterator of a place among the bits.
fn after(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap() + 1
}

#[test]
fn bits_that_no_position_reaches_are_kept() {
    for (n2, options) in [(1, 0), (2, 4), (3, 0), (5, 4), (7, 0), (8, 4), (0, 1)] {
        let header = header(
            options,
            &[layer_header(40, 0.01, 20, n2), layer_header(3, 0.01, 20, 0)],
        );
        let bits: Vec<u8> = (1..44).map(|byte: u8| byte.wrapping_mul(37)).collect();
        let stored = [header.as_slice(), &bits].concat();
        let filter = bloom::decode(&stored).unwrap();
        assert_eq!(bloom::encode(&filter), stored, "{n2}");
        let restored = dump::decode(&filter.dump(10), limits()).unwrap();
        assert_eq!(restored, Filter::Bloom(filter.clone()));
        // Loaded in pieces of any length, and read from any iterator on.
        for piece in [1, 3, 8, 40] {
            let mut loaded = Bloom::from_header(&header, limits()).unwrap();
            for layer in [0..40, 40..43] {
                for start in layer.clone().step_by(piece) {
                    let end = (start + piece).min(layer.end);
                    loaded.load_chunk(after(end), &bits[start..end]).unwrap();
                }
            }
            assert_eq!(loaded, filter);
        }
        for start in 0..43 {
            let end = if start < 40 { 40 } else { 43 };
            let expected = Some((after(end), bits[start..end].to_vec()));
            assert_eq!(filter.scan(after(start)), expected);
        }
        assert_eq!(
            (filter.scan(44), filter.scan(-1), filter.scan(i64::MIN)),
            (None, None, None)
        );
    }
}

#[test]
fn old_layouts_grow_by_powers_of_two_and_lose_no_key() {
    let mut filter =
        Bloom::from_header(&header(0, &[layer_header(128, 0.01, 106, 10)]), limits()).unwrap();
    for number in 0..1000_u32 {
        filter.try_insert(&number.to_le_bytes()).unwrap();
    }
    assert!((0..1000_u32).all(|number| filter.contains(&number.to_le_bytes())));
    let lines = filter.debug_lines();
    // 212 keys at 0.005 take 2337 bits; 4096 are enough for 371.
    assert!(
        lines[2].starts_with("bytes:512 bits:4096 hashes:8 hashwidth:32 capacity:371 "),
        "{lines:?}"
    );
    assert_eq!(bloom::decode(&bloom::encode(&filter)), Ok(filter));
}

#[test]
fn a_full_filter_that_does_not_grow_refuses_new_keys_only() {
    for expansion in [None, Some(0)] {
        let mut filter = Bloom::reserve(0.001, 2, expansion).unwrap();
        assert_eq!(filter.try_insert(b"a"), Ok(true));
        assert_eq!(filter.try_insert(b"b"), Ok(true));
        assert_eq!(filter.try_insert(b"a"), Ok(false));
        let full = Full::Table {
            keys: 2,
            capacity: 2,
        };
        assert_eq!(filter.try_insert(b"c"), Err(full));
        assert_eq!(filter.info().expansion, None);
    }
    for (error, capacity) in [(0.0, 10), (1.0, 10), (f64::NAN, 10), (-1.0, 10), (0.1, 0)] {
        assert!(
            Bloom::reserve(error, capacity, Some(2)).is_err(),
            "{error}, {capacity}"
        );
    }
    assert!(Bloom::reserve(0.01, u64::MAX, Some(2)).is_err());
}

/// `BF.RESERVE full 0.001 2 NONSCALING`, `BF.MADD full a b`, `BF.MADD full a c d e`: the answers end with the error.
#[test]
fn many_keys_for_a_full_filter_end_with_the_first_that_has_no_room() {
    let mut filter = Bloom::reserve(0.001, 2, None).unwrap();
    assert_eq!(filter.try_insert_each(["a", "b"]), [Ok(true), Ok(true)]);
    let before = bloom::encode(&filter);
    let full = Err(Full::Table {
        keys: 2,
        capacity: 2,
    });
    let calls: [(&[&str], &[_]); 4] = [
        (&["a", "c", "d", "e"], &[Ok(false), full]),
        (&["c", "a", "b"], &[full]),
        (&["b", "a", "b"], &[Ok(false), Ok(false), Ok(false)]),
        (&[], &[]),
    ];
    for (keys, answers) in calls {
        assert_eq!(filter.try_insert_each(keys), answers, "{keys:?}");
        assert_eq!(bloom::encode(&filter), before, "{keys:?}");
    }
    // It fills up in the midst of a call.
    let mut filter = Bloom::reserve(0.001, 2, Some(0)).unwrap();
    let answers = [Ok(true), Ok(false), Ok(true), full];
    assert_eq!(filter.try_insert_each(["a", "a", "b", "c", "a"]), answers);
    assert_eq!(filter.info().items, 2);
    // One that grows takes all.
    let mut filter = Bloom::reserve(0.001, 2, Some(2)).unwrap();
    let keys = ["a", "b", "c", "d", "e"];
    assert_eq!(filter.try_insert_each(keys), [Ok(true); 5]);
    assert_eq!(filter.info().layers, 2);
}

/// A layer for no keys at all is full, and no other can follow it: each key is refused by itself, as RedisBloom does.
#[test]
fn keys_after_one_that_the_filter_could_not_grow_for_are_tried() {
    let mut bytes = header(5, &[layer_header(8, 0.002, 0, 0)]);
    bytes.extend([0; 8]);
    let mut filter = bloom::decode(&bytes).unwrap();
    let answers = filter.try_insert_each(["a", "b"]);
    assert_eq!(answers.len(), 2);
    for answer in answers {
        assert!(matches!(answer, Err(Full::Memory { .. })), "{answer:?}");
    }
}

#[test]
fn chunks_that_belong_nowhere_are_refused_and_change_nothing() {
    let mut filter = Bloom::reserve(0.01, 100, Some(2)).unwrap();
    filter.try_insert(b"a").unwrap();
    let before = filter.clone();
    let refused = |filter: &mut Bloom, iterator, length| {
        filter
            .load_chunk(iterator, &vec![0xff; length])
            .unwrap_err()
    };
    for (iterator, length) in [(0, 0), (-5, 1), (i64::MIN, 0), (3, 4)] {
        let error = refused(&mut filter, iterator, length);
        assert!(matches!(error, ChunkError::Iterator { .. }));
    }
    for (iterator, length) in [(4, 4), (146, 1), (i64::MAX, 7)] {
        let error = refused(&mut filter, iterator, length);
        assert!(matches!(error, ChunkError::Outside { .. }));
    }
    let error = refused(&mut filter, 146, 10);
    assert_eq!(
        error,
        ChunkError::TooLong {
            length: 10,
            left: 9
        }
    );
    assert_eq!(
        filter.load_chunk(145, &[]),
        Err(ChunkError::Outside {
            iterator: 145,
            length: 0
        })
    );
    assert_eq!(filter.load_chunk(9, &[]), Ok(()));
    assert_eq!(filter, before);

    let mut filter = Cuckoo::reserve(64, 2, 20, 1).unwrap();
    let before = filter.clone();
    for (position, length) in [(0, 1), (-1, 1), (5, 5), (5, 0), (66, 1), (70, 6), (66, 10)] {
        assert!(
            filter.load_chunk(position, &vec![1; length]).is_err(),
            "{position}, {length}"
        );
    }
    assert_eq!(filter, before);
    assert_eq!(filter.load_chunk(65, &[1; 64]), Ok(()));
}

#[test]
fn a_cuckoo_filter_without_keys_has_no_scandump_and_is_encoded_all_the_same() {
    let filter = Cuckoo::reserve(64, 2, 20, 1).unwrap();
    assert_eq!(filter.scan(0), None);
    assert_eq!(cuckoo::decode(&cuckoo::encode(&filter)), Ok(filter));
}

#[test]
fn large_layers_are_sent_in_chunks_of_16_mib() {
    let mut filter = Bloom::reserve(0.0001, 10_000_000, Some(2)).unwrap();
    filter.try_insert(b"a").unwrap();
    let (mut iterator, mut lengths, mut loaded) = (0, Vec::new(), None);
    while let Some((next, chunk)) = filter.scan(iterator) {
        lengths.push(chunk.len());
        match &mut loaded {
            None => loaded = Some(Bloom::from_header(&chunk, limits()).unwrap()),
            Some(loaded) => loaded.load_chunk(next, &chunk).unwrap(),
        }
        iterator = next;
    }
    assert!(lengths[..2] == [73, 16 << 20] && lengths.len() == 3);
    assert_eq!(loaded, Some(filter));
}

#[test]
fn announced_sizes_are_refused_before_memory_is_asked_for() {
    let huge = header(5, &[layer_header(1 << 50, 0.01, 20, 0)]);
    let error = Bloom::from_header(&huge, limits()).unwrap_err();
    assert!(matches!(error.problem, Problem::TooLarge { .. }), "{error}");
    assert!(matches!(
        bloom::decode(&huge).unwrap_err().problem,
        Problem::Cut { .. }
    ));
    let mut huge = cuckoo::encode(&Cuckoo::reserve(64, 2, 20, 1).unwrap());
    huge[8..16].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    assert!(matches!(
        cuckoo::decode(&huge).unwrap_err().problem,
        Problem::Cut { .. }
    ));
    let error = Cuckoo::from_header(&huge[..38], limits()).unwrap_err();
    assert!(matches!(error.problem, Problem::TooLarge { .. }), "{error}");
}

#[test]
fn a_header_of_very_many_tables_counts_each_of_them() {
    let mut header = Cuckoo::reserve(4, 2, 20, 1).unwrap().header();
    header[24..32].copy_from_slice(&62_979_u64.to_le_bytes());
    let slots = Limits {
        max_bytes: 62_979 * 4,
    };
    let error = Cuckoo::from_header(&header, slots).unwrap_err();
    assert!(matches!(error.problem, Problem::TooLarge { .. }), "{error}");
    let mut filter = Cuckoo::from_header(&header, limits()).unwrap();
    assert_eq!(filter.info().tables, 62_979);
    // The last table is reached without a walk over the others, and all of them are there.
    let last = 1 + 62_979 * 4;
    filter.load_chunk(last, &[1, 0, 0, 0]).unwrap();
    assert!(filter.load_chunk(last + 1, &[1]).is_err());
    assert_eq!(filter.piece(last - 4), Some((last, vec![1, 0, 0, 0])));
    assert_eq!(filter.piece(last), None);
    filter.compact();
    assert_eq!(filter.info().tables, 1);
    assert_eq!(filter.piece(1), Some((5, vec![1, 0, 0, 0])));
}

#[test]
fn headers_with_any_bit_flipped_are_refused_or_still_answer() {
    let mut grown = Bloom::reserve(0.01, 8, Some(2)).unwrap();
    let mut nest = Cuckoo::reserve(16, 2, 20, 2).unwrap();
    for number in 0..60_u32 {
        grown.try_insert(&number.to_le_bytes()).unwrap();
        nest.try_insert(&number.to_le_bytes()).unwrap();
    }
    let small = Limits { max_bytes: 1 << 20 };
    let ask = |filter: Filter| {
        filter.contains(b"a");
        _ = filter.dump(10);
    };
    for (stored, is_bloom) in [
        (bloom::encode(&grown), true),
        (cuckoo::encode(&nest), false),
    ] {
        let head = if is_bloom { grown.header().len() } else { 38 };
        for at in 0..8 * head {
            let mut damaged = stored.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            if is_bloom {
                _ = bloom::decode(&damaged).map(|filter| ask(Filter::Bloom(filter)));
                _ = Bloom::from_header(&damaged[..head], small);
            } else {
                _ = cuckoo::decode(&damaged).map(|filter| ask(Filter::Cuckoo(filter)));
                _ = Cuckoo::from_header(&damaged[..head], small);
            }
        }
        for end in 0..stored.len() {
            let cut = &stored[..end];
            assert!(bloom::decode(cut).is_err() && cuckoo::decode(cut).is_err());
        }
    }
    for payload in [grown.dump(10), nest.dump(10)] {
        for at in 0..8 * (payload.len() - 8) {
            // The checksum is made to fit, so that what is behind it is met.
            let mut damaged = payload[..payload.len() - 8].to_vec();
            damaged[at / 8] ^= 1 << (at % 8);
            assert!(dump::decode(&[damaged.as_slice(), &[0; 8]].concat(), small).is_err());
            let sum = checksum(&damaged);
            damaged.extend_from_slice(&sum);
            _ = dump::decode(&damaged, small).map(ask);
        }
        for end in 0..payload.len() {
            assert!(dump::decode(&payload[..end], small).is_err());
        }
    }
}

#[test]
fn many_keys_are_asked_and_put_in_as_one_by_one() {
    // In cache and far larger; the first grows on the way.
    for capacity in [50, 4_000_000] {
        let mut many = Bloom::reserve(0.01, capacity, Some(2)).unwrap();
        let mut single = many.clone();
        let keys: Vec<String> = (0..3000_u32).map(|n| (n * n % 2003).to_string()).collect();
        let keys: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
        for keys in keys.chunks(25) {
            let told: Vec<bool> = keys
                .iter()
                .map(|key| single.try_insert(key).unwrap())
                .collect();
            let mut is_new = vec![true; keys.len()];
            if many.keys_until_growth() >= keys.len() as u64 {
                many.insert_each_reporting_new(keys, &mut is_new);
            } else {
                for (key, is_new) in keys.iter().zip(&mut is_new) {
                    *is_new = many.try_insert(key).unwrap();
                }
            }
            assert_eq!(is_new, told);
        }
        assert!(many == single);
        let mut found = vec![false; keys.len()];
        many.contains_each(&keys, &mut found);
        assert!(found.iter().all(|&found| found));
        let strangers: Vec<String> = (5000..9000).map(|n| n.to_string()).collect();
        let mut found = vec![true; strangers.len()];
        many.contains_each(&strangers, &mut found);
        for (key, found) in strangers.iter().zip(found) {
            assert_eq!(many.contains(key.as_bytes()), found);
        }
    }
}

#[test]
fn a_limit_refuses_what_would_pass_it_and_changes_nothing() {
    assert!(Bloom::reserve_within(0.01, 10_000, Some(2), 5000).is_err());
    let mut filter = Bloom::reserve_within(0.01, 100, Some(2), 5000).unwrap();
    let mut table = Cuckoo::reserve(64, 2, 20, 1).unwrap();
    let (mut refused_bloom, mut refused_cuckoo) = (0, 0);
    for number in 0..5000 {
        let key = number.to_string();
        let before = (filter.clone(), table.clone());
        if let Err(full) = filter.try_insert_within(key.as_bytes(), 5000) {
            assert!(matches!(full, Full::Memory { .. }) && filter == before.0);
            refused_bloom += 1;
        }
        if let Err(full) = table.try_insert_within(key.as_bytes(), 1000) {
            assert!(matches!(full, Full::Memory { .. }) && table == before.1);
            refused_cuckoo += 1;
        }
    }
    assert!(refused_bloom > 1000 && refused_cuckoo > 1000);
}

#[test]
fn unions_hold_the_keys_of_both_and_name_what_differs() {
    let filled = |from: u32, to: u32| {
        let mut filter = Bloom::reserve(0.01, 50, Some(2)).unwrap();
        for number in from..to {
            filter.try_insert(number.to_string().as_bytes()).unwrap();
        }
        filter
    };
    let (short, long) = (filled(0, 40), filled(20, 600));
    for (first, second) in [(&short, &long), (&long, &short)] {
        let mut union = first.clone();
        assert_eq!(union.union_with(second), Ok(()));
        assert!((0..600).all(|number: u32| union.contains(number.to_string().as_bytes())));
        // Still one that can be carried over.
        assert_eq!(bloom::decode(&bloom::encode(&union)), Ok(union));
    }
    let mut ours = short.clone();
    for (other, field) in [
        (Bloom::reserve(0.02, 50, Some(2)), "error rate"),
        (Bloom::reserve(0.01, 51, Some(2)), "capacity"),
        (Bloom::reserve(0.01, 50, Some(3)), "expansion"),
        (Bloom::reserve(0.01, 50, None), "options"),
    ] {
        let refused = ours.union_with(&other.unwrap());
        assert_eq!(refused, Err(UnionError::Differ(field)));
        assert!(ours == short);
    }
}

#[test]
fn a_value_of_another_module_is_dumped_and_read() {
    let limits = limits();
    let id = dump::TypeId::new(b"mayhap-bf", 3);
    let payload = dump::write(id, 12, |out| {
        out.string(&[7; 1000]);
        out.unsigned(5);
    });
    let read = |payload, with_number: bool| {
        dump::read(payload, limits, |id, fields| {
            let bytes = fields.string("bytes")?.into_owned();
            let number = with_number.then(|| fields.unsigned("number")).transpose()?;
            Ok((id, bytes, number))
        })
    };
    assert_eq!(read(&payload, true), Ok((id, vec![7; 1000], Some(5))));
    assert!(id.is(b"mayhap-bf") && !id.is(b"mayhap-cf") && id.version() == 3);
    // Not all fields are read, or not all are there.
    assert!(read(&payload, false).is_err());
    assert!(read(&payload[1..], true).is_err());
    assert!(dump::decode(&payload, limits).is_err());
}

#[test]
fn layers_of_one_filter_agree_on_the_width_of_hashes() {
    // An old filter, without the option of 64 bits: its hashes have 32 up to 2^31 bits, and 64 beyond.
    let header = |exponents: &[u8]| {
        let mut bytes = 0_u64.to_le_bytes().to_vec();
        for number in [exponents.len() as u32, 0, 2] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for &n2 in exponents {
            let bits = 1_u64 << n2;
            for number in [bits / 8, bits, 0] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            bytes.extend_from_slice(&0.01_f64.to_le_bytes());
            bytes.extend_from_slice(&9.6_f64.to_le_bytes());
            bytes.extend_from_slice(&7_u32.to_le_bytes());
            bytes.extend_from_slice(&(bits / 10).to_le_bytes());
            bytes.push(n2);
        }
        bytes
    };
    // Memory that is not touched costs nothing.
    let limits = Limits { max_bytes: 2 << 30 };
    let read = |exponents: &[u8]| Bloom::from_header(&header(exponents), limits);
    for same in [&[12][..], &[12, 13], &[32], &[31, 20]] {
        assert!(read(same).is_ok(), "{same:?}");
    }
    let error = read(&[12, 32]).expect_err("two widths");
    assert!(error.to_string().contains("n2"), "{error}");
}
