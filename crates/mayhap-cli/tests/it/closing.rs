//! `convert --kind`: a filter that grew becomes a smaller one that cannot.

use super::folder::{Folder, assert_refused, lines, numbered};
use mayhap_codec::{Limits, native};
use mayhap_core::{AnyFilter, GrowingCuckoo};
use serde_json::Value;

fn folder() -> Folder {
    let folder = Folder::with(&[
        ("keys", &numbered("", 0..30_000)),
        ("others", &numbered("", 100_000..150_000)),
    ]);
    folder.done("build -o grown.mayhap --kind growing-cuckoo --capacity 60000 --fpr 1% keys");
    folder
}

fn info(folder: &Folder, file: &str) -> Value {
    let output = folder.done(&format!("info --json {file}"));
    serde_json::from_slice(&output.stdout).expect("one object")
}

#[test]
fn a_closed_filter_has_all_keys_the_requested_rate_and_fewer_bytes() {
    let folder = folder();
    let grown = info(&folder, "grown.mayhap")["size_bytes"].as_u64();
    for (kind, rate, flag) in [
        ("ribbon", 0.01, ""),
        ("fuse", 0.01, ""),
        ("ribbon", 0.05, "--fpr 5%"),
    ] {
        let convert = format!("convert grown.mayhap -o closed.mayhap --kind {kind} {flag}");
        folder.done(&convert);
        folder.done("verify closed.mayhap");
        let object = info(&folder, "closed.mayhap");
        assert_eq!(object["kind"], kind);
        assert!(object["size_bytes"].as_u64() < grown, "{object}");
        let promised = object["false_positive_rate"].as_f64().expect("a rate");
        assert!((promised / rate - 1.0).abs() < 1e-9, "{promised}");
        assert_eq!(lines(&folder.run("check -c closed.mayhap keys")), ["30000"]);
        let wrong = &lines(&folder.run("check -c closed.mayhap others"))[0];
        let wrong: f64 = wrong.parse().expect("a number");
        // Five standard deviations above the requested rate.
        let expected = 50_000.0 * rate;
        assert!(wrong < expected + 5.0 * expected.sqrt(), "{kind}: {wrong}");
    }
}

#[test]
fn other_filters_and_rates_that_are_too_low_are_errors() {
    let folder = folder();
    folder.done("build -o bloom.mayhap keys");
    let other = folder.run("convert bloom.mayhap -o closed.mayhap --kind ribbon");
    assert_refused("bloom", &other, &["bloom.mayhap", "growing-cuckoo", "keys"]);
    let low = folder.run("convert grown.mayhap -o closed.mayhap --kind ribbon --fpr 1e-6");
    assert_refused("rate", &low, &["grown.mayhap", "--fpr"]);
    let kind = folder.run("convert grown.mayhap -o closed.mayhap --kind bloom");
    assert_refused("kind", &kind, &["ribbon", "fuse"]);
    assert!(!folder.names().contains(&"closed.mayhap".to_owned()));
}

/// A `BF` key of the server writes such files, and becomes a `BF` key again when it reads one.
#[test]
fn sets_stay_sets_when_they_are_merged_converted_and_added_to() {
    let folder = Folder::with(&[("more", "a\nb\nz\n")]);
    for (file, keys) in [("x.mayhap", ["a", "b"]), ("y.mayhap", ["b", "c"])] {
        let mut set = GrowingCuckoo::new(100, 0.001).expect("a filter");
        set.set_is_set(true);
        for key in keys {
            set.try_insert(key).expect("memory");
        }
        folder.write(file, native::to_bytes(&set).expect("bytes"));
    }
    let keys = |file: &str| {
        let filter = native::decode(&folder.read(file), Limits::default()).expect("a filter");
        let AnyFilter::GrowingCuckoo(set) = filter else {
            panic!("{file} is of another kind");
        };
        assert!(set.is_set(), "{file}");
        set.estimated_keys()
    };
    folder.done("merge x.mayhap y.mayhap -o both.mayhap");
    assert_eq!(keys("both.mayhap"), 3);
    folder.done("convert both.mayhap -o same.mayhap");
    assert_eq!(keys("same.mayhap"), 3);
    folder.done("add same.mayhap more");
    assert_eq!(keys("same.mayhap"), 4);
}
