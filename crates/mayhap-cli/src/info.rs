//! `mayhap info`: describes a filter file.

mod chart;

use crate::error::CliError;
use crate::filter_files::OpenArgs;
use crate::human_format;
use crate::output::draw;
use clap::Args;
use mayhap_codec::{Description, Detail, OpenedFilter};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap info seen.mayhap
  mayhap info users.guava part-0.parquet dump.rdb      whoever wrote them
  mayhap info --json *.mayhap | jq .estimated_rate
  mayhap info seen.mayhap --plot fill.svg              how its bits are spread
  mayhap info skp_idx_url.idx --fpr 0.01               ClickHouse keeps the rate elsewhere";

#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    /// Filters of any format, or containers with filters
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    open: OpenArgs,
    /// Print one JSON object per filter and line
    #[arg(long)]
    json: bool,
    /// Draw the fill of the filter's parts as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub(crate) fn run(args: &InfoArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let mut drawn = false;
    for (number, path) in args.files.iter().enumerate() {
        for (part, found) in args.open.open(path)?.iter().enumerate() {
            let description = found.filter.describe();
            if let (Some(plot), false) = (&args.plot, drawn) {
                let svg = chart::svg(path, found, &description).ok_or_else(|| {
                    CliError::message(format!(
                        "a {} filter has no bits to draw: leave --plot out",
                        description.stats.kind
                    ))
                })?;
                draw(plot, &svg)?;
                drawn = true;
            }
            if args.json {
                writeln!(out, "{}", object(path, found, &description))?;
            } else {
                if number + part > 0 {
                    writeln!(out)?;
                }
                table(path, found, &description, out)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn object(path: &Path, found: &OpenedFilter, description: &Description) -> Value {
    let (stats, mut object) = (&description.stats, Map::new());
    let mut put = |name: &str, value: Value| drop(object.insert(name.to_owned(), value));
    put("file", json!(path.to_string_lossy()));
    put("format", json!(description.format.name()));
    put("kind", json!(stats.kind.name()));
    put("capacity", json!(stats.capacity));
    put("bits", json!(stats.bits));
    put("probes", json!(stats.probes));
    put("size_bytes", json!(stats.size_bytes));
    put("fill", json!(stats.fill));
    put("estimated_keys", json!(stats.estimated_keys));
    put("false_positive_rate", json!(stats.false_positive_rate));
    put("estimated_rate", json!(stats.estimated_rate));
    let place = &found.location;
    if let Some(number) = place.row_group {
        put("row_group", json!(number));
    }
    if let Some(name) = &place.column {
        put("column", json!(name));
    }
    if let Some(key) = &place.key {
        put("key", json!(String::from_utf8_lossy(key)));
    }
    if let Some(number) = place.granule {
        put("granule", json!(number));
    }
    for (name, detail) in &description.details {
        let value = match detail {
            Detail::Number(number) => json!(number),
            Detail::Text(text) => json!(text),
            Detail::Flag(flag) => json!(flag),
        };
        put(name, value);
    }
    Value::Object(object)
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
            u64::MAX => "too many to tell".to_owned(),
            keys => human_format::with_thousands_separators(keys) + &room,
        };
        line("keys, about", keys)?;
    }
    if let Some(rate) = stats.false_positive_rate {
        line("rate asked for", human_format::requested_rate(rate))?;
    }
    if let Some(rate) = stats.estimated_rate {
        line("rate now", human_format::rate(rate, 3))?;
    }
    if let Some(bits) = stats.bits {
        let probes = stats.probes.map_or(String::new(), |probes| {
            format!(
                ", {} a key",
                human_format::with_thousands_separators(u64::from(probes))
            )
        });
        line(
            "bits",
            format!("{}{probes}", human_format::with_thousands_separators(bits)),
        )?;
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
