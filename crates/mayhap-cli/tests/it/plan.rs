//! `mayhap plan`: its figures are the library's.

use super::{run, stderr, stdout};
use mayhap::plan::{BloomPlan, classic};
use serde_json::Value;

fn json(words: &str) -> Value {
    let output = run(&format!("plan {words} --json"));
    assert_eq!(
        output.status.code(),
        Some(0),
        "{words}: {}",
        stderr(&output)
    );
    assert_eq!(stderr(&output), "");
    assert_eq!(stdout(&output).lines().count(), 1);
    serde_json::from_str(stdout(&output)).expect("a JSON object")
}

fn assert_figures(figures: &Value, plan: &BloomPlan) {
    let (keys, rate) = (plan.capacity(), plan.false_positive_rate());
    assert_eq!(figures["kind"], "bloom");
    assert_eq!(figures["keys"], keys);
    assert_eq!(figures["false_positive_rate"], rate);
    assert_eq!(figures["lines"], plan.lines());
    assert_eq!(figures["size_bytes"], plan.size_bytes());
    assert_eq!(figures["bits_per_key"], plan.bits_per_key());
    assert_eq!(figures["bits_set_per_key"], plan.bits_per_key_set());
    assert_eq!(figures["lines_per_key"], plan.lines_per_key().count());
    assert_eq!(figures["rate_at_capacity"], plan.rate_at(keys));
    assert_eq!(
        figures["rate_at_1_5x_capacity"],
        plan.rate_at(keys + keys / 2)
    );
    assert_eq!(figures["rate_at_2x_capacity"], plan.rate_at(2 * keys));
    let classic = classic::plan(keys, rate).unwrap().bits as f64 / keys as f64;
    assert_eq!(figures["classic_bits_per_key"], classic);
    assert_eq!(figures["limit_bits_per_key"], -rate.log2());
}

#[test]
fn keys_and_rate_give_the_memory() {
    for (words, keys, rate) in [
        ("--keys 1M --fpr 1%", 1_000_000, 0.01),
        ("--keys 10k --fpr 0.001", 10_000, 0.001),
        ("--keys 1e9 --fpr 1e-4", 1_000_000_000, 1e-4),
        ("--keys 1 --fpr 0.5", 1, 0.5),
    ] {
        let figures = json(words);
        assert_figures(&figures, &BloomPlan::new(keys, rate).unwrap());
        assert!(figures["memory_bytes"].is_null());
    }
}

#[test]
fn keys_and_memory_give_the_rate() {
    for (words, keys, memory) in [
        ("--keys 10M --memory 64MiB", 10_000_000, 64 << 20),
        ("--keys 10M --memory 10MB", 10_000_000, 10_000_000),
        ("--keys 1000 --memory 1kB", 1000, 1000),
    ] {
        let figures = json(words);
        let rate = figures["false_positive_rate"].as_f64().unwrap();
        let plan = BloomPlan::new(keys, rate).unwrap();
        assert_figures(&figures, &plan);
        assert_eq!(figures["memory_bytes"], memory);
        assert!(plan.size_bytes() <= memory);
        let stricter = BloomPlan::new(keys, rate * 0.998).unwrap();
        assert!(stricter.size_bytes() > memory, "{plan}, {stricter}");
    }
}

#[test]
fn memory_and_rate_give_the_keys() {
    for (words, memory, rate) in [
        ("--memory 64MiB --fpr 1%", 64 << 20, 0.01),
        ("--memory 1.5GB --fpr 0.001", 1_500_000_000, 0.001),
    ] {
        let figures = json(words);
        let keys = figures["keys"].as_u64().unwrap();
        let plan = BloomPlan::new(keys, rate).unwrap();
        assert_figures(&figures, &plan);
        assert!(plan.size_bytes() <= memory);
        assert!(BloomPlan::new(keys + 1, rate).unwrap().size_bytes() > memory);
    }
}

#[test]
fn the_table_has_the_same_figures() {
    let plan = BloomPlan::new(1_000_000, 0.01).unwrap();
    let output = run("plan --keys 1M --fpr 1%");
    let text = stdout(&output);
    for part in [
        "1,000,000 keys at a false-positive rate of 1 %",
        "one cache line",
        "at 1.5x",
        "at 2x",
        "classic Bloom",
        "log2(1/rate)",
        &format!("{:.2}", plan.bits_per_key()),
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let bytes = text.replace(',', "");
    assert!(bytes.contains(&plan.size_bytes().to_string()), "{text}");
    assert!(bytes.contains(&plan.lines().to_string()), "{text}");
    assert!(stdout(&run("plan --keys 1M --fpr 0.1%")).contains("two cache lines"));
}
