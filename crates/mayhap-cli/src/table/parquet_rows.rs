//! Rows of Parquet as text: the key column first, the others only for rows that passed the filter.

use super::column::RowGroupColumn;
use super::keys::RowKeys;
use super::parquet_value::ValueType;
use super::row_writer::Dialect;
use crate::error::CliError;
use crate::input::{cannot_read, is_standard, open_file};
use mayhap_codec::index::KeyForm;
use mayhap_codec::parquet::file::{self, Column as FilterPlace};
use mayhap_codec::{Format, KeyReader, KeyType};
use parquet::basic::Type;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader};
use parquet::file::serialized_reader::SerializedFileReader;
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};

pub(crate) const MAGIC: &[u8; 4] = b"PAR1";
/// Rows per batch: enough for a batch of lookups, few enough for the cache.
const BATCH_ROWS: usize = 4096;
/// The maximum size of a column chunk's filter, according to the format.
const MAX_FILTER_BYTES: u64 = 128 << 20;
/// How much to read first of a filter whose length the file does not contain.
const FIRST_FILTER_BYTES: u64 = 64 << 10;

/// Whether a file has Parquet's magic number.
pub(crate) fn is_parquet(path: &Path) -> Result<bool, CliError> {
    // Not for pipes, which would lose these bytes; Parquet in a pipe is not supported, because its end is read first.
    if is_standard(path) || !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(false);
    }
    let mut first = Vec::new();
    open_file(path)?
        .take(MAGIC.len() as u64)
        .read_to_end(&mut first)
        .map_err(|error| cannot_read(path, &error))?;
    Ok(first == MAGIC)
}

/// A column to print.
struct Leaf {
    /// Its index in the file.
    number: usize,
    name: String,
    value_type: ValueType,
    full_level: i16,
    physical: Type,
}

pub(crate) struct ParquetRows {
    path: PathBuf,
    file: File,
    reader: SerializedFileReader<File>,
    dialect: Dialect,
    leaves: Vec<Leaf>,
    /// The columns with lists, which are left out.
    lists: Vec<String>,
    key: usize,
    /// The row groups to read, in reverse order.
    groups: Vec<usize>,
    /// The row group of the keys that were read last.
    current_group: usize,
    /// The columns of the current row group, and its remaining rows.
    columns: Vec<RowGroupColumn>,
    rows_left: usize,
    keys: RowKeys,
    texts: Vec<RowKeys>,
    bytes_read: Arc<AtomicU64>,
}

impl ParquetRows {
    pub(crate) fn open(path: &Path, dialect: Dialect) -> Result<Self, CliError> {
        let file = open_file(path)?;
        let reader = file
            .try_clone()
            .map_err(|error| cannot_read(path, &error))?;
        let reader = guarded(path, || SerializedFileReader::new(reader))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let (mut leaves, mut lists) = (Vec::new(), Vec::new());
        for (number, column) in schema.columns().iter().enumerate() {
            if column.max_rep_level() > 0 {
                lists.push(column.path().string());
                continue;
            }
            leaves.push(Leaf {
                number,
                name: column.path().string(),
                value_type: ValueType::from_column(column),
                full_level: column.max_def_level(),
                physical: column.physical_type(),
            });
        }
        let groups = (0..reader.num_row_groups()).rev().collect();
        Ok(Self {
            path: path.to_path_buf(),
            file,
            reader,
            dialect,
            leaves,
            lists,
            key: 0,
            groups,
            current_group: 0,
            columns: Vec::new(),
            rows_left: 0,
            keys: RowKeys::default(),
            texts: Vec::new(),
            bytes_read: Arc::default(),
        })
    }

    /// Reports the columns that are not printed.
    pub(crate) fn report_lists(&self) {
        if !self.lists.is_empty() {
            // Without stderr, nothing can be reported.
            let _ = writeln!(
                io::stderr(),
                "mayhap: columns with lists cannot be printed as text and are omitted from {}: {}",
                self.path.display(),
                self.lists.join(", ").replace(char::is_control, "?")
            );
        }
    }

