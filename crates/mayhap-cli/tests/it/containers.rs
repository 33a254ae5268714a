//! One filter of a container is selected as in `check`: to convert, merge, verify, describe, plot or extend it.

use super::folder::{Folder, assert_refused, code, lines, stderr_text};
use std::path::Path;

fn golden(name: &str) -> Vec<u8> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    std::fs::read(golden.join(name)).expect("a golden file")
}

/// An RDB file of two keys; a checksum of zeros is not verified.
fn rdb(dump: &[u8]) -> Vec<u8> {
    let value = &dump[1..dump.len() - 10];
    let mut file = b"REDIS0012".to_vec();
    for key in [b"seen", b"done"] {
        file.extend_from_slice(&dump[..1]);
        file.push(4);
        file.extend_from_slice(key);
        file.extend_from_slice(value);
    }
    file.push(0xff);
    file.extend_from_slice(&[0; 8]);
    file
}

fn folder() -> Folder {
    let folder = Folder::with(&[("keys", "key-7\nnobody\n"), ("more", "another\n")]);
    folder.write("part.parquet", golden("parquet-file/arrow-100.parquet"));
    folder.write(
        "small.ldb",
        golden("leveldb-table/table-2000-smallblocks.ldb"),
    );
    folder.write(
        "index.idx",
        golden("clickhouse-bloom_filter/u64-granules.idx"),
    );
    folder.write("dump.rdb", rdb(&golden("redisbloom/bf_scaled_3.dump.bin")));
    folder
}

/// A container, how a filter is selected in it, and the flags that the error names without that.
const CONTAINERS: [(&str, &str, &str); 4] = [
    ("part.parquet", "--column s", "--column"),
    ("small.ldb", "--granule 1", "--granule"),
    ("index.idx --fpr 0.01", "--granule 1", "--granule"),
    ("dump.rdb", "--key seen", "--key"),
];

#[test]
fn a_selected_filter_is_converted_and_described() {
    let folder = folder();
    for (container, selection, flag) in CONTAINERS {
        let name = container.split(' ').next().expect("a name");
        let all = lines(&folder.done(&format!("info --json {container}"))).len();
        assert!(all > 1, "{container}");
        let one = lines(&folder.done(&format!("info --json {container} {selection}")));
        assert_eq!(one.len(), 1, "{container}");
        let verified = lines(&folder.done(&format!("verify {container} {selection}")));
        assert!(
            verified.len() == 1 && verified[0].contains("well-formed"),
            "{verified:?}"
        );
        let refused = folder.run(&format!("convert {container} -o g.mayhap"));
        let expected = [name, "filters (", "select one with", flag];
        assert_refused(container, &refused, &expected);
        let output = folder.run(&format!("convert {container} {selection} -o {name}.mayhap"));
        if name == "dump.rdb" {
            // It has several layers, which only Redis's formats have.
            assert_refused(container, &output, &["several layers"]);
            folder.done(&format!(
                "convert {container} {selection} -o g.chunks --format redisbloom"
            ));
            continue;
        }
        assert_eq!(code(&output), 0, "{container}: {}", stderr_text(&output));
        folder.done(&format!("info {container} {selection} --plot g.svg"));
        let refused = folder.run(&format!("info {container} --plot h.svg"));
        assert_refused(container, &refused, &["select one with", flag]);
    }
    // The converted filter answers as the selected one.
    let ask = |words: &str| lines(&folder.run(&format!("check {words} keys")));
    assert_eq!(ask("part.parquet --column s"), ["key-7"]);
    assert_eq!(ask("part.parquet.mayhap"), ["key-7"]);
}

#[test]
fn selected_filters_are_merged() {
    let folder = folder();
    folder.done("merge part.parquet part.parquet --column s -o both.bin");
    assert_eq!(
        lines(&folder.run("check both.bin --from parquet keys")),
        ["key-7"]
    );
    let output = folder.run("merge part.parquet part.parquet -o g.bin");
    assert_refused("all", &output, &["part.parquet has 4 filters", "--column"]);
}

#[test]
fn keys_are_added_to_a_copy_of_a_selected_filter() {
    let folder = folder();
    let before = folder.read("part.parquet");
    let output = folder.run("add part.parquet --column s more");
    assert_refused(
        "in place",
        &output,
        &["part.parquet is a container", "-o FILE"],
    );
    folder.done("add part.parquet --column s -o s.bin more");
    assert_eq!(folder.read("part.parquet"), before);
    assert_eq!(
        lines(&folder.run("check s.bin --from parquet more")),
        ["another"]
    );
    assert_eq!(
        lines(&folder.run("check s.bin --from parquet keys")),
        ["key-7"]
    );
    let output = folder.run("add part.parquet -o g.bin more");
    assert_refused("all", &output, &["part.parquet has 4 filters", "--column"]);
}

/// It has no place to select, and was once taken for the filter itself.
#[test]
fn a_container_of_one_filter_is_not_replaced_by_that_filter() {
    for file in [
        "rocksdb-bloom/100-b10.sst",
        "accumulo-bloom/murmur-row-100.rf",
        "hbase-hfile/row-100.hfile",
    ] {
        let folder = Folder::with(&[("more", "another\n")]);
        folder.write("f", golden(file));
        let output = folder.run("add f more");
        assert_refused(file, &output, &["f is a container", "-o FILE"]);
        assert_eq!(folder.read("f"), golden(file));
        if !file.starts_with("hbase") {
            let format = file.split('-').next().unwrap_or_default();
            folder.done("add -q f -o g more");
            let output = folder.run(&format!("check g --from {format} more"));
            assert_eq!(lines(&output), ["another"], "{file}");
        }
    }
}
