//! Tables: rows with a key column, in text or Parquet.
//!
//! `join` reads both of its sides as tables; `build`, `check`, `uniq`, `add` and `remove` read their inputs as tables with
//! `--field` (`input/table_blocks.rs`).

mod column;
mod fields;
mod json_field;
mod keys;
mod parquet_rows;
mod parquet_value;
mod row_writer;
mod text;

pub(crate) use keys::RowKeys;
pub(crate) use parquet_rows::is_parquet;
pub(crate) use row_writer::Dialect;
pub(crate) use text::RowFormat;

use crate::error::CliError;
use parquet_rows::ParquetRows;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use text::TextRows;

/// The layout of text tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextLayout {
    /// If not given, it follows from the file name.
    pub(crate) delimiter: Option<u8>,
    pub(crate) has_quotes: bool,
    pub(crate) has_header: bool,
}

impl TextLayout {
    fn dialect(self, path: &Path) -> Dialect {
        Dialect {
            delimiter: self.delimiter.unwrap_or_else(|| delimiter_of(path)),
            has_quotes: self.has_quotes,
        }
    }
}

/// A tab for .tsv and .tab; otherwise a comma.
fn delimiter_of(path: &Path) -> u8 {
    if has_ending(path, &["tsv", "tab"]) {
        b'\t'
    } else {
        b','
    }
}

/// Whether a file name has one of these endings, also if it is compressed.
fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let is = |path: &Path, endings: &[&str]| {
        let found = path.extension().unwrap_or_default();
        endings
            .iter()
            .any(|ending| found.eq_ignore_ascii_case(ending))
    };
    if is(path, &["gz", "zst", "bz2", "xz", "lz4"]) {
        is(&path.with_extension(""), endings)
    } else {
        is(path, endings)
    }
}

/// The key column of `--field`, and how text has fields.
pub(crate) struct TableField<'a> {
    pub(crate) column: &'a str,
    /// If not given, it follows from the file name or the first row.
    pub(crate) format: Option<RowFormat>,
    pub(crate) has_quotes: bool,
    /// The first row contains names although the column is a number.
    pub(crate) has_names: bool,
    /// The flag that names the column, for errors.
    pub(crate) flag: &'static str,
    /// Rows are not printed, so columns that cannot be printed are not reported.
    pub(crate) is_keys_only: bool,
}

impl TableField<'_> {
    fn has_header(&self) -> bool {
        self.has_names || self.column.parse::<usize>().is_err()
    }

    fn delimited(&self, delimiter: u8) -> RowFormat {
        RowFormat::Delimited(Dialect {
            delimiter,
            has_quotes: self.has_quotes,
        })
    }

    fn format_by_name(&self, path: &Path) -> Option<RowFormat> {
        if has_ending(path, &["jsonl", "ndjson"]) {
            Some(RowFormat::Json)
        } else if has_ending(path, &["tsv", "tab"]) {
            Some(self.delimited(b'\t'))
        } else if has_ending(path, &["csv"]) {
            Some(self.delimited(b','))
        } else {
            None
        }
    }

    /// Rows with names are most likely CSV: another separator is noticed, because there is no such name then. With a number,
    /// a guess could be wrong unnoticed.
    fn format_by_content(&self, path: &Path, is_json: bool) -> Result<RowFormat, CliError> {
        if is_json {
            Ok(RowFormat::Json)
        } else if self.has_header() {
            Ok(self.delimited(b','))
        } else {
            Err(CliError::message(format!(
                "{}: the separator of its fields is unknown: give --delimiter , or tab or whitespace",
                crate::input::name(path)
            )))
        }
    }
}

enum Rows {
    Text(Box<TextRows>),
    Parquet(Box<ParquetRows>),
}

pub(crate) struct Table {
    rows: Rows,
    /// `None` if there are no names.
    names: Option<Vec<Vec<u8>>>,
    /// The first row unchanged, with its end.
    header: Vec<u8>,
    width: usize,
    key: usize,
}

impl Table {
    /// Opens a table and finds its key column; `flag` is the flag that named it.
    pub(crate) fn open(
        path: &Path,
        layout: TextLayout,
        column: &str,
        flag: &str,
    ) -> Result<Self, CliError> {
        let format = RowFormat::Delimited(layout.dialect(path));
        let open = || TextRows::open(path, format);
        let delimiter = layout.delimiter.unwrap_or(b',');
        let table = Self::open_rows(path, open, delimiter, layout.has_header, column, flag)?;
        table.report_lists();
        Ok(table)
    }

