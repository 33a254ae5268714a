//! `mayhap bench`: filters of several kinds, sizes and rates on this machine, relative to memory speed.
//!
//! `measure` handles one filter. This file plans all of them before the first is built, and prints the results as they arrive.

mod bench_filters;
mod measure;
mod query_keys;

use crate::args::BenchArgs;
use crate::error::CliError;
use crate::{human_format, machine};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mayhap_core::plan::{BloomPlan, size_bytes};
use mayhap_core::{Kernel, Kind};
use measure::{Case, MeasureError, Measured};
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// The defaults: the default kind from cache size to far beyond it, and every other kind once inside and once outside.
const BLOOM_KEYS: [u64; 4] = [100_000, 1_000_000, 10_000_000, 100_000_000];
const BLOOM_RATES: [f64; 2] = [0.01, 0.001];
const OTHER_KEYS: [u64; 2] = [1_000_000, 10_000_000];
const OTHER_RATES: [f64; 1] = [0.01];

pub(crate) fn run(args: &BenchArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let cases = cases(args)?;
    let machine = Machine {
        cpu: machine::cpu_model(),
        kernel: Kernel::best(),
    };
    if !args.json {
        machine.header(out)?;
        out.flush()?;
    }
    let progress = progress(cases.iter().map(measure::work).sum());
    let done = measure_each(cases, &machine, args.json, &progress, out);
    progress.finish_and_clear(); // Before an error is printed, too.
    done?;
    if !args.json {
        writeln!(out, "\n{MEMORY_PROBE}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure_each(
    cases: Vec<Case>,
    machine: &Machine,
    json: bool,
    progress: &ProgressBar,
    out: &mut impl Write,
) -> Result<(), CliError> {
    for case in cases {
        progress.set_message(format!(
            "{} {} keys at {}",
            case.kind,
            human_format::short_count(case.keys),
            human_format::requested_rate(case.rate),
        ));
        let row = Row::measure(case, progress)?;
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

const MEMORY_PROBE: &str = "\
\"fetched\" is the time to load the lines of a key from memory without using them, and batch/floor is a batch query
relative to it: at 1.00 a query would cost nothing but memory accesses. For kinds other than bloom it is one line per
key, from as much memory as the filter has. Growing filters begin with a sixteenth of the keys.";

/// All requested filters, or an error before any work is done.
fn cases(args: &BenchArgs) -> Result<Vec<Case>, CliError> {
    // A retouched filter is a classic one until bits are cleared, so it has no figures of its own.
    let all: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|&kind| kind != Kind::Retouched)
        .collect();
    let kinds = args.kind.as_deref().unwrap_or(&all);
    let mut cases = Vec::new();
    for &kind in kinds {
        let (keys, rates) = if kind == Kind::Bloom {
            (BLOOM_KEYS.as_slice(), BLOOM_RATES.as_slice())
        } else {
            (OTHER_KEYS.as_slice(), OTHER_RATES.as_slice())
        };
        for &keys in args.keys.as_deref().unwrap_or(keys) {
            for &rate in args.fpr.as_deref().unwrap_or(rates) {
                cases.push(Case { kind, keys, rate });
            }
        }
    }
    if args.kind.is_none() {
        // By default, all kinds that can be measured.
        let possible = |case: &Case| size_bytes(case.kind, case.keys, case.rate).is_ok();
        if cases.iter().any(possible) {
            cases.retain(possible);
        }
    }
    for &Case { kind, keys, rate } in &cases {
        let size = size_bytes(kind, keys, rate)?;
        let needed =
            bench_filters::bytes_needed(kind, keys, size).saturating_add(measure::OVERHEAD_BYTES);
        // Linux overcommits memory and kills the process that uses it, so check before.
        if let Some(available) = machine::available_bytes()
            && needed > available
        {
            return Err(CliError::message(format!(
                "a {kind} filter for --keys {keys} at --fpr {rate} needs {}, and {} are free: give fewer keys or a higher rate",
                human_format::size(needed),
                human_format::size(available),
            )));
        }
    }
    Ok(cases)
}

/// A bar on a terminal only. It is drawn between measurements, never by a concurrent thread.
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
            "                                                        insert ns        query ns       memory ns     batch/"
        )?;
        writeln!(
            out,
            "kind         keys  bits/key   requested   measured   single   batch  single   batch  chased  fetched  floor"
        )
    }
}

/// The figures of one filter.
struct Row {
    case: Case,
    measured: Measured,
}

impl Row {
    fn measure(case: Case, progress: &ProgressBar) -> Result<Self, CliError> {
        let Case { kind, keys, rate } = case;
        let measured = measure::measure(case, progress).map_err(|failed| match failed {
            MeasureError::Plan(error) => CliError::from(error),
            MeasureError::Wrong(wrong) => CliError::message(format!(
                "{wrong} ({kind}, {keys} keys at {rate:?}, kernel {}): this is a bug in mayhap, please report it",
                Kernel::best(),
            )),
        })?;
        Ok(Self { case, measured })
    }

    fn bits_per_key(&self) -> f64 {
        self.measured.size_bytes as f64 * 8.0 / self.case.keys as f64
    }

    fn line(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { case, measured } = self;
        writeln!(
            out,
            "{:<8}  {:>7}  {:>8}  {:>10}  {:>9}   {:>6}  {:>6}  {:>6}  {:>6}  {:>6}  {:>7}  {:>5}",
            case.kind.name(),
            human_format::short_count(case.keys),
            shown(self.bits_per_key()),
            human_format::requested_rate(case.rate),
            human_format::rate(measured.rate, 3),
            measured.insert_single_ns.map_or("-".into(), shown),
            shown(measured.insert_batch_ns),
            shown(measured.query_single_ns),
            shown(measured.query_batch_ns),
            shown(measured.floor_chased_ns),
            shown(measured.floor_prefetched_ns),
            shown(measured.batch_per_floor()),
        )
    }

    fn json(&self, machine: &Machine) -> serde_json::Value {
        let Self { case, measured } = self;
        let mut figures = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "debug_build": cfg!(debug_assertions),
            "cpu": machine.cpu,
            "kernel": machine.kernel.to_string(),
            "kind": case.kind.name(),
            "keys": case.keys,
            "size_bytes": measured.size_bytes,
            "bits_per_key": self.bits_per_key(),
            "false_positive_rate": case.rate,
            "measured_rate": measured.rate,
            "insert_single_ns": measured.insert_single_ns.map(rounded),
            "insert_batch_ns": rounded(measured.insert_batch_ns),
            "query_single_ns": rounded(measured.query_single_ns),
            "query_batch_ns": rounded(measured.query_batch_ns),
            "floor_chased_ns": rounded(measured.floor_chased_ns),
            "floor_prefetched_ns": rounded(measured.floor_prefetched_ns),
            "floor_prefetch_distance_keys": measured.floor_distance,
            "batch_per_floor": rounded(measured.batch_per_floor()),
        });
        if case.kind == Kind::Bloom
            && let Ok(plan) = BloomPlan::new(case.keys, case.rate)
        {
            figures["lines_per_key"] = plan.lines_per_key().count().into();
        }
        figures
    }
}

/// Three significant digits.
fn shown(figure: f64) -> String {
    human_format::significant(figure, 3)
}

/// Rounded to picoseconds; the rest is noise.
fn rounded(ns: f64) -> f64 {
    (ns * 1000.0).round() / 1000.0
}
