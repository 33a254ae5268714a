//! `join` against joins that were written down or worked out the slow way, over CSV, TSV and Parquet.

mod parquet_files;
mod random;

use super::{mayhap, stderr, stdout};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with files, in which the program runs.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("a file");
    }

    fn join(&self, words: &str) -> Output {
        mayhap(&format!("join {words}"))
            .current_dir(self.0.path())
            .output()
            .expect("the program starts")
    }

    /// What a join prints that finds something.
    fn joined(&self, words: &str) -> String {
        let output = self.join(words);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{words}: {}",
            stderr(&output)
        );
        stdout(&output).to_owned()
    }
}

fn lines(items: impl Iterator<Item = impl ToString>) -> String {
    items.map(|item| item.to_string() + "\n").collect()
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../golden/parquet-file")
        .join(name)
}

const USERS: &str = "id,name\n1,ann\n3,\"cid, the \"\"third\"\"\"\n3,eve\n";
const ORDERS: &str = "order,user,name\n10,1,x\n11,2,y\n12,\"3\",\"two\nlines\"\n13,3,z\n";

#[test]
fn rows_that_may_match_are_printed_as_they_came() {
    let folder = Folder::new(&[("users.csv", USERS), ("orders.csv", ORDERS)]);
    let words = "--left users.csv --right orders.csv --on id --right-on user --fpr 1e-9";
    let output = folder.join(words);
    assert_eq!(
        stdout(&output),
        "order,user,name\n10,1,x\n12,\"3\",\"two\nlines\"\n13,3,z\n"
    );
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        stderr(&output),
        "mayhap: 4 rows in, 3 out; false matches: 0.0 expected\n"
    );
    let quiet = folder.join(&format!("{words} -q"));
    assert_eq!((stdout(&quiet), stderr(&quiet)), (stdout(&output), ""));
}