    /// The same for `--field`, whose tables have more formats. A name implies that the first row contains names.
    pub(crate) fn open_by_field(path: &Path, field: &TableField<'_>) -> Result<Self, CliError> {
        let open = || {
            let known = field.format.or_else(|| field.format_by_name(path));
            let mut rows = TextRows::open(path, known.unwrap_or(RowFormat::Words))?;
            if known.is_none() {
                let is_json = rows.begins_with_json()?;
                rows.set_format(field.format_by_content(path, is_json)?);
            }
            Ok(rows)
        };
        let delimiter = match field.format {
            Some(RowFormat::Delimited(dialect)) => dialect.delimiter,
            _ => b',',
        };
        let has_header = field.has_header();
        let (column, flag) = (field.column, field.flag);
        let table = Self::open_rows(path, open, delimiter, has_header, column, flag)?;
        if !field.is_keys_only {
            table.report_lists();
        }
        Ok(table)
    }

    fn report_lists(&self) {
        if let Rows::Parquet(rows) = &self.rows {
            rows.report_lists();
        }
    }

    fn open_rows(
        path: &Path,
        open_text: impl FnOnce() -> Result<TextRows, CliError>,
        parquet_delimiter: u8,
        has_header: bool,
        column: &str,
        flag: &str,
    ) -> Result<Self, CliError> {
        let mut table = if parquet_rows::is_parquet(path)? {
            let dialect = Dialect {
                delimiter: parquet_delimiter,
                has_quotes: true,
            };
            Self::from_parquet(ParquetRows::open(path, dialect)?)
        } else {
            let mut rows = open_text()?;
            if rows.format() == RowFormat::Json {
                rows.begins_with_json()?;
                rows.set_json_path(column);
                return Self::from_text(rows, false).map(|table| Self { width: 0, ..table });
            }
            Self::from_text(rows, has_header)?
        };
        // An empty file has no columns, and no row that could match.
        if table.width > 0 {
            let names = table.names.as_deref();
            if let Rows::Parquet(rows) = &table.rows
                && rows.has_list(column)
            {
                return Err(CliError::message(format!(
                    "{}: column {column} has lists, which are not keys: give another column to {flag}",
                    path.display()
                )));
            }
            table.key = find_column(names, table.width, column)
                .map_err(|why| CliError::message(format!("{} {why} to {flag}", path.display())))?;
            match &mut table.rows {
                Rows::Text(rows) => rows.set_key(table.key),
                Rows::Parquet(rows) => rows.set_key(table.key),
            }
        }
        Ok(table)
    }

    /// Moves the keys of the last batch away, and its rows with their ends unless only keys are wanted.
    pub(crate) fn move_batch(
        &mut self,
        rows: Option<(&mut Vec<u8>, &mut Vec<usize>)>,
    ) -> Result<RowKeys, CliError> {
        match (&mut self.rows, rows) {
            (Rows::Text(text), Some((bytes, ends))) => Ok(text.move_batch(bytes, ends)),
            (Rows::Text(text), None) => Ok(text.move_keys()),
            (Rows::Parquet(parquet), Some((bytes, ends))) => parquet.move_batch(bytes, ends),
            (Rows::Parquet(parquet), None) => parquet.move_keys(),
        }
    }

    fn from_text(mut rows: TextRows, has_header: bool) -> Result<Self, CliError> {
        let (names, header, width) = if has_header {
            match rows.header()? {
                Some(header) => {
                    let width = header.names.len();
                    (Some(header.names), header.row, width)
                }
                None => (None, Vec::new(), 0),
            }
        } else {
            (None, Vec::new(), rows.width()?.unwrap_or(0))
        };
        Ok(Self {
            rows: Rows::Text(Box::new(rows)),
            names,
            header,
            width,
            key: 0,
        })
    }

