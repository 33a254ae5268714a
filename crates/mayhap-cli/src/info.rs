//! `mayhap info`: describes a filter file.

mod chart;

use crate::args;
use crate::error::{CliError, Usage};
use crate::filter_files::{OpenArgs, SelectArgs, one_of};
use crate::human_format;
use crate::index;
use crate::output::draw;
use clap::Args;
use mayhap_codec::{Description, Detail, OpenedFilter};
use mayhap_core::{Kind, Stats};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap info seen.mayhap
  mayhap info users.guava part-0.parquet dump.rdb      filters of any format, and containers
  mayhap info --json *.mayhap | jq .estimated_rate
  mayhap info seen.mayhap --plot fill.svg              plot how the bits are distributed
  mayhap info part-0.parquet --column user_id          one column of a Parquet file
  mayhap info skp_idx_url.idx --fpr 0.01               ClickHouse does not store the rate in the file

A file that cannot be read is reported, and the others are still described.
Exit status: 0 if all files were described, 2 otherwise.";

#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    /// Filters of any format, or containers with filters
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    choose: SelectArgs,
    /// Print one JSON object per filter and line
    #[arg(long)]
    json: bool,
    /// Plot the fill along one filter as SVG
    #[arg(long, value_name = "FILE.svg", value_parser = args::svg_file)]
    plot: Option<PathBuf>,
}

pub(crate) fn run(
    args: &InfoArgs,
    usage: Usage,
    out: &mut impl Write,
) -> Result<ExitCode, CliError> {
    let mut code = 0;
    let mut described = 0;
    for path in &args.files {
        if index::is_index_file(path) {
            if args.plot.is_some() {
                return Err(CliError::message(
                    "an index has many filters, and a plot shows one: omit --plot",
                ));
            }
            if described > 0 && !args.json {
                writeln!(out)?;
            }
            match index::describe(path, args.json, out) {
                Ok(()) => described += 1,
                Err(CliError::ReaderGone) => return Err(CliError::ReaderGone),
                Err(error) => {
                    out.flush()?;
                    code = crate::report_failure(&error, usage);
                }
            }
            continue;
        }
        let opened = args.open.open(path);
        let found = match opened.and_then(|all| args.choose.select(path, all)) {
            Ok(found) => found,
            // The other files are still described.
            Err(error) if args.plot.is_none() => {
                out.flush()?;
                code = crate::report_failure(&error, usage);
                continue;
            }
            Err(error) => return Err(error),
        };
        if let Some(plot) = &args.plot {
            plot_one(args, path, &found, plot)?;
        }
        for found in &found {
            let description = found.filter.describe();
            if args.json {
                writeln!(out, "{}", object(path, found, &description))?;
            } else {
                if described > 0 {
                    writeln!(out)?;
                }
                table(path, found, &description, out)?;
            }
            described += 1;
        }
    }
    Ok(ExitCode::from(code))
}

/// A plot shows one filter.
fn plot_one(
    args: &InfoArgs,
    path: &Path,
    found: &[OpenedFilter],
    plot: &Path,
) -> Result<(), CliError> {
    if args.files.len() > 1 {
        return Err(CliError::message(
            "a plot shows one filter: give --plot with a single file",
        ));
    }
    let found = one_of(path, found)?;
    let description = found.filter.describe();
    let svg = chart::svg(path, found, &description).ok_or_else(|| {
        CliError::message(format!(
            "a {} filter has no bits to plot: omit --plot",
            description.stats.kind
        ))
    })?;
    draw(plot, &svg)
}

fn object(path: &Path, found: &OpenedFilter, description: &Description) -> Value {
    let mut object = description.to_json(&found.location);
    object.insert("file".to_owned(), json!(path.to_string_lossy()));
    Value::Object(object)
}

/// `4,995,040 bits (9.99 per key), 6 probes`, at capacity; for now if the capacity is not known.
fn layout(bits: u64, stats: &Stats) -> String {
    let positions = if stats.kind == Kind::Counting {
        "counter"
    } else {
        "bit"
    };
    let mut text = human_format::with_unit(bits, positions);
    let keys = stats.capacity.or(stats.estimated_keys);
    if let Some(keys) = keys.filter(|keys| (1..u64::MAX).contains(keys)) {
        let per_key = human_format::significant(bits as f64 / keys as f64, 3);
        text = format!("{text} ({per_key} per key)");
    }
    if let Some(probes) = stats.probes {
        text += ", ";
        text += &human_format::with_unit(probes.into(), "probe");
    }
    text
}

fn table(
    path: &Path,
    found: &OpenedFilter,
    description: &Description,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let stats = &description.stats;
    let place = found.location.to_string();
    let name = if place.is_empty() {
        path.display().to_string()
    } else {
        format!("{}: {place}", path.display())
    };
    writeln!(out, "{name}")?;
    let mut line = |name: &str, value: String| writeln!(out, "  {name:<22}{value}");
    line("format", description.format.name().to_owned())?;
    line("kind", stats.kind.name().to_owned())?;
    line("size", human_format::size(stats.size_bytes))?;
    if let Some(keys) = stats.estimated_keys {
        let room = match stats.capacity {
            Some(capacity) => format!(" of {}", human_format::with_thousands_separators(capacity)),
            None => String::new(),
        };
        let keys = match keys {
            u64::MAX => "unknown: every bit is set".to_owned(),
            keys => human_format::with_thousands_separators(keys) + &room,
        };
        line("keys, about", keys)?;
    }
    if let Some(rate) = stats.false_positive_rate {
        line("requested rate", human_format::requested_rate(rate))?;
    }
    if let Some(rate) = stats.estimated_rate {
        line("current rate", human_format::rate(rate, 3))?;
    }
    if let Some(bits) = stats.bits {
        line("layout", layout(bits, stats))?;
    }
    if let Some(fill) = stats.fill {
        line("fill", human_format::rate(fill, 3))?;
    }
    for (name, detail) in &description.details {
        let value = match detail {
            Detail::Number(number) if *name == "exceptions" => format!(
                "{}; `add` needs their list, --except",
                human_format::with_thousands_separators(*number)
            ),
            Detail::Number(number) => human_format::with_thousands_separators(*number),
            Detail::Text(text) => text.clone(),
            Detail::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        };
        line(&name.replace('_', " "), value)?;
    }
    Ok(())
}
