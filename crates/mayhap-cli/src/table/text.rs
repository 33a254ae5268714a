//! Rows of CSV and TSV, preserved byte for byte.
//!
//! A row without quotes is a line, and its key is found by searching for delimiters. A row with quotes is parsed by csv-core.
//! Rows end with LF or CR LF; blank lines are skipped.

use super::fields::{FieldState, Fields, nth_field};
use super::json_field::json_field;
use super::keys::RowKeys;
use super::parquet_rows;
use super::row_writer::Dialect;
use crate::error::CliError;
use crate::input::{cannot_read, open};
use memchr::memchr;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const CHUNK_BYTES: usize = 256 << 10;
/// A longer row is more likely an unclosed quote.
const MAX_ROW_BYTES: usize = 1 << 30;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The first row unchanged, with its end, and its fields.
pub(crate) struct TextHeader {
    pub(crate) row: Vec<u8>,
    pub(crate) names: Vec<Vec<u8>>,
}

/// A row in the buffer, with and without its end.
#[derive(Clone)]
struct TextRow {
    whole: Range<usize>,
    body: Range<usize>,
    is_quoted: bool,
}

/// How a row has fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowFormat {
    Delimited(Dialect),
    /// Fields are separated by spaces and tabs, as many as there are.
    Words,
    /// Every row is an object.
    Json,
}

impl RowFormat {
    /// How rows end, and quotes.
    fn dialect(self) -> Dialect {
        match self {
            Self::Delimited(dialect) => dialect,
            Self::Words | Self::Json => Dialect {
                delimiter: b' ',
                has_quotes: false,
            },
        }
    }
}

/// The fields of a row that are separated by spaces and tabs.
fn words(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|byte| matches!(byte, b' ' | b'\t'))
        .filter(|word| !word.is_empty())
}

pub(crate) struct TextRows {
    path: PathBuf,
    input: Box<dyn Read + Send>,
    format: RowFormat,
    dialect: Dialect,
    key: usize,
    json_path: String,
    buffer: Vec<u8>,
    /// The start of the next row.
    at: usize,
    /// The position of the next quote, up to `looked_to`.
    quote: Option<usize>,
    looked_to: usize,
    is_end: bool,
    /// The line ending so far, for a last row that lacks it.
    row_end: &'static [u8],
    fields: Fields,
    rows: Vec<TextRow>,
    keys: RowKeys,
    /// The number of lines so far, including the header, as an editor would count them.
    count: u64,
    bytes_read: Arc<AtomicU64>,
}

