//! The cost model of a filter in front of something slow, and the best rate.

use crate::error::CliError;
use crate::human_format;
use mayhap_chart::{Axis, Chart, Mark, Scale, Series};
use mayhap_codec::{PlanCosts, rate_steps};
use std::io::Write;

/// The range of rates in the chart.
const RATES: (f64, f64) = (0.5, 1e-6);
const STEPS: u32 = 120;

/// The costs that the user gave.
pub(super) struct CostModel(pub(super) PlanCosts);

impl CostModel {
    pub(super) fn table(&self, keys: u64, rate: f64, out: &mut impl Write) -> Result<(), CliError> {
        let lookups = &self.0.lookups;
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
        let Some(best) = self.0.best(keys)? else {
            return Ok(());
        };
        writeln!(
            out,
            "  best rate        {}: {} lookups cost {}, the memory {}",
            human_format::rate(best.false_positive_rate, 3),
            human_format::short_count(self.0.count),
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
        let rates: Vec<f64> = rate_steps(RATES, STEPS).collect();
        let memory = |rate: f64| self.0.memory_cost(keys, rate);
        let through = |rate: f64| self.0.lookups.filter_cost(rate);
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
                self.0.lookups.no_filter_cost()
            }),
            line("exact set", "#222222", 1.6, true, &|_| {
                self.0.lookups.exact_cost()
            }),
            line("lookups", "#0b5fa5", 2.5, false, &through),
        ];
        if self.0.gib_cost.is_some() {
            lines.push(line("memory", "#d55e00", 2.5, false, &memory));
            let both = |rate: f64| through(rate) + memory(rate);
            lines.push(line("together", "#009e73", 3.5, false, &both));
        }
        let most = lines
            .iter()
            .flat_map(|line| &line.points)
            .fold(0.0_f64, |most, point| most.max(point.1))
            .min(2.0 * self.0.lookups.no_filter_cost().max(f64::MIN_POSITIVE));
        let marks = self.0.best(keys)?.map(|best| {
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