    /// Whether a column has lists: `tags` or `tags.list.element`.
    pub(crate) fn has_list(&self, column: &str) -> bool {
        let is_in = |list: &String| {
            let rest = list.strip_prefix(column);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.lists.iter().any(is_in) && !self.leaves.iter().any(|leaf| leaf.name == column)
    }

    /// How the values of the key column are spelt.
    pub(crate) fn key_form(&self) -> KeyForm {
        let leaf = self.leaves.get(self.key);
        leaf.map_or(KeyForm::Text, |leaf| {
            leaf.value_type.key_form(leaf.physical)
        })
    }

    /// The row group of the keys that were read last.
    pub(crate) fn current_group(&self) -> usize {
        self.current_group
    }

    pub(crate) fn names(&self) -> Vec<Vec<u8>> {
        let names = self.leaves.iter().map(|leaf| leaf.name.as_bytes().to_vec());
        names.collect()
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn set_key(&mut self, column: usize) {
        self.key = column;
    }

    pub(crate) fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes_read)
    }

    pub(crate) fn keys(&self) -> &RowKeys {
        &self.keys
    }

    pub(crate) fn group_count(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// Skips row groups whose own filters contain none of the keys. Returns the number of groups and of their rows.
    pub(crate) fn skip_groups<'k>(&mut self, keys: impl Iterator<Item = &'k [u8]>) -> (usize, u64) {
        let leaf = self.leaves.get(self.key);
        let Some(leaf) = leaf.filter(|leaf| leaf.value_type.can_be_hashed(leaf.physical)) else {
            return (0, 0);
        };
        let reader =
            KeyReader::new(Format::Parquet, KeyType::Text).physical_type(leaf.physical as i64);
        // A key that is not a valid value of the column is in no row group.
        let values: Vec<Vec<u8>> = keys.filter_map(|key| reader.read(key).ok()).collect();
        let (mut skipped, mut rows, mut left) = (0, 0, Vec::new());
        for &group in &self.groups {
            let metadata = self.reader.metadata().row_group(group);
            if self.may_contain(group, leaf, &values) {
                left.push(group);
            } else {
                skipped += 1;
                rows += u64::try_from(metadata.num_rows()).unwrap_or(0);
                self.add_bytes_read(group);
            }
        }
        self.groups = left;
        (skipped, rows)
    }

    /// Whether a row group may contain one of the values. True if its filter is missing or damaged.
    fn may_contain(&self, group: usize, leaf: &Leaf, values: &[Vec<u8>]) -> bool {
        let chunk = self.reader.metadata().row_group(group).column(leaf.number);
        let Some(offset) = chunk
            .bloom_filter_offset()
            .and_then(|offset| u64::try_from(offset).ok())
        else {
            return true;
        };
        let length = chunk
            .bloom_filter_length()
            .and_then(|length| u64::try_from(length).ok());
        let place = FilterPlace {
            row_group: group,
            name: String::new(),
            physical_type: leaf.physical as i64,
            offset: 0,
            length,
        };
        let mut size = length.unwrap_or(FIRST_FILTER_BYTES);
        loop {
            let in_file = ChunkReader::get_read(&self.file, offset);
            let mut bytes = Vec::new();
            let read = in_file.map(|part| {
                let most = size.min(MAX_FILTER_BYTES);
                part.take(most).read_to_end(&mut bytes)
            });
            if let Ok(filter) = file::filter(&bytes, &place) {
                return values.iter().any(|value| filter.contains(value));
            }
            let is_all = (bytes.len() as u64) < size || size >= MAX_FILTER_BYTES;
            if length.is_some() || is_all || !matches!(read, Ok(Ok(_))) {
                return true;
            }
            size *= 8;
        }
    }

    fn add_bytes_read(&self, group: usize) {
        let size = self.reader.metadata().row_group(group).compressed_size();
        let size = u64::try_from(size).unwrap_or(0);
        self.bytes_read.fetch_add(size, Ordering::Relaxed);
    }

    /// Reads the keys of the next rows; `false` at the end.
    pub(crate) fn read_keys(&mut self) -> Result<bool, CliError> {
        while self.rows_left == 0 {
            let Some(group) = self.groups.pop() else {
                return Ok(false);
            };
            self.begin_group(group)?;
        }
        let rows = self.rows_left.min(BATCH_ROWS);
        self.rows_left -= rows;
        let (keys, column) = (&mut self.keys, self.columns.get_mut(self.key));
        guarded(&self.path, || match column {
            Some(column) => column.read(rows, |_| true, keys),
            None => Err(ParquetError::General("the key's column is gone".into())),
        })?;
        Ok(true)
    }

