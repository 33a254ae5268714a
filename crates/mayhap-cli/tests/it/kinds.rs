//! Every kind of filter from its birth to its last verb.

use super::folder::{Folder, assert_refused, code, lines, numbered, stderr_text};
use serde_json::Value;

struct Kind {
    name: &'static str,
    flags: &'static str,
    takes_keys: bool,
    loses_keys: bool,
    merges: bool,
}

const fn kind(name: &'static str, can: [bool; 3]) -> Kind {
    Kind {
        name,
        flags: "",
        takes_keys: can[0],
        loses_keys: can[1],
        merges: can[2],
    }
}

/// What each can do: take keys, lose keys, merge.
const KINDS: [Kind; 12] = [
    kind("bloom", [true, false, true]),
    kind("classic", [true, false, true]),
    kind("counting", [true, true, true]),
    kind("growing", [true, false, true]),
    Kind {
        flags: "--window 1h",
        ..kind("window", [true, false, false])
    },
    Kind {
        flags: "--window 1h",
        ..kind("window-cuckoo", [true, false, false])
    },
    kind("cuckoo", [true, true, false]),
    kind("growing-cuckoo", [true, true, true]),
    kind("counting-cuckoo", [true, true, true]),
    kind("fuse", [false, false, false]),
    kind("ribbon", [false, false, false]),
    Kind {
        flags: "-P false_positives=noise",
        ..kind("retouched", [true, false, false])
    },
];

fn folder() -> Folder {
    Folder::with(&[
        ("keys", &numbered("", 0..2000)),
        ("more", &numbered("", 2000..3000)),
        ("others", &numbered("", 100_000..110_000)),
        ("noise", "nobody\n"),
    ])
}

fn json(folder: &Folder, words: &str) -> Value {
    let output = folder.done(&format!("info --json {words}"));
    serde_json::from_slice(&output.stdout).expect("one object")
}

#[test]
fn every_kind_is_built_asked_changed_and_merged() {
    for kind in KINDS {
        let folder = folder();
        let name = kind.name;
        let build = format!(
            "build --kind {name} {} --capacity 4000 --fpr 0.1%",
            kind.flags
        );
        let build = if kind.takes_keys {
            build
        } else {
            build.replace("--capacity 4000 ", "")
        };
        folder.done(&format!("{build} -o f.mayhap keys"));
        let is_all = |file: &str, input: &str, count: &str| {
            let output = folder.run(&format!("check -c {file} {input}"));
            assert_eq!(lines(&output), [count], "{name}: {}", stderr_text(&output));
        };
        is_all("f.mayhap", "keys", "2000");
        let wrong: u64 = lines(&folder.run("check -c f.mayhap others"))[0]
            .parse()
            .expect("a number");
        assert!(wrong < 60, "{name}: {wrong} of 10000");
        let object = json(&folder, "f.mayhap");
        assert_eq!(
            (&object["kind"], &object["format"]),
            (&name.into(), &"mayhap".into())
        );
        folder.done("verify f.mayhap");

        let added = folder.run("add f.mayhap more");
        if kind.takes_keys {
            assert_eq!(code(&added), 0, "{name}: {}", stderr_text(&added));
            is_all("f.mayhap", "keys more", "3000");
        } else {
            assert_refused(name, &added, &["f.mayhap", name, "build"]);
        }
        let removed = folder.run("remove f.mayhap more");
        if kind.loses_keys {
            assert_eq!(code(&removed), 0, "{name}: {}", stderr_text(&removed));
            is_all("f.mayhap", "keys", "2000");
            let left: u64 = lines(&folder.run("check -c f.mayhap more"))[0]
                .parse()
                .expect("a number");
            assert!(left < 30, "{name}: {left}");
            assert_eq!(
                code(&folder.feed("remove f.mayhap", "nobody\n")),
                1,
                "{name}"
            );
        } else {
            assert_refused(name, &removed, &["f.mayhap", name]);
        }
        folder.done(&format!("{build} -o g.mayhap more"));
        let merged = folder.run("merge f.mayhap g.mayhap -o h.mayhap");
        if kind.merges {
            assert_eq!(code(&merged), 0, "{name}: {}", stderr_text(&merged));
            is_all("h.mayhap", "keys more", "3000");
        } else {
            assert_refused(name, &merged, &["f.mayhap and g.mayhap cannot be merged"]);
        }
    }
}

