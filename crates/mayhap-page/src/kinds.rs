//! Every kind side by side: its size for the request, what a lookup reads, what it can do, and why it is recommended or not.

use mayhap_codec::PlanReport;
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::plan::{
    BloomPlan, FusePlan, GrowingPlan, Requirements, RibbonPlan, WindowPlan, size_bytes,
};
use mayhap_core::{Kind, Operation};
use serde_json::{Value, json};
use std::time::Duration;

const LINE_BYTES: u32 = 64;

/// One row per kind: the recommended one, the other suitable ones, then those that cannot do what is required.
pub(crate) fn table(requirements: &Requirements, report: &PlanReport) -> Vec<Value> {
    let suitable = std::iter::once(&report.best).chain(&report.others);
    let mut kinds: Vec<Kind> = suitable.clone().map(|choice| choice.kind).collect();
    let mut others: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|kind| !kinds.contains(kind))
        .collect();
    others.sort_by_key(|kind| missing(*kind, requirements).len());
    kinds.append(&mut others);
    let row = |kind: Kind| {
        let choice = suitable.clone().find(|choice| choice.kind == kind);
        let keys = report.keys;
        let size = match choice {
            Some(choice) => Some(choice.size_bytes),
            None => size_bytes(kind, keys, report.false_positive_rate).ok(),
        };
        let reads = reads(kind, keys, report.false_positive_rate);
        json!({
            "kind": kind.name(),
            "size_bytes": size,
            "bits_per_key": size.map(|bytes| bytes as f64 * 8.0 / keys as f64),
            "times_best": size.map(|bytes| bytes as f64 / report.best.size_bytes as f64),
            "probes": reads.map(|(probes, _)| probes),
            "lines": reads.map(|(_, lines)| lines),
            "can": abilities(kind),
            "is_best": kind == report.best.kind,
            "is_suitable": choice.is_some(),
            "why": choice.map(|choice| choice.why),
            "missing": missing(kind, requirements),
        })
    };
    kinds.into_iter().map(row).collect()
}

/// What a kind can do, in the words of the requirements.
fn abilities(kind: Kind) -> Vec<&'static str> {
    let all = [
        ("insert", kind.can(Operation::Insert)),
        ("delete", kind.can(Operation::Remove)),
        ("grow", can_grow(kind)),
        ("window", can_expire(kind)),
        (
            "count",
            matches!(kind, Kind::Counting | Kind::CountingCuckoo),
        ),
        ("merge", kind.can(Operation::Union)),
        ("except", can_except(kind)),
    ];
    let can = all.into_iter().filter(|(_, can)| *can);
    can.map(|(name, _)| name).collect()
}

/// The requirements that a kind does not fulfil.
fn missing(kind: Kind, requirements: &Requirements) -> Vec<&'static str> {
    let all = [
        (
            "delete",
            requirements.delete && !kind.can(Operation::Remove),
        ),
        ("grow", requirements.grow && !can_grow(kind)),
        ("window", requirements.expire && !can_expire(kind)),
        (
            "insert",
            !requirements.fixed && !kind.can(Operation::Insert),
        ),
        ("except", requirements.exceptions > 0 && !can_except(kind)),
        // It is made from a filter and its known false positives, and loses keys for that.
        ("loses_keys", kind == Kind::Retouched),
        // It forgets keys although nobody wants that.
        ("forgets", !requirements.expire && can_expire(kind)),
    ];
    let missing = all.into_iter().filter(|(_, is_missing)| *is_missing);
    missing.map(|(name, _)| name).collect()
}

fn can_grow(kind: Kind) -> bool {
    match kind {
        Kind::Growing
        | Kind::GrowingCuckoo
        | Kind::CountingCuckoo
        | Kind::Window
        | Kind::WindowCuckoo => true,
        Kind::Bloom
        | Kind::Classic
        | Kind::Counting
        | Kind::Cuckoo
        | Kind::Fuse
        | Kind::Ribbon
        | Kind::Retouched => false,
    }
}