    fn begin_group(&mut self, group: usize) -> Result<(), CliError> {
        let (reader, leaves) = (&self.reader, &self.leaves);
        let (columns, rows) = guarded(&self.path, || {
            let group = reader.get_row_group(group)?;
            let columns = leaves.iter().map(|leaf| {
                let column = group.get_column_reader(leaf.number)?;
                Ok(RowGroupColumn::new(
                    column,
                    leaf.value_type,
                    leaf.full_level,
                ))
            });
            let columns = columns.collect::<Result<Vec<_>, ParquetError>>()?;
            Ok((columns, group.metadata().num_rows()))
        })?;
        self.columns = columns;
        self.current_group = group;
        self.rows_left = usize::try_from(rows).unwrap_or(0);
        self.add_bytes_read(group);
        Ok(())
    }

    /// Passes on the keys and texts of the selected rows of the last batch.
    pub(crate) fn each_row(
        &mut self,
        chosen: &[bool],
        mut take: impl FnMut(&[u8], &[u8]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let dialect = self.dialect;
        let mut row = Vec::new();
        let key = self.key;
        self.each_chosen(chosen, |fields| {
            row.clear();
            dialect.write_row(fields.iter().copied(), &mut row);
            take(fields.get(key).copied().unwrap_or_default(), &row)
        })
    }

    /// Moves the keys of the last batch away, and appends its rows as text.
    pub(crate) fn move_batch(
        &mut self,
        bytes: &mut Vec<u8>,
        ends: &mut Vec<usize>,
    ) -> Result<RowKeys, CliError> {
        let all = vec![true; self.keys.len()];
        self.each_row(&all, |_, row| {
            bytes.extend_from_slice(row);
            bytes.push(b'\n');
            ends.push(bytes.len());
            Ok(())
        })?;
        Ok(std::mem::take(&mut self.keys))
    }

    /// Moves the keys of the last batch away; the other columns are not read.
    pub(crate) fn move_keys(&mut self) -> Result<RowKeys, CliError> {
        let none = vec![false; self.keys.len()];
        self.each_chosen(&none, |_| Ok(()))?;
        Ok(std::mem::take(&mut self.keys))
    }

    /// Passes on the fields of the selected rows of the last batch.
    pub(crate) fn each_chosen(
        &mut self,
        chosen: &[bool],
        mut take: impl FnMut(&[&[u8]]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let has_any = chosen.contains(&true);
        let key = self.key;
        self.texts.resize_with(self.columns.len(), RowKeys::default);
        let (columns, texts) = (&mut self.columns, &mut self.texts);
        guarded(&self.path, || {
            for (number, (column, texts)) in columns.iter_mut().zip(texts).enumerate() {
                if number == key {
                    continue;
                }
                if has_any {
                    column.read(chosen.len(), |row| chosen[row], texts)?;
                } else {
                    column.skip(chosen.len());
                }
            }
            Ok(())
        })?;
        if !has_any {
            return Ok(());
        }
        let mut fields = Vec::new();
        for row in (0..chosen.len()).filter(|&row| chosen[row]) {
            fields.clear();
            fields.extend(self.texts.iter().enumerate().map(|(column, texts)| {
                let texts = if column == key { &self.keys } else { texts };
                texts.get(row).unwrap_or_default()
            }));
            take(&fields)?;
        }
        Ok(())
    }
}

thread_local! {
    /// Whether a panic of this thread becomes an error, and is not printed. Several threads read files.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code that reads a file. The library panics on some damaged files; errors and panics become one error.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, CliError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                report(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(false);
    let why = match read {
        Ok(Ok(read)) => return Ok(read),
        Ok(Err(error)) => error.to_string().replace(char::is_control, " "),
        Err(_) => "damaged metadata or pages".into(),
    };
    Err(CliError::message(format!(
        "{} cannot be read as Parquet ({why}): write it again, or read it with the program that wrote it",
        path.display()
    )))
}
