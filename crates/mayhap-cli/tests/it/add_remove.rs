//! `add` and `remove`: counts, keys as arguments, and exceptions that stay exceptions.

use super::folder::{Folder, assert_refused, code, lines, numbered, stderr_text};

#[test]
fn keys_can_be_arguments() {
    let folder = Folder::with(&[("keys", "one\ntwo\n-3\n")]);
    folder.done("build -o f.mayhap --kind cuckoo --capacity 100 --fpr 1e-6 keys");
    let ask = |words: &str| lines(&folder.run(words));
    assert_eq!(ask("check f.mayhap -k one"), ["one"]);
    assert_eq!(ask("check f.mayhap -k two three one"), ["two", "one"]);
    assert_eq!(ask("check f.mayhap -k two -k three -k one"), ["two", "one"]);
    assert_eq!(ask("check -v f.mayhap -k two -k three"), ["three"]);
    assert_eq!(ask("check f.mayhap -k -3"), ["-3"]);
    assert_eq!(ask("check -c f.mayhap -k one two three"), ["2"]);
    assert_eq!(code(&folder.run("check -q f.mayhap -k one")), 0);
    assert_eq!(code(&folder.run("check -q f.mayhap -k three")), 1);
    folder.done("add f.mayhap -k three four");
    assert_eq!(ask("check f.mayhap -k three four five"), ["three", "four"]);
    folder.done("remove f.mayhap -k one");
    assert_eq!(code(&folder.run("check f.mayhap -k one")), 1);
    // A key may contain anything.
    let output = folder.shell(
        "mayhap add -q f.mayhap -k $'two\\nlines' '' && mayhap check f.mayhap -k $'two\\nlines' ''",
    );
    assert_eq!(output.stdout, b"two\nlines\n\n");
    // The filter can be standard input then.
    let output = folder.feed("check - -k two six", folder.read("f.mayhap"));
    assert_eq!(lines(&output), ["two"]);
    assert_refused(
        "keys and a file",
        &folder.run("check f.mayhap keys -k one"),
        &["-k", "INPUT"],
    );
    folder.done("build -o ids.mayhap --key-type u64 --fpr 1e-6 --capacity 10 /dev/null");
    folder.done("add ids.mayhap --key-type u64 -k 7 8");
    assert_eq!(ask("check ids.mayhap --key-type u64 -k 7 9"), ["7"]);
}

#[test]
fn added_and_removed_keys_are_counted() {
    for kind in ["bloom", "classic", "counting", "growing", "cuckoo"] {
        let folder = Folder::with(&[("keys", "one\ntwo\n"), ("more", "two\nthree\nfour\n")]);
        folder.done(&format!(
            "build -o f.mayhap --kind {kind} --capacity 100 --fpr 1e-6 keys"
        ));
        let added = folder.done("add f.mayhap more");
        assert_eq!(
            stderr_text(&added),
            "mayhap: f.mayhap: 2 new, 1 already present\n",
            "{kind}"
        );
        assert_eq!(stderr_text(&folder.done("add -q f.mayhap more")), "");
        if !matches!(kind, "counting" | "cuckoo") {
            continue;
        }
        let removed = folder.done("remove f.mayhap -k one");
        assert_eq!(
            stderr_text(&removed),
            "mayhap: f.mayhap: 1 removed, 0 absent\n"
        );
        let removed = folder.run("remove f.mayhap -k one nobody three");
        let actual = stderr_text(&removed);
        assert_eq!(code(&removed), 0, "{actual}");
        assert!(
            actual.starts_with("mayhap: f.mayhap: 1 removed, 2 absent\n")
                && actual.contains("remove only keys that were inserted"),
            "{actual}"
        );
        let removed = folder.run("remove -q f.mayhap -k nobody");
        assert_eq!((code(&removed), stderr_text(&removed).as_str()), (1, ""));
    }
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    folder.done("build -o f.guava --format guava --capacity 100 --fpr 1e-6 keys");
    assert_eq!(
        stderr_text(&folder.done("add f.guava -k one three")),
        "mayhap: f.guava: 1 new, 1 already present\n"
    );
    folder.done("build -o w.mayhap --kind window --window 1h --capacity 100 --fpr 1e-6 keys");
    assert_eq!(
        stderr_text(&folder.done("add w.mayhap -k one three")),
        "mayhap: w.mayhap: 1 new, 1 already present\n"
    );
}

