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
use mayhap_codec::{CostRequest, PlanReport, PlanRequest, PlanRequestError};
use mayhap_core::Kind;
use mayhap_core::plan::{BloomPlan, GrowingPlan, Requirements};
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &PlanArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let figures = PlanFigures::from_args(args)?;
    if let Some(path) = &args.plot {
        let (keys, rate) = (figures.report.keys, figures.report.false_positive_rate);
        let svg = match &figures.costs {
            Some(costs) => costs.svg(keys, rate)?,
            None => chart::svg(keys, rate),
        };
        draw(path, &svg)?;
    }
    if args.json {
        let json = figures.report.to_json()?;
        writeln!(out, "{json}")?;
    } else {
        figures.table(out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The recommendation, as the table shows it.
struct PlanFigures {
    report: PlanReport,
    costs: Option<CostModel>,
}

impl PlanFigures {
    fn from_args(args: &PlanArgs) -> Result<Self, CliError> {
        let request = PlanRequest {
            keys: args.keys,
            false_positive_rate: args.fpr,
            memory: args.memory,
            requirements: Requirements {
                delete: args.delete,
                grow: args.grow,
                expire: args.window,
                fixed: args.fixed,
                exceptions: args.except.unwrap_or(0),
            },
            costs: CostRequest {
                skip: args.cost_skip,
                lookup: args.cost_lookup,
                present: args.present,
                gib: args.cost_gib,
                lookups: args.lookups,
            },
        };
        let report = request.report().map_err(|error| explain(&error))?;
        let costs = report.costs.map(CostModel);
        Ok(Self { report, costs })
    }

    fn bloom(&self) -> Option<BloomPlan> {
        self.report.bloom()
    }

    fn table(&self, out: &mut impl Write) -> Result<(), CliError> {
        let best = &self.report.best;
        writeln!(
            out,
            "{}: {}{} at a false-positive rate of {}\n  {}\n",
            best.kind,
            human_format::with_unit(self.report.keys, "key"),
            if matches!(best.kind, Kind::Window | Kind::WindowCuckoo) {
                " per window"
            } else {
                ""
            },
            human_format::requested_rate(self.report.false_positive_rate),
            best.why,
        )?;
        writeln!(
            out,
            "  memory           {} ({})",
            human_format::size(best.size_bytes),
            human_format::with_unit(best.size_bytes, "byte"),
        )?;
        if self.report.exceptions > 0 {
            writeln!(
                out,
                "  of this          {} for {} that never match",
                human_format::with_unit(best.exception_bytes, "byte"),
                human_format::with_unit(self.report.exceptions, "exception"),
            )?;
        }
        if let Some(memory) = self.report.memory {
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
            Some(costs) => costs.table(self.report.keys, self.report.false_positive_rate, out),
            None => Ok(()),
        }
    }

    /// The rate of a filter beyond its capacity.
    fn growth(&self, out: &mut impl Write) -> Result<(), CliError> {
        let plan = GrowingPlan::new(self.report.keys, self.report.false_positive_rate)?;
        writeln!(out, "\n  grown to")?;
        for times in [2, 10, 100] {
            let keys = self.report.keys.saturating_mul(times);
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
        let bits = self.report.bits_per_key(&self.report.best);
        let shown = |bits| human_format::significant(bits, 3);
        writeln!(
            out,
            "    {:<15}{:>8}",
            self.report.best.kind.name(),
            shown(bits)
        )?;
        for other in &self.report.others {
            writeln!(
                out,
                "    {:<15}{:>8}   {}",
                other.kind.name(),
                shown(self.report.bits_per_key(other)),
                other.why
            )?;
        }
        let ratio = bits / self.report.limit_bits_per_key();
        let compared = if ratio < 10.0 {
            format!("{} % more", shown(100.0 * (ratio - 1.0)))
        } else {
            format!("{} times as many", shown(ratio))
        };
        writeln!(
            out,
            "    {:<15}{:>8}   the minimum for any filter: {} uses {compared}",
            "log2(1/rate)",
            shown(self.report.limit_bits_per_key()),
            self.report.best.kind,
        )?;
        Ok(())
    }
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
    for (name, rate) in ["at capacity", "at 1.5x", "at 2x"]
        .iter()
        .zip(PlanReport::rates(plan))
    {
        writeln!(out, "    {name:<15}{:>10}", human_format::rate(rate, 3))?;
    }
    Ok(())
}

/// Names the flags instead of the fields.
fn explain(error: &PlanRequestError) -> CliError {
    match *error {
        PlanRequestError::Plan(error) => error.into(),
        PlanRequestError::Incomplete { given } => CliError::message(format!(
            "plan needs two of --keys, --fpr and --memory, and got {}: give two, and it computes the third",
            if given == 0 { "none" } else { "one" }
        )),
        PlanRequestError::Costs => CliError::message(
            "costs need each other: give --cost-skip, --cost-lookup and --present, and --cost-gib to find the best rate",
        ),
        PlanRequestError::TooLarge {
            kind,
            size_bytes,
            memory,
            strictest,
        } => {
            let instead = strictest.map_or("use more memory or fewer keys".into(), |rate| {
                format!(
                    "use more memory, fewer keys, or --fpr {}, which fits",
                    human_format::rate_argument(rate)
                )
            });
            CliError::message(format!(
                "the smallest suitable filter, a {kind} filter, needs {} and --memory allows {}: {instead}",
                human_format::size(size_bytes),
                human_format::size(memory)
            ))
        }
    }
}