    fn from_parquet(rows: ParquetRows) -> Self {
        let names = rows.names();
        let mut header = Vec::new();
        let dialect = rows.dialect();
        dialect.write_row(names.iter().map(Vec::as_slice), &mut header);
        header.push(b'\n');
        Self {
            width: names.len(),
            names: Some(names),
            header,
            key: 0,
            rows: Rows::Parquet(Box::new(rows)),
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match &self.rows {
            Rows::Text(rows) => rows.dialect(),
            Rows::Parquet(rows) => rows.dialect(),
        }
    }

    /// The first row unchanged, with its end; empty if there is none.
    pub(crate) fn header(&self) -> &[u8] {
        &self.header
    }

    pub(crate) fn names(&self) -> &[Vec<u8>] {
        self.names.as_deref().unwrap_or_default()
    }

    /// The names of all columns except the key column.
    pub(crate) fn other_names(&self) -> impl Iterator<Item = &[u8]> {
        let names = self.names().iter().map(Vec::as_slice).enumerate();
        let key = self.key;
        names.filter_map(move |(column, name)| (column != key).then_some(name))
    }

    pub(crate) fn parquet(&mut self) -> Option<&mut ParquetRows> {
        match &mut self.rows {
            Rows::Text(_) => None,
            Rows::Parquet(rows) => Some(rows),
        }
    }

    pub(crate) fn bytes_read(&self) -> Arc<AtomicU64> {
        match &self.rows {
            Rows::Text(rows) => rows.bytes_read(),
            Rows::Parquet(rows) => rows.bytes_read(),
        }
    }

    /// Reads the keys of the next rows; `false` at the end.
    pub(crate) fn read_keys(&mut self) -> Result<bool, CliError> {
        match &mut self.rows {
            Rows::Text(rows) => rows.read_keys(),
            Rows::Parquet(rows) => rows.read_keys(),
        }
    }

    /// The keys that were read last.
    pub(crate) fn keys(&self) -> &RowKeys {
        match &self.rows {
            Rows::Text(rows) => rows.keys(),
            Rows::Parquet(rows) => rows.keys(),
        }
    }

    /// Passes on the selected rows of the last batch with their ends, in pieces of any length.
    pub(crate) fn each_piece(
        &mut self,
        chosen: &[bool],
        mut take: impl FnMut(&[u8]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        match &mut self.rows {
            Rows::Text(rows) => rows.each_run(chosen, take),
            Rows::Parquet(rows) => rows.each_row(chosen, |_, row| {
                take(row)?;
                take(b"\n")
            }),
        }
    }

    /// The same row by row: its key, the row, and its end.
    pub(crate) fn each_row(
        &mut self,
        chosen: &[bool],
        mut take: impl FnMut(&[u8], &[u8], &[u8]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        match &mut self.rows {
            Rows::Text(rows) => rows.each_row(chosen, self.width, take),
            Rows::Parquet(rows) => rows.each_row(chosen, |key, row| take(key, row, b"\n")),
        }
    }

    /// Passes on the fields of the selected rows of the last batch, without the keys.
    pub(crate) fn each_others(
        &mut self,
        chosen: &[bool],
        mut take: impl FnMut(&[&[u8]]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let key = self.key;
        let without_key = |fields: &[&[u8]]| {
            let mut others = fields.to_vec();
            if key < others.len() {
                others.remove(key);
            }
            take(&others)
        };
        match &mut self.rows {
            Rows::Text(rows) => rows.each_fields(chosen, self.width, without_key),
            Rows::Parquet(rows) => rows.each_chosen(chosen, without_key),
        }
    }
}

/// A column by name, or by number from 1 if no column has that name.
fn find_column(names: Option<&[Vec<u8>]>, width: usize, asked: &str) -> Result<usize, String> {
    let number = asked.parse::<usize>().ok();
    let by_number = number.filter(|number| (1..=width).contains(number));
    let Some(names) = names else {
        return by_number
            .map(|number| number - 1)
            .ok_or_else(|| format!("has no column names: give a number from 1 to {width}"));
    };
    let mut named = (0..names.len()).filter(|&column| names[column] == asked.as_bytes());
    match (named.next(), named.next(), by_number) {
        (Some(_), Some(_), _) => Err(format!(
            "has two columns named {asked}: give the number of one, from 1 to {width},"
        )),
        (Some(column), None, _) => Ok(column),
        (None, _, Some(number)) => Ok(number - 1),
        (None, _, None) => Err(format!(
            "has no column {asked}, only {}: give one of them",
            shown(names)
        )),
    }
}

/// The first names, in one line.
pub(crate) fn shown(names: &[Vec<u8>]) -> String {
    const MAX_SHOWN: usize = 20;
    let shown = names.iter().take(MAX_SHOWN).map(|name| {
        let name = String::from_utf8_lossy(name);
        name.replace(char::is_control, "?")
    });
    let more = if names.len() > MAX_SHOWN { ", ..." } else { "" };
    shown.collect::<Vec<_>>().join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_are_for_tsv() {
        for (name, delimiter) in [
            ("a.csv", b','),
            ("a.tsv", b'\t'),
            ("A.TSV.GZ", b'\t'),
            ("a.tab.zst", b'\t'),
            ("a.csv.gz", b','),
            ("tsv", b','),
            ("-", b','),
        ] {
            assert_eq!(delimiter_of(Path::new(name)), delimiter, "{name}");
        }
    }

    #[test]
    fn names_go_before_numbers() {
        let names = ["id", "1", "x", "x"].map(|name| name.as_bytes().to_vec());
        assert_eq!(find_column(Some(&names), 4, "id"), Ok(0));
        assert_eq!(find_column(Some(&names), 4, "1"), Ok(1));
        assert_eq!(find_column(Some(&names), 4, "3"), Ok(2));
        assert_eq!(find_column(None, 4, "4"), Ok(3));
        for (names, asked) in [
            (Some(&names[..]), "x"),
            (Some(&names), "5"),
            (Some(&names), "0"),
            (None, "id"),
            (None, "0"),
            (None, "5"),
        ] {
            assert!(find_column(names, 4, asked).is_err(), "{asked}");
        }
    }
}
