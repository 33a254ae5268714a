//! The bodies of the fuzz targets, one a decoder. Each decodes bytes of anybody's; when they are a filter it asks it, puts keys in
//! where the kind allows, and holds it to the law: what it is written as is read as the same filter, and written the same again.
//!
//! `fuzz/` runs them under libFuzzer, and `cargo test -p mayhap-codec --test mutations` over golden files with seeded mutations.
//! Checksums would stop both at the door, so that bodies of formats that have some set them right first (`seal.rs`).

mod clickhouse;
mod command;
mod container;
mod door;
mod hadoop;
mod law;
mod native;
mod plain;
mod redis;
mod requests;
mod seal;
mod seeds;

pub use seeds::golden;

use mayhap_codec::Limits;

/// What a compressed format may take here: much less than libFuzzer is allowed.
const LIMITS: Limits = Limits { max_bytes: 1 << 20 };

/// A decoder to be fuzzed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of its file in `fuzz/fuzz_targets/`.
    pub name: &'static str,
    /// Panics when the decoder does, or breaks the law.
    pub body: fn(&[u8]),
    /// Where it begins: folders of `golden/`, and how names of files end there.
    pub seeds: &'static [(&'static str, &'static str)],
}

/// For those that take every format.
const SOME_OF_ALL: &[(&str, &str)] = &[
    ("bip37", ".bin"),
    ("clickhouse-bloom_filter", ".idx"),
    ("clickhouse-tokenbf_v1", ".bin"),
    ("guava", ".bin"),
    ("hadoop-counting", ".bin"),
    ("hadoop-dynamic", ".bin"),
    ("leveldb", ".bin"),
    ("leveldb-table", ".ldb"),
    ("native", ".mayhap"),
    ("parquet-file", ".parquet"),
    ("parquet-sbbf", ".bin"),
    ("redisbloom", ".bin"),
    ("rocksdb-bloom", ".sst"),
    ("rocksdb-ribbon", ".bin"),
    ("spark", ".bin"),
];

/// All decoders.
pub const TARGETS: &[Target] = &[
    target("bip37", plain::bip37, &[("bip37", ".bin")]),
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
    target(
        "command_chunks",
        command::chunks,
        &[("slots", ".load"), ("redisbloom", ".chunks.bin")],
    ),
    target("command_image", command::image, &[("slots", ".slot")]),
    target(
        "command_restore",
        command::restore,
        &[("slots", ".dump"), ("redisbloom", ".dump.bin")],
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
    target("leveldb_filter", plain::leveldb, &[("leveldb", ".bin")]),
    target(
        "leveldb_filter_block",
        container::filter_block,
        &[("leveldb-table", ".ldb")],
    ),
    target("native", native::file, &[("native", ".mayhap")]),
    target("native_repair", native::repair, &[("native", ".mayhap")]),
    target("open", door::open, SOME_OF_ALL),
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
        "requests",
        requests::requests,
        &[("../crates/mayhap-server/tests/it/requests", ".resp")],
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
    target("sniff", container::sniff, SOME_OF_ALL),
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

const fn target(
    name: &'static str,
    body: fn(&[u8]),
    seeds: &'static [(&'static str, &'static str)],
) -> Target {
    Target { name, body, seeds }
}

/// Runs the body of a target.
///
/// # Panics
/// When it does, or there is no such target.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.unwrap_or_else(|| panic!("{name} is in no line of TARGETS"));
    (target.body)(bytes);
}
