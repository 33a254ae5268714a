//! States of `uniq` and filters under `add`, over runs and with several at once.

use super::folder::{Folder, assert_refused, code, lines, numbered, stderr_text};

#[test]
fn a_state_is_remembered_and_only_what_is_new_is_printed() {
    let folder = Folder::with(&[("a", "1\n2\n1\n"), ("b", "2\n3\n3\n")]);
    assert_eq!(lines(&folder.run("uniq -q --state s.mayhap a")), ["1", "2"]);
    assert_eq!(lines(&folder.run("uniq -q --state s.mayhap b")), ["3"]);
    let output = folder.run("uniq -q --state s.mayhap a b");
    assert_eq!((code(&output), lines(&output).len()), (1, 0));
    assert_eq!(
        lines(&folder.run("uniq -q -d --state s.mayhap b")),
        ["2", "3", "3"]
    );
    assert_eq!(lines(&folder.run("check -c s.mayhap a b")), ["6"]);
    assert_eq!(
        folder.names(),
        ["a", "b", "s.mayhap"],
        "nothing else stays behind"
    );
}

#[test]
fn options_that_contradict_the_state_are_errors() {
    let folder = Folder::with(&[("keys", "1\n2\n")]);
    folder.done("uniq -q --state grows.mayhap keys");
    folder.done("uniq -q --state forgets.mayhap --window 1h keys");
    folder.done("build -o bloom.mayhap keys");
    folder.done("build -o users.guava --format guava keys");
    for (words, stderr_text) in [
        (
            "--state grows.mayhap --window 1h",
            ["forgets nothing", "--window"],
        ),
        (
            "--state forgets.mayhap --window 2h",
            ["3600 seconds", "--window"],
        ),
        ("--state grows.mayhap --fpr 1%", ["1e-6", "--fpr"]),
        ("--state grows.mayhap --keyed", ["secret key", "--keyed"]),
        ("--state bloom.mayhap", ["bloom", "create it with uniq"]),
        ("--state users.guava", ["not a state", "another file"]),
        ("--state missing/s.mayhap", ["missing", "folder"]),
        ("--state .", ["folder", "give"]),
    ] {
        let output = folder.run(&format!("uniq {words} keys"));
        assert_refused(words, &output, &stderr_text);
    }
    // What fits is taken.
    for words in [
        "--state grows.mayhap --fpr 1e-6",
        "--state forgets.mayhap --window 60m",
        "--state forgets.mayhap",
    ] {
        assert_eq!(
            code(&folder.run(&format!("uniq -q {words} keys"))),
            1,
            "{words}"
        );
    }
}

#[test]
fn the_reported_mistakes_follow_the_rate_of_the_state() {
    let folder = Folder::new();
    folder.write("keys", numbered("", 0..100_000));
    folder.write("more", numbered("", 100_000..200_000));
    folder.done("uniq -q --fpr 1% --state s.mayhap keys");
    let actual = stderr_text(&folder.done("uniq -v --state s.mayhap more"));
    let new: u64 = number_before(&actual, " new");
    let dropped: u64 = number_before(&actual, " repeated");
    let expected: u64 = number_before(&actual, ", at most");
    let most: u64 = number_before(&actual, " (99.9 %)");
    assert_eq!(new + dropped, 100_000, "{actual}");
    assert!(dropped > 0 && dropped <= most, "{actual}");
    assert!(expected > 0 && expected <= most, "{actual}");
}

/// The number before some words, without its commas.
fn number_before(text: &str, words: &str) -> u64 {
    let before = text.split(words).next().unwrap_or_default();
    let number = before.rsplit(' ').next().unwrap_or_default();
    number
        .replace(',', "")
        .parse()
        .unwrap_or_else(|_| panic!("{number} in {text}"))
}

#[test]
fn two_runs_on_one_state_lose_nothing() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        let own = numbered(&format!("{name}-"), 0..20_000);
        let text = own + &numbered("all-", 0..20_000);
        folder.write(name, text);
    }
    // Into files: a reader that waits for one of them would keep the others from writing.
    let output = folder.shell(
        "for f in a b c; do mayhap uniq -q --state s.mayhap $f > out-$f & done; \
         for job in $(jobs -p); do wait $job || exit; done; cat out-*; rm out-*",
    );
    assert_eq!(code(&output), 0, "{}", stderr_text(&output));
    let mut printed = lines(&output);
    assert_eq!(lines(&folder.run("check -c s.mayhap a b c")), ["120000"]);
    // Together they printed every line once; a few may look like others, at one in a million.
    let count = printed.len();
    printed.sort_unstable();
    printed.dedup();
    assert_eq!(printed.len(), count);
    assert!((79_990..=80_000).contains(&count), "{count}");
    assert_eq!(folder.names(), ["a", "b", "c", "s.mayhap"]);
}