#[test]
fn exact_is_an_inner_join_and_semi_is_not() {
    let folder = Folder::new(&[("users.csv", USERS), ("orders.csv", ORDERS)]);
    let words = "--left users.csv --right orders.csv --on id --right-on user";
    assert_eq!(
        folder.joined(&format!("{words} --exact")),
        "order,user,name,name_left\n\
         10,1,x,ann\n\
         12,\"3\",\"two\nlines\",\"cid, the \"\"third\"\"\"\n\
         12,\"3\",\"two\nlines\",eve\n\
         13,3,z,\"cid, the \"\"third\"\"\"\n\
         13,3,z,eve\n"
    );
    assert_eq!(
        folder.joined(&format!("{words} --semi")),
        "order,user,name\n10,1,x\n12,\"3\",\"two\nlines\"\n13,3,z\n"
    );
    // A rate that lets half of the other rows pass changes only the summary.
    let output = folder.join(&format!("{words} --semi --fpr 50%"));
    assert!(stderr(&output).contains(" measured"), "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 5);
}

#[test]
fn line_ends_stay_what_they_are() {
    let folder = Folder::new(&[
        ("keys.csv", "k\r\na\r\n\"b\"\r\nd\r\n"),
        (
            "rows.csv",
            "\u{feff}k,v\r\n\"a\",1\r\n\r\nb,2\nc,3\r\nx,\"b\"\r\nd,\"\r\n\"",
        ),
    ]);
    let words = "--left keys.csv --right rows.csv --on k --semi";
    assert_eq!(
        folder.joined(words),
        "\u{feff}k,v\r\n\"a\",1\r\nb,2\nd,\"\r\n\"\r\n"
    );
    // The last field of a row in quotes, before CR LF.
    assert_eq!(
        folder.joined("--left keys.csv --right rows.csv --on k --right-on v --semi"),
        "\u{feff}k,v\r\nx,\"b\"\r\n"
    );
    // And a last row that lacks its end gets that of the others.
    folder.write("short.csv", b"k\r\nz\r\nd");
    assert_eq!(
        folder.joined("--left keys.csv --right short.csv --on k"),
        "k\r\nd\r\n"
    );
}

#[test]
fn columns_are_named_or_numbered() {
    let folder = Folder::new(&[
        ("l.csv", "x;k1\ny;k2\n"),
        ("r.csv", "k2;\"a;b\"\nk3;c\n\"k1\";d\n"),
        ("named.csv", "k,v\nk1,1\n"),
    ]);
    assert_eq!(
        folder.joined(
            "--left l.csv --right r.csv --no-header --on 2 --right-on 1 --exact --delimiter ;"
        ),
        "k2;\"a;b\";y\n\"k1\";d;x\n"
    );
    assert_eq!(
        folder.joined("--left named.csv --right named.csv --on 1 --right-on k"),
        "k,v\nk1,1\n"
    );
    // TSV on one side, CSV on the other: a comma in a column needs quotes on the way.
    folder.write("l.tsv", b"k\tv\nk1\ta,b\n");
    assert_eq!(
        folder.joined("--left l.tsv --right named.csv --on k --exact"),
        "k,v,v_left\nk1,1,\"a,b\"\n"
    );
}

#[test]
fn quotes_can_be_characters_like_others() {
    let folder = Folder::new(&[
        ("l.tsv", "size\n5\" disk\n\"odd\n"),
        ("r.tsv", "n\tsize\n1\t\"odd\n2\t5\" disk\n3\teven\n"),
    ]);
    let words = "--left l.tsv --right r.tsv --on size";
    let output = folder.join(words);
    assert_eq!(output.status.code(), Some(2));
    let stderr_text = stderr(&output);
    assert!(
        stderr_text.contains("row 3 of l.tsv") && stderr_text.contains("--no-quotes"),
        "{stderr_text}"
    );
    assert_eq!(
        folder.joined(&format!("{words} --no-quotes --exact")),
        "n\tsize\n1\t\"odd\n2\t5\" disk\n"
    );
}

#[test]
fn a_side_may_be_empty() {
    let folder = Folder::new(&[
        ("nothing.csv", ""),
        ("header.csv", "k\n"),
        ("rows.csv", "k,v\na,1\n,2\n"),
    ]);
    for (left, right, printed) in [
        ("nothing.csv", "rows.csv", "k,v\n"),
        ("header.csv", "rows.csv", "k,v\n"),
        ("rows.csv", "header.csv", "k\n"),
        ("rows.csv", "nothing.csv", ""),
        ("nothing.csv", "nothing.csv", ""),
    ] {
        for how in ["", "--semi"] {
            let output = folder.join(&format!("--left {left} --right {right} --on k {how}"));
            assert_eq!(stdout(&output), printed, "{left} {right} {how}");
            assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        }
    }
    // An empty field is a key, and equal to another empty field.
    folder.write("blank.csv", b"k\n\"\"\n");
    assert_eq!(
        folder.joined("--left blank.csv --right rows.csv --on k --semi"),
        "k,v\n,2\n"
    );
}

#[test]
fn join_errors_are_one_line() {
    let folder = Folder::new(&[
        ("users.csv", USERS),
        ("orders.csv", ORDERS),
        ("twice.csv", "id,id\n1,2\n"),
        ("short.csv", "a,b,id\n1,2,1\n1,2\n"),
        ("ragged.csv", "id,x\n1,2\n1,2,3\n"),
        ("bad.parquet", "PAR1 and nothing else"),
        ("there.csv", "keep me\n"),
    ]);
    // Its end is read first, so it cannot come through a pipe or packed.
    let packed = zstd::encode_all(&b"PAR1 and more"[..], 1).expect("packed");
    folder.write("packed.gz", &packed);
    for (words, names) in [
        (
            "--left users.csv --right orders.csv --on nobody",
            &["users.csv has no column nobody, only id, name", "--on"][..],
        ),
        (
            "--left users.csv --right orders.csv --on id",
            &[
                "orders.csv has no column id, only order, user, name",
                "--right-on",
            ],
        ),
        (
            "--left users.csv --right orders.csv --on id --right-on 4",
            &["orders.csv has no column 4", "--right-on"],
        ),
        (
            "--left users.csv --right orders.csv --on id --no-header",
            &["users.csv", "a number from 1 to 2", "--on"],
        ),
        (
            "--left twice.csv --right orders.csv --on id",
            &["two columns", "1 to 2"],
        ),
        (
            "--left short.csv --right users.csv --on id",
            &["row 3 of short.csv", "no field 3", "--delimiter"],
        ),
        (
            "--left users.csv --right ragged.csv --on id --exact",
            &["row 3 of ragged.csv", "3 fields", "--semi"],
        ),
        (
            "--left ragged.csv --right users.csv --on id --exact",
            &["row 3 of ragged.csv", "3 fields", "--semi"],
        ),
        (
            "--left users.csv --right none.csv --on id",
            &["none.csv: no such file"],
        ),
        ("--left users.csv --right . --on id", &[". is a folder"]),
        (
            "--left users.csv --right bad.parquet --on id",
            &["bad.parquet", "as Parquet"],
        ),
        (
            "--left users.csv --right packed.gz --on id",
            &["packed.gz", "give the uncompressed file"],
        ),
        ("--left - --right - --on id", &["standard input"]),
        (
            "--left users.csv --right - --on id --semi --twice",
            &["--twice", "a file"],
        ),
        (
            "--left users.csv --right users.csv --on id -o users.csv",
            &["an input and the output"],
        ),
        (
            "--left users.csv --right users.csv --on id -o there.csv",
            &["there.csv exists", "--force"],
        ),
        (
            "--left users.csv --right users.csv --on id -o none/out.csv",
            &["none", "folder"],
        ),
        (
            "--left users.csv --right users.csv --on id --delimiter ab",
            &["--delimiter", "tab"],
        ),
        (
            "--left users.csv --right users.csv --on id --fpr 2",
            &["--fpr", "such as"],
        ),
        ("--left users.csv --on id", &["--right"]),
    ] {
        let output = folder.join(words);
        let stderr_text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {stderr_text}");
        assert_eq!(stderr_text.lines().count(), 1, "{words}: {stderr_text}");
        for name in names {
            assert!(
                stderr_text.contains(name),
                "{words}: no {name} in {stderr_text}"
            );
        }
    }
    let kept = fs::read_to_string(folder.path("there.csv")).expect("it is there");
    assert_eq!(kept, "keep me\n");
}

#[test]
fn a_file_is_written_atomically() {
    let folder = Folder::new(&[
        ("users.csv", USERS),
        ("orders.csv", ORDERS),
        ("cut.csv", "order,user\n1,1\n2\n"),
    ]);
    let words = "--left users.csv --on id --right-on user -o out.csv";
    let output = folder.join(&format!("{words} --right orders.csv"));
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), ""));
    let written = fs::read_to_string(folder.path("out.csv")).expect("it is there");
    assert_eq!(written.lines().count(), 5, "{written}");
    // The error is in the last row, and the file stays as it was.
    let output = folder.join(&format!("{words} --right cut.csv --force"));
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("row 3 of cut.csv"),
        "{}",
        stderr(&output)
    );
    let after = fs::read_to_string(folder.path("out.csv")).expect("it is there");
    assert_eq!(after, written);
    assert_eq!(fs::read_dir(folder.0.path()).expect("a folder").count(), 4);
}

