//! `mayhap plan`: of keys, rate and memory, two are given and the third is worked out.
//!
//! All arithmetic is the library's; this file only lays the result out.

use crate::args::PlanArgs;
use crate::failure::Failure;
use crate::format;
use mayhap::plan::{BloomPlan, classic};
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &PlanArgs, out: &mut impl Write) -> Result<ExitCode, Failure> {
    let plan = match (args.keys, args.fpr, args.memory) {
        (Some(keys), Some(fpr), None) => BloomPlan::new(keys, fpr)?,
        (Some(keys), None, Some(memory)) => BloomPlan::strictest_within(memory, keys)?,
        (None, Some(fpr), Some(memory)) => BloomPlan::largest_within(memory, fpr)?,
        (keys, fpr, memory) => {
            let given = [keys.is_some(), fpr.is_some(), memory.is_some()];
            return Err(Failure::message(format!(
                "plan needs exactly two of --keys, --fpr and --memory and got {}: give two, and it works out the third",
                match given.into_iter().filter(|&given| given).count() {
                    0 => "none",
                    1 => "one",
                    _ => "all three",
                }
            )));
        }
    };
    let figures = Figures::of(plan)?;
    if args.json {
        writeln!(out, "{}", figures.json(args.memory))?;
    } else {
        figures.table(args.memory, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A plan and what it is compared with.
struct Figures {
    plan: BloomPlan,
    /// Expected rates at capacity, half as much again, and twice as much.
    rates: [f64; 3],
    classic_bits_per_key: f64,
    limit_bits_per_key: f64,
}

impl Figures {
    fn of(plan: BloomPlan) -> Result<Self, Failure> {
        let (keys, rate) = (plan.capacity(), plan.false_positive_rate());
        Ok(Self {
            plan,
            rates: [keys, keys.saturating_add(keys / 2), keys.saturating_mul(2)]
                .map(|keys| plan.rate_at(keys)),
            classic_bits_per_key: classic::plan(keys, rate)?.bits as f64 / keys as f64,
            limit_bits_per_key: -rate.log2(),
        })
    }

    fn json(&self, memory: Option<u64>) -> serde_json::Value {
        let plan = &self.plan;
        json!({
            "kind": "bloom",
            "keys": plan.capacity(),
            "false_positive_rate": plan.false_positive_rate(),
            "memory_bytes": memory,
            "size_bytes": plan.size_bytes(),
            "lines": plan.lines(),
            "lines_per_key": plan.lines_per_key().count(),
            "bits_set_per_key": plan.bits_per_key_set(),
            "bits_per_key": plan.bits_per_key(),
            "classic_bits_per_key": self.classic_bits_per_key,
            "limit_bits_per_key": self.limit_bits_per_key,
            "rate_at_capacity": self.rates[0],
            "rate_at_1_5x_capacity": self.rates[1],
            "rate_at_2x_capacity": self.rates[2],
        })
    }

    fn table(&self, memory: Option<u64>, out: &mut impl Write) -> Result<(), Failure> {
        let plan = &self.plan;
        let (bits, lines) = (plan.bits_per_key(), plan.lines_per_key().count());
        writeln!(
            out,
            "Bloom filter for {} at a false-positive rate of {}\n",
            format::counted(plan.capacity(), "key"),
            format::asked_rate(plan.false_positive_rate()),
        )?;
        writeln!(
            out,
            "  memory           {} ({}, {} of 64)",
            format::size(plan.size_bytes()),
            format::counted(plan.size_bytes(), "byte"),
            format::counted(plan.lines(), "line"),
        )?;
        if let Some(memory) = memory {
            let share = 100.0 * plan.size_bytes() as f64 / memory as f64;
            writeln!(
                out,
                "  used             {share:.1} % of {}",
                format::size(memory)
            )?;
        }
        writeln!(
            out,
            "  a key sets       {} in {}",
            format::counted(u64::from(plan.bits_per_key_set()), "bit"),
            if lines == 1 {
                "one cache line"
            } else {
                "two cache lines"
            },
        )?;
        writeln!(out, "\n  expected rate")?;
        for (name, rate) in ["at capacity", "at 1.5x", "at 2x"].iter().zip(self.rates) {
            writeln!(out, "    {name:<15}{:>10}", format::rate(rate, 3))?;
        }
        writeln!(out, "\n  bits per key")?;
        writeln!(out, "    {:<15}{bits:>8.2}", "this filter")?;
        for (name, other) in [
            ("classic Bloom", self.classic_bits_per_key),
            ("log2(1/rate)", self.limit_bits_per_key),
        ] {
            let ratio = bits / other;
            let compared = if ratio < 10.0 {
                format!("{:+.1} %", 100.0 * (ratio - 1.0))
            } else {
                format!("{ratio:.0} times as much")
            };
            writeln!(
                out,
                "    {name:<15}{other:>8.2}   this filter takes {compared}"
            )?;
        }
        Ok(())
    }
}
