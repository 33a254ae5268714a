//! Keys from columns: `--field` with CSV, TSV, words, JSON lines and Parquet.

use super::disk::signal;
use super::folder::{Folder, assert_refused, code, lines, stderr_text};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

const CSV: &str =
    "time,user,what\n1,ann,\"click, or not\"\n2,bob,x\n3,ann,\"two\nlines\"\n4,\"ann\",y\n5,,z\n";

#[test]
fn whole_rows_are_printed_once_per_key() {
    let folder = Folder::with(&[
        ("log.csv", CSV),
        ("log.tsv", "1\tann\n2\tbob\n3\tann\n"),
        ("log.txt", "  1   ann x\n2\tbob\n3 \t ann\n"),
        ("log.psv", "1|ann\n2|bob\n3|ann\n"),
        (
            "log.jsonl",
            "{\"user\":{\"id\":\"ann\"},\"n\":1}\n\n{\"n\":1,\"user\":{\"id\":\"bob\"}}\n{\"user\":{\"id\":\"\\u0061nn\"}}\n{\"n\":2}\n{\"n\":null}\n",
        ),
    ]);
    let ask = |words: &str| {
        let output = folder.run(words);
        assert_eq!(code(&output), 0, "{words}: {}", stderr_text(&output));
        String::from_utf8(output.stdout).expect("text")
    };
    let named = "time,user,what\n1,ann,\"click, or not\"\n2,bob,x\n5,,z\n";
    assert_eq!(ask("uniq --field user log.csv"), named);
    assert_eq!(ask("uniq --field 2 --header log.csv"), named);
    // Without names, the first row is data.
    assert_eq!(ask("uniq --field 2 log.csv"), named);
    assert_eq!(
        ask("uniq -d --field 2 log.csv"),
        "3,ann,\"two\nlines\"\n4,\"ann\",y\n"
    );
    assert_eq!(ask("uniq -c --field user log.csv"), "3\n");
    assert_eq!(ask("uniq -c --field 2 log.csv"), "4\n");
    assert_eq!(ask("uniq --field 2 log.tsv"), "1\tann\n2\tbob\n");
    assert_eq!(
        ask("uniq --field 2 --delimiter whitespace log.txt"),
        "  1   ann x\n2\tbob\n"
    );
    assert_eq!(
        ask("uniq --field 2 --delimiter | log.psv"),
        "1|ann\n2|bob\n"
    );
    assert_eq!(
        ask("uniq --field user.id log.jsonl"),
        "{\"user\":{\"id\":\"ann\"},\"n\":1}\n{\"n\":1,\"user\":{\"id\":\"bob\"}}\n{\"n\":2}\n"
    );
    assert_eq!(
        ask("uniq --field n log.jsonl"),
        "{\"user\":{\"id\":\"ann\"},\"n\":1}\n{\"user\":{\"id\":\"\\u0061nn\"}}\n{\"n\":2}\n"
    );
    // Several tables have one header.
    folder.write("more.csv", "time,user,what\r\n9,eve,x\r\n10,eve,y");
    assert_eq!(
        ask("uniq --field user log.csv more.csv"),
        format!("{named}9,eve,x\r\n")
    );
    // Pipes have no names.
    for (words, text) in [("--field user", CSV), ("--field 2 --delimiter ,", CSV)] {
        let output = folder.feed(&format!("uniq {words}"), text);
        assert_eq!(output.stdout, named.as_bytes(), "{words}");
    }
    let output = folder.feed("uniq --field id", "{\"id\":1}\n{\"id\": 1}\n{\"id\":2}\n");
    assert_eq!(lines(&output), ["{\"id\":1}", "{\"id\":2}"]);
    let output = folder.shell("gzip -c log.csv > log.csv.gz; mayhap uniq --field user log.csv.gz");
    assert_eq!(output.stdout, named.as_bytes());
}

