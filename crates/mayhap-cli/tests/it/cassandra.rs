//! A data folder of Cassandra: which SSTables may hold a key.

use super::folder::{Folder, assert_refused, code, lines, stderr_text};
use std::fs;

/// Two tables with four SSTables, of every layout; `nb-9` has no filter.
fn data() -> Folder {
    let folder = Folder::with(&[
        ("a", "ann\nall\n"),
        ("b", "bob\nall\n"),
        ("c", "cid\nall\n"),
        ("d", "1\n2\n"),
    ]);
    for table in [
        "data/shop/users-5a1c",
        "data/shop/users-5a1c/backups",
        "data/shop/ids-77",
    ] {
        fs::create_dir_all(folder.join(table)).expect("a folder");
    }
    for (input, file, words) in [
        ("a", "users-5a1c/nb-1-big-Filter.db", ""),
        ("b", "users-5a1c/me-2-big-Filter.db", ""),
        ("c", "users-5a1c/backups/shop-users-ka-3-Filter.db", ""),
        ("d", "ids-77/da-1-bti-Filter.db", "--key-type i32"),
    ] {
        let words = format!("build --format cassandra --capacity 1000 --fpr 0.0001 {words}");
        folder.done(&format!("{words} -o data/shop/{file} {input}"));
    }
    for other in [
        "nb-1-big-Data.db",
        "nb-1-big-Statistics.db",
        "me-2-big-TOC.txt",
    ] {
        folder.write(&format!("data/shop/users-5a1c/{other}"), "not a filter\0");
    }
    folder
}

const A: &str = "data/shop/users-5a1c/nb-1-big-Filter.db";
const B: &str = "data/shop/users-5a1c/me-2-big-Filter.db";
const C: &str = "data/shop/users-5a1c/backups/shop-users-ka-3-Filter.db";
const D: &str = "data/shop/ids-77/da-1-bti-Filter.db";

#[test]
fn sstables_that_may_hold_a_key_are_named_after_it() {
    let folder = data();
    let output = folder.feed("check data --from cassandra", "cid\nnobody\nall\nann");
    assert_eq!(code(&output), 0);
    let expected = [
        format!("cid\t{C}"),
        format!("all\t{C}\t{B}\t{A}"),
        format!("ann\t{A}"),
    ];
    assert_eq!(lines(&output), expected);
    assert_eq!(stderr_text(&output), "");
    // The folder of one table, and keys as Cassandra encodes integers.
    let output = folder.done("check data/shop/ids-77 --from cassandra --key-type i32 -k 2 3");
    assert_eq!(lines(&output), [format!("2\t{D}")]);
    // An end of lines is kept, whatever it is.
    let output = folder.feed("check data --from cassandra -0", "bob\0nobody\0");
    assert_eq!(output.stdout, format!("bob\t{B}\0").as_bytes());
    let output = folder.feed("check data --from cassandra --crlf", "bob\r\n");
    assert_eq!(output.stdout, format!("bob\t{B}\r\n").as_bytes());
    let rows = "id,name\n1,bob\n2,eve\n";
    let output = folder.feed("check data --from cassandra --field name", rows);
    assert_eq!(
        lines(&output),
        ["id,name".to_owned(), format!("1,bob\t{B}")]
    );
}

#[test]
fn flags_and_exit_codes_are_those_of_files() {
    let folder = data();
    let keys = "ann\nnobody\nall\nelse\n";
    for (words, printed, status) in [
        ("-v", "nobody\nelse\n", 0),
        ("-c", "2\n", 0),
        ("-cv", "2\n", 0),
        ("-q", "", 0),
        ("-c --key-type hex -k 00", "0\n", 1),
    ] {
        let output = folder.feed(&format!("check data --from cassandra {words}"), keys);
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{words}");
        assert_eq!(code(&output), status, "{words}");
    }
    for (words, status) in [("-q -k nobody", 1), ("-q -v -k ann", 1), ("-k nobody", 1)] {
        let output = folder.run(&format!("check data --from cassandra {words}"));
        assert_eq!(
            (code(&output), output.stdout),
            (status, Vec::new()),
            "{words}"
        );
    }
    let rows = "id,name\n1,bob\n2,eve\n";
    let output = folder.feed("check data --from cassandra -c --field name", rows);
    assert_eq!(lines(&output), ["1"]);
}

#[test]
fn many_keys_on_several_threads_are_answered_in_order() {
    let folder = data();
    folder.write("keys", "ann\nno\n".repeat(50_000));
    let output = folder.done("check data --from cassandra -j 2 keys");
    let printed = lines(&output);
    assert_eq!(printed.len(), 50_000);
    assert!(printed.iter().all(|line| *line == format!("ann\t{A}")));
}