#[test]
fn several_adds_at_once_lose_nothing() {
    let folder = Folder::with(&[("none", "")]);
    folder.done("build -o f.mayhap --capacity 100k none");
    folder.shell("mkdir other && ln -s ../f.mayhap other/link");
    let children: Vec<_> = (0..8)
        .map(|n| {
            folder.write(&format!("part{n}"), numbered(&format!("{n}-"), 0..1000));
            // By another name it is the same file.
            let file = if n % 2 == 0 { "f.mayhap" } else { "other/link" };
            folder
                .mayhap(&format!("add -q {file} part{n}"))
                .spawn()
                .expect("it starts")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    let parts: Vec<String> = (0..8).map(|n| format!("part{n}")).collect();
    let output = folder.run(&format!("check -c f.mayhap {}", parts.join(" ")));
    assert_eq!(lines(&output), ["8000"]);
    assert!(
        !folder.names().iter().any(|name| name.starts_with('.')),
        "{:?}",
        folder.names()
    );
}

#[test]
fn a_run_that_waits_says_so() {
    let folder = Folder::with(&[("keys", "1\n2\n")]);
    let output = folder.shell(
        "(echo 0; sleep 0.5) | mayhap uniq -q --state s.mayhap > first & sleep 0.2; \
         mayhap uniq -q --state s.mayhap keys; wait; cat first",
    );
    assert_eq!(lines(&output), ["1", "2", "0"], "{}", stderr_text(&output));
    assert!(
        stderr_text(&output).contains("waiting for another run that changes s.mayhap"),
        "{}",
        stderr_text(&output)
    );
}

/// Windows of older versions are rings of Bloom filters, and stay that.
#[test]
fn a_state_of_an_older_version_is_continued() {
    let folder = Folder::with(&[("keys", "1\n2\n"), ("more", "2\n3\n")]);
    folder.done("build --kind window --window 1h --fpr 1e-6 --capacity 100 -o old.mayhap keys");
    folder.done("uniq -q --window 1h --state new.mayhap keys");
    for (state, kind) in [("old", "window"), ("new", "window-cuckoo")] {
        let found = folder.run(&format!("uniq -q --window 1h --state {state}.mayhap more"));
        assert_eq!(lines(&found), ["3"], "{state}");
        let again = folder.run(&format!("uniq -q --state {state}.mayhap keys more"));
        assert_eq!(code(&again), 1, "{state}");
        let info = folder.done(&format!("info --json {state}.mayhap"));
        let info = String::from_utf8(info.stdout).expect("text");
        assert!(info.contains(&format!("\"kind\":\"{kind}\"")), "{info}");
    }
}

#[test]
fn a_window_forgets() {
    let folder = Folder::with(&[("keys", "1\n2\n")]);
    assert_eq!(
        lines(&folder.run("uniq -q --window 1s --state s.mayhap keys")),
        ["1", "2"]
    );
    assert_eq!(code(&folder.run("uniq -q --state s.mayhap keys")), 1);
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert_eq!(
        lines(&folder.run("uniq -q --state s.mayhap keys")),
        ["1", "2"]
    );
}

#[test]
fn an_empty_file_is_a_new_state() {
    let folder = Folder::with(&[("keys", "1\n2\n1\n"), ("s.mayhap", "")]);
    assert_eq!(lines(&folder.run("uniq --state s.mayhap keys")), ["1", "2"]);
    assert_eq!(code(&folder.run("uniq --state s.mayhap keys")), 1);
}

#[test]
fn a_state_that_ignores_the_capacity_is_reported() {
    let folder = Folder::with(&[("keys", "1\n2\n")]);
    let ignored = |words: &str| {
        let output = folder.run(&format!("uniq {words} keys"));
        assert!(code(&output) < 2, "{words}: {}", stderr_text(&output));
        stderr_text(&output)
    };
    for state in ["s.mayhap", "w.mayhap --window 1h"] {
        assert_eq!(ignored(&format!("--capacity 5k --state {state}")), "");
        assert_eq!(ignored(&format!("--capacity 5k --state {state}")), "");
        assert_eq!(ignored(&format!("-q --capacity 6k --state {state}")), "");
        let actual = ignored(&format!("--capacity 6k --state {state}"));
        assert!(
            actual.contains("--capacity is ignored") && actual.contains("5,000 keys"),
            "{actual}"
        );
    }
}

#[test]
fn the_summary_is_for_people() {
    let folder = Folder::with(&[("keys", "1\n2\n1\n")]);
    assert_eq!(stderr_text(&folder.run("uniq keys")), "");
    assert_eq!(stderr_text(&folder.run("uniq -q keys")), "");
    for words in ["uniq -v keys", "uniq --verbose -c keys"] {
        assert_eq!(
            stderr_text(&folder.run(words)),
            "mayhap: 2 new, 1 repeated; wrongly dropped: about 0.0, at most 0 (99.9 %)\n"
        );
    }
}