#[test]
fn separators_and_quotes_are_chosen() {
    let folder = Folder::with(&[
        ("space", "a \"x y\nb \"x z\n"),
        ("quotes.csv", "1,\"a\n2,\"a\n"),
        ("semicolon", "1;\"a;b\"\n2;\"a;b\"\n"),
    ]);
    for (line, expected) in [
        // As in cut, quotes and empty fields are ordinary.
        ("mayhap uniq --field 2 --delimiter ' ' space", "a \"x y\n"),
        (
            "mayhap uniq --field 3 --delimiter ' ' space",
            "a \"x y\nb \"x z\n",
        ),
        ("mayhap uniq --field 2 --no-quotes quotes.csv", "1,\"a\n"),
        (
            "mayhap uniq --field 2 --delimiter ';' semicolon",
            "1;\"a;b\"\n",
        ),
        (
            "mayhap uniq --field 3 --delimiter ';' --no-quotes semicolon",
            "1;\"a;b\"\n",
        ),
    ] {
        let output = folder.shell(line);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            expected,
            "{line}: {}",
            stderr_text(&output)
        );
    }
}

#[test]
fn filters_are_built_changed_and_asked_by_column() {
    let folder = Folder::with(&[
        ("users.csv", "id,name\n7,ann\n8,\"bob, b\"\n"),
        ("log.csv", "what,user\nx,7\ny,9\nz,8\n"),
        (
            "log.jsonl",
            "{\"user\":7}\n{\"user\":9}\n{}\n{\"user\":null}\n",
        ),
        ("more.jsonl", "{\"user\":9}\n{}\n"),
    ]);
    for (kind, words) in [
        ("bloom", ""),
        ("cuckoo", "--capacity 10"),
        ("ribbon", "-j 2"),
        ("bloom", "--key-type u64"),
    ] {
        let key_type = if words.contains("key-type") {
            words
        } else {
            ""
        };
        folder.done(&format!(
            "build -o f.mayhap --kind {kind} --fpr 1e-6 {words} --field id users.csv"
        ));
        let ask = |words: &str| {
            let output = folder.run(&format!("check f.mayhap {words} {key_type}"));
            String::from_utf8(output.stdout).expect("text")
        };
        assert_eq!(
            ask("--field user log.csv"),
            "what,user\nx,7\nz,8\n",
            "{kind}"
        );
        assert_eq!(ask("-v --field user log.csv"), "what,user\ny,9\n");
        assert_eq!(ask("-c --field user log.csv"), "2\n");
        assert_eq!(ask("--field user log.jsonl"), "{\"user\":7}\n");
        // A row without the key is in no filter.
        assert_eq!(
            ask("-v --field user log.jsonl"),
            "{\"user\":9}\n{}\n{\"user\":null}\n"
        );
        assert_eq!(ask("-k 7"), "7\n");
    }
    folder.done("build -o f.mayhap --kind cuckoo --capacity 10 --fpr 1e-6 --field id users.csv");
    let added = folder.done("add f.mayhap --field user more.jsonl");
    assert!(
        stderr_text(&added).contains("1 new, 0 already"),
        "{}",
        stderr_text(&added)
    );
    assert_eq!(code(&folder.run("check -q f.mayhap -k 9")), 0);
    folder.done("remove f.mayhap --field user more.jsonl");
    assert_eq!(code(&folder.run("check -q f.mayhap -k 9")), 1);
    // Other systems' filters too.
    folder.done("build -o f.guava --format guava --key-type i64 --fpr 1e-6 --field id users.csv");
    assert_eq!(
        lines(&folder.run("check f.guava --key-type i64 --field user log.jsonl")),
        ["{\"user\":7}"]
    );
}

#[test]
fn parquet_columns_are_keys() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let folder = Folder::new();
    let bytes = fs::read(golden.join("parquet-file/arrow-100.parquet")).expect("a golden file");
    folder.write("t.parquet", bytes);
    // The same rows as CSV.
    folder.shell("mayhap uniq --field 1 t.parquet > all.csv");
    let all = lines(&folder.shell("cat all.csv"));
    let names: Vec<&str> = all[0].split(',').collect();
    assert!(all.len() > 2 && names.len() > 1, "{all:?}");
    for name in &names {
        folder.done(&format!(
            "build -o f.mayhap --force --fpr 1e-6 --field {name} t.parquet"
        ));
        let found = lines(&folder.run(&format!("check -c f.mayhap --field {name} t.parquet")));
        let as_text = lines(&folder.run(&format!("check -c f.mayhap --field {name} all.csv")));
        assert_ne!(found, ["0"], "{name}");
        assert_eq!(found, as_text, "{name}");
        let rows = |table: &str| {
            let words = format!("check f.mayhap --field {name} {table}");
            folder.run(&words).stdout
        };
        assert!(rows("t.parquet") == rows("all.csv"), "{name}");
    }
}