#[test]
fn folders_that_cannot_be_searched_are_errors() {
    let folder = data();
    fs::create_dir(folder.join("empty")).expect("a folder");
    for (words, expected) in [
        ("check data -k ann", "--from cassandra"),
        ("check data --from guava -k ann", "--from cassandra"),
        (
            "check empty --from cassandra -k ann",
            "contains no *-Filter.db",
        ),
        (
            "check data --from cassandra -P order=new -k ann",
            "expected old",
        ),
        (
            "check data --from cassandra -P colour=red -k ann",
            "order, version",
        ),
        (
            "check data --from cassandra --granule 3 -k ann",
            "no such filter",
        ),
        ("check data --from cassandra --key-type i32 -k ann", "ann"),
    ] {
        assert_refused(words, &folder.run(words), &[expected]);
    }
    // One bad file among good ones: its SSTable might hold the key.
    for (name, bytes, expected) in [
        (
            "nb-8-big-Filter.db",
            &b"\0\0\0\x05\0\0\0\x09cut"[..],
            "nb-8-big-Filter.db",
        ),
        (
            "x-Filter.db",
            b"\0\0\0\x05\0\0\0\x01\0\0\0\0\0\0\0\0",
            "-P order=new or -P order=old",
        ),
        (
            "shop-users-hf-1-Filter.db",
            b"\0\0\0\x05\0\0\0\x01\0\0\0\0\0\0\0\0",
            "another hash",
        ),
    ] {
        let path = format!("data/shop/ids-77/{name}");
        folder.write(&path, bytes);
        let words = "check data --from cassandra -k ann";
        assert_refused(name, &folder.run(words), &[expected]);
        fs::remove_file(folder.join(&path)).expect("it was written");
    }
    folder.done("check data --from cassandra -k ann");
}

/// `bloom_filter_fp_chance = 1` writes no filter, or an empty one.
#[test]
fn sstables_without_a_filter_are_reported() {
    let folder = data();
    folder.write("data/shop/users-5a1c/nb-9-big-Data.db", "rows");
    folder.write("data/shop/users-5a1c/notes-Data.db", "no SSTable");
    let output = folder.run("check data --from cassandra -k nobody");
    assert_eq!((code(&output), lines(&output)), (1, Vec::new()));
    let reported = stderr_text(&output);
    assert!(
        reported.contains("nb-9-big-Data.db has no filter"),
        "{reported}"
    );
    assert_eq!(reported.lines().count(), 1);
    folder.write("data/shop/users-5a1c/nb-9-big-Filter.db", "");
    let output = folder.done("check data --from cassandra -k nobody");
    let path = "data/shop/users-5a1c/nb-9-big-Filter.db";
    assert_eq!(lines(&output), [format!("nobody\t{path}")]);
    assert_eq!(stderr_text(&output), "");
}

#[test]
fn a_filter_is_built_changed_and_converted_for_the_version_in_its_name() {
    let folder = Folder::with(&[("keys", "ann\nbob\n"), ("more", "cid\n")]);
    for name in [
        "nb-1-big-Filter.db",
        "me-1-big-Filter.db",
        "lb-1-big-Filter.db",
    ] {
        folder.done(&format!(
            "build --format cassandra -o {name} --capacity 100 keys"
        ));
        folder.done(&format!("add -q {name} more"));
        let output = folder.done(&format!("check {name} keys more"));
        assert_eq!(lines(&output), ["ann", "bob", "cid"], "{name}");
        let order = if name.starts_with("nb") { "new" } else { "old" };
        let info = folder.done(&format!("info {name}"));
        let info = String::from_utf8_lossy(&info.stdout).into_owned();
        assert!(info.contains("cassandra") && info.contains(order), "{info}");
        folder.done(&format!("verify {name}"));
        folder.done(&format!("convert {name} -o f.mayhap"));
        assert_eq!(code(&folder.run("check -q f.mayhap -k cid")), 0);
        let again = format!("{}-2-big-Filter.db", &name[..2]);
        folder.done(&format!("convert f.mayhap --format cassandra -o {again}"));
        assert_eq!(folder.read(&again), folder.read(name), "{name}");
    }
    // From 3.11 to 4.0 only the bytes turn around.
    folder.done("convert me-1-big-Filter.db --format cassandra -o nb-3-big-Filter.db");
    assert_eq!(
        folder.read("nb-3-big-Filter.db"),
        folder.read("nb-1-big-Filter.db")
    );
    for words in [
        "convert lb-1-big-Filter.db --format cassandra -o nb-4-big-Filter.db",
        "build --format cassandra -P order=old -o nb-5-big-Filter.db keys",
        "build --format cassandra --probes 22 --bits 640 -o f.db keys",
    ] {
        assert_refused(words, &folder.run(words), &[]);
    }
    // Bytes without a version are not guessed at.
    fs::copy(folder.join("me-1-big-Filter.db"), folder.join("f.bin")).expect("a copy");
    for words in [
        "check f.bin -k ann",
        "info f.bin",
        "check f.bin --from cassandra -k ann",
    ] {
        assert_refused(words, &folder.run(words), &["-P order=new or -P order=old"]);
    }
    let output = folder.done("check f.bin -P order=old keys");
    assert_eq!(lines(&output), ["ann", "bob"]);
}
