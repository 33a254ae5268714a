//! `info` and `verify` of an index.

use super::{Places, Settings, index_error};
use crate::error::CliError;
use crate::human_format;
use mayhap_codec::index::{FilterEntry, Index, IndexedFile, MAGIC};
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
    for file in &index.directory().files {
        let name = Places::for_index(path)?.path(&file.path);
        for filter in &file.filters {
            if filter.kind == mayhap_codec::index::FilterKind::Cassandra {
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

pub(crate) fn describe(path: &Path, as_json: bool, out: &mut impl Write) -> Result<(), CliError> {
    let index = open(path)?;
    let places = Places::for_index(path)?;
    let directory = index.directory();
    let settings = Settings::from_bytes(&directory.settings);
    let keys: u64 = directory.filters().map(|filter| filter.keys).sum();
    let filters = directory.filters().count() as u64;
    let bits: u64 = directory
        .filters()
        .map(|filter| 8 * FilterEntry::size_bytes(filter))
        .sum();
    let bits_per_key = 8.0 * index.used_bytes() as f64 / keys.max(1) as f64;
    let mut kinds: Vec<&str> = directory
        .filters()
        .map(|filter| filter.kind.name())
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let kind = match kinds.join(", ") {
        none if none.is_empty() => settings
            .as_ref()
            .map(|settings| format!("{:?}", settings.kind).to_lowercase()),
        kinds => Some(kinds),
    };
    let rate = settings.as_ref().map(|settings| settings.fpr);
    let column = settings
        .as_ref()
        .and_then(|settings| settings.column.clone());
    let uncovered: Vec<&IndexedFile> = directory
        .files
        .iter()
        .filter(|file| !file.is_covered)
        .collect();
    let roots: Vec<String> = directory
        .roots
        .iter()
        .map(|root| places.path(&root.path).display().to_string())
        .collect();
    if as_json {
        let object = json!({
            "file": path.to_string_lossy(),
            "format": "index",
            "kind": kind,
            "capacity": keys,
            "bits": bits,
            "probes": null,
            "size_bytes": index.file_bytes(),
            "fill": null,
            "estimated_keys": keys,
            "false_positive_rate": rate,
            "estimated_rate": null,
            "files": directory.files.len(),
            "filters": filters,
            "files_not_indexed": uncovered.len(),
            "bits_per_key": (keys > 0).then_some(bits_per_key),
            "unused_bytes": index.file_bytes().saturating_sub(index.used_bytes()),
            "column": column,
            "inputs": roots,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    writeln!(out, "{}", path.display())?;
    let mut line = |name: &str, value: String| writeln!(out, "  {name:<22}{value}");
    line(
        "format",
        "index of files; query it with `mayhap which`".to_owned(),
    )?;
    if let Some(kind) = kind {
        line("kind", kind)?;
    }
    line("size", human_format::size(index.file_bytes()))?;
    line(
        "files",
        human_format::with_thousands_separators(directory.files.len() as u64),
    )?;
    line("filters", human_format::with_thousands_separators(filters))?;
    line("keys", human_format::with_thousands_separators(keys))?;
    if keys > 0 {
        line("bits per key", human_format::significant(bits_per_key, 3))?;
    }
    if let Some(rate) = rate {
        line("requested rate", human_format::requested_rate(rate))?;
    }
    if let Some(column) = column {
        line("column", column)?;
    }
    for root in roots {
        line("input", root)?;
    }
    for file in uncovered {
        line("not indexed", places.path(&file.path).display().to_string())?;
    }
    Ok(())
}