#[test]
fn rows_without_the_field_are_errors_with_their_number() {
    let folder = Folder::with(&[
        ("a.csv", "id,name\n1,ann\n2\n"),
        ("b.jsonl", "{\"id\":1}\nnot json\n"),
        ("c.txt", "one two\nthree\n"),
        ("d.csv", "id\n\"open\n"),
        ("e.csv", "id\n1\nx\n"),
    ]);
    folder.done("build -o f.mayhap --key-type u64 --capacity 10 /dev/null");
    for (words, expected) in [
        (
            "uniq -c --field name a.csv",
            &["row 3 of a.csv", "no field 2"][..],
        ),
        ("uniq -c --field id b.jsonl", &["row 2 of b.jsonl", "JSON"]),
        (
            "uniq -c --field 2 --delimiter whitespace c.txt",
            &["row 2 of c.txt", "no field 2"],
        ),
        ("uniq -c --field id d.csv", &["never closed", "--no-quotes"]),
        (
            "uniq --field nobody a.csv",
            &["no column nobody, only id, name", "--field"],
        ),
        ("uniq --field 3 a.csv", &["1 to 2", "--field"]),
        ("uniq --field 1 c.txt", &["c.txt", "--delimiter"]),
        (
            "check f.mayhap --key-type u64 --field id e.csv -c",
            &["line 3", "\"x\""],
        ),
        ("uniq --delimiter , a.csv", &["--field"]),
        ("uniq --field 1 -0 a.csv", &["--field", "--null"]),
        ("check f.mayhap --field 1 -k one", &["-k", "--field"]),
        ("uniq --field 1 missing.csv", &["missing.csv: no such file"]),
        (
            "check f.mayhap --field 1 missing.csv",
            &["missing.csv: no such file; if it is a key"],
        ),
        (
            "uniq --field 1 --delimiter ab a.csv",
            &["--delimiter", "one character"],
        ),
    ] {
        let output = folder.run(words);
        assert_refused(words, &output, expected);
    }
}

#[test]
fn rows_of_a_pipe_are_printed_as_they_arrive_and_saved() {
    let folder = Folder::new();
    let mut child = folder
        .mayhap("uniq --field 2 --delimiter whitespace --state s.mayhap")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut to = child.stdin.take().expect("a pipe");
    let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
    for line in ["1 ann\n", "2 bob\n"] {
        to.write_all(line.as_bytes()).expect("it reads");
        let mut answer = String::new();
        from.read_line(&mut answer).expect("it answers");
        assert_eq!(answer, line);
    }
    signal(&child, "TERM");
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
    // The state has the keys, not the rows.
    assert_eq!(
        lines(&folder.feed("uniq --state s.mayhap", "ann\nbob\ncid\n")),
        ["cid"]
    );
}

#[test]
fn carriage_returns_are_reported_once() {
    let folder = Folder::with(&[
        ("dos", "one\r\ntwo\r\n"),
        ("dos2", "three\r\n"),
        ("unix", "one\ntwo\r\n"),
        ("t.csv", "id,x\r\n1,2\r\n"),
    ]);
    folder.done("build -o f.mayhap --capacity 100 unix");
    for words in [
        "uniq dos dos2",
        "build -o g.mayhap dos dos2",
        "check -c f.mayhap unix dos",
        "add -q f.mayhap dos",
    ] {
        let output = folder.run(words);
        let actual = stderr_text(&output);
        assert!(
            actual.lines().count() == 1
                && actual.contains("dos end with CR LF")
                && actual.contains("--crlf"),
            "{words}: {actual}"
        );
    }
    for words in [
        "uniq --crlf dos",
        "uniq unix",
        "uniq -0 dos",
        "uniq --field x t.csv",
    ] {
        assert_eq!(stderr_text(&folder.run(words)), "", "{words}");
    }
}
