//! Cassandra: files under the names of their SSTables, and by parameters.

use super::{Case, answers, cases, line, rule_keys};
use crate::folder::Folder;
use serde_json::Value;
use std::fs;

/// The SSTable version of a case.
fn version(case: &Case) -> Option<String> {
    let version = case.json["params"]["sstable_version"].as_str()?;
    version.split(' ').next().map(str::to_owned)
}

#[test]
fn cassandra() {
    let folder = Folder::new();
    for dialect in ["cassandra-filter", "cassandra-filter-old"] {
        for case in cases(dialect) {
            let Some(version) = version(&case) else {
                // Without bits, there is no order.
                case.check("--from cassandra");
                continue;
            };
            if case.json["params"]["fpp"].is_number() {
                let size = format!(
                    "--capacity {} --fpr {}",
                    case.param("elements"),
                    case.param("fpp")
                );
                case.build(&format!("--format cassandra {size} -P version={version}"));
            }
            let name = format!("{version}-7-big-Filter.db");
            fs::copy(case.file(), folder.join(&name)).expect("a copy");
            let mut named = Case {
                json: case.json.clone(),
                folder: case.folder.clone(),
            };
            named.json["file"] = Value::from(folder.join(&name).to_string_lossy());
            // The name says all.
            named.check("");
            case.check(&format!("--from cassandra -P version={version}"));
            check_order(&case);
        }
    }
}

/// By the byte order alone, all keys are found; with the new one, nothing else is unknown.
fn check_order(case: &Case) {
    let order = case.param("format");
    if order == "new" {
        case.check("--from cassandra -P order=new");
        return;
    }
    let numbers = case.are_numbers();
    let words = format!(
        "check {} --from cassandra -P order=old --key-type {}",
        case.file().display(),
        case.key_type()
    );
    let keys: Vec<String> = case.keys().iter().map(|key| line(key, numbers)).collect();
    assert_eq!(answers(&words, &keys), keys, "{}", case.name());
    let absent = rule_keys(&case.json["absent"]["rule"]);
    let absent: Vec<String> = absent.iter().map(|key| line(key, numbers)).collect();
    let found = answers(&words, &absent);
    for i in case.json["absent"]["false_positives"]
        .as_array()
        .expect("a list")
    {
        let positive = &absent[i.as_u64().expect("an index") as usize];
        assert!(found.contains(positive), "{}: {positive}", case.name());
    }
}
