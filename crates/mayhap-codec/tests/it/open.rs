//! Files of every system through one door: opened by their bytes, asked, and written again.

use mayhap_codec::{
    BuildOptions, Format, KeyReader, KeyType, Limits, OpenError, OpenOptions, Parameters, Setting,
    StoredFilter, native, open,
};
use std::fs;
use std::path::{Path, PathBuf};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden")
}

fn files(dialect: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(golden().join(dialect)).expect("a folder of cases");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(extension))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{dialect} has {extension} files");
    files
}

#[test]
fn what_is_opened_is_written_byte_for_byte() {
    for (dialect, extension, format) in [
        ("guava", ".bin", Format::Guava),
        ("hadoop-bloom", ".bin", Format::Hadoop),
        ("hadoop-counting", ".bin", Format::HadoopCounting),
        ("hadoop-dynamic", ".bin", Format::HadoopDynamic),
        ("hadoop-retouched", ".bin", Format::HadoopRetouched),
        ("spark", ".bin", Format::Spark),
        ("parquet-sbbf", ".bin", Format::Parquet),
        ("rocksdb-bloom", ".bin", Format::RocksDb),
        ("redisbloom", ".chunks.bin", Format::RedisBloom),
        ("redisbloom", ".dump.bin", Format::RedisBloomDump),
        ("bip37", ".bin", Format::Bip37),
        ("native", ".mayhap", Format::Mayhap),
    ] {
        let mut written = 0;
        for path in files(dialect, extension) {
            let bytes = fs::read(&path).expect("a readable file");
            let is_cuckoo = path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name.starts_with("cf")
            });
            let format = match (format, is_cuckoo) {
                (Format::RedisBloom, true) => Format::RedisBloomCuckoo,
                (format, _) => format,
            };
            let opening = OpenOptions {
                format: Some(format),
                ..OpenOptions::default()
            };
            let found = open(&bytes, &opening).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let [found] = found.as_slice() else {
                panic!("{path:?} has {} filters", found.len())
            };
            assert_eq!(found.filter.format(), format);
            // LZF has many spellings, and old layouts are written as new ones.
            if let Ok(again) = found.filter.encode()
                && format != Format::RedisBloomDump
            {
                if again == bytes {
                    written += 1;
                } else {
                    let legacy = path.to_string_lossy().contains("legacy");
                    assert!(legacy, "{path:?} is not written as it was");
                }
            }
            let description = found.filter.describe();
            assert_eq!(description.format, format);
            assert!(
                description
                    .stats
                    .estimated_rate
                    .is_none_or(|rate| (0.0..=1.0).contains(&rate))
            );
        }
        assert!(written > 0 || format == Format::RedisBloomDump, "{dialect}");
    }
}

#[test]
fn containers_are_known_by_their_bytes() {
    for (dialect, extension, format) in [
        ("leveldb-table", ".ldb", Format::LevelDb),
        ("rocksdb-bloom", ".sst", Format::RocksDb),
        ("parquet-file", ".parquet", Format::Parquet),
        ("hbase-hfile", ".hfile", Format::HBase),
        ("accumulo-bloom", ".rf", Format::Accumulo),
    ] {
        for path in files(dialect, extension) {
            let bytes = fs::read(&path).expect("a readable file");
            for format_given in [None, Some(format)] {
                let opening = OpenOptions {
                    format: format_given,
                    ..OpenOptions::default()
                };
                let found =
                    open(&bytes, &opening).unwrap_or_else(|error| panic!("{path:?}: {error}"));
                assert!(found.iter().all(|found| found.filter.format() == format));
            }
        }
    }
}

