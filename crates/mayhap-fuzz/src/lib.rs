//! The bodies of the decoders' fuzz targets. Each decodes arbitrary bytes; if they are a filter, it queries it, inserts keys where the
//! kind allows it, and checks that encoding and decoding it returns the same filter and the same bytes.
//!
//! `fuzz/` runs them under libFuzzer, and the codec's tests run them over golden files with seeded mutations ([`mutations`]).
//! Checksums would reject nearly all mutations, so the bodies of formats that have some recompute them first ([`checksums`]).
//! The targets that need the server are in `mayhap-fuzz-server`, so that the codec's tests do not build it.

mod accumulo;
mod cassandra;
pub mod checksums;
mod clickhouse;
mod container;
mod hadoop;
mod hbase;
mod index;
pub mod mutations;
mod native;
mod open;
mod plain;
mod redis;
pub mod round_trip;
mod seeds;

pub use seeds::golden;

use mayhap_codec::Limits;

/// What decoding a compressed format may allocate here: much less than libFuzzer is allowed.
pub const LIMITS: Limits = Limits { max_bytes: 1 << 20 };

/// A decoder to be fuzzed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of its file in `fuzz/fuzz_targets/`.
    pub name: &'static str,
    /// Panics when the decoder does, or when a round trip changes a filter.
    pub body: fn(&[u8]),
    /// Where fuzzing begins: folders of `golden/`, and the endings of file names in them. Empty: all of them.
    pub seeds: &'static [(&'static str, &'static str)],
}

/// For targets that take every format.
const ALL: &[(&str, &str)] = &[];

/// All decoders.
pub const TARGETS: &[Target] = &[
    target("accumulo", accumulo::block, &[("accumulo-bloom", ".bin")]),
    target(
        "accumulo_rfile",
        accumulo::rfile,
        &[("accumulo-bloom", ".rf")],
    ),
    target("bip37", plain::bip37, &[("bip37", ".bin")]),
    target(
        "cassandra",
        cassandra::file,
        &[
            ("cassandra-filter", ".bin"),
            ("cassandra-filter-old", ".bin"),
        ],
    ),
    target(
        "clickhouse_frames",
        clickhouse::frames,
        &[("clickhouse-bloom_filter", ".idx")],
    ),
    target(
        "clickhouse_granules",
        clickhouse::granules,
        &[
            ("clickhouse-bloom_filter", ".bin"),
            ("clickhouse-bloom_filter-types", ".bin"),
        ],
    ),
    target(
        "clickhouse_terms",
        clickhouse::terms,
        &[
            ("clickhouse-ngrambf_v1", ".bin"),
            ("clickhouse-tokenbf_v1", ".bin"),
        ],
    ),
    target("guava", plain::guava, &[("guava", ".bin")]),
    target(
        "hadoop_bloom",
        hadoop::bloom,
        &[("hadoop-bloom", ".bin"), ("hadoop-bloom-ops", ".bin")],
    ),
    target(
        "hadoop_counting",
        hadoop::counting,
        &[("hadoop-counting", ".bin")],
    ),
    target(
        "hadoop_dynamic",
        hadoop::dynamic,
        &[("hadoop-dynamic", ".bin")],
    ),
    target(
        "hadoop_retouched",
        hadoop::retouched,
        &[("hadoop-retouched", ".bin")],
    ),
    target("hbase_chunk", hbase::chunk, &[("hbase-chunk", ".bin")]),
    target("hbase_hfile", hbase::hfile, &[("hbase-hfile", ".hfile")]),
    target("hbase_meta", hbase::meta, &[("hbase-hfile", ".hfile")]),
    target("leveldb_filter", plain::leveldb, &[("leveldb", ".bin")]),
    target(
        "leveldb_filter_block",
        container::filter_block,
        &[("leveldb-table", ".ldb")],
    ),
    target(
        "index",
        index::file,
        &[("../crates/mayhap-codec/tests/data", ".idx")],
    ),
    target(
        "leveldb_ribbon_block",
        plain::ribbon_block,
        &[("leveldb", ".bin")],
    ),
    target("native", native::file, &[("native", ".mayhap")]),
    target("native_repair", native::repair, &[("native", ".mayhap")]),
    target("open", open::open, ALL),
    target(
        "parquet_bitset",
        plain::parquet,
        &[("parquet-sbbf", ".bin")],
    ),
    target(
        "parquet_file",
        container::parquet,
        &[("parquet-file", ".parquet")],
    ),
    target(
        "redis_bloom",
        redis::bloom,
        &[("redisbloom", ".chunks.bin")],
    ),
    target(
        "redis_bloom_chunks",
        redis::bloom_chunks,
        &[("redisbloom", ".chunks.bin")],
    ),
    target(
        "redis_cuckoo",
        redis::cuckoo,
        &[("redisbloom", ".chunks.bin")],
    ),
    target(
        "redis_cuckoo_chunks",
        redis::cuckoo_chunks,
        &[("redisbloom", ".chunks.bin")],
    ),
    target("redis_dump", redis::dump, &[("redisbloom", ".dump.bin")]),
    target(
        "redis_rdb",
        redis::rdb,
        &[
            ("redisbloom", ".dump.bin"),
            ("../crates/mayhap-codec/tests/data", ".rdb"),
        ],
    ),
    target(
        "rocksdb",
        plain::rocksdb,
        &[
            ("rocksdb-bloom", ".bin"),
            ("rocksdb-bloom-legacy", ".bin"),
            ("rocksdb-ribbon", ".bin"),
        ],
    ),
    target("sniff", container::sniff, ALL),
    target("spark", plain::spark, &[("spark", ".bin")]),
    target(
        "table",
        container::table,
        &[
            ("leveldb-table", ".ldb"),
            ("rocksdb-bloom", ".sst"),
            ("rocksdb-bloom-legacy", ".sst"),
            ("rocksdb-ribbon", ".sst"),
        ],
    ),
];

/// A line of a table of targets.
pub const fn target(
    name: &'static str,
    body: fn(&[u8]),
    seeds: &'static [(&'static str, &'static str)],
) -> Target {
    Target { name, body, seeds }
}

/// Runs the body of a target.
///
/// # Panics
/// When the body does, or there is no such target.
pub fn run(targets: &[Target], name: &str, bytes: &[u8]) {
    let target = targets.iter().find(|target| target.name == name);
    let target = target.unwrap_or_else(|| panic!("{name} is not in TARGETS"));
    (target.body)(bytes);
}
