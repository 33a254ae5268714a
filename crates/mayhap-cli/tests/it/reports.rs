//! What programs read: `info --json`, completions and the manual.

use super::folder::{Folder, code, lines, numbered, stderr_text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The keys that every object has, whoever wrote the filter.
const FIXED: [&str; 10] = [
    "format",
    "kind",
    "capacity",
    "bits",
    "probes",
    "size_bytes",
    "fill",
    "estimated_keys",
    "false_positive_rate",
    "estimated_rate",
];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../golden")
        .join(name)
}

fn assert_fixed_keys(what: &str, object: &Value) {
    let object = object.as_object().expect("an object");
    for key in FIXED {
        let value = object
            .get(key)
            .unwrap_or_else(|| panic!("{what} has no {key}"));
        let is_sound = match key {
            "format" | "kind" => value.is_string(),
            "size_bytes" => value.is_u64(),
            "capacity" | "bits" | "probes" | "estimated_keys" => value.is_u64() || value.is_null(),
            _ => {
                value.is_null()
                    || value
                        .as_f64()
                        .is_some_and(|share| (0.0..=1.0).contains(&share))
            }
        };
        assert!(is_sound, "{what}: {key} is {value}");
    }
}

#[test]
fn every_format_has_the_fixed_keys() {
    let folder = Folder::with(&[("keys", &numbered("", 0..100))]);
    let formats = [
        ("mayhap", "", ""),
        ("guava", "", ""),
        ("hadoop", "--bits 1000 --probes 3", ""),
        ("hadoop-counting", "--bits 1000 --probes 3", ""),
        ("hadoop-dynamic", "--bits 1000 --probes 3 -P nr=10", ""),
        ("hadoop-retouched", "--bits 1000 --probes 3", ""),
        ("spark", "--capacity 100 --fpr 1%", ""),
        ("clickhouse", "--fpr 1%", "--from clickhouse --fpr 1%"),
        (
            "clickhouse-tokenbf",
            "--bits 800 --probes 3",
            "--from clickhouse-tokenbf --probes 3",
        ),
        ("leveldb", "-P bits_per_key=10", "--from leveldb"),
        ("rocksdb", "-P bits_per_key=10", "--from rocksdb"),
        ("parquet", "--bits 1024", "--from parquet"),
        ("redisbloom", "--capacity 100", ""),
        ("redisbloom-cuckoo", "--capacity 100", ""),
        ("redisbloom-dump", "--capacity 100", ""),
        ("bip37", "--capacity 100 --fpr 1%", "--from bip37"),
        ("cassandra", "--capacity 100", "-P order=new"),
        ("hbase", "--bits 1000 --probes 7", "--from hbase --probes 7"),
        ("accumulo", "-P nr=40", ""),
    ];
    for (format, build, open) in formats {
        folder.done(&format!(
            "build --force -o f --format {format} {build} keys"
        ));
        let output = folder.done(&format!("info --json f {open}"));
        let object: Value = serde_json::from_slice(&output.stdout).expect("one object a line");
        assert_fixed_keys(format, &object);
        assert_eq!(object["format"], format);
        let table = folder.done(&format!("info f {open}"));
        assert!(
            lines(&table).iter().any(|line| line.contains(format)),
            "{format}"
        );
        let output = folder.run(&format!("check -c f {open} keys"));
        assert_eq!(
            lines(&output),
            ["100"],
            "{format}: {}",
            stderr_text(&output)
        );
    }
}

#[test]
fn golden_filters_have_the_fixed_keys() {
    let folder = Folder::new();
    let mut files: Vec<PathBuf> = fs::read_dir(golden("native"))
        .expect("golden files")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "mayhap"))
        .collect();
    files.push(golden("parquet-file/arrow-100.parquet"));
    files.push(golden("redisbloom/bf_scaled_3.dump.bin"));
    files.push(golden("redisbloom/cf_big.chunks.bin"));
    for file in files {
        let name = file.display().to_string();
        let output = folder.done(&format!("info --json {name}"));
        for line in lines(&output) {
            let object: Value = serde_json::from_str(&line).expect("one object a line");
            assert_fixed_keys(&name, &object);
            assert_eq!(object["file"], name);
        }
    }
}

