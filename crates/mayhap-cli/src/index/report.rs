//! `info` and `verify` of an index.

use super::{Places, Settings, index_error};
use crate::error::CliError;
use crate::human_format;
use mayhap_codec::index::{FilterKind, Index, MAGIC};
use serde_json::json;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// Whether a file begins as an index does.
pub(crate) fn is_index_file(path: &Path) -> bool {
    let mut first = [0; MAGIC.len()];
    // Not for pipes, which would lose these bytes.
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut first).is_ok())
        && first == MAGIC
}

fn open(path: &Path) -> Result<Index, CliError> {
    Index::open(path).map_err(|error| index_error(path, &error))
}

pub(crate) fn verify(path: &Path, out: &mut impl Write) -> Result<(), CliError> {
    let index = open(path)?;
    index.verify().map_err(|error| index_error(path, &error))?;
    let places = Places::for_index(path)?;
    for file in &index.directory().files {
        let name = places.path(&file.path);
        for filter in &file.filters {
            if filter.kind == FilterKind::Cassandra {
                let body = index
                    .body(filter)
                    .map_err(|error| index_error(path, &error))?;
                super::file_keys::cassandra_filter(&name, body)?;
            }
        }
    }
    writeln!(
        out,
        "{}: intact, {}, {}, all checksums match",
        path.display(),
        human_format::size(index.file_bytes()),
        human_format::with_unit(index.directory().filters().count() as u64, "filter"),
    )?;
    Ok(())
}

/// What `info` shows.
struct Summary {
    kind: Option<String>,
    files: u64,
    filters: u64,
    keys: u64,
    bits: u64,
    bits_per_key: Option<f64>,
    rate: Option<f64>,
    column: Option<String>,
    inputs: Vec<String>,
    not_indexed: Vec<String>,
}

impl Summary {
    fn new(index: &Index, places: &Places) -> Self {
        let directory = index.directory();
        let settings = Settings::from_bytes(&directory.settings);
        let keys: u64 = directory.filters().map(|filter| filter.keys).sum();
        let bits = directory.filters().map(|filter| 8 * filter.size_bytes());
        let mut kinds: Vec<&str> = directory
            .filters()
            .map(|filter| filter.kind.name())
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        let name = |path| places.path(path).display().to_string();
        let uncovered = directory.files.iter().filter(|file| !file.is_covered);
        Self {
            kind: (!kinds.is_empty()).then(|| kinds.join(", ")),
            files: directory.files.len() as u64,
            filters: directory.filters().count() as u64,
            keys,
            bits: bits.sum(),
            bits_per_key: (keys > 0).then(|| 8.0 * index.used_bytes() as f64 / keys as f64),
            rate: settings.as_ref().map(|settings| settings.fpr),
            column: settings.and_then(|settings| settings.column),
            inputs: directory
                .roots
                .iter()
                .map(|root| name(&root.path))
                .collect(),
            not_indexed: uncovered.map(|file| name(&file.path)).collect(),
        }
    }
}

pub(crate) fn describe(path: &Path, as_json: bool, out: &mut impl Write) -> Result<(), CliError> {
    let index = open(path)?;
    let places = Places::for_index(path)?;
    let summary = Summary::new(&index, &places);
    if as_json {
        let object = json!({
            "file": path.to_string_lossy(),
            "format": "index",
            "kind": summary.kind,
            "capacity": summary.keys,
            "bits": summary.bits,
            "probes": null,
            "size_bytes": index.file_bytes(),
            "fill": null,
            "estimated_keys": summary.keys,
            "false_positive_rate": summary.rate,
            "estimated_rate": null,
            "files": summary.files,
            "filters": summary.filters,
            "files_not_indexed": summary.not_indexed.len(),
            "bits_per_key": summary.bits_per_key,
            "unused_bytes": index.file_bytes().saturating_sub(index.used_bytes()),
            "column": summary.column,
            "inputs": summary.inputs,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    writeln!(out, "{}", path.display())?;
    let mut line = |name: &str, value: String| writeln!(out, "  {name:<22}{value}");
    let count = human_format::with_thousands_separators;
    line(
        "format",
        "index of files; query it with `mayhap which`".into(),
    )?;
    if let Some(kind) = summary.kind {
        line("kind", kind)?;
    }
    line("size", human_format::size(index.file_bytes()))?;
    line("files", count(summary.files))?;
    line("filters", count(summary.filters))?;
    line("keys", count(summary.keys))?;
    if let Some(bits) = summary.bits_per_key {
        line("bits per key", human_format::significant(bits, 3))?;
    }
    if let Some(rate) = summary.rate {
        line("requested rate", human_format::requested_rate(rate))?;
    }
    if let Some(column) = summary.column {
        line("column", column)?;
    }
    for input in summary.inputs {
        line("input", input)?;
    }
    for name in summary.not_indexed {
        line("not indexed", name)?;
    }
    Ok(())
}