/// A thousand members, and so many exceptions that some would be false positives.
fn blocklist(kind: &str) -> Folder {
    let folder = Folder::new();
    folder.write("bad", numbered("bad-", 0..1000));
    folder.write("good", numbered("good-", 0..50_000));
    folder.write("worse", numbered("worse-", 0..1000));
    folder.done(&format!(
        "build -o f.mayhap --kind {kind} --capacity 2000 bad --except good"
    ));
    folder
}

#[test]
fn exceptions_stay_exceptions_when_keys_are_added() {
    for kind in ["bloom", "classic", "growing", "cuckoo", "counting"] {
        let folder = blocklist(kind);
        let before = folder.read("f.mayhap");
        assert_refused(
            kind,
            &folder.run("add f.mayhap worse"),
            &["f.mayhap was built with --except: give --except LIST again"],
        );
        assert!(folder.read("f.mayhap") == before, "{kind}");
        // Twice, because the first makes a list of the layer.
        for name in ["worse", "worst"] {
            folder.write(name, numbered(&format!("{name}-"), 0..500));
            let added = folder.done(&format!("add f.mayhap {name} --except good"));
            assert!(
                stderr_text(&added).contains(" new, "),
                "{kind}: {}",
                stderr_text(&added)
            );
            assert_eq!(
                lines(&folder.run("check -c f.mayhap good")),
                ["0"],
                "{kind}"
            );
        }
        assert_eq!(
            lines(&folder.run("check -c f.mayhap bad worse worst")),
            ["2000"],
            "{kind}"
        );
        folder.done("verify f.mayhap");
        let info = folder.done("info f.mayhap");
        assert!(
            lines(&info).contains(
                &"  exceptions            50,000; `add` needs their list, --except".to_owned()
            ) && lines(&info).contains(&"  exceptions exact      yes".to_owned()),
            "{kind}: {:?}",
            lines(&info)
        );
    }
}

#[test]
fn keys_in_both_lists_are_a_decision() {
    let folder = blocklist("bloom");
    folder.write("mixed", "good-7\nnew-1\n");
    let before = folder.read("f.mayhap");
    assert_refused(
        "an added exception",
        &folder.run("add f.mayhap mixed --except good"),
        &["\"good-7\"", "--on-conflict block or allow"],
    );
    assert!(folder.read("f.mayhap") == before);
    folder.done("add -q f.mayhap mixed --except good --on-conflict allow");
    let ask = || lines(&folder.run("check f.mayhap -k good-7 new-1 bad-1"));
    assert_eq!(ask(), ["new-1", "bad-1"]);
    folder.done("add -q f.mayhap mixed --except good --on-conflict block");
    assert_eq!(ask(), ["good-7", "new-1", "bad-1"]);
    assert_eq!(lines(&folder.run("check -c f.mayhap good")), ["1"]);
    // Now it is a member, which the list contradicts.
    assert_refused(
        "a member that is an exception",
        &folder.run("add f.mayhap --except good -k new-2"),
        &["\"good-7\"", "found before", "--on-conflict"],
    );
    folder.done("add -q f.mayhap --except good -k new-2 --on-conflict block");
    assert_eq!(ask(), ["good-7", "new-1", "bad-1"]);
    folder.done("add -q f.mayhap --except good -k new-3 --on-conflict allow");
    assert_eq!(ask(), ["new-1", "bad-1"]);
    assert_eq!(lines(&folder.run("check -c f.mayhap bad")), ["1000"]);
}

#[test]
fn exceptions_need_a_filter_that_has_some() {
    let folder = Folder::with(&[("keys", "one\n"), ("good", "two\n")]);
    folder.done("build -o f.mayhap --capacity 100 keys");
    folder.done("build -o f.guava --format guava --capacity 100 keys");
    for name in ["f.mayhap", "f.guava"] {
        assert_refused(
            name,
            &folder.run(&format!("add {name} keys --except good")),
            &["has no exceptions"],
        );
    }
}