#[test]
fn what_a_file_does_not_say_is_asked_for() {
    let path = &files("clickhouse-bloom_filter", ".idx")[0];
    let bytes = fs::read(path).expect("a readable file");
    let error = open(&bytes, &OpenOptions::default()).expect_err("no rate");
    let OpenError::Missing { any_of, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(any_of, [Setting::FalsePositiveRate, Setting::Probes]);
    let opening = OpenOptions {
        rate: Some(0.01),
        ..OpenOptions::default()
    };
    assert!(open(&bytes, &opening).is_ok());

    let error = open(&[0; 64], &OpenOptions::default()).expect_err("zeros are anything");
    assert!(matches!(error, OpenError::Ambiguous(_)), "{error}");
    let error = open(b"#!/bin/sh\n", &OpenOptions::default()).err();
    assert!(error.is_some());
}

fn has_probes_elsewhere(format: Format) -> bool {
    matches!(format, Format::ClickHouseTokenbf | Format::HBase)
}

#[test]
fn a_recipe_makes_what_opening_reads() {
    let key_type = KeyType::from_name("i64").expect("a key type");
    for (format, given) in [
        (Format::Guava, &["strategy=mitz32"][..]),
        (Format::Hadoop, &["hash=jenkins"]),
        (Format::HadoopCounting, &[]),
        (Format::HadoopDynamic, &["nr=10"]),
        (Format::HadoopRetouched, &[]),
        (Format::Spark, &["version=1"]),
        (Format::Spark, &["version=2", "seed=7"]),
        (Format::ClickHouse, &["type=Int64"]),
        (Format::ClickHouseTokenbf, &["seed=3"]),
        (Format::LevelDb, &["bits_per_key=12"]),
        (Format::RocksDb, &["variant=legacy"]),
        (Format::RocksDb, &[]),
        (Format::Parquet, &[]),
        (Format::RedisBloom, &["expansion=4"]),
        (Format::RedisBloomCuckoo, &["bucket=4"]),
        (Format::RedisBloomDump, &["family=cf", "rdb=12"]),
        (Format::Bip37, &["tweak=5"]),
        (Format::Cassandra, &["order=new"]),
        (Format::Cassandra, &["order=old"]),
        (Format::Cassandra, &["version=lb"]),
        (Format::HBase, &["hash=murmur3"]),
        (Format::HBase, &["hash=jenkins", "type=rowcol"]),
        (
            Format::Accumulo,
            &["nr=30", "functor=family", "hash=jenkins"],
        ),
        (Format::Accumulo, &[]),
    ] {
        let parameters = Parameters::new(format, given).expect("good parameters");
        let reader = parameters.key_reader(key_type).expect("a reader");
        let recipe = BuildOptions {
            parameters,
            capacity: Some(100),
            rate: Some(0.01),
            bits: (format == Format::ClickHouseTokenbf).then_some(2048),
            probes: has_probes_elsewhere(format).then_some(5),
        };
        let mut builder = recipe.start(0).expect("a filter");
        let key = |number: i64| reader.read(number.to_string().as_bytes()).expect("a key");
        for number in 0..100 {
            builder.insert(&key(number)).expect("room");
        }
        let filter = builder.finish().expect("a filter");
        let bytes = filter.encode().expect("bytes");
        let opening = OpenOptions {
            format: Some(format),
            parameters: given.iter().map(|&text| text.to_owned()).collect(),
            rate: Some(0.01),
            probes: Some(5),
            limits: Limits::default(),
            ..OpenOptions::default()
        };
        let found = open(&bytes, &opening).expect("what was written");
        let opened = &found[0].filter;
        assert!(
            (0..100).all(|number| opened.contains(&key(number))),
            "{format}"
        );
        let strangers = (1000..2000).filter(|&number| opened.contains(&key(number)));
        assert!(strangers.count() < 100, "{format}");
        assert_eq!(opened.encode().as_ref(), Ok(&bytes), "{format}");
    }
}

#[test]
fn wrong_parameters_say_what_is_right() {
    for (format, given, said) in [
        (Format::Guava, "strategy=mitz", "mitz32 or mitz64"),
        (Format::Guava, "k=0", "1 to 255"),
        (Format::Guava, "seed=1", "strategy, funnel, k"),
        (Format::Parquet, "k=1", "no parameters"),
        (Format::Spark, "version=3", "1 or 2"),
        (Format::ClickHouse, "type=int", "a type of ClickHouse's"),
        (Format::Bip37, "tweak", "write tweak=VALUE"),
        (
            Format::Cassandra,
            "order=big",
            "new (since Cassandra 4.0) or old",
        ),
        (
            Format::Cassandra,
            "version=hf",
            "ia (Cassandra 1.2) or later",
        ),
        (Format::HBase, "hash=md5", "jenkins, murmur or murmur3"),
        (Format::HBase, "type=ROW", "row or rowcol"),
        (Format::Accumulo, "functor=cell", "row, family or qualifier"),
        (Format::Accumulo, "nr=0", "1 to 2^31 - 1"),
    ] {
        let error = Parameters::new(format, [given]).expect_err(given);
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn filters_change_format_where_their_bits_mean_the_same() {
    let parameters = Parameters::new(Format::Guava, [""; 0]).expect("none");
    let recipe = BuildOptions {
        parameters,
        capacity: Some(10),
        rate: None,
        bits: None,
        probes: None,
    };
    let mut builder = recipe.start(0).expect("a filter");
    builder.insert(b"key").expect("room");
    let guava = builder.finish().expect("a filter");
    let native = guava
        .clone()
        .convert(Format::Mayhap)
        .expect("all bits go there");
    assert!(native.contains(b"key") && !native.contains(b"kex"));
    assert_eq!(native.clone().convert(Format::Guava).as_ref(), Ok(&guava));
    let error = native.convert(Format::Spark).expect_err("another hash");
    assert!(error.to_string().contains("build a new filter"), "{error}");
}

/// Keys go through a reader of the same parameters; others are told.
#[test]
fn keys_of_other_widths_are_told() {
    let parameters = Parameters::new(Format::ClickHouse, ["type=UInt64"]).expect("good");
    let options = BuildOptions {
        parameters: parameters.clone(),
        capacity: None,
        rate: Some(0.01),
        bits: None,
        probes: None,
    };
    let mut builder = options.start(0).expect("a granule");
    assert!(builder.insert(b"five").is_err());
    let reader = KeyReader::new(Format::ClickHouse, KeyType::Text);
    assert_ne!(
        reader.read(b"5"),
        parameters
            .key_reader(KeyType::Text)
            .expect("good")
            .read(b"5")
    );
    assert!(builder.finish().is_err(), "no values, no granule");
}

#[test]
fn a_filter_that_says_yes_to_all_has_no_number_of_keys() {
    let opening = OpenOptions {
        format: Some(Format::Parquet),
        ..OpenOptions::default()
    };
    let found = open(&[0xff; 64], &opening).expect("a bitset");
    let description = found[0].filter.describe();
    assert_eq!(description.stats.estimated_keys, None);
    assert_eq!(description.stats.estimated_rate, Some(1.0));
}

/// Every kind, made for hashes of the caller's own, is opened and asked about keys: an error or a yes, and never a panic.
#[test]
fn filters_of_hashes_that_only_their_maker_knows_refuse_keys() {
    use mayhap_core::plan::counting::{CountingPlan, DEFAULT_COUNTER_BITS};
    use mayhap_core::plan::{GrowingPlan, WindowPlan};
    use mayhap_core::{
        AnyFilter, Bloom, ClassicBloom, CountingBloom, Cuckoo, Excepting, Fuse, GrowingBloom,
        HashScheme, KeyHash, Retouched, Ribbon, Scheme, Timestamp, WindowBloom, WindowCuckoo,
    };
    use std::time::Duration;

    let hashes: Vec<KeyHash> = (1..50_u64)
        .map(|number| KeyHash::from_u64(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        .collect();
    let growing = GrowingPlan::new(50, 0.01).unwrap();
    let window = WindowPlan::new(50, 0.01, Duration::from_secs(8)).unwrap();
    let counting = CountingPlan::new(50, 0.01, DEFAULT_COUNTER_BITS).unwrap();
    let caller = HashScheme::Caller;
    let mut base = Bloom::for_hashes(50, 0.01).unwrap();
    base.insert_hashes(&hashes);
    let excepting = Excepting::build(AnyFilter::from(base), &hashes[..40], &hashes[40..]);
    let filters: Vec<AnyFilter> = vec![
        Bloom::for_hashes(50, 0.01).unwrap().into(),
        ClassicBloom::for_hashes(50, 0.01).unwrap().into(),
        CountingBloom::from_plan(counting, Scheme::EnhancedDoubleHashing, caller)
            .unwrap()
            .into(),
        GrowingBloom::for_hashes(50, 0.01).unwrap().into(),
        Cuckoo::growing_from_plan(growing, caller).unwrap().into(),
        WindowBloom::from_plan(window, caller, Timestamp(0))
            .unwrap()
            .into(),
        WindowCuckoo::for_hashes(50, 0.01, Duration::from_secs(8), Timestamp(0))
            .unwrap()
            .into(),
        Fuse::build_with(&hashes, 0.01, caller).unwrap().into(),
        Ribbon::build_with(&hashes, 0.01, caller).unwrap().into(),
        Retouched::for_hashes(50, 0.01).unwrap().into(),
        AnyFilter::Excepting(Box::new(excepting.unwrap())),
    ];
    for filter in filters {
        let bytes = native::encode(&filter).unwrap();
        let mut opened = open(&bytes, &OpenOptions::default()).unwrap();
        let mut filter = opened.remove(0).filter;
        let kind = filter.describe().stats.kind;
        let refused = filter.check_keys().unwrap_err().to_string();
        assert!(refused.contains("for_hashes"), "{kind}: {refused}");
        assert!(filter.insert(b"key").is_err() && filter.remove(b"key").is_err());
        let mut found = [false; 2];
        filter.contains_each(&["a", "b"], &mut found);
        assert!(filter.contains(b"key") && found == [true; 2], "{kind}");
    }
    // Another system's walk hashes keys by itself.
    let plan = mayhap_core::plan::classic::ClassicPlan::new(50, 0.01).unwrap();
    let plan = mayhap_core::plan::classic::ClassicPlan {
        bits: plan.bits.next_multiple_of(64),
        ..plan
    };
    let guava = ClassicBloom::from_plan(plan, Scheme::GuavaMitz64, caller).unwrap();
    let guava = StoredFilter::Native(guava.into());
    assert!(guava.check_keys().is_ok() && !guava.contains(b"key"));
}