#[test]
fn from_a_pipe_and_from_a_file_are_the_same() {
    for kind in KINDS {
        // It counts time from the moment it is made.
        if kind.name.starts_with("window") {
            continue;
        }
        let folder = folder();
        let build = format!("build --kind {} {}", kind.name, kind.flags);
        folder.done(&format!("{build} -o file.mayhap keys"));
        folder.done(&format!("{build} -j 1 -o one.mayhap keys"));
        let output = folder.feed(&format!("{build} -o pipe.mayhap"), folder.read("keys"));
        assert_eq!(code(&output), 0, "{}: {}", kind.name, stderr_text(&output));
        assert!(
            folder.read("file.mayhap") == folder.read("one.mayhap"),
            "{}",
            kind.name
        );
        // A growing filter needs no count, and begins with a guess.
        if !matches!(kind.name, "growing" | "growing-cuckoo" | "counting-cuckoo") {
            assert!(
                folder.read("file.mayhap") == folder.read("pipe.mayhap"),
                "{}",
                kind.name
            );
        }
        assert_eq!(
            lines(&folder.run("check -c pipe.mayhap keys")),
            ["2000"],
            "{}",
            kind.name
        );
    }
}

#[test]
fn exceptions_hold_for_every_kind_that_has_them() {
    for kind in ["bloom", "fuse", "ribbon"] {
        let folder = folder();
        folder.done(&format!(
            "build --kind {kind} -o f.mayhap keys --except others"
        ));
        assert_eq!(
            lines(&folder.run("check -c f.mayhap keys")),
            ["2000"],
            "{kind}"
        );
        assert_eq!(
            lines(&folder.run("check -c f.mayhap others")),
            ["0"],
            "{kind}"
        );
        folder.write("both", "7\n8\nfine\n");
        let output = folder.run(&format!(
            "build --kind {kind} -o f.mayhap keys --except both"
        ));
        assert_refused(kind, &output, &["\"7\" and 1 more", "--on-conflict"]);
        for (choice, count) in [("block", "2"), ("allow", "0")] {
            folder.done(&format!(
                "build --kind {kind} -o f.mayhap keys --except both --on-conflict {choice}"
            ));
            assert_eq!(
                lines(&folder.run("check -c f.mayhap both")),
                [count],
                "{kind} {choice}"
            );
        }
    }
}

#[test]
fn more_keys_than_there_is_room_for_are_told() {
    let folder = folder();
    for kind in ["bloom", "classic", "counting"] {
        let output = folder.run(&format!(
            "build --kind {kind} --capacity 100 -o f.mayhap keys"
        ));
        assert_eq!(code(&output), 0, "{kind}");
        assert!(
            stderr_text(&output).contains("in a filter for 100")
                && stderr_text(&output).contains("--capacity"),
            "{kind}: {}",
            stderr_text(&output)
        );
        assert_eq!(
            lines(&folder.run("check -c f.mayhap keys")),
            ["2000"],
            "{kind}"
        );
    }
    let output = folder.run("build --capacity 1 -o f.mayhap keys");
    assert!(
        stderr_text(&output).contains("an unknown number of keys"),
        "{}",
        stderr_text(&output)
    );
    let output = folder.run("build --kind growing --capacity 100 -o f.mayhap keys");
    assert_eq!(stderr_text(&output), "");
}

#[test]
fn a_cuckoo_filter_that_is_full_says_what_to_do() {
    let folder = folder();
    let output = folder.run("build --kind cuckoo --capacity 100 -o f.mayhap keys");
    assert_refused(
        "full",
        &output,
        &["more than 100 keys", "a larger --capacity"],
    );
    folder.write("same", "one\n".repeat(1000));
    let output = folder.run("build --kind cuckoo -o f.mayhap same");
    assert_refused(
        "copies",
        &output,
        &["more than", "sort -u", "--kind counting", "does not help"],
    );
    folder.done("build --kind cuckoo --capacity 1000 -o f.mayhap more");
    let before = folder.read("f.mayhap");
    assert_refused(
        "add",
        &folder.run("add f.mayhap others"),
        &["f.mayhap: the filter is full", "larger"],
    );
    assert!(folder.read("f.mayhap") == before);
}

