//! Messages: what happened, then what to do, and nothing that is not true.

use super::folder::{Folder, assert_refused, code, numbered, stderr_text};
use serde_json::Value;

fn folder() -> Folder {
    let folder = Folder::with(&[("keys", "one\ntwo\n"), ("left.csv", "id\n1\n")]);
    folder.write("numbers", numbered("", 0..1000));
    folder.write("repeated", numbered("", 0..50).repeat(20));
    folder.done("build -o f.mayhap numbers");
    folder.done("build -o ribbon.mayhap --kind ribbon numbers");
    folder.done("build -o plain.mayhap --capacity 100 keys");
    folder.done("build -o keyed.mayhap --capacity 100 --keyed keys");
    folder.done("build -o users.guava --format guava numbers");
    // Damages the last page.
    for name in ["f", "ribbon"] {
        let mut bytes = folder.read(&format!("{name}.mayhap"));
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        folder.write(&format!("{name}-damaged.mayhap"), bytes);
    }
    folder
}

/// A command, and what its message contains.
const MESSAGES: &[(&str, &[&str])] = &[
    (
        "info f-damaged.mayhap",
        &[
            "f-damaged.mayhap is damaged: bad checksum at byte ",
            "; `mayhap verify f-damaged.mayhap --repair ones -o FILE` can save it",
        ],
    ),
    (
        "info ribbon-damaged.mayhap",
        &[
            "ribbon-damaged.mayhap is damaged: bad checksum at byte ",
            "rebuild it from the keys",
        ],
    ),
    (
        "verify ribbon-damaged.mayhap --repair ones -o g.mayhap",
        &["ribbon filters cannot be repaired; rebuild from the keys"],
    ),
    (
        "merge plain.mayhap keyed.mayhap -o g.mayhap",
        &["one is keyed (SipHash), the other is not"],
    ),
    (
        "build --format guava -P foo=1 -o g keys",
        &["unknown parameter foo; guava takes strategy, funnel, k"],
    ),
    (
        "build -P foo=1 -o g keys",
        &["unknown parameter foo; mayhap takes "],
    ),
    (
        "build --format guava -P strategy=best -o g keys",
        &["-P strategy=best: expected mitz32 or mitz64"],
    ),
    (
        "build --fpr 1 -o g keys",
        &[
            "--fpr 1: give a rate above 0 and below 1",
            "(did you mean 1%?)",
        ],
    ),
    ("build --fpr 5 -o g keys", &["(did you mean 5%?)"]),
    (
        "build --capacity 0 -o g keys",
        &["--capacity 0: give at least 1, or omit it"],
    ),
    (
        "build --kind cuckoo -o g repeated",
        &[
            "repeated",
            "sort -u",
            "--kind counting",
            "a larger --capacity does not help",
        ],
    ),
    (
        "build --kind cuckoo --capacity 10 -o g numbers",
        &[
            "more than 10 keys",
            "repeated keys count every time",
            "a larger --capacity",
        ],
    ),
    (
        "convert f.mayhap -o g --format guava",
        &[
            "f.mayhap is a mayhap filter",
            "set by another hash function",
            "from the keys",
        ],
    ),
    (
        "join --left left.csv --right left.csv --on id --exact --semi",
        &[
            "--exact and --semi exclude each other",
            "use --exact",
            "or --semi",
        ],
    ),
    (
        "plan --keys 1M --fpr 1% --plot x.png",
        &["--plot x.png: plots are SVG", ".svg"],
    ),
    (
        "info f.mayhap --plot x.pdf",
        &["--plot x.pdf: plots are SVG"],
    ),
    (
        "build --kind blom -o g keys",
        &[
            "--kind blom: give one of bloom, classic",
            "(did you mean bloom?)",
        ],
    ),
    (
        "check f.mayhap --from gauva keys",
        &[
            "--from gauva: give one of mayhap, guava",
            "(did you mean guava?)",
        ],
    ),
    (
        "check f.mayhap --key-type i65 keys",
        &["--key-type i65: give one of text, hex"],
    ),
    (
        "plan --keys 1M --memory 1MiB --fpr 1e-9",
        &["needs 5.", "MiB and --memory allows 1.00 MiB", "--fpr 0."],
    ),
];

#[test]
fn errors_are_true_and_clear() {
    let folder = folder();
    let before = folder.names();
    for (words, expected) in MESSAGES {
        assert_refused(words, &folder.run(words), expected);
    }
    assert_eq!(folder.names(), before, "nothing was written");
}

#[test]
fn a_filter_over_capacity_names_the_flag_that_helps() {
    let folder = folder();
    for (flags, advice) in [
        ("--capacity 100", "use a larger --capacity"),
        ("--bits 100 --probes 3", "use more --bits"),
    ] {
        let output = folder.done(&format!("build {flags} -o g.mayhap numbers"));
        let text = stderr_text(&output);
        assert!(
            text.contains("over capacity") && text.contains(advice),
            "{text}"
        );
    }
}

