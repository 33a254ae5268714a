//! Filters from bytes and back, beside a copy of the same bytes.

use super::{Scale, header, random_words, ratio, row, speed};
use crate::clock::cpu_ns;
use crate::measure::{Contender, alternate};
use crate::report::Table;
use mayhap::plan::classic::ClassicPlan;
use mayhap::plan::{BloomPlan, LinesPerKey};
use mayhap::{AnyFilter, Bloom, ClassicBloom, HashScheme, Scheme};
use mayhap_codec::{
    Limits, clickhouse, guava, hadoop, leveldb, native, parquet, redis, rocksdb, spark,
};
use std::hint::black_box;

pub(super) fn table(scale: &Scale) -> Table {
    let mut table = header(&["", "decode", "against a copy", "encode", "copy"]);
    let words = random_words((scale.filter_bytes / 64 * 8) as usize);
    let classic = |scheme, probes| {
        let plan = ClassicPlan::with_bits_and_probes(64 * words.len() as u64, probes);
        let plan = plan.expect("a filter that can be");
        ClassicBloom::from_words(plan, scheme, HashScheme::Caller, words.clone())
            .expect("a filter that fits memory")
    };
    let mut add = |name: &str, cells: [f64; 3], bytes: usize| {
        let [decode, encode, copy] = cells;
        table.push(row(&[
            name,
            &speed(bytes, decode),
            &ratio(copy, decode),
            &speed(bytes, encode),
            &speed(bytes, copy),
        ]));
    };
    let rounds = scale.rounds;

    let filter = classic(Scheme::GuavaMitz64, 7);
    let encode = |filter: &ClassicBloom| guava::encode(filter).expect("bytes");
    let decode = |bytes: &[u8]| guava::decode(bytes).expect("a filter");
    let (cells, bytes) = measure(rounds, &filter, encode, decode);
    add("Guava", cells, bytes);

    for (name, scheme) in [
        ("Spark, version 1", Scheme::SparkV1),
        ("Spark, version 2", Scheme::SparkV2 { seed: 0 }),
    ] {
        let filter = classic(scheme, 7);
        let encode = |filter: &ClassicBloom| spark::encode(filter).expect("bytes");
        let decode = |bytes: &[u8]| spark::decode(bytes).expect("a filter");
        let (cells, bytes) = measure(rounds, &filter, encode, decode);
        add(name, cells, bytes);
    }

    let filter = redis_filter(&words);
    let (cells, bytes) = measure(rounds, &filter, redis::bloom::encode, |bytes| {
        redis::bloom::decode(bytes).expect("a filter")
    });
    add("RedisBloom, SCANDUMP", cells, bytes);
    let (cells, bytes) = measure(
        rounds,
        &filter,
        |filter| filter.dump(10),
        |bytes| match redis::dump::decode(bytes, Limits::default()) {
            Ok(redis::Filter::Bloom(filter)) => filter,
            other => panic!("a Bloom filter, not {other:?}"),
        },
    );
    add("RedisBloom, DUMP", cells, bytes);
    drop(filter);

    let filter = classic(Scheme::HadoopMurmur, 7);
    let encode = |filter: &ClassicBloom| hadoop::bloom::encode(filter).expect("bytes");
    let decode = |bytes: &[u8]| hadoop::bloom::decode(bytes).expect("a filter");
    let (cells, bytes) = measure(rounds, &filter, encode, decode);
    add("Hadoop", cells, bytes);

    let filter = classic(Scheme::ClickHouseTerms { seed: 0 }, 3);
    let encode = |filter: &ClassicBloom| clickhouse::terms::encode(filter).expect("bytes");
    let decode = |bytes: &[u8]| clickhouse::terms::decode(bytes, 3, 0).expect("a filter");
    let (cells, bytes) = measure(rounds, &filter, encode, decode);
    add("ClickHouse, tokenbf_v1", cells, bytes);

    let filter = classic(Scheme::LevelDb, 6);
    let encode = |filter: &ClassicBloom| leveldb::encode(filter).expect("bytes");
    let decode = |bytes: &[u8]| match leveldb::decode(bytes) {
        Ok(leveldb::Filter::Bloom(filter)) => filter,
        other => panic!("a Bloom filter, not {other:?}"),
    };
    let (cells, bytes) = measure(rounds, &filter, encode, decode);
    add("LevelDB", cells, bytes);

    let filter = classic(Scheme::RocksDb, 6);
    let encode = |filter: &ClassicBloom| rocksdb::encode(filter).expect("bytes");
    let decode = |bytes: &[u8]| match rocksdb::decode(bytes) {
        Ok(rocksdb::Filter::Bloom(filter)) => filter,
        other => panic!("a Bloom filter, not {other:?}"),
    };
    let (cells, bytes) = measure(rounds, &filter, encode, decode);
    add("RocksDB", cells, bytes);

    let filter = classic(Scheme::Parquet, 8);
    let encode = |filter: &ClassicBloom| parquet::encode(filter).expect("bytes");
    let decode = |bytes: &[u8]| parquet::decode(bytes).expect("a filter");
    let (cells, bytes) = measure(rounds, &filter, encode, decode);
    add("Parquet", cells, bytes);

    let encode = |filter: &AnyFilter| native::encode(filter).expect("bytes");
    let decode = |bytes: &[u8]| native::decode(bytes, Limits::default()).expect("a filter");
    let bloom = AnyFilter::from(native_bloom(&words));
    let (cells, bytes) = measure(rounds, &bloom, encode, decode);
    add("mayhap, bloom, with its checksums", cells, bytes);
    drop(bloom);
    let filter = AnyFilter::from(classic(Scheme::EnhancedDoubleHashing, 7));
    let (cells, bytes) = measure(rounds, &filter, encode, decode);
    add("mayhap, classic, with its checksums", cells, bytes);
    table
}

