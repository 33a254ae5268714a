//! `mayhap plan`: its figures are the library's.

use super::{run, stderr, stdout};
use mayhap_core::Kind;
use mayhap_core::plan::{BloomPlan, ExceptingPlan, Requirements, size_bytes};
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
    assert_eq!(figures["bits_set_per_key"], plan.probes());
    assert_eq!(figures["lines_per_key"], plan.lines_per_key().count());
    assert_eq!(figures["rate_at_capacity"], plan.rate_at(keys));
    assert_eq!(
        figures["rate_at_1_5x_capacity"],
        plan.rate_at(keys + keys / 2)
    );
    assert_eq!(figures["rate_at_2x_capacity"], plan.rate_at(2 * keys));
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
fn every_requirement_gets_a_kind_its_size_and_a_reason() {
    for (words, kind) in [
        ("", "bloom"),
        ("--delete", "cuckoo"),
        ("--delete --grow", "growing-cuckoo"),
        ("--grow", "growing"),
        ("--window", "window-cuckoo"),
        ("--static", "fuse"),
    ] {
        let figures = json(&format!("--keys 100k --fpr 1% {words}"));
        assert_eq!(figures["kind"], kind, "{words}");
        let size = size_bytes(Kind::from_name(kind).unwrap(), 100_000, 0.01).unwrap();
        assert_eq!(figures["size_bytes"], size, "{words}");
        assert!(figures["why"].as_str().is_some_and(|why| why.len() > 10));
        let text = stdout(&run(&format!("plan --keys 100k --fpr 1% {words}"))).to_owned();
        assert!(
            text.starts_with(kind) && text.contains("100,000 keys"),
            "{text}"
        );
        for other in figures["alternatives"].as_array().unwrap() {
            let name = other["kind"].as_str().unwrap();
            let size = size_bytes(Kind::from_name(name).unwrap(), 100_000, 0.01).unwrap();
            assert_eq!(other["size_bytes"], size);
            assert!(text.contains(name), "{text}");
        }
    }
}

#[test]
fn exceptions_are_included_in_the_plan() {
    let without = json("--keys 1M --fpr 1%");
    assert!(without["exception_bytes"].is_null());
    let with = json("--keys 1M --fpr 1% --except 1M");
    let layer = ExceptingPlan::new(1_000_000, 0.01, 1_000_000).unwrap();
    assert_eq!(with["exceptions"], 1_000_000);
    assert_eq!(with["exception_bytes"], layer.size_bytes());
    let total = without["size_bytes"].as_u64().unwrap() + layer.size_bytes();
    assert_eq!(with["size_bytes"], total);
    let text = stdout(&run("plan --keys 1M --fpr 1% --except 1M")).to_owned();
    assert!(text.contains("1,000,000 exceptions"), "{text}");
}

#[test]
fn a_kind_that_fits_the_memory_is_preferred_and_none_is_an_error() {
    // Bloom takes 9.93 bits a key, cuckoo 9.78.
    assert_eq!(json("--keys 1M --fpr 1% --memory 1.25MB")["kind"], "bloom");
    assert_eq!(json("--keys 1M --fpr 1% --memory 1.23MB")["kind"], "cuckoo");
    let output = run("plan --keys 1M --fpr 1% --memory 1MB");
    assert_eq!(output.status.code(), Some(2));
    let error = stderr(&output);
    let rate = Requirements::default()
        .strictest_within(1_000_000, 1_000_000)
        .unwrap();
    // Three digits, rounded up.
    let shown = "0.0234";
    assert!((rate..1.01 * rate).contains(&shown.parse::<f64>().unwrap()));
    assert!(
        error.contains("classic") && error.contains(&format!("--fpr {shown},")),
        "{error}"
    );
    for rate in [format!("{rate:?}"), shown.to_owned()] {
        assert_eq!(
            json(&format!("--keys 1M --fpr {rate} --memory 1MB"))["kind"],
            "bloom"
        );
    }
}

#[test]
fn contradictory_requirements_are_errors() {
    for words in [
        "--static --grow",
        "--window --delete",
        "--delete --except 5",
    ] {
        let output = run(&format!("plan --keys 1k --fpr 1% {words}"));
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(
            stderr(&output).contains("no kind of filter supports"),
            "{}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn the_plot_shows_every_kind_and_the_limit() {
    let path = std::env::temp_dir().join(format!("mayhap-plot-{}.svg", std::process::id()));
    let output = run(&format!(
        "plan --keys 1M --fpr 1% --plot {}",
        path.display()
    ));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let svg = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    let kinds = Kind::ALL
        .into_iter()
        .filter(|&kind| kind != Kind::Retouched);
    for name in kinds.map(Kind::name).chain(["limit"]) {
        assert!(svg.contains(&format!("<title>{name} ")), "{name}");
    }
    let output = run("plan --keys 1M --fpr 1% --plot /no/such/folder/x.svg");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--plot"), "{}", stderr(&output));
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
        "classic",
        "log2(1/rate)",
        &format!("{:.2}", plan.bits_per_key()),
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let bytes = text.replace(',', "");
    assert!(bytes.contains(&plan.size_bytes().to_string()), "{text}");
    assert!(stdout(&run("plan --keys 1M --fpr 0.1%")).contains("two cache lines"));
}

#[test]
fn costs_are_the_librarys() {
    let costs = "--cost-skip 0.5 --cost-lookup 20 --present 0.25";
    let lookups = mayhap_core::plan::cost::LookupCosts::new(0.5, 20.0, 0.25).unwrap();
    let figures = json(&format!("--keys 1M --fpr 1% {costs}"));
    let cost = &figures["cost"];
    assert_eq!(cost["filter"], lookups.filter_cost(0.01));
    assert_eq!(cost["exact"], lookups.exact_cost());
    assert_eq!(cost["delta"], lookups.extra_cost(0.01));
    assert_eq!(cost["saved_per_million"], lookups.saved_per_million(0.01));
    assert!(cost["best"].is_null(), "memory has no price");

    // Without a rate the best one is taken: memory ten times as dear is worth a looser one.
    let best = |gib: &str| {
        let figures = json(&format!("--keys 1M {costs} --cost-gib {gib}"));
        let rate = figures["false_positive_rate"].as_f64().unwrap();
        assert_eq!(figures["cost"]["best"]["false_positive_rate"], rate);
        rate
    };
    assert!(best("1e6") < best("1e7"));
    let output = run("plan --keys 1M --fpr 1% --cost-skip 1");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("--cost-lookup"),
        "{}",
        stderr(&output)
    );
    let output = run("plan --keys 1M --fpr 1% --cost-skip 2 --cost-lookup 1 --present 0.1");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("--cost-lookup"),
        "{}",
        stderr(&output)
    );
}