#[test]
fn sides_may_be_packed_or_piped() {
    let folder = Folder::new(&[("users.csv", USERS)]);
    let rows = lines((0..50_000).map(|n| format!("{n}\t{}", n % 7)));
    let packed = zstd::encode_all(format!("n\tuser\n{rows}").as_bytes(), 1).expect("packed");
    folder.write("rows.tsv.zst", &packed);
    let words = "--left users.csv --right rows.tsv.zst --on id --right-on user --semi";
    assert_eq!(folder.joined(words).lines().count(), 1 + 50_000 / 7 * 2 + 2);

    let mut child = mayhap("join --left users.csv --right - --on id --right-on user --semi -q")
        .current_dir(folder.0.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    for part in ["n,us", "er\n1,1\n2,\"", "3\"\n3,", "2\n4,1"] {
        stdin.write_all(part.as_bytes()).expect("written");
        stdin.flush().expect("written");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(stdout(&output), "n,user\n1,1\n2,\"3\"\n4,1\n");
}

#[test]
fn a_named_pipe_is_opened_once() {
    let folder = Folder::new(&[("users.csv", USERS), ("orders.csv", ORDERS)]);
    let script = format!(
        "mkfifo pipe && (cat orders.csv > pipe &) && {} join --left users.csv --right pipe --on id --right-on user --semi -q",
        env!("CARGO_BIN_EXE_mayhap")
    );
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.0.path())
        .output()
        .expect("bash starts");
    let expected =
        folder.joined("--left users.csv --right orders.csv --on id --right-on user --semi");
    assert_eq!(stdout(&output), expected, "{}", stderr(&output));
}

#[test]
fn a_row_may_be_longer_than_any_buffer() {
    let folder = Folder::new(&[("keys.csv", "k\nb\n")]);
    let long = "line\n\"\"".repeat(1 << 20);
    let rows = format!("v,k\n\"{long}\",a\n\"{long}\",\"b\"\nshort,b\n");
    folder.write("rows.csv", rows.as_bytes());
    let printed = folder.joined("--left keys.csv --right rows.csv --on k --semi");
    assert!(printed == format!("v,k\n\"{long}\",\"b\"\nshort,b\n"));
}

#[test]
fn a_closed_stdout_is_not_an_error() {
    let folder = Folder::new(&[("keys.csv", "k\n1\n")]);
    folder.write(
        "rows.csv",
        format!("k\n{}", "1\n".repeat(1_000_000)).as_bytes(),
    );
    let mut child = mayhap("join --left keys.csv --right rows.csv --on k")
        .current_dir(folder.0.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
}

#[test]
fn false_matches_are_as_many_as_expected() {
    let folder = Folder::new(&[]);
    let keys = lines(0..1000);
    let rows = lines(0..200_000);
    folder.write("keys.csv", keys.as_bytes());
    folder.write("rows.csv", rows.as_bytes());
    let words = "--left keys.csv --right rows.csv --no-header --on 1 --fpr 1%";
    let printed = folder.joined(words).lines().count();
    let output = folder.join(&format!("{words} --semi"));
    assert_eq!(stdout(&output), keys);
    let stderr_text = stderr(&output);
    let number = |after: &str| -> f64 {
        let rest = stderr_text.split(after).nth(1).unwrap_or_default();
        let digits = rest.split(' ').next().unwrap_or_default();
        digits.replace(',', "").parse().expect("a number")
    };
    let (expected, measured) = (number("matches: "), number("expected, "));
    assert!(
        (printed as f64 - 1000.0 - measured).abs() < 0.5,
        "{printed} {stderr_text}"
    );
    assert!((1500.0..2500.0).contains(&expected), "{stderr_text}");
    assert!(
        (measured - expected).abs() < 0.2 * expected,
        "{stderr_text}"
    );
}
