//! HBase: chunks by themselves, whose metadata is in flags, and whole HFiles.

use super::{answers, cases, feed, line};
use crate::{mayhap, stderr};
use serde_json::Value;

#[test]
fn hbase() {
    for case in cases("hbase-chunk") {
        let kind = case.param("bloom_type").to_lowercase();
        let hash = case.param("hash");
        let words = format!("--probes {} -P hash={hash} -P type={kind}", case.param("k"));
        // Folding is the writer's of a whole file.
        if case.json["file_before_fold"].is_null() {
            let bits = 8 * case.json["params"]["bytes_before_fold"]
                .as_u64()
                .expect("bytes");
            case.build(&format!("--format hbase --bits {bits} {words}"));
        }
        case.check(&format!("--from hbase {words}"));
    }
    for case in cases("hbase-hfile") {
        let words = format!("check {}", case.file().display());
        if case.param("bloom_type") == "NONE" {
            let output = mayhap(&words).output().expect("the program starts");
            assert_eq!(output.status.code(), Some(2));
            assert!(stderr(&output).contains("contains no filter"));
            continue;
        }
        case.check("");
        case.check("--from hbase");
        let hash = case.param("hash");
        case.check(&format!("--from hbase -P hash={hash}"));
        let probes = case.json["delete_family_probes"].as_array();
        for probe in probes.into_iter().flatten() {
            let key = line(&probe["key"], false);
            let words = format!("{words} -P filter=delete_family --key-type hex");
            let found = !answers(&words, &[key]).is_empty();
            assert_eq!(Value::from(found), probe["expected"], "{}", case.name());
        }
        let described =
            String::from_utf8(feed(&format!("info --json {}", case.file().display()), &[]));
        let described: Value = serde_json::from_str(&described.expect("text")).expect("JSON");
        assert_eq!(described["format"], "hbase");
        assert_eq!(described["chunks"], case.json["params"]["chunks"]);
        assert_eq!(described["keys_added"], case.json["params"]["total_keys"]);
        assert_eq!(described["probes"], case.json["params"]["k"]);
    }
}