fn can_expire(kind: Kind) -> bool {
    matches!(kind, Kind::Window | Kind::WindowCuckoo)
}

/// `Excepting` wraps filters whose keys stay.
fn can_except(kind: Kind) -> bool {
    match kind {
        Kind::Bloom | Kind::Classic | Kind::Growing | Kind::Fuse | Kind::Ribbon => true,
        Kind::Counting
        | Kind::Window
        | Kind::Cuckoo
        | Kind::Retouched
        | Kind::GrowingCuckoo
        | Kind::CountingCuckoo
        | Kind::WindowCuckoo => false,
    }
}

/// How many places a lookup tests, and how many cache lines it touches at most, in a filter that has not grown.
fn reads(kind: Kind, keys: u64, rate: f64) -> Option<(u32, u32)> {
    let of_bloom = |plan: BloomPlan| (plan.probes(), plan.lines_per_key().count());
    match kind {
        Kind::Bloom => BloomPlan::new(keys, rate).ok().map(of_bloom),
        Kind::Growing => {
            let layer = GrowingPlan::new(keys, rate).ok()?.layer(0);
            layer.ok().map(of_bloom)
        }
        Kind::Window => {
            let plan = WindowPlan::new(keys, rate, Duration::from_secs(1)).ok()?;
            let (probes, lines) = of_bloom(plan.layer(0).ok()?);
            let layers = plan.slices() + 1;
            Some((probes * layers, lines * layers))
        }
        Kind::Classic | Kind::Retouched | Kind::Counting => {
            let probes = ClassicPlan::new(keys, rate).ok()?.probes;
            Some((probes, probes))
        }
        // Two windows of two cells.
        Kind::Cuckoo | Kind::GrowingCuckoo | Kind::CountingCuckoo | Kind::WindowCuckoo => {
            size_bytes(kind, keys, rate).ok().map(|_| (4, 2))
        }
        Kind::Fuse => FusePlan::new(keys, rate).ok().map(|_| (3, 3)),
        Kind::Ribbon => {
            // A word of each column of two neighbouring blocks.
            let columns = u32::from(RibbonPlan::new(keys, rate).ok()?.columns());
            let bytes = 2 * 8 * columns;
            Some((columns, (bytes + LINE_BYTES - 8).div_ceil(LINE_BYTES)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mayhap_codec::PlanRequest;

    #[test]
    fn suitable_kinds_lack_nothing_and_come_first() {
        for bits in 0..32_u32 {
            let requirements = Requirements {
                delete: bits & 1 != 0,
                grow: bits & 2 != 0,
                expire: bits & 4 != 0,
                fixed: bits & 8 != 0,
                exceptions: u64::from(bits & 16) * 10,
            };
            let request = PlanRequest {
                keys: Some(100_000),
                false_positive_rate: Some(0.01),
                requirements,
                ..PlanRequest::default()
            };
            let Ok(report) = request.report() else {
                continue;
            };
            let rows = table(&requirements, &report);
            assert_eq!(rows.len(), Kind::ALL.len());
            assert_eq!(rows[0]["is_best"], true);
            let suitable = rows.iter().filter(|row| row["is_suitable"] == true);
            for row in suitable {
                // Alternatives name their own condition: "if keys must be removed", "if keys may be added later".
                if row["is_best"] == true {
                    assert_eq!(row["missing"], json!([]), "{requirements:?} {row}");
                }
                assert!(row["why"].is_string());
            }
        }
    }

    #[test]
    fn every_kind_has_a_size_and_says_what_a_lookup_reads() {
        let request = PlanRequest {
            keys: Some(1_000_000),
            false_positive_rate: Some(0.01),
            ..PlanRequest::default()
        };
        for row in table(&request.requirements, &request.report().unwrap()) {
            for field in ["size_bytes", "bits_per_key", "probes", "lines"] {
                assert!(
                    row[field].as_f64().is_some_and(|value| value > 0.0),
                    "{row}"
                );
            }
        }
    }
}
