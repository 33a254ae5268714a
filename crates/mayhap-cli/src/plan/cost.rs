//! The cost model of a filter in front of something slow, and the best rate.

use crate::args::PlanArgs;
use crate::error::CliError;
use crate::human_format;
use mayhap_chart::{Axis, Chart, Mark, Scale, Series};
use mayhap_core::Kind;
use mayhap_core::plan::cost::{BestRate, LookupCosts};
use mayhap_core::plan::size_bytes;
use serde_json::{Value, json};
use std::io::Write;

/// The default number of lookups per period.
const LOOKUPS: u64 = 1_000_000;
const BITS_PER_GIB: f64 = (8_u64 << 30) as f64;
/// The range of rates in the chart.
const RATES: (f64, f64) = (0.5, 1e-6);
const STEPS: u32 = 120;

/// The costs that the user gave.
pub(super) struct CostModel {
    lookups: LookupCosts,
    count: u64,
    gib_cost: Option<f64>,
}

impl CostModel {
    /// `None` if no cost is given; an error if some are missing.
    pub(super) fn from_args(args: &PlanArgs) -> Result<Option<Self>, CliError> {
        match (args.cost_skip, args.cost_lookup, args.present) {
            (None, None, None) if args.cost_gib.is_none() && args.lookups.is_none() => Ok(None),
            (Some(skip), Some(lookup), Some(present)) => Ok(Some(Self {
                lookups: LookupCosts::new(skip, lookup, present)?,
                count: args.lookups.unwrap_or(LOOKUPS),
                gib_cost: args.cost_gib,
            })),
            _ => Err(CliError::message(
                "costs need each other: give --cost-skip, --cost-lookup and --present, and --cost-gib to find the best rate",
            )),
        }
    }

    /// The rate with the lowest total cost of lookups and memory for a Bloom filter.
    pub(super) fn best(&self, keys: u64) -> Result<Option<BestRate>, CliError> {
        let Some(gib_cost) = self.gib_cost else {
            return Ok(None);
        };
        let best = self
            .lookups
            .best_rate_with(keys, self.count as f64, gib_cost, |rate| bits(keys, rate))?;
        Ok(Some(best))
    }

    pub(super) fn json(&self, keys: u64, rate: f64) -> Result<Value, CliError> {
        let lookups = &self.lookups;
        let best = self.best(keys)?.map(|best| {
            json!({
                "false_positive_rate": best.false_positive_rate,
                "lookup_cost": best.lookup_cost,
                "memory_cost": best.memory_cost,
                "saved": best.saved,
            })
        });
        Ok(json!({
            "lookups": self.count,
            "filter": lookups.filter_cost(rate),
            "exact": lookups.exact_cost(),
            "none": lookups.no_filter_cost(),
            "delta": lookups.extra_cost(rate),
            "skipped_share": lookups.skipped_share(rate),
            "wasted_share": lookups.wasted_share(rate),
            "saved_per_million": lookups.saved_per_million(rate),
            "best": best,
        }))
    }

    pub(super) fn table(&self, keys: u64, rate: f64, out: &mut impl Write) -> Result<(), CliError> {
        let lookups = &self.lookups;
        writeln!(out, "\n  a lookup costs, on average")?;
        for (name, cost, how) in [
            ("no filter", lookups.no_filter_cost(), "C2"),
            ("filter", lookups.filter_cost(rate), "P1 C1 + (P2 + P3) C2"),
            ("exact set", lookups.exact_cost(), "(P1 + P2) C1 + P3 C2"),
            (
                "delta",
                lookups.extra_cost(rate),
                "P2 (C2 - C1), filter over exact set",
            ),
        ] {
            writeln!(out, "    {name:<15}{:>12}   {how}", amount(cost))?;
        }
        writeln!(
            out,
            "  of all lookups   P1 {} are answered by the filter, P2 {} pass it needlessly",
            human_format::rate(lookups.skipped_share(rate), 3),
            human_format::rate(lookups.wasted_share(rate), 3),
        )?;
        writeln!(
            out,
            "  a filter saves   {} per million lookups",
            amount(lookups.saved_per_million(rate))
        )?;
        let Some(best) = self.best(keys)? else {
            return Ok(());
        };
        writeln!(
            out,
            "  best rate        {}: {} lookups cost {}, the memory {}",
            human_format::rate(best.false_positive_rate, 3),
            human_format::short_count(self.count),
            amount(best.lookup_cost),
            amount(best.memory_cost),
        )?;
        writeln!(
            out,
            "                   {}",
            if best.saved > 0.0 {
                format!("{} less than without a filter", amount(best.saved))
            } else {
                "more expensive than no filter: use none".to_owned()
            }
        )?;
        Ok(())
    }

