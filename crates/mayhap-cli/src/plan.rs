//! `mayhap plan`: recommends a kind of filter, and computes whichever of keys, rate and memory is not given.
//!
//! The library does all arithmetic; this file only formats the result.

mod chart;
mod cost;

use crate::args::PlanArgs;
use crate::error::CliError;
use crate::human_format;
use crate::output::draw;
use cost::CostModel;
use mayhap_core::Kind;
use mayhap_core::plan::{BloomPlan, GrowingPlan, KindChoice, Requirements};
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &PlanArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let figures = PlanFigures::from_args(args)?;
    if let Some(path) = &args.plot {
        let (keys, rate) = (figures.keys, figures.false_positive_rate);
        let svg = match &figures.costs {
            Some(costs) => costs.svg(keys, rate)?,
            None => chart::svg(keys, rate),
        };
        draw(path, &svg)?;
    }
    if args.json {
        writeln!(out, "{}", figures.json()?)?;
    } else {
        figures.table(out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The recommendation, and the alternatives.
struct PlanFigures {
    keys: u64,
    false_positive_rate: f64,
    memory: Option<u64>,
    exceptions: u64,
    costs: Option<CostModel>,
    best: KindChoice,
    others: Vec<KindChoice>,
}

impl PlanFigures {
    fn from_args(args: &PlanArgs) -> Result<Self, CliError> {
        let wishes = Requirements {
            delete: args.delete,
            grow: args.grow,
            expire: args.window,
            fixed: args.fixed,
            exceptions: args.except.unwrap_or(0),
        };
        let costs = CostModel::from_args(args)?;
        let best = match (&costs, args.keys) {
            (Some(costs), Some(keys)) => costs.best(keys)?,
            _ => None,
        };
        let (keys, rate) = match (args.keys, args.fpr, args.memory) {
            (Some(keys), Some(rate), _) => (keys, rate),
            // The best rate, if costs are given and no rate.
            (Some(keys), None, None) if best.is_some() => {
                (keys, best.map_or(0.0, |best| best.false_positive_rate))
            }
            (Some(keys), None, Some(memory)) => (keys, wishes.strictest_within(memory, keys)?),
            (None, Some(rate), Some(memory)) => (wishes.largest_within(memory, rate)?, rate),
            (keys, fpr, memory) => {
                let none = keys.is_none() && fpr.is_none() && memory.is_none();
                return Err(CliError::message(format!(
                    "plan needs two of --keys, --fpr and --memory, and got {}: give two, and it computes the third",
                    if none { "none" } else { "one" }
                )));
            }
        };
        let mut choices = wishes.choices(keys, rate)?;
        let at = match args.memory {
            None => 0,
            Some(memory) => choices
                .iter()
                .position(|choice| choice.size_bytes <= memory)
                .ok_or_else(|| {
                    too_large(&choices, memory, wishes.strictest_within(memory, keys).ok())
                })?,
        };
        let best = choices.remove(at);
        Ok(Self {
            keys,
            false_positive_rate: rate,
            memory: args.memory,
            exceptions: wishes.exceptions,
            costs,
            best,
            others: choices,
        })
    }

    fn bits_per_key(&self, choice: &KindChoice) -> f64 {
        choice.size_bytes as f64 * 8.0 / self.keys as f64
    }

    /// The information-theoretic limit.
    fn limit_bits_per_key(&self) -> f64 {
        -self.false_positive_rate.log2()
    }

    fn bloom(&self) -> Option<BloomPlan> {
        let plan = BloomPlan::new(self.keys, self.false_positive_rate).ok();
        plan.filter(|_| self.best.kind == Kind::Bloom)
    }

    fn json(&self) -> Result<serde_json::Value, CliError> {
        let mut figures = json!({
            "kind": self.best.kind.name(),
            "why": self.best.why,
            "keys": self.keys,
            "false_positive_rate": self.false_positive_rate,
            "memory_bytes": self.memory,
            "size_bytes": self.best.size_bytes,
            "bits_per_key": self.bits_per_key(&self.best),
            "limit_bits_per_key": self.limit_bits_per_key(),
            "alternatives": self.others.iter().map(|other| json!({
                "kind": other.kind.name(),
                "why": other.why,
                "size_bytes": other.size_bytes,
                "bits_per_key": self.bits_per_key(other),
            })).collect::<Vec<_>>(),
        });
        if self.exceptions > 0 {
            figures["exceptions"] = self.exceptions.into();
            figures["exception_bytes"] = self.best.exception_bytes.into();
        }
        if let Some(plan) = self.bloom() {
            let [full, half_more, twice] = rates(&plan);
            figures["lines"] = plan.lines().into();
            figures["lines_per_key"] = plan.lines_per_key().count().into();
            figures["bits_set_per_key"] = plan.probes().into();
            figures["rate_at_capacity"] = full.into();
            figures["rate_at_1_5x_capacity"] = half_more.into();
            figures["rate_at_2x_capacity"] = twice.into();
        }
        if let Some(costs) = &self.costs {
            figures["cost"] = costs.json(self.keys, self.false_positive_rate)?;
        }
        Ok(figures)
    }

    fn table(&self, out: &mut impl Write) -> Result<(), CliError> {
        let Self { best, .. } = self;
        writeln!(
            out,
            "{}: {}{} at a false-positive rate of {}\n  {}\n",
            best.kind,
            human_format::with_unit(self.keys, "key"),
            if matches!(best.kind, Kind::Window | Kind::WindowCuckoo) {
                " per window"
            } else {
                ""
            },
            human_format::requested_rate(self.false_positive_rate),
            best.why,
        )?;
        writeln!(
            out,
            "  memory           {} ({})",
            human_format::size(best.size_bytes),
            human_format::with_unit(best.size_bytes, "byte"),
        )?;
        if self.exceptions > 0 {
            writeln!(
                out,
                "  of this          {} for {} that never match",
                human_format::with_unit(best.exception_bytes, "byte"),
                human_format::with_unit(self.exceptions, "exception"),
            )?;
        }
        if let Some(memory) = self.memory {
            let share = best.size_bytes as f64 / memory as f64;
            writeln!(
                out,
                "  used             {} of {}",
                human_format::rate(share, 3),
                human_format::size(memory)
            )?;
        }
        if let Some(plan) = self.bloom() {
            bloom_details(&plan, out)?;
        }
        if best.kind == Kind::Growing {
            self.growth(out)?;
        }
        self.compared(out)?;
        match &self.costs {
            Some(costs) => costs.table(self.keys, self.false_positive_rate, out),
            None => Ok(()),
        }
    }

    /// The rate of a filter beyond its capacity.
    fn growth(&self, out: &mut impl Write) -> Result<(), CliError> {
        let plan = GrowingPlan::new(self.keys, self.false_positive_rate)?;
        writeln!(out, "\n  grown to")?;
        for times in [2, 10, 100] {
            let keys = self.keys.saturating_mul(times);
            let Ok((size, layers)) = plan.size_and_layers_at(keys) else {
                break;
            };
            let bits = human_format::significant(size as f64 * 8.0 / keys as f64, 3);
            let name = format!("{times}x the keys");
            writeln!(
                out,
                "    {name:<15}{bits:>8} bits per key, {}, {}",
                human_format::size(size),
                human_format::with_unit(layers.into(), "layer"),
            )?;
        }
        Ok(())
    }

    fn compared(&self, out: &mut impl Write) -> Result<(), CliError> {
        writeln!(out, "\n  bits per key")?;
        let bits = self.bits_per_key(&self.best);
        let shown = |bits| human_format::significant(bits, 3);
        writeln!(out, "    {:<15}{:>8}", self.best.kind.name(), shown(bits))?;
        for other in &self.others {
            writeln!(
                out,
                "    {:<15}{:>8}   {}",
                other.kind.name(),
                shown(self.bits_per_key(other)),
                other.why
            )?;
        }
        let ratio = bits / self.limit_bits_per_key();
        let compared = if ratio < 10.0 {
            format!("{} % more", shown(100.0 * (ratio - 1.0)))
        } else {
            format!("{} times as many", shown(ratio))
        };
        writeln!(
            out,
            "    {:<15}{:>8}   the minimum for any filter: {} uses {compared}",
            "log2(1/rate)",
            shown(self.limit_bits_per_key()),
            self.best.kind,
        )?;
        Ok(())
    }
}

/// The rate at capacity, at 1.5 times and at twice the capacity.
fn rates(plan: &BloomPlan) -> [f64; 3] {
    let keys = plan.capacity();
    [keys, keys.saturating_add(keys / 2), keys.saturating_mul(2)].map(|keys| plan.rate_at(keys))
}

fn bloom_details(plan: &BloomPlan, out: &mut impl Write) -> Result<(), CliError> {
    writeln!(
        out,
        "  a key sets       {} in {}",
        human_format::with_unit(u64::from(plan.probes()), "bit"),
        if plan.lines_per_key().count() == 1 {
            "one cache line"
        } else {
            "two cache lines"
        },
    )?;
    writeln!(out, "\n  expected rate")?;
    for (name, rate) in ["at capacity", "at 1.5x", "at 2x"].iter().zip(rates(plan)) {
        writeln!(out, "    {name:<15}{:>10}", human_format::rate(rate, 3))?;
    }
    Ok(())
}

fn too_large(choices: &[KindChoice], memory: u64, strictest: Option<f64>) -> CliError {
    let smallest = choices.iter().min_by_key(|choice| choice.size_bytes);
    let (kind, size) = smallest.map_or(("filter", 0), |choice| {
        (choice.kind.name(), choice.size_bytes)
    });
    let instead = strictest.map_or("use more memory or fewer keys".into(), |rate| {
        format!(
            "use more memory, fewer keys, or --fpr {}, which fits",
            human_format::rate_argument(rate)
        )
    });
    CliError::message(format!(
        "the smallest suitable filter, a {kind} filter, needs {} and --memory allows {}: {instead}",
        human_format::size(size),
        human_format::size(memory)
    ))
}
