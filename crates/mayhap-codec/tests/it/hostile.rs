//! What strangers may send: every sample cut, with bits flipped, and with forged numbers. It is an error, or a filter that still
//! answers; never a panic, and never more memory than 1 MiB and eight times the bytes that came.
//!
//! A format joins by a line in `FORMATS`.

mod accumulo;
mod cassandra;
mod hbase;

use mayhap_codec::hadoop::{self, HashType};
use mayhap_codec::{
    Format, Limits, Problem, bip37, clickhouse, guava, leveldb, native, parquet, redis, rocksdb,
    spark,
};
use mayhap_core::{AnyFilter, Bloom, ClassicBloom, Cuckoo, GrowingBloom, PlanError};
use mayhap_testkit::peak_memory::peak_of;
use std::panic::catch_unwind;

/// Reads bytes and asks what they hold; `true` when they are a filter.
type Read = fn(&[u8]) -> bool;

/// A format, how its bytes are read, and samples that our own encoder wrote.
type Row = (&'static str, Read, fn() -> Vec<Vec<u8>>);

const FORMATS: [Row; 24] = [
    ("mayhap", read_native, native_samples),
    ("guava", read_guava, guava_samples),
    ("spark", read_spark, spark_samples),
    ("leveldb", read_leveldb, leveldb_samples),
    ("rocksdb", read_rocksdb, rocksdb_samples),
    ("parquet", read_parquet, parquet_samples),
    ("bip37", read_bip37, bip37_samples),
    ("hadoop", read_hadoop, hadoop_samples),
    ("hadoop-counting", read_counting, counting_samples),
    ("hadoop-dynamic", read_dynamic, dynamic_samples),
    ("hadoop-retouched", read_retouched, retouched_samples),
    ("clickhouse", read_clickhouse, clickhouse_samples),
    ("clickhouse-tokenbf", read_terms, terms_samples),
    ("redisbloom", read_redis_bloom, redis_bloom_samples),
    ("redisbloom-cuckoo", read_redis_cuckoo, redis_cuckoo_samples),
    ("redisbloom-dump", read_redis_dump, redis_dump_samples),
    ("parquet", read_parquet_file, parquet_file_samples),
    ("redisbloom-dump", read_rdb, rdb_samples),
    ("cassandra", cassandra::read, cassandra::samples),
    ("hbase", hbase::read_chunk, hbase::chunk_samples),
    ("hbase", hbase::read_meta, hbase::meta_samples),
    ("hbase", hbase::read_hfile, hbase::hfile_samples),
    ("accumulo", accumulo::read, accumulo::samples),
    ("accumulo", accumulo::read_rfile, accumulo::rfile_samples),
];

/// Samples up to here are harmed everywhere, larger ones cut at a few places: they show what memory grows with.
const SMALL_BYTES: usize = 2048;

#[test]
fn samples_are_read_as_they_are() {
    for (format, read, samples) in FORMATS {
        assert!(Format::from_name(format).is_some(), "{format}");
        for sample in samples() {
            assert!(checked(format, read, &sample, "as it is"), "{format}");
        }
    }
}

#[test]
fn cut_samples_do_no_harm() {
    for (format, read, samples) in FORMATS {
        for sample in samples() {
            let step = if sample.len() > SMALL_BYTES {
                sample.len() / 61
            } else {
                1
            };
            for length in (0..sample.len()).step_by(step) {
                checked(format, read, &sample[..length], "cut");
            }
            let longer = [&sample[..], &[0]].concat();
            checked(format, read, &longer, "a byte longer");
        }
    }
}

#[test]
fn flipped_bits_do_no_harm() {
    for (format, read, sample) in small_samples() {
        for at in header_and_trailer(&sample) {
            for bit in 0..8 {
                let mut bytes = sample.clone();
                bytes[at] ^= 1 << bit;
                checked(format, read, &bytes, "with a bit flipped");
            }
        }
    }
}

/// Everywhere, not only in the header: lists and rows have lengths of their own, and few formats align them.
#[test]
fn forged_numbers_do_no_harm() {
    let numbers = [
        0,
        1,
        (1 << 31) - 1,
        1 << 31,
        (1 << 32) - 1,
        (1 << 63) - 1,
        u64::MAX,
    ];
    for (format, read, sample) in small_samples() {
        for at in 0..sample.len() {
            for number in numbers {
                let (four, eight) = (number as u32, number);
                let forgeries: [&[u8]; 4] = [
                    &four.to_le_bytes(),
                    &four.to_be_bytes(),
                    &eight.to_le_bytes(),
                    &eight.to_be_bytes(),
                ];
                for forged in forgeries {
                    let mut bytes = sample.clone();
                    if let Some(place) = bytes.get_mut(at..at + forged.len()) {
                        place.copy_from_slice(forged);
                        checked(format, read, &bytes, "with a forged number");
                    }
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "bytes of memory")]
fn a_reader_that_believes_a_length_is_caught() {
    let believes = |_: &[u8]| std::hint::black_box(Vec::<u8>::with_capacity(2 << 20)).is_empty();
    checked("none", believes, &[0x7f; 8], "believed");
}

#[test]
#[should_panic(expected = "none: 8 bytes, indexed")]
fn a_reader_that_panics_is_caught() {
    checked(
        "none",
        |bytes| bytes[usize::from(bytes[0])] == 0,
        &[0x7f; 8],
        "indexed",
    );
}

fn small_samples() -> impl Iterator<Item = (&'static str, Read, Vec<u8>)> {
    FORMATS.into_iter().flat_map(|(format, read, samples)| {
        let small = samples()
            .into_iter()
            .filter(|sample| sample.len() <= SMALL_BYTES);
        small.map(move |sample| (format, read, sample))
    })
}

/// The places where formats keep their numbers.
fn header_and_trailer(sample: &[u8]) -> impl Iterator<Item = usize> {
    let length = sample.len();
    (0..length.min(64)).chain(length.saturating_sub(16).max(64)..length)
}

/// Whether bytes are a filter. It fails when reading and asking them panics or takes too much memory.
fn checked(format: &str, read: Read, bytes: &[u8], what: &str) -> bool {
    let (outcome, taken) = peak_of(|| catch_unwind(|| read(bytes)));
    let Ok(is_filter) = outcome else {
        panic!("{format}: {} bytes, {what}: {bytes:02x?}", bytes.len());
    };
    let most = (1 << 20) + 8 * bytes.len() as u64;
    assert!(
        taken <= most,
        "{format}: {} bytes, {what}, took {taken} bytes of memory",
        bytes.len()
    );
    is_filter
}

const KEYS: [&[u8]; 4] = [b"", b"a", b"some key", &[0xff; 100]];

fn ask<F, E>(filter: Result<F, E>, ask: impl Fn(&mut F, &[u8])) -> bool {
    let Ok(mut filter) = filter else { return false };
    for key in KEYS {
        ask(&mut filter, key);
    }
    true
}

fn read_guava(bytes: &[u8]) -> bool {
    ask(guava::decode(bytes), |filter, key| _ = filter.contains(key))
}

fn read_spark(bytes: &[u8]) -> bool {
    ask(spark::decode(bytes), |filter, key| _ = filter.contains(key))
}

fn read_leveldb(bytes: &[u8]) -> bool {
    ask(leveldb::decode(bytes), |filter, key| {
        _ = filter.contains(key);
    })
}

fn read_rocksdb(bytes: &[u8]) -> bool {
    ask(rocksdb::decode(bytes), |filter, key| {
        _ = filter.contains(key);
    })
}

fn read_parquet(bytes: &[u8]) -> bool {
    ask(parquet::decode(bytes), |filter, key| {
        _ = filter.contains(key);
    })
}

fn read_bip37(bytes: &[u8]) -> bool {
    ask(bip37::decode(bytes), |bip37, key| {
        _ = bip37.filter.contains(key);
    })
}

fn read_hadoop(bytes: &[u8]) -> bool {
    ask(hadoop::bloom::decode(bytes), |filter, key| {
        _ = filter.contains(key);
    })
}

fn read_counting(bytes: &[u8]) -> bool {
    ask(hadoop::counting::decode(bytes), |filter, key| {
        _ = hadoop::counting::approximate_count(filter, key);
        _ = hadoop::counting::delete(filter, key);
    })
}

fn read_dynamic(bytes: &[u8]) -> bool {
    ask(hadoop::dynamic::decode(bytes), |filter, key| {
        _ = filter.contains(key);
        _ = filter.add(key);
    })
}

fn read_retouched(bytes: &[u8]) -> bool {
    ask(hadoop::retouched::decode(bytes), |filter, key| {
        _ = filter.contains(key);
        _ = filter.selective_clearing(key, hadoop::Clearing::Ratio);
    })
}

fn filled(filter: Result<ClassicBloom, PlanError>) -> ClassicBloom {
    let mut filter = filter.unwrap();
    filter.extend((0..20_u32).map(u32::to_le_bytes));
    filter
}

/// Keys of a sample that is to show what memory grows with.
const MANY: u64 = 1_000_000;

fn guava_samples() -> Vec<Vec<u8>> {
    let sample = |keys, strategy| {
        let filter = guava::create(keys, 0.01, strategy, guava::ProbeRule::FromRate);
        guava::encode(&filled(filter)).unwrap()
    };
    vec![
        sample(20, guava::Strategy::Mitz32),
        sample(100, guava::Strategy::Mitz64),
        sample(MANY, guava::Strategy::Mitz64),
    ]
}

fn spark_samples() -> Vec<Vec<u8>> {
    let sample =
        |keys, version| spark::encode(&filled(spark::create(keys, 0.01, version))).unwrap();
    vec![
        sample(20, spark::Version::One),
        sample(100, spark::Version::Two { seed: -7 }),
        sample(MANY, spark::Version::One),
    ]
}

fn leveldb_samples() -> Vec<Vec<u8>> {
    let sample = |keys| leveldb::encode(&filled(leveldb::create(keys, 10))).unwrap();
    vec![sample(20), sample(MANY)]
}

fn rocksdb_samples() -> Vec<Vec<u8>> {
    let sample = |filter| rocksdb::encode(&filled(filter)).unwrap();
    // Nobody here writes ribbons: five blocks of at most seven columns, and what is in them does not matter.
    let mut ribbon = vec![0x5a; 33 * 16];
    ribbon.extend_from_slice(&[0xfe, 9, 5, 0, 0]);
    vec![
        sample(rocksdb::create(100, 10.0)),
        sample(rocksdb::create_legacy(100, 10)),
        ribbon,
        sample(rocksdb::create(MANY, 10.0)),
    ]
}

fn parquet_samples() -> Vec<Vec<u8>> {
    let sample = |bytes| parquet::encode(&filled(parquet::with_bytes(bytes))).unwrap();
    vec![sample(128), sample(MANY)]
}

fn bip37_samples() -> Vec<Vec<u8>> {
    let sample = |elements| {
        let mut bip37 = bip37::create(elements, 0.01, 5, 1).unwrap();
        bip37.filter.insert("a");
        bip37::encode(&bip37).unwrap()
    };
    vec![sample(20), sample(500), sample(30_000)]
}

fn hadoop_samples() -> Vec<Vec<u8>> {
    let sample = |size, hash_type| {
        let filter = hadoop::bloom::create(size, 4, hash_type);
        hadoop::bloom::encode(&filled(filter)).unwrap()
    };
    vec![
        sample(203, HashType::Jenkins),
        sample(1000, HashType::Murmur),
        older(&sample(203, HashType::Jenkins)),
        sample(8 << 20, HashType::Murmur),
    ]
}

/// The same filter under the header that has neither version nor hash type.
fn older(sample: &[u8]) -> Vec<u8> {
    [&sample[4..8], &sample[9..]].concat()
}

fn counting_samples() -> Vec<Vec<u8>> {
    let sample = |size| {
        let mut filter = hadoop::counting::create(size, 3, HashType::Murmur).unwrap();
        filter.extend((0..20_u32).map(u32::to_le_bytes));
        hadoop::counting::encode(&filter).unwrap()
    };
    vec![sample(200), sample(37), sample(2 << 20)]
}

fn dynamic_samples() -> Vec<Vec<u8>> {
    let sample = |size, keys_a_row, keys: u32| {
        let filter = hadoop::dynamic::create(size, 1, HashType::Jenkins, keys_a_row);
        let mut filter = filter.unwrap();
        for key in 0..keys {
            filter.add(key.to_le_bytes()).unwrap();
        }
        hadoop::dynamic::encode(&filter).unwrap()
    };
    // Rows of one bit under the short header are the most rows for the bytes.
    let rows = sample(1, 0, 100_000);
    let (whole, rows) = (&rows[..25], &rows[25..]);
    let older_rows = rows.chunks_exact(14).flat_map(older).collect::<Vec<u8>>();
    let older_rows = [older(whole), older_rows].concat();
    vec![sample(100, 5, 18), sample(64, 100, 20), older_rows]
}

fn retouched_samples() -> Vec<Vec<u8>> {
    let sample = |size, keys: u32| {
        let mut filter = hadoop::retouched::create(size, 2, HashType::Murmur).unwrap();
        for key in 0..keys {
            let key = [key as u8];
            filter.add(key, 1.0).unwrap();
            filter.add_false_positive(key, 0.5).unwrap();
        }
        hadoop::retouched::encode(&filter).unwrap()
    };
    vec![
        sample(40, 8),
        sample(3, 6),
        sample(100_000, 3),
        sample(1, 20_000),
    ]
}

fn read_clickhouse(bytes: &[u8]) -> bool {
    clickhouse::decode(bytes, 0.01, 1).is_ok_and(|granules| {
        for at in 0..granules.len() {
            granules.get(at).unwrap().contains(0, 42);
        }
        true
    })
}

fn clickhouse_samples() -> Vec<Vec<u8>> {
    let granule = |from: u64, to: u64| {
        let hashes = (from..to)
            .map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        clickhouse::Granule::build(&[hashes], 0.01).unwrap()
    };
    let few: Vec<_> = (0..40).map(|at| granule(at, at + 1)).collect();
    vec![
        clickhouse::encode(&[granule(0, 10), granule(10, 300)]),
        clickhouse::encode(&few),
        clickhouse::encode(&[granule(0, 50_000)]),
    ]
}

fn read_terms(bytes: &[u8]) -> bool {
    clickhouse::terms::decode(bytes, 3, 7).is_ok_and(|filter| {
        clickhouse::terms::contains_tokens(&filter, b"a token");
        true
    })
}

fn terms_samples() -> Vec<Vec<u8>> {
    let mut filter = clickhouse::terms::create(100, 3, 7).unwrap();
    filter.extend(["a", "token"]);
    vec![clickhouse::terms::encode(&filter).unwrap()]
}

fn read_redis_bloom(bytes: &[u8]) -> bool {
    redis::bloom::decode(bytes).is_ok_and(|filter| {
        filter.contains(b"key");
        true
    })
}

fn redis_bloom() -> redis::Bloom {
    let mut filter = redis::Bloom::reserve(0.01, 20, Some(2)).unwrap();
    for key in 0..100_u32 {
        filter.try_insert(&key.to_le_bytes()).unwrap();
    }
    filter
}

fn redis_bloom_samples() -> Vec<Vec<u8>> {
    vec![redis::bloom::encode(&redis_bloom())]
}

fn read_redis_cuckoo(bytes: &[u8]) -> bool {
    redis::cuckoo::decode(bytes).is_ok_and(|filter| {
        filter.contains(b"key");
        true
    })
}

fn redis_cuckoo() -> redis::Cuckoo {
    let mut filter = redis::Cuckoo::reserve(64, 2, 20, 1).unwrap();
    for key in 0..100_u32 {
        filter.try_insert(&key.to_le_bytes()).unwrap();
    }
    filter
}

fn redis_cuckoo_samples() -> Vec<Vec<u8>> {
    vec![redis::cuckoo::encode(&redis_cuckoo())]
}

fn read_redis_dump(bytes: &[u8]) -> bool {
    redis::dump::decode(bytes, Limits { max_bytes: 1 << 20 }).is_ok()
}

fn redis_dump_samples() -> Vec<Vec<u8>> {
    vec![redis_bloom().dump(10), redis_cuckoo().dump(12)]
}

fn read_native(bytes: &[u8]) -> bool {
    native::decode(bytes, Limits::default()).is_ok_and(|filter| {
        filter.contains("a key");
        true
    })
}

/// One larger than a page, the others small.
fn native_samples() -> Vec<Vec<u8>> {
    let filters: [Result<AnyFilter, PlanError>; 5] = [
        Bloom::new(50, 0.01).map(AnyFilter::from),
        Bloom::new(100_000, 0.01).map(AnyFilter::from),
        ClassicBloom::new(50, 0.01).map(AnyFilter::from),
        GrowingBloom::new(50, 0.01).map(AnyFilter::from),
        Cuckoo::growing(50, 0.01).map(AnyFilter::from),
    ];
    let encode = |filter: Result<AnyFilter, PlanError>| {
        let mut filter = filter.expect("a plan");
        for key in 0..50_u32 {
            filter.try_insert(key.to_le_bytes()).expect("room");
        }
        native::encode(&filter).expect("a file of this kind")
    };
    filters.map(encode).into()
}

fn read_parquet_file(bytes: &[u8]) -> bool {
    parquet::file::columns(bytes).is_ok_and(|columns| {
        for column in columns.iter().take(10) {
            _ = parquet::file::filter(bytes, column);
        }
        true
    })
}

/// Metadata that is nothing but columns with filters, as short as they can be.
fn parquet_file_samples() -> Vec<Vec<u8>> {
    let sample = |columns: u32| {
        // Field 3, a struct: type, path of no names, offset, end; the end of the column chunk.
        let column = [0x3c, 0x15, 2, 0x29, 0x08, 0xb6, 8, 0, 0];
        let mut metadata = vec![0x49, 0x1c, 0x19, 0xfc];
        let mut rest = columns;
        while rest >= 0x80 {
            metadata.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        metadata.push(rest as u8);
        metadata.extend(column.repeat(columns as usize));
        metadata.extend([0, 0]);
        let length = (metadata.len() as u32).to_le_bytes();
        [b"PAR1", &metadata[..], &length, b"PAR1"].concat()
    };
    vec![sample(20), sample(300_000)]
}

fn read_rdb(bytes: &[u8]) -> bool {
    let limits = Limits { max_bytes: 1 << 20 };
    match redis::rdb::filters(bytes, limits) {
        Ok(_) => true,
        // Many together are.
        Err(error) => matches!(error.problem, Problem::TooLarge { .. }),
    }
}

/// Files that are nothing but filters, as small as they can be.
fn rdb_samples() -> Vec<Vec<u8>> {
    let sample = |dump: &[u8], count: usize| {
        let mut entry = vec![dump[0], 0];
        entry.extend_from_slice(&dump[1..dump.len() - 10]);
        let mut file = b"REDIS0012".to_vec();
        file.extend(entry.repeat(count));
        file.extend([255, 0, 0, 0, 0, 0, 0, 0, 0]);
        file
    };
    let bloom = redis::Bloom::reserve(0.25, 1, None).unwrap().dump(12);
    let cuckoo = redis::Cuckoo::reserve(2, 1, 20, 0).unwrap().dump(12);
    vec![
        sample(&bloom, 5),
        sample(&cuckoo, 5),
        sample(&bloom, 30_000),
        sample(&cuckoo, 30_000),
    ]
}
