//! What happens to files that are there: replaced as a whole, or kept.

use super::folder::{Folder, assert_refused, code, lines, stderr_text};

#[test]
fn a_file_that_is_not_a_filter_is_kept() {
    let folder = Folder::with(&[("keys", "one\ntwo\n"), ("letter", "Dear Ann,\n")]);
    folder.done("build -o f.mayhap keys");
    for words in [
        "build -o letter keys",
        "build -o letter --format leveldb keys",
        "build -o letter --format bip37 keys",
        "merge f.mayhap f.mayhap -o letter",
        "convert f.mayhap -o letter",
        "fold f.mayhap --fpr 50% -o letter",
        "verify f.mayhap --repair ones -o letter",
    ] {
        assert_refused(
            words,
            &folder.run(words),
            &["letter", "not a filter", "--force"],
        );
        assert_eq!(folder.read("letter"), b"Dear Ann,\n", "{words}");
        let output = folder.run(&format!("{words} --force"));
        assert!(code(&output) < 2, "{words}: {}", stderr_text(&output));
        assert_ne!(folder.read("letter"), b"Dear Ann,\n", "{words}");
        folder.write("letter", "Dear Ann,\n");
    }
    assert_refused("uniq", &folder.run("uniq --state letter keys"), &["letter"]);
    assert_refused("add", &folder.run("add letter keys"), &["letter"]);
    assert_eq!(folder.read("letter"), b"Dear Ann,\n");
    assert_eq!(folder.names(), ["f.mayhap", "keys", "letter"]);
}

#[test]
fn a_filter_and_an_empty_file_are_replaced() {
    let folder = Folder::with(&[("one", "one\n"), ("two", "two\n"), ("f.mayhap", "")]);
    for (input, answer) in [("one", 0), ("two", 1), ("one", 0)] {
        folder.done(&format!("build -o f.mayhap {input}"));
        assert_eq!(code(&folder.feed("check -q f.mayhap", "one\n")), answer);
    }
    // Of another format too.
    folder.done("build -o f.mayhap --format guava one");
    folder.done("build -o f.mayhap two");
}

#[test]
fn a_drawing_replaces_only_drawings() {
    let folder = Folder::with(&[("keys", "one\ntwo\n"), ("letter", "Dear Ann,\n")]);
    folder.done("build -o f.mayhap keys");
    let filter = folder.read("f.mayhap");
    for words in ["info f.mayhap", "plan --keys 1M --fpr 1%"] {
        for (file, expected) in [
            ("letter", &["not an SVG plot", "--plot another name"][..]),
            ("f.mayhap", &["a name that ends in .svg"]),
        ] {
            let words = format!("{words} --plot {file}");
            assert_refused(&words, &folder.run(&words), expected);
        }
    }
    assert_eq!(folder.read("letter"), b"Dear Ann,\n");
    assert!(folder.read("f.mayhap") == filter);
    for _ in 0..2 {
        folder.done("info f.mayhap --plot drawn.svg");
        folder.done("plan --keys 1M --fpr 1% --plot drawn.svg");
    }
    assert!(folder.read("drawn.svg").starts_with(b"<svg"));
}

#[test]
fn a_command_refuses_to_overwrite_its_input() {
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    folder.done("build -o f.mayhap keys");
    folder.shell("ln keys hard; ln -s keys soft");
    for words in [
        "build -o keys keys",
        "build --force -o keys keys",
        "build --force -o ./keys keys",
        "build --force -o hard keys",
        "build --force -o keys soft",
        "uniq --state keys keys",
        "add f.mayhap f.mayhap",
        "remove f.mayhap f.mayhap",
        "convert f.mayhap -o f.mayhap",
        "fold f.mayhap --fpr 50% -o f.mayhap",
        "merge f.mayhap f.mayhap -o f.mayhap",
        "verify f.mayhap --repair ones -o f.mayhap",
    ] {
        assert_refused(
            words,
            &folder.run(words),
            &["is an input and the output", "another file"],
        );
    }
    assert_eq!(folder.read("keys"), b"one\ntwo\n");
    // What is printed would be read again, without end.
    for words in [
        "mayhap uniq -q keys >> keys",
        "mayhap check f.mayhap keys >> keys",
        "mayhap uniq -q < keys >> keys",
    ] {
        assert_refused(words, &folder.shell(words), &["is an input and the output"]);
        assert_eq!(folder.read("keys"), b"one\ntwo\n", "{words}");
    }
}

#[test]
fn devices_are_written_to_and_not_replaced() {
    // Somebody's `-o /dev/null` must not put a file in its place.
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    let output = folder.shell(
        "mkfifo pipe && (cat pipe > copy & mayhap build -o pipe keys; wait) && test -p pipe",
    );
    assert_eq!(code(&output), 0, "{}", stderr_text(&output));
    folder.done("build -o f.mayhap keys");
    assert!(folder.read("copy") == folder.read("f.mayhap"));
    let output = folder.shell("mayhap build -o >(cat > copied) --format guava keys; sleep 0.2; mayhap check -c copied keys");
    assert_eq!(lines(&output), ["2"], "{}", stderr_text(&output));
    assert!(!folder.names().iter().any(|name| name.starts_with('.')));
}

#[test]
fn a_dash_is_standard_output() {
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    folder.done("build -o f.mayhap keys");
    for words in [
        "build keys",
        "build -o - keys",
        "convert f.mayhap -o -",
        "merge f.mayhap",
    ] {
        assert!(
            folder.done(words).stdout == folder.read("f.mayhap"),
            "{words}"
        );
    }
    assert_eq!(folder.names(), ["f.mayhap", "keys"]);
    let output = folder.shell("mayhap build keys | mayhap info --json - | grep -c bloom");
    assert_eq!(lines(&output), ["1"], "{}", stderr_text(&output));
}

#[test]
fn permissions_and_links_stay() {
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    let output = folder.shell(
        "mayhap build -o f.mayhap keys && chmod 640 f.mayhap && ln -s f.mayhap link && \
         echo three | mayhap add link && stat -c %a f.mayhap && test -L link && echo three | mayhap check f.mayhap",
    );
    assert_eq!(lines(&output), ["640", "three"], "{}", stderr_text(&output));
}
