//! What was answered by which stage, for Prometheus. The tests do not believe it: they ask PostgreSQL.

use crate::guard::Stage;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

const STAGES: [Stage; 4] = [
    Stage::Filter,
    Stage::Cache,
    Stage::Database,
    Stage::DatabaseAlone,
];

/// Counters since the start.
#[derive(Debug, Default)]
pub struct Metrics {
    answers: [AtomicU64; STAGES.len()],
    builds: AtomicU64,
    failures: AtomicU64,
}

impl Metrics {
    pub(crate) fn answered(&self, stage: Stage) {
        for (counter, known) in self.answers.iter().zip(STAGES) {
            if known == stage {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    pub(crate) fn built(&self) {
        self.builds.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// In Prometheus's text format.
    pub fn text(&self) -> String {
        let mut text = String::from("# TYPE guard_answers_total counter\n");
        for (counter, stage) in self.answers.iter().zip(STAGES) {
            let (name, count) = (stage.name(), counter.load(Ordering::Relaxed));
            let _ = writeln!(text, "guard_answers_total{{stage=\"{name}\"}} {count}");
        }
        for (name, counter) in [
            ("filter_builds", &self.builds),
            ("failures", &self.failures),
        ] {
            let count = counter.load(Ordering::Relaxed);
            let _ = writeln!(
                text,
                "# TYPE guard_{name}_total counter\nguard_{name}_total {count}"
            );
        }
        text
    }
}