    /// Charts the cost of a lookup over the rate.
    pub(super) fn svg(&self, keys: u64, rate: f64) -> Result<String, CliError> {
        let steps = (0..=STEPS)
            .map(|step| RATES.0 * (RATES.1 / RATES.0).powf(f64::from(step) / f64::from(STEPS)));
        let rates: Vec<f64> = steps.collect();
        let gib_cost = self.gib_cost.unwrap_or(0.0);
        let memory = |rate: f64| {
            keys as f64 * bits(keys, rate) / BITS_PER_GIB * gib_cost / self.count as f64
        };
        let through = |rate: f64| self.lookups.filter_cost(rate);
        let line = |name: &str, colour, width, is_dotted, cost: &dyn Fn(f64) -> f64| Series {
            name: format!("{name} {}", amount(cost(rate))),
            colour,
            width,
            is_dotted,
            is_strong: false,
            points: rates.iter().map(|&rate| (rate, cost(rate))).collect(),
        };
        let mut lines = vec![
            line("no filter", "#8a8a8a", 1.6, true, &|_| {
                self.lookups.no_filter_cost()
            }),
            line("exact set", "#222222", 1.6, true, &|_| {
                self.lookups.exact_cost()
            }),
            line("lookups", "#0b5fa5", 2.5, false, &through),
        ];
        if self.gib_cost.is_some() {
            lines.push(line("memory", "#d55e00", 2.5, false, &memory));
            let both = |rate: f64| through(rate) + memory(rate);
            lines.push(line("together", "#009e73", 3.5, false, &both));
        }
        let most = lines
            .iter()
            .flat_map(|line| &line.points)
            .fold(0.0_f64, |most, point| most.max(point.1))
            .min(2.0 * self.lookups.no_filter_cost().max(f64::MIN_POSITIVE));
        let marks = self.best(keys)?.map(|best| {
            let rate = best.false_positive_rate;
            Mark {
                name: format!("best rate {}", human_format::rate(rate, 3)),
                colour: "#00734f",
                point: (rate, through(rate) + memory(rate)),
            }
        });
        let ticks = (1..=6).map(|digits| {
            let rate = 10_f64.powi(-digits);
            (rate, human_format::requested_rate(rate))
        });
        let shares = (0..=4).map(|quarter| {
            let cost = most * f64::from(quarter) / 4.0;
            (cost, amount(cost))
        });
        Ok(Chart {
            title: "Cost of a lookup with a filter".into(),
            subtitle: format!(
                "{}; the numbers are for a rate of {}; lower is better",
                human_format::with_unit(keys, "key"),
                human_format::requested_rate(rate)
            ),
            x: Axis::new(
                "false-positive rate",
                Scale::Log,
                RATES.0,
                RATES.1,
                ticks.collect(),
            ),
            y: Axis::new("", Scale::Linear, 0.0, most, shares.collect()),
            lines,
            regions: Vec::new(),
            marks: marks.into_iter().collect(),
        }
        .to_svg())
    }
}

/// Bits per key of a Bloom filter.
fn bits(keys: u64, rate: f64) -> f64 {
    size_bytes(Kind::Bloom, keys, rate)
        .map_or(f64::INFINITY, |bytes| 8.0 * bytes as f64 / keys as f64)
}

/// An amount in the unit of the costs, with three digits, or all before the point.
fn amount(cost: f64) -> String {
    match cost.abs() {
        0.0 => "0".into(),
        size if !(1e-4..1e9).contains(&size) => format!("{cost:.2e}"),
        size if size >= 1000.0 => {
            let sign = if cost < 0.0 { "-" } else { "" };
            let number = human_format::with_thousands_separators(size.round() as u64);
            format!("{sign}{number}")
        }
        _ => human_format::significant(cost, 3),
    }
}
