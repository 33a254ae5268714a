//! `mayhap plan`: of keys, rate and memory, two are given and the third is worked out.
//!
//! All arithmetic is the library's; this file only searches with it and lays the result out.

use crate::args::PlanArgs;
use crate::failure::Failure;
use crate::format;
use mayhap::plan::{BloomPlan, LinesPerKey, classic};
use serde_json::json;
use std::cmp::Ordering;
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &PlanArgs, out: &mut impl Write) -> Result<ExitCode, Failure> {
    let plan = match (args.keys, args.fpr, args.memory) {
        (Some(keys), Some(fpr), None) => BloomPlan::new(keys, fpr)?,
        (Some(keys), None, Some(memory)) => strictest(keys, memory)?,
        (None, Some(fpr), Some(memory)) => most_keys(fpr, memory)?,
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

/// The plan with the lowest rate for which `keys` keys fit into `memory` bytes.
fn strictest(keys: u64, memory: u64) -> Result<BloomPlan, Failure> {
    // The size falls as the rate rises, except where two lines a key give way to one; so each is searched alone.
    let lowest = |lines| {
        lowest_rate(|rate| {
            BloomPlan::with_lines_per_key(keys, rate, lines)
                .is_ok_and(|plan| plan.size_bytes() <= memory)
        })
    };
    let mut rates = [lowest(LinesPerKey::One), lowest(LinesPerKey::Two)];
    rates.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    rates
        .into_iter()
        .flatten()
        // A rate of four digits is one that people can pass on.
        .flat_map(|rate| [round_up(rate), rate])
        .filter_map(|rate| BloomPlan::new(keys, rate).ok())
        .find(|plan| plan.size_bytes() <= memory)
        .ok_or_else(|| {
            Failure::message(format!(
                "--memory {memory} is too little for --keys {keys} at any rate: give more bytes or fewer keys"
            ))
        })
}

/// The lowest rate that `fits`, if one below 99.99 % does; whatever fits at a rate fits at every higher one.
fn lowest_rate(fits: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut low, mut high) = (1e-20, 0.9999);
    if !fits(high) {
        return None;
    }
    while high / low > 1.000_001 {
        // The middle of the exponents: rates are compared by ratio.
        let middle = (low * high).sqrt();
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// To four significant digits, up.
fn round_up(rate: f64) -> f64 {
    let text = format!("{rate:.3e}");
    let near: f64 = text.parse().unwrap_or(rate);
    if near >= rate {
        return near;
    }
    let exponent = text.split_once('e').map_or("0", |(_, exponent)| exponent);
    format!("0.001e{exponent}")
        .parse::<f64>()
        .ok()
        .and_then(|last_digit| format!("{:.3e}", near + last_digit).parse().ok())
        .unwrap_or(rate)
}

/// The plan with the most keys that fits into `memory` bytes at a rate.
fn most_keys(fpr: f64, memory: u64) -> Result<BloomPlan, Failure> {
    let fitting = |keys| {
        BloomPlan::new(keys, fpr)
            .ok()
            .filter(|plan| plan.size_bytes() <= memory)
    };
    // Says what is wrong with a rate that nothing can be planned for.
    let smallest = BloomPlan::new(1, fpr)?;
    let Some(mut best) = fitting(1) else {
        return Err(Failure::message(format!(
            "--memory {memory} is too little for one key: give at least {} bytes",
            smallest.size_bytes()
        )));
    };
    let mut too_many = 2_u64;
    while let Some(plan) = fitting(too_many) {
        best = plan;
        too_many = too_many.saturating_mul(2);
    }
    while best.capacity() + 1 < too_many {
        let middle = best.capacity() + (too_many - best.capacity()) / 2;
        match fitting(middle) {
            Some(plan) => best = plan,
            None => too_many = middle,
        }
    }
    Ok(best)
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
            classic_bits_per_key: classic::bits(keys, rate)? as f64 / keys as f64,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_rounded_up_to_four_digits() {
        for (rate, rounded) in [
            (0.001_234_01, 0.001_235),
            (0.001_234, 0.001_234),
            (0.099_999, 0.1),
            (1.000_01e-9, 1.001e-9),
        ] {
            let up = round_up(rate);
            assert!((up / rounded - 1.0).abs() < 1e-12, "{rate}: {up}");
            assert!(up >= rate);
        }
    }

    #[test]
    fn the_strictest_rate_fits_and_a_stricter_one_does_not() {
        for (keys, memory) in [
            (1_000_000, 1 << 20),
            (1_000_000, 1_900_000),
            (1000, 64),
            (100, 1 << 20),
            (3_000_000_000, 4 << 30),
        ] {
            let plan = strictest(keys, memory).unwrap();
            assert!(plan.size_bytes() <= memory);
            let stricter = BloomPlan::new(keys, plan.false_positive_rate() * 0.998);
            assert!(
                stricter.is_err() || stricter.unwrap().size_bytes() > memory,
                "{plan}"
            );
        }
    }

    #[test]
    fn memory_between_one_line_and_two_goes_to_the_two() {
        // At 0.3 % one line a key is larger than two are just below: between these sizes only two lines fit.
        let keys = 1_000_000;
        let one = BloomPlan::new(keys, 0.003).unwrap().size_bytes();
        let two = BloomPlan::new(keys, 0.002_99).unwrap().size_bytes();
        assert!(two < one);
        let between = one.midpoint(two);
        let plan = strictest(keys, between).unwrap();
        assert!(plan.false_positive_rate() < 0.003, "{plan}");
        assert!(plan.size_bytes() <= between);
    }

    #[test]
    fn one_key_more_than_the_most_does_not_fit() {
        for (fpr, memory) in [
            (0.01, 64 << 20),
            (0.001, 1_500_000_000),
            (0.5, 64),
            (0.01, 1 << 50),
        ] {
            let plan = most_keys(fpr, memory).unwrap();
            assert!(plan.size_bytes() <= memory);
            let more = BloomPlan::new(plan.capacity() + 1, fpr);
            assert!(
                more.is_err() || more.unwrap().size_bytes() > memory,
                "{plan}"
            );
        }
    }
}