#[test]
fn a_container_has_a_line_per_filter_and_is_queried_by_position() {
    let folder = Folder::new();
    let file = golden("parquet-file/arrow-100.parquet")
        .display()
        .to_string();
    let objects = lines(&folder.done(&format!("info --json {file}")));
    assert_eq!(objects.len(), 4);
    for (object, column) in objects.iter().zip(["s", "b", "l", "n"]) {
        let object: Value = serde_json::from_str(object).expect("an object");
        assert_eq!(
            (&object["column"], &object["row_group"]),
            (&column.into(), &0.into())
        );
    }
    let ask = |words: &str, text: &str| lines(&folder.feed(&format!("check {file} {words}"), text));
    assert_eq!(ask("--column s", "key-7\nnobody\n"), ["key-7"]);
    assert_eq!(ask("--column l", "-50\n247\n99999999\n"), ["-50", "247"]);
    // Without a column a line counts when one of them may have it, whatever its neighbours are.
    assert_eq!(
        ask("", "-50\nkey-7\nnobody at all\n247\n"),
        ["-50", "key-7", "247"]
    );
    let output = folder.feed(&format!("check {file} --column zip"), "1\n");
    assert_eq!(code(&output), 2);
    assert!(
        stderr_text(&output).contains("it has row group 0, column s"),
        "{}",
        stderr_text(&output)
    );
}

#[test]
fn completions_know_the_subcommands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = folder.done(&format!("completions {shell}"));
        let script = String::from_utf8_lossy(&output.stdout);
        for word in ["build", "uniq", "line-buffered"] {
            assert!(script.contains(word), "{shell} has no {word}");
        }
    }
    let output = folder.shell(
        "mayhap completions bash > c.bash && bash -n c.bash && . ./c.bash && complete -p mayhap",
    );
    assert_eq!(code(&output), 0, "{}", stderr_text(&output));
}

#[test]
fn completions_offer_the_values_of_flags() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = folder.done(&format!("completions {shell}"));
        let script = String::from_utf8_lossy(&output.stdout);
        for word in ["ribbon", "redisbloom-dump", "base64"] {
            assert!(script.contains(word), "{shell} has no {word}");
        }
    }
    // Completes as bash does, when the user presses the tab key.
    let complete = |words: &str, before: &str, begun: &str| {
        let count = words.split(' ').count();
        let output = folder.shell(&format!(
            "mayhap completions bash > c.bash && . ./c.bash && COMP_WORDS=({words} '{begun}') COMP_CWORD={count} && \
             _mayhap mayhap '{begun}' '{before}' && echo \"${{COMPREPLY[*]}}\""
        ));
        assert_eq!(code(&output), 0, "{}", stderr_text(&output));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    for (words, flag, begun, offered) in [
        ("mayhap build --kind", "--kind", "r", "ribbon retouched"),
        ("mayhap build --format", "--format", "guav", "guava"),
        ("mayhap check --from", "--from", "spa", "spark"),
        ("mayhap check --format", "--format", "spa", "spark"),
        (
            "mayhap add --key-type",
            "--key-type",
            "u",
            "u8 u16 u32 u64 uuid",
        ),
        ("mayhap convert --format", "--format", "bip", "bip37"),
        ("mayhap", "mayhap", "verif", "verify"),
    ] {
        assert_eq!(complete(words, flag, begun), offered, "{words} {begun}");
    }
}

#[test]
fn the_manual_has_a_page_for_every_subcommand() {
    let folder = Folder::new();
    let output = folder.done("man");
    let page = String::from_utf8_lossy(&output.stdout);
    for word in [".TH mayhap 1", ".SH NAME", ".SH SYNOPSIS", "mayhap\\-build"] {
        assert!(page.contains(word), "no {word}");
    }
    let examples = page.split(".SH EXAMPLES\n.nf\n").nth(1).expect("examples");
    assert!(
        examples.starts_with("mayhap build \\-o seen.mayhap urls.txt      build a filter"),
        "{examples}"
    );
    folder.done("man --dir pages");
    for verb in ["build", "check", "uniq", "info", "merge", "man"] {
        let page = folder.read(&format!("pages/mayhap-{verb}.1"));
        let page = String::from_utf8_lossy(&page);
        for section in [".SH OPTIONS", ".SH EXAMPLES\n.nf\n"] {
            assert!(page.contains(section), "{verb} has no {section}");
        }
    }
}