#[test]
fn the_default_rate_applies_to_every_format() {
    let folder = folder();
    let output = folder.done("build --format clickhouse -o g.idx keys");
    let text = stderr_text(&output);
    assert!(
        text.contains("bloom_filter(0.01)") && text.contains("--fpr 0.01"),
        "{text}"
    );
    folder.done("check g.idx --from clickhouse --fpr 0.01 keys");
}

/// What a file of another system does not store is not made up when it is converted.
#[test]
fn converted_filters_have_no_invented_figures() {
    let folder = folder();
    folder.done("convert users.guava -o users.mayhap");
    folder.done("build --bits 9600 --probes 7 -o shape.mayhap numbers");
    for name in ["users.mayhap", "shape.mayhap"] {
        let output = folder.done(&format!("info --json {name}"));
        let object: Value = serde_json::from_slice(&output.stdout).expect("an object");
        for key in ["capacity", "false_positive_rate"] {
            assert!(object[key].is_null(), "{name}: {key} is {}", object[key]);
        }
        assert!(object["estimated_rate"].is_f64());
        let keys = object["estimated_keys"].as_u64().expect("an estimate");
        assert!((950..1050).contains(&keys), "{name}: {keys}");
        let table = String::from_utf8(folder.done(&format!("info {name}")).stdout).expect("text");
        let keys = table.lines().find(|line| line.contains("keys, about"));
        assert!(
            keys.is_some_and(|keys| !keys.contains(" of ")) && !table.contains("requested"),
            "{table}"
        );
    }
    // Requested figures stay.
    folder.done("build --kind classic --capacity 1000 --fpr 1% -o asked.mayhap numbers");
    let output = folder.done("info --json asked.mayhap");
    let object: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(object["capacity"], 1000);
    assert_eq!(object["false_positive_rate"], 0.01);
}

/// The significant digits of the numbers in a text that are no counts.
fn most_digits(text: &str) -> usize {
    let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let fractions = words.filter(|word| word.contains('.') && word.len() > 1);
    let digits = fractions.map(|word| {
        let digits: String = word.chars().filter(char::is_ascii_digit).collect();
        digits.trim_start_matches('0').len()
    });
    digits.max().unwrap_or(0)
}

#[test]
fn people_see_three_digits_and_programs_all() {
    let folder = folder();
    folder.done("build --fpr 0.123456% -o odd.mayhap numbers");
    for words in [
        "info odd.mayhap",
        "info users.guava",
        "plan --keys 1234567 --fpr 0.123456%",
        "plan --keys 1234567 --memory 1234567 --grow",
        "plan --keys 1M --cost-skip 0.0012345 --cost-lookup 5.4321 --present 0.12345 --cost-gib 3e6",
    ] {
        let table = String::from_utf8(folder.done(words).stdout).expect("text");
        assert!(most_digits(&table) <= 3, "{words}: {table}");
    }
    let output = folder.done("info --json odd.mayhap");
    let object: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(object["false_positive_rate"], 0.001_234_56);
    let table = String::from_utf8(folder.done("info f.mayhap").stdout).expect("text");
    assert!(
        table.contains(" bits (") && table.contains(" per key), 7 probes"),
        "{table}"
    );
}

#[test]
fn info_goes_on_after_a_bad_file() {
    let folder = folder();
    let output = folder.run("info missing f.mayhap keys plain.mayhap");
    assert_eq!(code(&output), 2);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        printed.contains("f.mayhap") && printed.contains("plain.mayhap"),
        "{printed}"
    );
    let text = stderr_text(&output);
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(
        text.contains("missing") && text.contains("keys is text"),
        "{text}"
    );
}

#[test]
fn plots_mark_what_they_show() {
    let folder = folder();
    folder.write("many", numbered("", 0..20_000));
    folder.done("build --kind growing --capacity 1000 -o growing.mayhap many");
    folder.done("info growing.mayhap --plot growing.svg");
    folder.done("info f.mayhap --plot flat.svg");
    folder.done("plan --keys 1M --cost-skip 0.001 --cost-lookup 5 --present 0.1 --cost-gib 3e6 --plot cost.svg");
    folder.done("plan --keys 1M --fpr 1% --plot kinds.svg");
    for (name, words) in [
        (
            "growing.svg",
            &["each step is a layer", ">layer 5<", ">full at "][..],
        ),
        ("flat.svg", &["the fill should be even", ">full at 4"]),
        ("cost.svg", &[">best rate 0.0179 %<"]),
        ("kinds.svg", &[">requested rate<", ">bloom 9.93<"]),
    ] {
        let svg = String::from_utf8(folder.read(name)).expect("text");
        for word in words {
            assert!(svg.contains(word), "{name} has no {word}");
        }
    }
    let output = folder.run("info growing.mayhap f.mayhap --plot both.svg");
    assert_refused("two files", &output, &["a plot shows one filter"]);
}
