//! `mayhap bench`: filters of several sizes and rates on this machine, each beside the memory's own speed.
//!
//! `measure` does the work for one filter; here the filters are planned, all of them before the first is made, and the
//! results are printed one by one as they come.

mod measure;
mod questions;

use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::{format, machine};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mayhap::plan::BloomPlan;
use mayhap::{Bloom, HashScheme, Kernel};
use measure::Measured;
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

pub(crate) fn run(args: &BenchArgs, out: &mut impl Write) -> Result<ExitCode, Failure> {
    let plans = plans(args)?;
    let machine = Machine {
        cpu: machine::cpu_model(),
        kernel: Kernel::best(),
    };
    if !args.json {
        machine.header(out)?;
        out.flush()?;
    }
    let progress = progress(plans.iter().map(measure::work).sum());
    let done = measure_each(plans, &machine, args.json, &progress, out);
    progress.finish_and_clear(); // Before an error is printed, too.
    done?;
    if !args.json {
        writeln!(out, "\n{RULER}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure_each(
    plans: Vec<BloomPlan>,
    machine: &Machine,
    json: bool,
    progress: &ProgressBar,
    out: &mut impl Write,
) -> Result<(), Failure> {
    for plan in plans {
        progress.set_message(format!(
            "{} keys at {}",
            format::short_count(plan.capacity()),
            format::asked_rate(plan.false_positive_rate()),
        ));
        let row = Row::measure(plan, progress)?;
        progress.suspend(|| {
            if json {
                writeln!(out, "{}", row.json(machine))?;
            } else {
                row.line(out)?;
            }
            out.flush()
        })?;
    }
    Ok(())
}

const RULER: &str = "\
The ruler: \"fetched\" is what it costs to bring a key's lines from memory and do nothing with them, so batch/floor
says how much of a batch query is not the memory's own time: 1.00 would be none.";

/// All filters that are asked for, or an error before any work is done.
fn plans(args: &BenchArgs) -> Result<Vec<BloomPlan>, Failure> {
    let mut plans = Vec::new();
    for &keys in &args.keys {
        for &fpr in &args.fpr {
            plans.push(BloomPlan::new(keys, fpr)?);
        }
    }
    // Linux promises memory that it does not have and kills whoever uses it: better to ask before.
    let largest = plans.iter().max_by_key(|plan| plan.size_bytes());
    if let (Some(plan), Some(available)) = (largest, machine::available_bytes())
        && plan.size_bytes().saturating_add(measure::OVERHEAD_BYTES) > available
    {
        return Err(Failure::message(format!(
            "--keys {} at --fpr {:?} takes {} and {} are free: give fewer keys or a looser rate",
            plan.capacity(),
            plan.false_positive_rate(),
            format::size(plan.size_bytes()),
            format::size(available),
        )));
    }
    Ok(plans)
}

/// A bar for a person, nothing for a file or a pipe. It is drawn between measurements, never by a thread beside them.
fn progress(work: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(work), ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{msg:<22} [{bar:40}] {percent:>3} %  {elapsed}") {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    }
}

struct Machine {
    cpu: Option<String>,
    kernel: Kernel,
}

impl Machine {
    fn header(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "mayhap {}{}, kernel {}, {}\n",
            env!("CARGO_PKG_VERSION"),
            if cfg!(debug_assertions) {
                " (debug build: the times mean nothing, use --release)"
            } else {
                ""
            },
            self.kernel,
            self.cpu.as_deref().unwrap_or("unknown CPU"),
        )?;
        writeln!(
            out,
            "                                                    insert ns        query ns       memory ns     batch/"
        )?;
        writeln!(
            out,
            "   keys  lines  bits/key       asked   measured   single   batch  single   batch  chased  fetched  floor"
        )
    }
}

/// One filter's figures.
struct Row {
    plan: BloomPlan,
    kernel: Kernel,
    measured: Measured,
}

impl Row {
    fn measure(plan: BloomPlan, progress: &ProgressBar) -> Result<Self, Failure> {
        let mut filter = Bloom::from_plan(plan, HashScheme::Caller)?;
        let measured = measure::measure(&mut filter, progress).map_err(|wrong| {
            Failure::message(format!(
                "{wrong} ({} keys at {:?}, kernel {}): this is a bug in mayhap, please report it",
                plan.capacity(),
                plan.false_positive_rate(),
                filter.kernel(),
            ))
        })?;
        Ok(Self {
            plan,
            kernel: filter.kernel(),
            measured,
        })
    }

    fn line(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { plan, measured, .. } = self;
        writeln!(
            out,
            "{:>7}  {:>5}  {:>8.2}  {:>10}  {:>9}   {:>6.1}  {:>6.1}  {:>6.1}  {:>6.1}  {:>6.1}  {:>7.1}  {:>5.2}",
            format::short_count(plan.capacity()),
            plan.lines_per_key().count(),
            plan.bits_per_key(),
            format::asked_rate(plan.false_positive_rate()),
            format::rate(measured.rate, 3),
            measured.insert_single_ns,
            measured.insert_batch_ns,
            measured.query_single_ns,
            measured.query_batch_ns,
            measured.floor_chased_ns,
            measured.floor_prefetched_ns,
            measured.batch_per_floor(),
        )
    }

    fn json(&self, machine: &Machine) -> serde_json::Value {
        let Self { plan, measured, .. } = self;
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "debug_build": cfg!(debug_assertions),
            "cpu": machine.cpu,
            "kernel": self.kernel.to_string(),
            "kind": "bloom",
            "keys": plan.capacity(),
            "lines_per_key": plan.lines_per_key().count(),
            "size_bytes": plan.size_bytes(),
            "bits_per_key": plan.bits_per_key(),
            "false_positive_rate": plan.false_positive_rate(),
            "measured_rate": measured.rate,
            "insert_single_ns": rounded(measured.insert_single_ns),
            "insert_batch_ns": rounded(measured.insert_batch_ns),
            "query_single_ns": rounded(measured.query_single_ns),
            "query_batch_ns": rounded(measured.query_batch_ns),
            "floor_chased_ns": rounded(measured.floor_chased_ns),
            "floor_prefetched_ns": rounded(measured.floor_prefetched_ns),
            "floor_prefetch_distance_keys": measured.floor_distance,
            "batch_per_floor": rounded(measured.batch_per_floor()),
        })
    }
}

/// To the picosecond; what comes after is noise.
fn rounded(ns: f64) -> f64 {
    (ns * 1000.0).round() / 1000.0
}
