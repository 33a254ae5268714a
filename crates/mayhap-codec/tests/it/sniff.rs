//! Every golden file is told for what it is, or among what it could be.

use mayhap_codec::Format;
use mayhap_codec::sniff::{Container, Sniffed, sniff};
use std::path::Path;

fn expected(dialect: &str, extension: &str) -> Option<(Option<Format>, Option<Container>)> {
    let format = |format| Some((Some(format), None));
    let container = |container| Some((None, Some(container)));
    match (dialect, extension) {
        ("native", "mayhap") => format(Format::Mayhap),
        ("guava", "bin") => format(Format::Guava),
        ("hadoop-bloom" | "hadoop-bloom-ops", "bin") => format(Format::Hadoop),
        ("hadoop-counting", "bin") => format(Format::HadoopCounting),
        ("hadoop-dynamic", "bin") => format(Format::HadoopDynamic),
        ("hadoop-retouched", "bin") => format(Format::HadoopRetouched),
        ("spark", "bin") => format(Format::Spark),
        ("rocksdb-bloom" | "rocksdb-bloom-legacy" | "rocksdb-ribbon", "bin") => {
            format(Format::RocksDb)
        }
        ("redisbloom", "chunks") => format(Format::RedisBloom),
        ("redisbloom", "cuckoo-chunks") => format(Format::RedisBloomCuckoo),
        ("redisbloom", "dump") => format(Format::RedisBloomDump),
        ("bip37", "bin") => format(Format::Bip37),
        ("cassandra-filter" | "cassandra-filter-old", "bin") => format(Format::Cassandra),
        ("leveldb", "bin") => format(Format::LevelDb),
        ("parquet-sbbf", "bin") => format(Format::Parquet),
        ("clickhouse-bloom_filter", "bin") => format(Format::ClickHouse),
        ("clickhouse-ngrambf_v1" | "clickhouse-tokenbf_v1", "bin") => {
            format(Format::ClickHouseTokenbf)
        }
        ("hbase-chunk", "bin") => format(Format::HBase),
        ("accumulo-bloom", "bin") => format(Format::Accumulo),
        (_, "rf") => container(Container::RFile),
        (_, "hfile") => container(Container::HFile),
        (_, "parquet") => container(Container::Parquet),
        (_, "ldb") => container(Container::LevelDbTable),
        (_, "sst") => container(Container::RocksDbTable),
        (_, "idx") => container(Container::ClickHouseFrames),
        _ => None,
    }
}

#[test]
fn golden_files_are_told_for_what_they_are() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let (mut told, mut among) = (0, 0);
    for folder in std::fs::read_dir(golden).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let dialect = folder.file_name().unwrap().to_string_lossy().into_owned();
        for file in std::fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            // RedisBloom's are NAME.chunks.bin and NAME.dump.bin, of either family.
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let extension = match name.strip_suffix(".bin") {
                Some(stem) if stem.rsplit('.').next() == Some("dump") => "dump".to_owned(),
                Some(stem) if stem.starts_with("cf_") => "cuckoo-chunks".to_owned(),
                Some(stem) if stem.rsplit('.').next() == Some("chunks") => "chunks".to_owned(),
                _ => name.rsplit('.').next().unwrap_or_default().to_owned(),
            };
            let Some((format, container)) = expected(&dialect, &extension) else {
                continue;
            };
            let bytes = std::fs::read(&file).unwrap();
            if bytes.is_empty() {
                continue;
            }
            match sniff(&bytes) {
                Sniffed::Filter(found) => {
                    assert_eq!(Some(found), format, "{}", file.display());
                    told += 1;
                }
                Sniffed::Container(found) => {
                    assert_eq!(Some(found), container, "{}", file.display());
                }
                // Of two or three bytes, nobody can tell.
                Sniffed::Text if dialect == "hbase-chunk" && bytes.len() < 4 => {}
                Sniffed::Text => panic!("{} is not text", file.display()),
                Sniffed::Candidates(found) => {
                    let format = format.unwrap_or_else(|| panic!("{}", file.display()));
                    assert!(found.contains(&format), "{}: {found:?}", file.display());
                    among += 1;
                }
            }
        }
    }
    assert!(
        told > 150 && among > 50,
        "{told} told, {among} among others"
    );
}

#[test]
fn a_file_of_ours_is_told_however_damaged() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/native");
    let mut bytes = std::fs::read(golden.join("bloom.mayhap")).unwrap();
    bytes[8..].fill(0x55);
    for length in 8..bytes.len() {
        assert_eq!(sniff(&bytes[..length]), Sniffed::Filter(Format::Mayhap));
    }
}

#[test]
fn what_is_nothing_is_nothing() {
    assert_eq!(sniff(b""), Sniffed::Candidates(Vec::new()));
}

#[test]
fn text_is_no_filter() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts = 0;
    let mut folders = vec![root.join("golden"), root.join("docs")];
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(folder).unwrap() {
            let file = file.unwrap().path();
            if file.is_dir() {
                folders.push(file);
                continue;
            }
            let extension = file.extension().unwrap_or_default();
            if !["json", "md", "txt", "svg", "py", "key"]
                .iter()
                .any(|text| extension == *text)
            {
                continue;
            }
            let bytes = std::fs::read(&file).unwrap();
            // A key may be raw bytes.
            if bytes.is_empty() || (extension == "key" && !bytes.is_ascii()) {
                continue;
            }
            assert_eq!(sniff(&bytes), Sniffed::Text, "{}", file.display());
            texts += 1;
        }
    }
    assert!(texts > 300, "{texts}");
    // Cut in the middle of a character at the end of the part that is inspected.
    let long = "x".to_owned() + &"\u{e9}".repeat(100_000);
    assert_eq!(sniff(long.as_bytes()), Sniffed::Text);
    for bytes in [&b""[..], b"a\0b", &[0xff; 1000], b"\x1b[31m", b"caf\xe9"] {
        assert_ne!(sniff(bytes), Sniffed::Text, "{bytes:?}");
    }
}
