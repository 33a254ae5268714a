//! Help teaches by examples, and every example works.

use super::folder::{Folder, code, numbered, stderr_text};
use super::{run, stdout};
use std::fs;
use std::path::Path;

const VERBS: [&str; 17] = [
    "build",
    "check",
    "add",
    "remove",
    "uniq",
    "info",
    "plan",
    "merge",
    "convert",
    "verify",
    "fold",
    "join",
    "index",
    "which",
    "bench",
    "completions",
    "man",
];

/// The commands among the examples, without the words beside them.
fn examples(verb: &str) -> Vec<String> {
    let output = run(&format!("{verb} --help"));
    assert_eq!(code(&output), 0, "{verb}");
    let block = stdout(&output)
        .split("Examples:\n")
        .nth(1)
        .unwrap_or_default();
    block
        .lines()
        .map_while(|line| line.strip_prefix("  "))
        .map(|line| line.split("  ").next().unwrap_or(line).to_owned())
        .collect()
}

#[test]
fn every_subcommand_has_examples_and_a_line_in_the_help() {
    let output = run("--help");
    for verb in VERBS {
        let named = stdout(&output)
            .lines()
            .any(|line| line.trim_start().starts_with(verb));
        assert!(named, "{verb} is not in the help");
        let examples = examples(verb);
        assert!(!examples.is_empty(), "{verb} has no examples");
        for example in examples {
            assert!(example.contains("mayhap "), "{verb}: {example}");
        }
    }
}

#[test]
fn help_fits_a_terminal_and_is_said_in_three_ways() {
    for verb in VERBS {
        let help = run(&format!("{verb} --help"));
        assert_eq!(help.stdout, run(&format!("{verb} -h")).stdout, "{verb}");
        assert_eq!(help.stdout, run(&format!("help {verb}")).stdout, "{verb}");
        // Options may be longer: clap does not break lines in a pipe.
        let after = stdout(&help)
            .split("Examples:")
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        for line in after.lines() {
            assert!(line.chars().count() <= 120, "{verb}: {line}");
        }
    }
}

/// Everything that the examples speak of.
fn workshop() -> Folder {
    let folder = Folder::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let numbers = numbered("", 1..501);
    let urls = numbered("https://example.org/", 0..300) + &numbered("https://example.org/", 0..100);
    for name in [
        "urls.txt",
        "more.txt",
        "found.txt",
        "words",
        "text.txt",
        "bad.txt",
        "keys.txt",
        "untrusted.txt",
        "mails.txt",
        "members.txt",
        "left.txt",
    ] {
        folder.write(name, &urls);
    }
    folder.write("users.csv", "id,l,name\n1,1,ann\n2,2,bob\n");
    folder.write("log.csv", "l,id,page\n1,1,home\n3,3,home\n");
    folder.write("a.tsv", "1\tann\n");
    folder.write("ids.tsv", "4711\tann\n");
    folder.write("words.txt", &urls);
    folder.write("b.tsv", "x\ty\t1\n");
    folder.write("good.txt", "https://good.example/\n");
    folder.write("ids.txt", &numbers);
    for command in [
        "gzip -c urls.txt > urls.gz; gzip -c log.csv > log.csv.gz; gzip -c urls.txt > more.txt.gz",
        "mayhap build -o seen.mayhap urls.txt",
        "cp seen.mayhap words.mayhap; cp seen.mayhap blocked.mayhap; cp seen.mayhap monday.mayhap",
        "cp seen.mayhap tuesday.mayhap",
        "mayhap build -o grown.mayhap --kind growing-cuckoo --capacity 10k urls.txt",
        "mayhap build -o big.mayhap --capacity 100k urls.txt",
        "mayhap build -o members.mayhap --kind cuckoo members.txt",
        "mayhap build -o users.guava --format guava --key-type i64 ids.txt",
        "cp users.guava part-1.guava; cp users.guava part-2.guava",
        "mayhap convert users.guava -o users.mayhap",
        "mkdir -p data/shop/users-5a1c",
        "mayhap build --format cassandra -o data/shop/users-5a1c/nb-1-big-Filter.db urls.txt",
    ] {
        let output = folder.shell(command);
        assert_eq!(code(&output), 0, "{command}: {}", stderr_text(&output));
    }
    let parquet = fs::read(golden.join("parquet-file/arrow-100.parquet")).expect("a golden file");
    folder.write("part.parquet", &parquet);
    folder.write("part-0.parquet", &parquet);
    folder.write("a.parquet", &parquet);
    folder.write("b.parquet", &parquet);
    folder.write("log.parquet", &parquet);
    let output = folder.shell("mayhap index --column l -o users.idx part.parquet");
    assert_eq!(code(&output), 0, "{}", stderr_text(&output));
    let index =
        fs::read(golden.join("clickhouse-bloom_filter/u64-granules.idx")).expect("a golden file");
    folder.write("skp_idx_x.idx", &index);
    folder.write("skp_idx_url.idx", &index);
    let dump = fs::read(golden.join("redisbloom/bf_scaled_3.dump.bin")).expect("a golden file");
    folder.write("dump.rdb", rdb(b"seen", &dump));
    folder.write("f.dump", &dump);
    folder
}

/// A file of Redis's with one key, of what DUMP gave for it: type, value, and ten bytes of version and check sum.
fn rdb(key: &[u8], dump: &[u8]) -> Vec<u8> {
    let value = &dump[1..dump.len() - 10];
    let length = u8::try_from(key.len()).expect("a short key");
    // A check sum of zeros is one that was not made.
    [
        b"REDIS0012",
        &dump[..1],
        &[length],
        key,
        value,
        &[0xff],
        &[0; 8],
    ]
    .concat()
}

#[test]
fn every_example_works_in_the_order_shown() {
    let made = workshop();
    for verb in VERBS {
        // Minutes and gigabytes; bench has tests of its own.
        if verb == "bench" {
            continue;
        }
        // Later examples may use the files of earlier ones.
        let folder = Folder::new();
        let copied = folder.shell(&format!("cp -r {}/. .", made.path().display()));
        assert_eq!(code(&copied), 0);
        if verb == "uniq" {
            fs::remove_file(folder.join("seen.mayhap")).expect("a file");
        }
        for example in examples(verb) {
            // The golden file's columns have short names.
            let mut line = example.replace("user_id", "l");
            if line.contains("log.parquet") {
                line = line.replace("--on id", "--on l");
            }
            if line.contains("jq ") && code(&folder.shell("jq --version")) != 0 {
                eprintln!("not run, jq is not installed: {line}");
                continue;
            }
            let output = folder.shell(&format!("set -o pipefail; url=x; {line}"));
            // No is an answer too.
            assert!(code(&output) < 2, "{line}: {}", stderr_text(&output));
            assert!(
                !stderr_text(&output).contains("cannot"),
                "{line}: {}",
                stderr_text(&output)
            );
        }
    }
}
