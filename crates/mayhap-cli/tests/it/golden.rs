//! Files of the real systems through the command line: built from their keys to the same bytes, asked to the same answers.

mod accumulo;
mod cassandra;
mod hbase;

use super::{folder, mayhap, stderr};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

struct Case {
    json: Value,
    folder: PathBuf,
}

fn cases(dialect: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../golden")
        .join(dialect);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("a folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    paths.sort();
    let cases: Vec<Case> = paths
        .iter()
        .map(|path| Case {
            json: serde_json::from_slice(&fs::read(path).expect("a case")).expect("JSON"),
            folder: folder.clone(),
        })
        // Tables of sizes and hashes have no file.
        .filter(|case| case.json["file"].is_string())
        .collect();
    assert!(!cases.is_empty(), "{dialect}");
    cases
}

fn hex(bytes: impl Iterator<Item = u8>) -> String {
    bytes
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .concat()
}

/// A key as a line: bytes in hex, or the number itself.
fn line(key: &Value, numbers: bool) -> String {
    match key {
        Value::String(text) => hex(text.bytes()),
        key if key["hex"].is_string() => key["hex"].as_str().expect("hex").to_owned(),
        // A cell of HBase's.
        key if !key["row"].is_null() => {
            let parts = [&key["row"], &key["qualifier"]].map(|part| line(part, false));
            parts.join("\t")
        }
        key => {
            let (number, width) = match (&key["i32"], &key["i64"], &key["u64"]) {
                (Value::Number(number), _, _) => (i128::from(number.as_i64().expect("i32")), 4),
                (_, Value::String(number), _) | (_, _, Value::String(number)) => {
                    (number.parse().expect("a number"), 8)
                }
                _ => panic!("{key} is no key"),
            };
            if numbers {
                number.to_string()
            } else {
                hex(number.to_le_bytes().into_iter().take(width))
            }
        }
    }
}

fn number(value: &Value) -> i64 {
    value
        .as_i64()
        .or_else(|| value.as_str()?.parse().ok())
        .expect("a number")
}

fn rule_key(rule: &Value, i: i64) -> Value {
    let start = number(&rule["start"]);
    match rule["kind"].as_str().expect("a kind") {
        "utf8" => Value::String(format!(
            "{}{}",
            rule["prefix"].as_str().expect("a prefix"),
            start + i
        )),
        "i64" => {
            let key = start.wrapping_add(i.wrapping_mul(number(&rule["step"])));
            serde_json::json!({"i64": key.to_string()})
        }
        "i32" => {
            let key =
                (start as i32).wrapping_add((i as i32).wrapping_mul(number(&rule["step"]) as i32));
            serde_json::json!({"i32": key})
        }
        "bin" => {
            let n = start + i;
            let head = (n as i32).to_le_bytes();
            // Remainders are never negative.
            let tail = (0..n.rem_euclid(number(&rule["mod"])))
                .map(|j| (n * 131 + j * 89 + 7).rem_euclid(256) as u8);
            serde_json::json!({"hex": hex(head.into_iter().chain(tail))})
        }
        "rowcol" => {
            let per_row = number(&rule["per_row"]);
            let text = |name: &str| rule[name].as_str().expect("a prefix").to_owned();
            let row = format!("{}{}", text("row_prefix"), start + i / per_row);
            let qualifier = format!("{}{}", text("qualifier_prefix"), i % per_row);
            serde_json::json!({"row": row, "qualifier": qualifier})
        }
        kind => panic!("rule {kind}"),
    }
}

fn rule_keys(rule: &Value) -> Vec<Value> {
    match rule {
        Value::Null => Vec::new(),
        rule => (0..number(&rule["count"]))
            .map(|i| rule_key(rule, i))
            .collect(),
    }
}

impl Case {
    fn name(&self) -> String {
        format!("{}/{}", self.folder.display(), self.json["case"])
    }

    fn param(&self, name: &str) -> String {
        match &self.json["params"][name] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    fn keys(&self) -> Vec<Value> {
        let mut keys = self.json["keys"].as_array().cloned().unwrap_or_default();
        keys.extend(rule_keys(&self.json["key_rule"]));
        keys
    }

    fn file(&self) -> PathBuf {
        self.folder
            .join(self.json["file"].as_str().expect("a file"))
    }

    /// Whether keys are numbers that the system encodes by itself.
    fn are_numbers(&self) -> bool {
        let keys = self.keys();
        !keys.is_empty()
            && keys
                .iter()
                .all(|key| key.is_object() && !key["hex"].is_string() && key["row"].is_null())
    }

    fn key_type(&self) -> &'static str {
        match (self.are_numbers(), self.keys().first()) {
            (true, Some(key)) if key["i32"].is_number() => "i32",
            (true, Some(key)) if key["u64"].is_string() => "u64",
            (true, _) => "i64",
            _ => "hex",
        }
    }

    /// Builds from the keys and compares with the real file.
    fn build(&self, words: &str) {
        let numbers = self.are_numbers();
        let lines: Vec<String> = self.keys().iter().map(|key| line(key, numbers)).collect();
        let built = feed(
            &format!("build --key-type {} {words}", self.key_type()),
            &lines,
        );
        assert!(
            built == fs::read(self.file()).expect("the real file"),
            "{}: build {words}",
            self.name()
        );
    }

    /// Asks the real file for every listed probe, and for the false positives.
    fn check(&self, words: &str) {
        let (numbers, key_type) = (self.are_numbers(), self.key_type());
        let file = self.file();
        let words = format!("check {} --key-type {key_type} {words}", file.display());
        let probes = self.json["probes"].as_array().cloned().unwrap_or_default();
        for wanted in [true, false] {
            let lines: Vec<String> = probes
                .iter()
                .filter(|probe| {
                    probe["expected"] == wanted && (probe["key"].is_object() || !numbers)
                })
                .map(|probe| line(&probe["key"], numbers))
                .collect();
            let printed = answers(&words, &lines);
            let expected = if wanted { lines } else { Vec::new() };
            assert_eq!(printed, expected, "{} {words}", self.name());
        }
        let absent = &self.json["absent"];
        if absent["rule"].is_object() {
            let lines: Vec<String> = rule_keys(&absent["rule"])
                .iter()
                .map(|key| line(key, numbers))
                .collect();
            let expected: Vec<String> = absent["false_positives"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|i| lines[number(i) as usize].clone())
                .collect();
            assert_eq!(answers(&words, &lines), expected, "{} {words}", self.name());
        }
    }
}

/// What the program prints when lines are fed to it.
fn feed(words: &str, lines: &[String]) -> Vec<u8> {
    let mut text = lines.join("\n");
    text.push_str(if lines.is_empty() { "" } else { "\n" });
    let output = folder::feed(mayhap(words), text);
    assert!(
        output.status.code() < Some(2),
        "{words}: {}",
        stderr(&output)
    );
    output.stdout
}

fn answers(words: &str, lines: &[String]) -> Vec<String> {
    let printed = String::from_utf8(feed(words, lines)).expect("text");
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn guava() {
    for case in cases("guava") {
        let funnel = match case.param("funnel").as_str() {
            "bytes" | "string_utf8" => "bytes",
            "unencoded_chars" => "chars",
            "integer" => "int",
            "long" => "long",
            other => panic!("{other}"),
        }
        .to_owned();
        let strategy = if case.param("strategy") == "0" {
            "mitz32"
        } else {
            "mitz64"
        };
        if case.json["merged_rule"].is_null() {
            case.build(&format!(
                "--format guava --capacity {} --fpr {} -P strategy={strategy} -P k={} -P funnel={funnel}",
                case.param("expected_insertions"),
                case.param("fpp"),
                case.param("k"),
            ));
        }
        case.check(&format!("--from guava -P funnel={funnel}"));
        // By its bytes alone; funnels are not in them.
        if funnel == "bytes" {
            case.check("");
        }
    }
}

#[test]
fn hadoop() {
    for (dialect, format) in [
        ("hadoop-bloom", "hadoop"),
        ("hadoop-counting", "hadoop-counting"),
        ("hadoop-dynamic", "hadoop-dynamic"),
        ("hadoop-retouched", "hadoop-retouched"),
    ] {
        for case in cases(dialect) {
            let plain = case.json["ops"].as_array().is_none_or(Vec::is_empty)
                && case.json["combine"].is_null()
                && case.json["scheme"].is_null();
            let rows = match dialect {
                "hadoop-dynamic" => format!(" -P nr={}", case.param("nr")),
                _ => String::new(),
            };
            if plain {
                case.build(&format!(
                    "--format {format} --bits {} --probes {} -P hash={}{rows}",
                    case.param("vector_size"),
                    case.param("nb_hash"),
                    case.param("hash"),
                ));
            }
            case.check(&format!("--from {format}"));
        }
    }
}

#[test]
fn spark() {
    for case in cases("spark") {
        let version = match case.param("version").as_str() {
            "1" => "version=1".to_owned(),
            _ => format!("version=2 -P seed={}", case.param("seed")),
        };
        let size = match case.param("fpp").as_str() {
            "null" => format!("--bits {}", case.param("num_bits")),
            fpp => format!("--fpr {fpp}"),
        };
        if case.json["combine"].is_null() {
            case.build(&format!(
                "--format spark --capacity {} {size} -P {version}",
                case.param("expected_items"),
            ));
        }
        case.check("--from spark");
    }
}

#[test]
fn clickhouse() {
    for case in cases("clickhouse-bloom_filter") {
        let column = case.param("column_type").replace(' ', "");
        let words = format!("clickhouse --fpr {} -P type={column}", case.param("fpp"));
        if case.json["params"]["filter_bytes"].is_number() {
            case.build(&format!("--format {words}"));
        }
        case.check(&format!("--from {words}"));
        // The index as it lies on disk, in its frames.
        let idx = Case {
            json: {
                let mut json = case.json.clone();
                json["file"] = json["file_on_disk"].clone();
                json
            },
            folder: case.folder.clone(),
        };
        if idx.json["file"].is_string() {
            idx.check(&format!("--fpr {} -P type={column}", case.param("fpp")));
        }
    }
    for (dialect, ngram) in [
        ("clickhouse-tokenbf_v1", false),
        ("clickhouse-ngrambf_v1", true),
    ] {
        for case in cases(dialect) {
            let ngram = if ngram {
                format!(" -P ngram={}", case.param("ngram"))
            } else {
                String::new()
            };
            case.check(&format!(
                "--from clickhouse-tokenbf --probes {} -P seed={}{ngram}",
                case.param("hashes"),
                case.param("seed"),
            ));
            let documents = case.json["documents"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            if case.json["key_rule"].is_null() {
                let lines: Vec<String> = documents.iter().map(|text| line(text, false)).collect();
                let bits = 8 * number(&case.json["params"]["filter_bytes"]);
                let built = feed(
                    &format!(
                        "build --format clickhouse-tokenbf --key-type hex --bits {bits} --probes {} -P seed={}{ngram}",
                        case.param("hashes"),
                        case.param("seed"),
                    ),
                    &lines,
                );
                assert_eq!(
                    built,
                    fs::read(case.file()).expect("the real file"),
                    "{}",
                    case.name()
                );
            }
        }
    }
}

#[test]
fn leveldb_and_rocksdb() {
    for case in cases("leveldb") {
        case.build(&format!(
            "--format leveldb -P bits_per_key={}",
            case.param("bits_per_key")
        ));
        case.check("--from leveldb");
    }
    for (dialect, variant) in [
        ("rocksdb-bloom", "fast"),
        ("rocksdb-bloom-legacy", "legacy"),
    ] {
        for case in cases(dialect) {
            case.build(&format!(
                "--format rocksdb -P variant={variant} -P bits_per_key={}",
                case.param("bits_per_key")
            ));
            case.check("--from rocksdb");
        }
    }
    for case in cases("rocksdb-ribbon") {
        case.check("--from rocksdb");
    }
}

#[test]
fn parquet_and_bip37() {
    for case in cases("parquet-sbbf") {
        let bits = 8 * number(&case.json["params"]["requested_bytes"]);
        case.build(&format!("--format parquet --bits {bits}"));
        case.check("--from parquet");
    }
    for case in cases("bip37") {
        case.build(&format!(
            "--format bip37 --capacity {} --fpr {} -P tweak={} -P flags={}",
            case.param("elements"),
            case.param("fpp"),
            case.param("tweak"),
            case.param("flags"),
        ));
        case.check("--from bip37");
    }
    for case in cases("parquet-file") {
        let columns = case.json["keys_of_column"].as_object().expect("columns");
        for (name, rule) in columns {
            let is_number = ["i32", "i64"].contains(&rule["kind"].as_str().expect("a kind"));
            let lines: Vec<String> = rule_keys(rule)
                .iter()
                .map(|key| line(key, is_number))
                .collect();
            let key_type = if is_number { "text" } else { "hex" };
            let words = format!(
                "check {} --column {name} --key-type {key_type}",
                case.file().display()
            );
            assert_eq!(answers(&words, &lines), lines, "{} {name}", case.name());
            let absent = &case.json["absent"][name];
            if absent["rule"].is_object() {
                let lines: Vec<String> = rule_keys(&absent["rule"])
                    .iter()
                    .map(|key| line(key, is_number))
                    .collect();
                let listed = absent["false_positives"].as_array().expect("a list");
                let expected: Vec<String> = listed
                    .iter()
                    .map(|i| lines[number(i) as usize].clone())
                    .collect();
                assert_eq!(answers(&words, &lines), expected, "{} {name}", case.name());
            }
        }
    }
}

#[test]
fn redisbloom() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/redisbloom");
    let mut checked = 0;
    for entry in fs::read_dir(&folder).expect("cases") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let json: Value = serde_json::from_slice(&fs::read(&path).expect("a case")).expect("JSON");
        let lines: Vec<String> = (0..10_000).map(|i| format!("absent-{i}")).collect();
        let listed = json["false_positives"].as_array().expect("a list");
        let expected: Vec<String> = listed
            .iter()
            .map(|i| lines[number(i) as usize].clone())
            .collect();
        let is_cuckoo = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("cf"));
        let format = if is_cuckoo {
            "redisbloom-cuckoo"
        } else {
            "redisbloom"
        };
        for (extension, from) in [("chunks.bin", format), ("dump.bin", "redisbloom-dump")] {
            let file = path.with_extension(extension);
            for actual in [String::new(), format!("--from {from}")] {
                let words = format!("check {} {actual}", file.display());
                assert_eq!(answers(&words, &lines), expected, "{words}");
            }
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn tables_of_leveldb() {
    for case in cases("leveldb-table") {
        let keys: Vec<String> = match &case.json["key_rule"] {
            Value::Null => {
                let prefix = case.json["prefix"].as_str().expect("a prefix");
                let count = number(&case.json["params"]["n"]);
                (0..count).map(|i| format!("{prefix}{i:06}")).collect()
            }
            rule => rule_keys(rule)
                .iter()
                .map(|key| key.as_str().expect("text").to_owned())
                .collect(),
        };
        let words = format!("check {}", case.file().display());
        assert_eq!(answers(&words, &keys), keys, "{}", case.name());
    }
}

/// False positives from a file, cleared by the scheme.
#[test]
fn retouched_by_hadoops_schemes() {
    let folder = tempfile::tempdir().expect("a folder");
    for case in cases("hadoop-retouched") {
        if !case.json["weights"].is_null() {
            // Keys of the command line all weigh the same.
            continue;
        }
        let rule = &case.json["fp_rule"];
        let listed = case.json["fp_indices_registered"]
            .as_array()
            .expect("a list");
        let lines: Vec<String> = listed
            .iter()
            .map(|i| line(&rule_key(rule, number(i)), false) + "\n")
            .collect();
        let file = folder.path().join("false-positives");
        fs::write(&file, lines.concat()).expect("room");
        let scheme = match case.json["clearing_log"].as_array() {
            Some(log) if !log.is_empty() => {
                format!(
                    " -P scheme={}",
                    case.json["scheme"].as_str().expect("a scheme")
                )
            }
            _ => String::new(),
        };
        case.build(&format!(
            "--format hadoop-retouched --bits {} --probes {} -P hash={} -P false_positives={}{scheme}",
            case.param("vector_size"),
            case.param("nb_hash"),
            case.param("hash"),
            file.display(),
        ));
    }
}

/// A value of a ClickHouse column as a line of text.
fn clickhouse_lines(value: &Value, lines: &mut Vec<String>) {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (kind, inner) = value
        .as_object()
        .and_then(|object| object.iter().next())
        .expect("a value");
    match kind.as_str() {
        "array" => inner
            .as_array()
            .expect("a list")
            .iter()
            .for_each(|each| clickhouse_lines(each, lines)),
        "null" => lines.push("\\N".into()),
        "f32_bits" => {
            let bits = u32::from_str_radix(&text(inner), 16).expect("bits");
            lines.push(format!("{:?}", f32::from_bits(bits)));
        }
        "f64_bits" => {
            let bits = u64::from_str_radix(&text(inner), 16).expect("bits");
            lines.push(format!("{:?}", f64::from_bits(bits)));
        }
        _ => lines.push(text(inner)),
    }
}

#[test]
fn types_of_clickhouse() {
    for case in cases("clickhouse-bloom_filter-types") {
        let words = format!(
            "--fpr {} -P type={}",
            case.param("fpp"),
            case.param("column_type")
        );
        if let Some(rules) = case.json["column_rules"].as_array() {
            for (column, (rule, column_type)) in (1..).zip(rules.iter().zip(["UInt64", "String"])) {
                let is_number = column_type == "UInt64";
                let lines: Vec<String> = rule_keys(rule)
                    .iter()
                    .map(|key| {
                        if is_number {
                            line(key, true)
                        } else {
                            key.as_str().expect("text").into()
                        }
                    })
                    .collect();
                let words = format!(
                    "check {} --from clickhouse --fpr 0.01 --columns 2 --column {column} -P type={column_type}",
                    case.file().display()
                );
                assert_eq!(answers(&words, &lines), lines, "{words}");
            }
            continue;
        }
        let mut lines = Vec::new();
        for value in case.json["values"].as_array().expect("values") {
            clickhouse_lines(value, &mut lines);
        }
        let built = feed(&format!("build --format clickhouse {words}"), &lines);
        assert_eq!(
            built,
            fs::read(case.file()).expect("the real file"),
            "{}",
            case.name()
        );
        let asked = answers(
            &format!("check {} --from clickhouse {words}", case.file().display()),
            &lines,
        );
        assert_eq!(asked, lines, "{}", case.name());
    }
}