/// A filter of the words, eight to a line.
pub(super) fn native_bloom(words: &[u64]) -> Bloom {
    let lines = words.len() as u64 / 8;
    let keys = 512 * lines / 10;
    let plan = BloomPlan::from_shape(keys, 0.01, lines, 7, LinesPerKey::One).expect("a shape");
    Bloom::from_words(plan, HashScheme::Xxh3, words.iter().copied()).expect("eight words a line")
}

/// One layer that is as large as the words, with them in it.
fn redis_filter(words: &[u64]) -> redis::Bloom {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let bits_a_key = 9.585_058_377_367_44;
    let keys = (8.0 * bytes.len() as f64 / bits_a_key) as u64 - 8;
    let mut filter = redis::Bloom::reserve(0.01, keys, None).expect("a filter");
    let own = filter.info().size_bytes as usize - 96;
    // As `BF.LOADCHUNK` has it: the iterator is one past the end of the chunk.
    filter
        .load_chunk(own as i64 + 1, &bytes[..own])
        .expect("a chunk of the filter's size");
    filter
}

/// Nanoseconds of decoding, of encoding and of copying the bytes, and how many those are.
fn measure<F: PartialEq>(
    rounds: usize,
    filter: &F,
    encode: impl Fn(&F) -> Vec<u8>,
    decode: impl Fn(&[u8]) -> F,
) -> ([f64; 3], usize) {
    let bytes = encode(filter);
    assert!(decode(&bytes) == *filter, "what was written is read");
    let mut contenders = [
        Contender::new("decode", |_| timed(|| decode(black_box(&bytes)))),
        Contender::new("encode", |_| timed(|| encode(black_box(filter)))),
        Contender::new("copy", |_| timed(|| black_box(&bytes).to_vec())),
    ];
    let least = alternate(rounds, &mut contenders);
    ([least[0], least[1], least[2]], bytes.len())
}

/// What is made is let go after the clock has stopped.
fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let mut made = None;
    let ns = cpu_ns(|| made = Some(black_box(work())));
    drop(made);
    ns
}