impl TextRows {
    pub(crate) fn open(path: &Path, format: RowFormat) -> Result<Self, CliError> {
        let dialect = format.dialect();
        Ok(Self {
            path: path.to_path_buf(),
            input: open(path)?,
            format,
            dialect,
            key: 0,
            json_path: String::new(),
            buffer: Vec::new(),
            at: 0,
            quote: None,
            looked_to: 0,
            is_end: false,
            row_end: b"\n",
            fields: Fields::new(dialect),
            rows: Vec::new(),
            keys: RowKeys::default(),
            count: 0,
            bytes_read: Arc::default(),
        })
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn set_key(&mut self, column: usize) {
        self.key = column;
    }

    /// The name of the key, for JSON.
    pub(crate) fn set_json_path(&mut self, path: &str) {
        path.clone_into(&mut self.json_path);
    }

    /// Whether the first row is a JSON object. No row may have been consumed, and none may have quotes.
    pub(crate) fn begins_with_json(&mut self) -> Result<bool, CliError> {
        let first = self.first_row()?;
        let Some(row) = first else {
            return Ok(false);
        };
        self.at = row.whole.start;
        Ok(self.buffer[row.body].trim_ascii_start().starts_with(b"{"))
    }

    /// Another format, as long as no row was consumed.
    pub(crate) fn set_format(&mut self, format: RowFormat) {
        self.format = format;
        self.dialect = format.dialect();
        self.fields = Fields::new(self.dialect);
    }

    pub(crate) fn format(&self) -> RowFormat {
        self.format
    }

    pub(crate) fn move_keys(&mut self) -> RowKeys {
        std::mem::take(&mut self.keys)
    }

    /// Moves the rows and keys of the last batch away. Every row has its end.
    pub(crate) fn move_batch(&mut self, bytes: &mut Vec<u8>, ends: &mut Vec<usize>) -> RowKeys {
        for row in &self.rows {
            bytes.extend_from_slice(&self.buffer[row.body.clone()]);
            bytes.extend_from_slice(self.end_of(row));
            ends.push(bytes.len());
        }
        std::mem::take(&mut self.keys)
    }

    pub(crate) fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes_read)
    }

    pub(crate) fn keys(&self) -> &RowKeys {
        &self.keys
    }

    /// Consumes the first row.
    pub(crate) fn header(&mut self) -> Result<Option<TextHeader>, CliError> {
        let Some(row) = self.first_row()? else {
            return Ok(None);
        };
        let body = &self.buffer[row.body.clone()];
        let names = match self.format {
            RowFormat::Words => words(body).map(<[u8]>::to_vec).collect(),
            RowFormat::Delimited(_) | RowFormat::Json => {
                self.fields.split(body).iter().map(<[u8]>::to_vec).collect()
            }
        };
        self.count += 1;
        Ok(Some(TextHeader {
            row: self.strip_byte_order_mark(&row),
            names,
        }))
    }

    /// The number of fields in the first row, without consuming it.
    pub(crate) fn width(&mut self) -> Result<Option<usize>, CliError> {
        let Some(row) = self.first_row()? else {
            return Ok(None);
        };
        self.at = row.whole.start;
        let body = &self.buffer[row.body.clone()];
        Ok(Some(match self.format {
            RowFormat::Words => words(body).count(),
            RowFormat::Delimited(_) | RowFormat::Json => self.fields.split(body).len(),
        }))
    }

    fn first_row(&mut self) -> Result<Option<TextRow>, CliError> {
        loop {
            let is_begun = self.buffer.len() >= BYTE_ORDER_MARK.len() || self.is_end;
            if self.buffer.starts_with(parquet_rows::MAGIC) {
                return Err(CliError::message(format!(
                    "{} is Parquet, which is read from its end: give the uncompressed file, not a pipe",
                    self.path.display()
                )));
            }
            if is_begun && self.at == 0 && self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.at = BYTE_ORDER_MARK.len();
            }
            if is_begun && let Some(row) = self.next_row()? {
                return Ok(Some(row));
            }
            if self.is_end {
                return Ok(None);
            }
            // Not consumed: blank lines and the byte order mark belong to the header.
            self.at = 0;
            self.refill()?;
        }
    }

    /// Reads the keys of the next rows; `false` at the end.
    pub(crate) fn read_keys(&mut self) -> Result<bool, CliError> {
        self.rows.clear();
        self.keys.clear();
        loop {
            while let Some(row) = self.next_row()? {
                self.count += 1;
                self.push_key(&row)?;
                self.rows.push(row);
            }
            if !self.rows.is_empty() {
                return Ok(true);
            }
            if self.is_end {
                return Ok(false);
            }
            self.refill()?;
        }
    }

    fn push_key(&mut self, row: &TextRow) -> Result<(), CliError> {
        if self.format == RowFormat::Json {
            return self.push_json_key(row);
        }
        let found = if self.format == RowFormat::Words {
            words(&self.buffer[row.body.clone()]).nth(self.key)
        } else if row.is_quoted {
            self.fields
                .parsed(row.whole.end == row.body.end + 2)
                .get(self.key)
        } else {
            let body = &self.buffer[row.body.clone()];
            nth_field(body, self.dialect.delimiter, self.key)
        };
        match found {
            Some(key) => {
                self.keys.push(key);
                Ok(())
            }
            None => Err(self.ragged_row_error(
                self.count,
                &format!("has no field {}, which is the key", self.key + 1),
                "correct it, or set --delimiter if fields are separated by another character",
            )),
        }
    }

    fn push_json_key(&mut self, row: &TextRow) -> Result<(), CliError> {
        match json_field(&self.buffer[row.body.clone()], &self.json_path) {
            Ok(Some(key)) => self.keys.push(&key),
            Ok(None) => self.keys.push_null(),
            Err(error) => {
                return Err(self.ragged_row_error(
                    self.count,
                    &format!("is not a JSON object ({error})"),
                    "correct it, or give --delimiter if rows have fields",
                ));
            }
        }
        Ok(())
    }

    /// Passes on the keys of the selected rows, the rows without their ends, and the ends. All must have `width` fields, because
    /// more columns follow.
    pub(crate) fn each_row(
        &mut self,
        chosen: &[bool],
        width: usize,
        mut take: impl FnMut(&[u8], &[u8], &[u8]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.each_fields(chosen, width, |_| Ok(()))?;
        for (number, row) in self.chosen_rows(chosen) {
            let key = self.keys.get(number).unwrap_or_default();
            take(key, &self.buffer[row.body.clone()], self.end_of(row))?;
        }
        Ok(())
    }

    /// Neighbouring rows are printed with one write.
    pub(crate) fn each_run(
        &self,
        chosen: &[bool],
        mut take: impl FnMut(&[u8]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let mut run = 0..0;
        for (_, row) in self.chosen_rows(chosen) {
            if row.whole.start != run.end {
                take(&self.buffer[run])?;
                run = row.whole.clone();
            }
            run.end = row.whole.end;
        }
        take(&self.buffer[run.clone()])?;
        // The last row of a file may lack its end.
        if !run.is_empty() && self.buffer[run.end - 1] != b'\n' {
            take(self.row_end)?;
        }
        Ok(())
    }

    /// Passes on the fields of the selected rows. All must have `width` fields.
    pub(crate) fn each_fields(
        &mut self,
        chosen: &[bool],
        width: usize,
        mut take: impl FnMut(&[&[u8]]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let before = self.count - self.rows.len() as u64;
        for (number, row) in self.rows.iter().enumerate() {
            if !chosen[number] {
                continue;
            }
            let fields = self.fields.split(&self.buffer[row.body.clone()]);
            let found = fields.len();
            if found != width {
                return Err(self.ragged_row_error(
                    before + number as u64 + 1,
                    &format!("has {found} fields and the first row {width}"),
                    "correct it, or omit the columns of the left side with --semi",
                ));
            }
            take(&fields.iter().collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn chosen_rows(&self, chosen: &[bool]) -> impl Iterator<Item = (usize, &TextRow)> {
        let rows = self.rows.iter().enumerate().zip(chosen);
        rows.filter_map(|(row, &is_chosen)| is_chosen.then_some(row))
    }

    /// The end of a row; the last row of a file may lack it.
    fn end_of(&self, row: &TextRow) -> &[u8] {
        match &self.buffer[row.body.end..row.whole.end] {
            b"" => self.row_end,
            end => end,
        }
    }

    /// The first row unchanged, including the byte order mark.
    fn strip_byte_order_mark(&self, row: &TextRow) -> Vec<u8> {
        let mark = if self.buffer.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK
        } else {
            &[]
        };
        [mark, &self.buffer[row.body.clone()], self.end_of(row)].concat()
    }

    /// The next row that is completely in the buffer.
    fn next_row(&mut self) -> Result<Option<TextRow>, CliError> {
        while self.at < self.buffer.len() {
            let line_end = match memchr(b'\n', &self.buffer[self.at..]) {
                Some(length) => self.at + length + 1,
                None if self.is_end => self.buffer.len(),
                None => return Ok(None),
            };
            let is_quoted = self.dialect.has_quotes && self.has_quote_before(line_end);
            let end = if is_quoted {
                match self.fields.parse(&self.buffer[self.at..]) {
                    FieldState::Whole(length) => self.at + length,
                    FieldState::Cut if !self.is_end => return Ok(None),
                    FieldState::Cut if self.fields.is_closed_by_end() => self.buffer.len(),
                    FieldState::Cut => {
                        return Err(self.ragged_row_error(
                            self.count + 1,
                            "has a quote that is never closed",
                            "close it, or use --no-quotes if quotes are ordinary characters",
                        ));
                    }
                }
            } else {
                line_end
            };
            let whole = self.at..end;
            let end_bytes = match &self.buffer[whole.clone()] {
                [.., b'\r', b'\n'] => 2,
                [.., b'\n'] => 1,
                _ => 0,
            };
            let body = whole.start..whole.end - end_bytes;
            self.row_end = match end_bytes {
                2 => b"\r\n",
                1 => b"\n",
                _ => self.row_end,
            };
            self.at = end;
            if !body.is_empty() {
                return Ok(Some(TextRow {
                    whole,
                    body,
                    is_quoted,
                }));
            }
        }
        Ok(None)
    }

    /// Whether there is a quote between the start of the row and `end`. Every byte is examined once.
    fn has_quote_before(&mut self, end: usize) -> bool {
        if self.quote.is_some_and(|quote| quote < self.at) {
            self.quote = None;
        }
        if self.quote.is_none() && self.looked_to < end {
            let begin = self.looked_to.max(self.at);
            let found = memchr(b'"', &self.buffer[begin..]).map(|at| begin + at);
            self.quote = found;
            self.looked_to = found.map_or(self.buffer.len(), |at| at + 1);
        }
        self.quote.is_some_and(|quote| quote < end)
    }

    fn refill(&mut self) -> Result<(), CliError> {
        self.buffer.drain(..self.at);
        (self.at, self.quote, self.looked_to) = (0, None, 0);
        let old = self.buffer.len();
        if old > MAX_ROW_BYTES {
            return Err(self.ragged_row_error(
                self.count + 1,
                "is longer than 1 GiB",
                "use --no-quotes if quotes are ordinary characters",
            ));
        }
        // A long row doubles the buffer, and the whole buffer is filled, because the row is scanned again from its start.
        self.buffer.resize(old + CHUNK_BYTES.max(old), 0);
        let mut filled = old;
        while filled < self.buffer.len() {
            match self.input.read(&mut self.buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(cannot_read(&self.path, &error)),
                Ok(0) => self.is_end = true,
                Ok(read) => filled += read,
            }
            if self.is_end || old < CHUNK_BYTES {
                break;
            }
        }
        self.buffer.truncate(filled);
        let read = (filled - old) as u64;
        self.bytes_read.fetch_add(read, Ordering::Relaxed);
        Ok(())
    }

    fn ragged_row_error(&self, row: u64, what: &str, advice: &str) -> CliError {
        CliError::message(format!(
            "row {row} of {} {what}: {advice}",
            self.path.display()
        ))
    }
}
