//! A native file stores what its keys are, and every subcommand uses it.

use super::folder::{Folder, assert_refused, code, lines, numbered};
use super::stdout;

const KINDS: [&str; 9] = [
    "bloom",
    "classic",
    "counting",
    "growing",
    "cuckoo",
    "fuse",
    "ribbon",
    "window --window 1h",
    "window-cuckoo --window 1h",
];

fn numbers() -> Folder {
    Folder::with(&[("ids", &numbered("", 0..1000)), ("new", "5000\n5001\n")])
}

#[test]
fn the_key_type_of_a_build_is_used_from_then_on() {
    let folder = numbers();
    for kind in KINDS {
        folder.done(&format!(
            "build --kind {kind} --key-type u64 -o f.mayhap ids"
        ));
        assert_eq!(
            lines(&folder.run("check -c f.mayhap ids")),
            ["1000"],
            "{kind}"
        );
        // Another spelling of the same number is the same key.
        folder.write("spelt", "+7\n 007 \n");
        assert_eq!(
            lines(&folder.run("check -c f.mayhap spelt")),
            ["2"],
            "{kind}"
        );
        assert_eq!(
            lines(&folder.run("check --key-type u64 -c f.mayhap ids")),
            ["1000"]
        );
        let info = folder.run("info --json f.mayhap");
        assert!(stdout(&info).contains("\"key_type\":\"u64\""), "{kind}");
    }
}

#[test]
fn another_key_type_is_an_error() {
    let folder = numbers();
    folder.done("build --key-type u64 --kind cuckoo -o numbers.mayhap ids");
    folder.done("build --kind cuckoo -o text.mayhap ids");
    for (file, wrong, right) in [
        ("numbers", "text", "u64"),
        ("numbers", "i64", "u64"),
        ("text", "u64", "text"),
        ("text", "uuid", "text"),
    ] {
        for subcommand in ["check", "add", "remove"] {
            let words = format!("{subcommand} {file}.mayhap --key-type {wrong} ids");
            let expected = format!("{file}.mayhap has keys of type {right}, not {wrong}");
            assert_refused(&words, &folder.run(&words), &[&expected, "omit --key-type"]);
        }
    }
}

/// Text, hexadecimal digits and base 64 are spellings of the same bytes.
#[test]
fn bytes_can_be_spelt_in_another_way_than_in_the_build() {
    let folder = Folder::with(&[
        ("text", "apple\n"),
        ("hex", "6170706c65\n"),
        ("base64", "YXBwbGU=\n"),
    ]);
    for stored in ["text", "hex", "base64"] {
        folder.done(&format!("build --key-type {stored} -o f.mayhap {stored}"));
        assert_eq!(code(&folder.run(&format!("check f.mayhap {stored}"))), 0);
        for given in ["text", "hex", "base64"] {
            let words = format!("check f.mayhap --key-type {given} {given}");
            assert_eq!(code(&folder.run(&words)), 0, "{words}");
        }
    }
}

#[test]
fn add_and_remove_use_the_key_type() {
    let folder = numbers();
    folder.done("build --key-type i32 --kind cuckoo --capacity 2000 -o f.mayhap ids");
    folder.done("add -q f.mayhap new");
    assert_eq!(lines(&folder.run("check f.mayhap new")), ["5000", "5001"]);
    folder.done("remove -q f.mayhap new");
    assert_eq!(code(&folder.run("check f.mayhap new")), 1);
    // The file still says what its keys are, and a line that is no number is an error.
    folder.write("word", "apple\n");
    assert_refused(
        "check",
        &folder.run("check f.mayhap word"),
        &["line 1", "apple"],
    );
}

#[test]
fn a_state_of_uniq_keeps_its_key_type() {
    let folder = numbers();
    folder.write("spelt", "7\n07\n+7\n8\n");
    let words = "uniq -q --key-type u32 --state s.mayhap spelt";
    assert_eq!(lines(&folder.run(words)), ["7", "8"]);
    assert_eq!(code(&folder.run("uniq -q --state s.mayhap spelt")), 1);
    assert_refused(
        "uniq",
        &folder.run("uniq --state s.mayhap --key-type text spelt"),
        &["keys of type u32, not text"],
    );
    // A state of text knows a line that is spelt in hexadecimal digits.
    folder.write("text", "apple\n");
    folder.write("hex", "6170706c65\n");
    folder.done("uniq -q --state t.mayhap text");
    assert_eq!(
        code(&folder.run("uniq -q --state t.mayhap --key-type hex hex")),
        1
    );
    // Without a key type, lines are compared as they are.
    assert_eq!(lines(&folder.run("uniq -q spelt")).len(), 4);
}

#[test]
fn filters_of_different_key_types_are_not_merged() {
    let folder = numbers();
    folder.done("build --key-type u64 -o a.mayhap ids");
    folder.done("build -o b.mayhap ids");
    assert_refused(
        "merge",
        &folder.run("merge a.mayhap b.mayhap -o c.mayhap"),
        &["u64", "text"],
    );
}
