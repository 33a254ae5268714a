//! The curves of a plan, as points. Each line has the name of a kind or of what it shows.

use mayhap_codec::{PlanReport, rate_steps};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::plan::{BloomPlan, CuckooPlan, GrowingPlan, size_bytes};
use mayhap_core::{Kind, PlanError};
use serde_json::{Value, json};

/// Points per line.
const STEPS: u32 = 60;
/// How far beyond its capacity a filter is filled.
const TIMES: f64 = 4.0;
/// The rates of the axes.
const SIZE_RATES: (f64, f64) = (0.5, 1e-6);
/// The kinds whose sizes are shown.
const KINDS_OF_SIZES: [Kind; 9] = [
    Kind::Bloom,
    Kind::Cuckoo,
    Kind::Fuse,
    Kind::Ribbon,
    Kind::Classic,
    Kind::Growing,
    Kind::GrowingCuckoo,
    Kind::WindowCuckoo,
    Kind::Counting,
];

fn line(name: &str, points: impl Iterator<Item = (f64, f64)>) -> Value {
    let points: Vec<Value> = points
        .filter(|(_, y)| y.is_finite())
        .map(|(x, y)| json!([x, y]))
        .collect();
    json!({ "name": name, "points": points })
}

/// The rate over the number of keys, from none to four times the capacity. A filter that can be full ends there.
pub(crate) fn past_capacity(report: &PlanReport) -> Value {
    let (capacity, rate) = (report.keys, report.false_positive_rate);
    let steps = || {
        (0..=STEPS)
            .map(|step| (capacity as f64 * TIMES * f64::from(step) / f64::from(STEPS)) as u64)
    };
    let mut lines = Vec::new();
    if let Ok(plan) = BloomPlan::new(capacity, rate) {
        let points = steps().map(|keys| (keys as f64, plan.rate_at(keys)));
        lines.push(line("bloom", points));
    }
    if let Ok(plan) = ClassicPlan::new(capacity, rate) {
        let points = steps().map(|keys| (keys as f64, plan.rate_at(keys)));
        lines.push(line("classic", points));
    }
    if let Ok(plan) = GrowingPlan::new(capacity, rate) {
        let points = steps().map_while(|keys| Some((keys as f64, growing_rate(&plan, keys)?)));
        lines.push(line("growing", points));
    }
    if let Ok(plan) = CuckooPlan::new(capacity, rate) {
        let most = plan.max_keys();
        let points = steps().filter(|&keys| keys < most).chain([most]);
        let points = points.map(|keys| (keys as f64, plan.rate_at(keys)));
        lines.push(line("cuckoo", points));
    }
    json!({ "capacity": capacity, "rate": rate, "lines": lines })
}

/// The rate of a growing filter: each layer is filled to its capacity before the next.
fn growing_rate(plan: &GrowingPlan, keys: u64) -> Option<f64> {
    let (mut left, mut no) = (keys, 1.0);
    for number in 0.. {
        let layer = plan.layer(number).ok()?;
        let here = left.min(layer.capacity());
        no *= 1.0 - layer.rate_at(here);
        left -= here;
        if left == 0 {
            break;
        }
    }
    Some(1.0 - no)
}

/// Bits per key over the rate, and the information-theoretic limit.
pub(crate) fn sizes(report: &PlanReport) -> Value {
    let keys = report.keys;
    let mut lines: Vec<Value> = KINDS_OF_SIZES
        .into_iter()
        .map(|kind| {
            let points = rate_steps(SIZE_RATES, STEPS).filter_map(|rate| {
                let bytes = size_bytes(kind, keys, rate).ok()?;
                Some((rate, bytes as f64 * 8.0 / keys as f64))
            });
            line(kind.name(), points)
        })
        .collect();
    let limit = rate_steps(SIZE_RATES, STEPS).map(|rate| (rate, -libm::log2(rate)));
    lines.push(line("limit", limit));
    json!({
        "rate": report.false_positive_rate,
        "bits_per_key": report.bits_per_key(&report.best),
        "lines": lines,
    })
}

/// The cost of a lookup over the rate; null without costs.
pub(crate) fn costs(report: &PlanReport) -> Result<Value, PlanError> {
    let Some(costs) = &report.costs else {
        return Ok(Value::Null);
    };
    let keys = report.keys;
    let lookups = |rate: f64| costs.lookups.filter_cost(rate);
    let memory = |rate: f64| costs.memory_cost(keys, rate);
    let curve = |name, cost: &dyn Fn(f64) -> f64| {
        line(
            name,
            rate_steps(SIZE_RATES, STEPS).map(|rate| (rate, cost(rate))),
        )
    };
    let mut lines = vec![
        curve("no_filter", &|_| costs.lookups.no_filter_cost()),
        curve("exact", &|_| costs.lookups.exact_cost()),
        curve("lookups", &lookups),
    ];
    let both = |rate: f64| lookups(rate) + memory(rate);
    if costs.gib_cost.is_some() {
        lines.push(curve("memory", &memory));
        lines.push(curve("together", &both));
    }
    let best = costs.best(keys)?.map(|best| best.false_positive_rate);
    Ok(json!({
        "rate": report.false_positive_rate,
        "cost": both(report.false_positive_rate),
        "best": best,
        "best_cost": best.map(both),
        "lines": lines,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_filter_keeps_its_rate_and_a_bloom_filter_does_not() {
        let plan = GrowingPlan::new(1000, 0.01).unwrap();
        let bloom = BloomPlan::new(1000, 0.01).unwrap();
        for keys in [500, 1000, 4000, 100_000] {
            assert!(growing_rate(&plan, keys).unwrap() <= 0.0101, "{keys}");
        }
        assert!(bloom.rate_at(4000) > 0.2);
    }
}
