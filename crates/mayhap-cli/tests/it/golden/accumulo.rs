//! Accumulo: blocks built from their keys in order, and whole RFiles.

use super::{Case, answers, cases, feed, line, number, rule_keys};
use serde_json::Value;
use std::fs;

/// A key as the functor makes it, in hex; a key that is only a row is in the column `f:q`.
fn filter_key(key: &Value, functor: &str) -> (Vec<String>, String) {
    let cell = match key {
        key if !key["row"].is_null() => {
            ["row", "family", "qualifier"].map(|part| line(&key[part], false))
        }
        key => [line(key, false), "66".to_owned(), "71".to_owned()],
    };
    let parts = match functor {
        "RowFunctor" => 1,
        "ColumnFamilyFunctor" => 2,
        "ColumnQualifierFunctor" => 3,
        other => panic!("{other}"),
    };
    let joined = cell[..parts].concat();
    (cell.into(), joined)
}

fn check(case: &Case, functor: &str, words: &str) {
    let key = |key: &Value| filter_key(key, functor).1;
    for probe in case.json["probes"].as_array().expect("a list") {
        let line = key(&probe["key"]);
        let found = answers(words, &[line]).len() == 1;
        assert_eq!(
            Value::from(found),
            probe["expected"],
            "{} {probe}",
            case.name()
        );
    }
    let absent = &case.json["absent"];
    let lines: Vec<String> = rule_keys(&absent["rule"]).iter().map(key).collect();
    let expected = absent["false_positives"].as_array().expect("a list").iter();
    let expected: Vec<String> = expected
        .map(|i| lines[number(i) as usize].clone())
        .collect();
    assert_eq!(answers(words, &lines), expected, "{}", case.name());
}

#[test]
fn accumulo() {
    for case in cases("accumulo-bloom") {
        let functor = case.param("key_functor");
        let short = match &*functor {
            "RowFunctor" => "row",
            "ColumnFamilyFunctor" => "family",
            _ => "qualifier",
        };
        if case.json["meta_file"].is_string() {
            let mut keys: Vec<_> = case
                .keys()
                .iter()
                .map(|key| filter_key(key, &functor))
                .collect();
            keys.sort();
            let lines: Vec<String> = keys.into_iter().map(|(_, key)| key).collect();
            let built = feed(
                &format!(
                    "build --format accumulo --key-type hex --fpr {} -P nr={} -P hash={} -P functor={short}",
                    case.param("fpp"),
                    case.param("nr"),
                    case.param("hash"),
                ),
                &lines,
            );
            let name = case.json["meta_file"].as_str().expect("a name");
            let theirs = fs::read(case.folder.join(name)).expect("the real block");
            assert!(built == theirs, "{}", case.name());
        }
        let file = case.file();
        check(
            &case,
            &functor,
            &format!("check {} --key-type hex", file.display()),
        );
        let described = feed(&format!("info --json {}", file.display()), &[]);
        let described: Value = serde_json::from_slice(&described).expect("JSON");
        assert_eq!(described["format"], "accumulo");
        assert_eq!(described["functor"], short);
        assert_eq!(described["layers"], case.json["params"]["rows"]);
    }
}