#[test]
fn a_filter_that_is_too_large_is_folded() {
    let folder = folder();
    folder.done("build --capacity 1M -o big.mayhap keys");
    folder.done("fold big.mayhap --fpr 1% -o small.mayhap");
    let size = |name: &str| folder.read(name).len();
    assert!(size("small.mayhap") * 64 < size("big.mayhap"));
    assert_eq!(lines(&folder.run("check -c small.mayhap keys")), ["2000"]);
    // Once more there is nothing to gain, which the status says.
    assert_eq!(
        code(&folder.run("fold small.mayhap --fpr 1% -o same.mayhap")),
        1
    );
    assert!(folder.read("same.mayhap") == folder.read("small.mayhap"));
}

/// Strangers that are found in the folded filter, compared with the rate that `fold` was to keep. Few keys have filters of few
/// lines, often an odd number of them.
#[test]
fn a_folded_filter_of_few_keys_keeps_the_rate() {
    const STRANGERS: u32 = 100_000;
    let folder = Folder::with(&[("strangers", &numbered("x", 0..STRANGERS))]);
    for keys in [1, 3, 10, 30, 60, 100] {
        folder.write("keys", numbered("", 0..keys));
        for capacity in [100, 500, 1200, 1400, 2400, 2700, 4500, 5000, 5900] {
            let build = format!("build --capacity {capacity} --fpr 0.1% -o big.mayhap keys");
            folder.done(&build);
            for percent in [0.2, 1.0, 5.0] {
                // Status 1: nothing to fold.
                let fold = format!("fold big.mayhap --fpr {percent}% -o small.mayhap --force");
                assert!(code(&folder.run(&fold)) < 2, "{build}, {fold}");
                let found = lines(&folder.run("check -c small.mayhap strangers"));
                let found: f64 = found[0].parse().expect("a count");
                let allowed = f64::from(STRANGERS) * percent / 100.0;
                // Five standard deviations.
                assert!(
                    found <= allowed + 5.0 * allowed.sqrt(),
                    "{keys} keys: {build}, {fold}: {found} strangers found, not {allowed}"
                );
            }
        }
    }
}

#[test]
fn a_damaged_file_is_reported_and_repaired() {
    let folder = folder();
    folder.done("build --capacity 1M -o f.mayhap keys");
    let whole = folder.read("f.mayhap");
    let mut damaged = whole.clone();
    damaged[500_000] ^= 1;
    folder.write("f.mayhap", &damaged);
    for words in [
        "verify f.mayhap",
        "check -c f.mayhap keys",
        "info f.mayhap",
        "add f.mayhap more",
    ] {
        assert_refused(words, &folder.run(words), &["damaged", "--repair ones"]);
    }
    let output = folder.done("verify f.mayhap --repair ones -o g.mayhap");
    assert!(
        lines(&output)[0].contains("1 of 19 pages damaged"),
        "{:?}",
        lines(&output)
    );
    assert_eq!(lines(&folder.run("check -c g.mayhap keys")), ["2000"]);
    folder.done("verify g.mayhap");
    folder.write("f.mayhap", &whole[..whole.len() / 2]);
    for words in ["verify f.mayhap", "check -c f.mayhap keys", "info f.mayhap"] {
        assert_refused(words, &folder.run(words), &["truncated"]);
    }
}

/// All at once is more than a slice of a window has room for, and no reason to complain while the rate is kept.
#[test]
fn a_window_filled_in_a_burst_keeps_its_rate_without_a_warning() {
    let folder = Folder::with(&[("keys", &numbered("key-", 0..1000))]);
    let output = folder.done("build --kind window --window 24h -o w.mayhap keys");
    assert_eq!(stderr_text(&output), "");
    folder.done("info --plot fill.svg w.mayhap");
    assert!(folder.read("fill.svg").starts_with(b"<svg"));
}
