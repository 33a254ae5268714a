//! HBase's files and chunks on the command line.

use super::folder::{Folder, assert_refused, code, lines, stderr_text};
use std::path::Path;

fn golden(name: &str) -> Vec<u8> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    std::fs::read(golden.join(name)).expect("a golden file")
}

#[test]
fn rows_and_columns_are_separated_by_a_tab() {
    let folder = Folder::with(&[("cells", "r1\tq1\nr1\tq2\nr2\n")]);
    let shape = "--probes 7 -P type=rowcol -P hash=jenkins";
    folder.done(&format!(
        "build --format hbase --bits 4096 {shape} -o f cells"
    ));
    let words = format!("check f --from hbase {shape}");
    let output = folder.feed(&words, "r1\tq1\nr1\tq3\nr2\nr2\tq1\nr1\n");
    assert_eq!(lines(&output), ["r1\tq1", "r2"]);
    // Of numbers, too: eight bytes, big-endian.
    folder.write("cells", "-7\tq\n");
    folder.done(&format!(
        "build --force --format hbase --bits 4096 {shape} --key-type i64 -o f cells"
    ));
    let output = folder.feed(&format!("{words} --key-type hex"), "fffffffffffffff9\t71\n");
    assert_eq!(code(&output), 0, "{}", stderr_text(&output));
}

#[test]
fn what_a_chunk_does_not_say_is_asked_for() {
    let folder = Folder::new();
    folder.write("chunk", golden("hbase-chunk/murmur-100.bin"));
    assert_refused("detected", &folder.run("info chunk"), &["hbase", "--from"]);
    assert_refused(
        "no probes",
        &folder.run("info chunk --from hbase"),
        &["--probes"],
    );
    folder.done("info chunk --from hbase --probes 7");
    folder.done("convert chunk --from hbase --probes 7 -o f.mayhap");
    folder.done("convert f.mayhap --format hbase -o again");
    assert_eq!(folder.read("again"), folder.read("chunk"));
}

#[test]
fn parameters_that_contradict_a_file_are_errors() {
    let folder = Folder::new();
    folder.write("f", golden("hbase-hfile/row-100.hfile"));
    folder.write("many", golden("hbase-hfile/row-1000-block256.hfile"));
    folder.write("prefix", golden("hbase-hfile/rowprefix-6.hfile"));
    folder.done("check f -P hash=murmur -P type=row -c -k nobody row-5 key-5 r5");
    for (words, expected) in [
        ("check f -P hash=jenkins -k a", "murmur, as the file says"),
        ("check f -P type=rowcol -k a", "row, as the file says"),
        ("check f -P filter=delete_family -k a", "contains no filter"),
        ("check f -P filter=all -k a", "general or delete_family"),
        ("convert many -o f.mayhap", "several chunks"),
        ("convert prefix -o f.mayhap", "prefixes of rows"),
        ("convert f --format hbase -o g", "HFiles are only read"),
        ("add f -k a", "is a container"),
        ("add f -o g -k a", "does not support inserts"),
        ("merge f f -o g", "cannot be merged"),
    ] {
        assert_refused(words, &folder.run(words), &[expected]);
    }
    folder.done("convert f -o f.mayhap");
    folder.done("verify many");
}

#[test]
fn damaged_blocks_are_noticed() {
    let folder = Folder::new();
    let mut bytes = golden("hbase-hfile/row-100.hfile");
    let chunk = bytes
        .windows(8)
        .position(|window| window == b"BLMFBLK2")
        .expect("a chunk");
    bytes[chunk + 40] ^= 1;
    folder.write("f", &bytes);
    assert_refused(
        "a bit of a chunk",
        &folder.run("check f -k a"),
        &["checksum"],
    );
}
