//! Secret keys: in the file, or in a file of their own.

use super::folder::{Folder, assert_refused, code, lines, numbered, stderr_text};

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

fn folder() -> Folder {
    Folder::with(&[("keys", &numbered("", 0..1000))])
}

#[test]
fn two_keyed_builds_differ_and_answer_alike() {
    let folder = folder();
    for kind in KINDS {
        for name in ["a", "b"] {
            folder.done(&format!(
                "build --keyed --kind {kind} -o {name}.mayhap keys"
            ));
            assert_eq!(
                lines(&folder.run(&format!("check -c {name}.mayhap keys"))),
                ["1000"],
                "{kind}"
            );
        }
        assert!(folder.read("a.mayhap") != folder.read("b.mayhap"), "{kind}");
    }
    folder.done("build --keyed -o a.mayhap keys");
    folder.done("build --keyed -o b.mayhap keys");
    assert_refused(
        "merge",
        &folder.run("merge a.mayhap b.mayhap -o c.mayhap"),
        &["cannot be merged"],
    );
    folder.done("uniq -q --keyed --state s.mayhap keys");
    assert_eq!(code(&folder.run("uniq -q --state s.mayhap keys")), 1);
    assert_eq!(
        code(&folder.run("uniq -q --keyed --state s.mayhap keys")),
        1
    );
}

#[test]
fn a_key_file_is_created_readable_for_its_owner_only() {
    let folder = folder();
    folder.done("build --key-file secret -o a.mayhap keys");
    let key = folder.read("secret");
    assert_eq!(key.trim_ascii().len(), 32);
    assert_eq!(lines(&folder.shell("stat -c %a secret")), ["600"]);
    folder.done("build --key-file secret -o b.mayhap keys");
    assert_eq!(folder.read("secret"), key);
    assert!(folder.read("a.mayhap") == folder.read("b.mayhap"));
    let secret = u128::from_str_radix(std::str::from_utf8(key.trim_ascii()).expect("digits"), 16)
        .expect("a number");
    let inside = folder.read("a.mayhap");
    let bytes = secret.to_be_bytes();
    assert!(
        !inside.windows(16).any(|window| window == bytes),
        "the key is in the file"
    );
    // The same key as bytes.
    folder.write("raw", bytes);
    assert_eq!(
        lines(&folder.run("check -c a.mayhap --key-file raw keys")),
        ["1000"]
    );
}

#[test]
fn every_subcommand_needs_an_external_key_and_keeps_it_external() {
    let folder = folder();
    folder.write("none", "");
    folder.done("build --key-file secret --capacity 5000 -o f.mayhap keys");
    folder.done("build --key-file other -o g.mayhap keys");
    folder.done("build -o open.mayhap keys");
    for words in [
        "check f.mayhap keys",
        "info f.mayhap",
        "verify f.mayhap",
        "add f.mayhap keys",
        "merge f.mayhap f.mayhap -o h.mayhap",
        "fold f.mayhap --fpr 10% -o h.mayhap",
        "convert f.mayhap -o h.mayhap",
    ] {
        assert_refused(words, &folder.run(words), &["f.mayhap", "--key-file"]);
        let output = folder.run(&format!("{words} --key-file other"));
        assert_refused(
            words,
            &output,
            &["f.mayhap", "another secret key", "--key-file"],
        );
        let output = folder.run(&format!("{words} --key-file secret"));
        assert!(code(&output) < 2, "{words}: {}", stderr_text(&output));
        if words.contains("h.mayhap") {
            assert_refused(words, &folder.run("check h.mayhap keys"), &["--key-file"]);
            let output = folder.run("check -c h.mayhap --key-file secret keys");
            assert_eq!(lines(&output), ["1000"], "{words}");
        }
    }
    let output = folder.run("check f.mayhap --key-file none keys");
    assert_refused(
        "an empty key",
        &output,
        &["none is not a key", "32 hexadecimal digits"],
    );
    let output = folder.run("check f.mayhap --key-file missing keys");
    assert_refused("a missing key", &output, &["missing: no such file"]);
    let output = folder.run("build --key-file secret --keyed -o h.mayhap keys");
    assert_refused("both", &output, &["--keyed", "--key-file"]);
    // A key for a file that needs none is no harm.
    assert_eq!(
        lines(&folder.run("check -c open.mayhap --key-file secret keys")),
        ["1000"]
    );
}
