//! `mayhap bench`: what it prints. How fast things are is nobody's business here.

use super::{run, stderr, stdout};
use mayhap_core::plan::BloomPlan;
use mayhap_core::{Kind, Operation};
use serde_json::Value;

const NANOSECONDS: [&str; 6] = [
    "insert_single_ns",
    "insert_batch_ns",
    "query_single_ns",
    "query_batch_ns",
    "floor_chased_ns",
    "floor_prefetched_ns",
];

#[test]
fn json_has_every_key_on_every_line() {
    let output = run("bench --kind bloom --keys 10k,20k --fpr 1%,0.1% --json");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("one JSON object a line"))
        .collect::<Vec<_>>();
    let cases = [
        (10_000, 0.01),
        (10_000, 0.001),
        (20_000, 0.01),
        (20_000, 0.001),
    ];
    assert_eq!(lines.len(), cases.len());
    for (line, (keys, rate)) in lines.iter().zip(cases) {
        let plan = BloomPlan::new(keys, rate).unwrap();
        assert_eq!(line["keys"], keys);
        assert_eq!(line["false_positive_rate"], rate);
        assert_eq!(line["bits_per_key"], plan.bits_per_key());
        assert_eq!(line["size_bytes"], plan.size_bytes());
        assert_eq!(line["lines_per_key"], plan.lines_per_key().count());
        assert_eq!(line["kind"], "bloom");
        assert_eq!(line["kernel"], mayhap_core::Kernel::best().to_string());
        assert_eq!(line["version"], env!("CARGO_PKG_VERSION"));
        assert!(line["cpu"].is_string() || line["cpu"].is_null());
        assert!(line["debug_build"].is_boolean());
        assert!(line["floor_prefetch_distance_keys"].is_u64());
        assert!(line["batch_per_floor"].as_f64().unwrap() > 0.0);
        for name in NANOSECONDS {
            let ns = line[name]
                .as_f64()
                .unwrap_or_else(|| panic!("{name} in {line}"));
            assert!(ns > 0.0 && ns.is_finite(), "{name} in {line}");
        }
        // 1e6 strangers at 1 %, 1e7 at 0.1 %, and the filters' own spread: five sigma.
        let measured = line["measured_rate"].as_f64().unwrap();
        let sigma = (1e-4 + plan.relative_variance_at(keys)).sqrt();
        assert!(
            (measured / rate - 1.0).abs() < 5.0 * sigma,
            "{measured} for {rate}"
        );
        for name in line.as_object().unwrap().keys() {
            assert!(
                name.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
                "{name}"
            );
        }
    }
}

#[test]
fn every_kind_is_measured_and_keeps_its_rate() {
    let output = run("bench --keys 20k --fpr 1% --json");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("one JSON object a line"))
        .collect::<Vec<_>>();
    // A retouched filter is a classic one until bits are cleared.
    let kinds = Kind::ALL
        .into_iter()
        .filter(|&kind| kind != Kind::Retouched);
    assert_eq!(lines.len(), kinds.clone().count());
    for (line, kind) in lines.iter().zip(kinds) {
        assert_eq!(line["kind"], kind.name());
        let single = line["insert_single_ns"].as_f64();
        assert_eq!(single.is_some(), kind.can(Operation::Insert), "{line}");
        assert!(line["query_batch_ns"].as_f64().unwrap() > 0.0);
        // 1e6 strangers, and the filters' own spread.
        assert!(line["measured_rate"].as_f64().unwrap() < 0.0112, "{line}");
    }
}

#[test]
fn naming_a_kind_that_cannot_be_measured_is_an_error() {
    let output = run("bench --keys 1k --fpr 1e-9 --kind bloom,cuckoo");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("--fpr 1e-9"),
        "{}",
        stderr(&output)
    );
    let output = run("bench --kind blom");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("bloom, classic"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_table_is_aligned_and_says_how_to_read_it() {
    let output = run("bench --kind bloom --keys 1k --fpr 5%,1e-4");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with(concat!("mayhap ", env!("CARGO_PKG_VERSION"))));
    assert!(text.contains(&format!("kernel {}", mayhap_core::Kernel::best())));
    let lines = text.lines().collect::<Vec<_>>();
    let header = lines
        .iter()
        .position(|line| line.contains("bits/key"))
        .unwrap();
    for (row, asked) in lines[header + 1..].iter().zip(["5 %", "0.01 %"]) {
        assert!(row.contains(asked), "{text}");
        assert_eq!(row.len(), lines[header].len(), "{text}");
    }
    assert!(text.contains("batch/floor is a batch query"));
    assert!(!text.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn no_progress_bar_in_a_pipe() {
    for words in [
        "bench --kind bloom --keys 1k",
        "bench --kind bloom --keys 1k --json",
    ] {
        assert_eq!(stderr(&run(words)), "", "{words}");
    }
}

#[test]
fn the_smallest_filter_can_be_measured() {
    let output = run("bench --kind bloom --keys 1,2,3 --fpr 50%,1e-9");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
