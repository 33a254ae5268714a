//! The keys of one file, and its filters.

use super::hash_spool::HashSpool;
use super::plan::Job;
use super::{Granularity, Settings};
use crate::error::CliError;
use crate::filter_files::file_name;
use crate::input::{Block, InputArgs, cannot_read};
use crate::table::{Dialect, RowFormat, Table, TableField, is_parquet};
use mayhap_codec::cassandra::Layout;
use mayhap_codec::index::{FilterEntry, IndexFilter, IndexWriter, KeyForm, SCHEME};
use mayhap_codec::table::{Table as LevelTable, TableFile};
use mayhap_codec::{Format, KeyReader, KeyType, Limits};
use mayhap_core::{Fuse, Ribbon};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// A filter, and what is stored with it.
pub(super) struct BuiltFilter {
    row_group: Option<u32>,
    key_form: KeyForm,
    bits: FilterBits,
}

pub(super) enum FilterBits {
    Ribbon(Ribbon),
    Fuse(Fuse),
    Cassandra(Vec<u8>),
}

impl BuiltFilter {
    pub(super) fn append(
        &self,
        writer: &mut IndexWriter<'_>,
        settings: &Settings,
    ) -> io::Result<FilterEntry> {
        let filter = match &self.bits {
            FilterBits::Ribbon(filter) => IndexFilter::Ribbon(filter),
            FilterBits::Fuse(filter) => IndexFilter::Fuse(filter),
            FilterBits::Cassandra(bytes) => IndexFilter::Cassandra(bytes),
        };
        writer.append(&filter, self.row_group, self.key_form, settings.key_type())
    }
}

/// What kind of file it is.
enum FileKind {
    Parquet,
    /// CSV, TSV or JSON lines.
    Table,
    Lines,
    /// A table of LevelDB or RocksDB.
    LevelTable,
    CassandraFilter,
}

/// Reads a file and builds its filters.
pub(super) fn read_file(
    job: &Job,
    settings: &Settings,
    bytes_read: &AtomicU64,
) -> Result<Vec<BuiltFilter>, CliError> {
    wait_until_settled(job);
    let path = &job.path;
    let mut count = Counter {
        total: bytes_read,
        counted: 0,
    };
    let built = match kind(path, settings)? {
        FileKind::Parquet => parquet(path, settings, &mut count),
        FileKind::Table => table(path, settings, &mut count),
        FileKind::Lines => lines(path, settings, &mut count),
        FileKind::LevelTable => level_table(path, settings),
        FileKind::CassandraFilter => cassandra(path),
    };
    count.set(job.state.size);
    built
}

/// Adds the bytes of one file to those of all.
struct Counter<'c> {
    total: &'c AtomicU64,
    counted: u64,
}

impl Counter<'_> {
    fn set(&mut self, bytes: u64) {
        if let Some(more) = bytes.checked_sub(self.counted) {
            self.total.fetch_add(more, Ordering::Relaxed);
            self.counted = bytes;
        }
    }
}

/// Waits if a file was changed just now: another change within the same tick of the file system's clock would not show.
fn wait_until_settled(job: &Job) {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};
    // Times in whole seconds come from file systems that know no others; FAT has two seconds.
    let tick = if job.state.modified_ns % 1_000_000_000 == 0 {
        Duration::from_secs(2)
    } else {
        Duration::from_millis(20)
    };
    let Ok(modified) = u64::try_from(job.state.modified_ns) else {
        return;
    };
    let settled = UNIX_EPOCH + Duration::from_nanos(modified) + tick;
    if let Ok(left) = settled.duration_since(SystemTime::now()) {
        // A time in the future is not waited for.
        if left <= tick {
            std::thread::sleep(left);
        }
    }
}

fn kind(path: &Path, settings: &Settings) -> Result<FileKind, CliError> {
    let name = file_name(path).unwrap_or_default().to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends(&["-filter.db"]) {
        Ok(FileKind::CassandraFilter)
    } else if ends(&["-data.db"]) {
        Err(CliError::message(
            "its SSTable has no filter: set bloom_filter_fp_chance below 1",
        ))
    } else if is_parquet(path)? {
        Ok(FileKind::Parquet)
    } else if ends(&[".parquet", ".parq", ".pq"]) {
        Err(CliError::message(
            "it is not a Parquet file (no PAR1 at byte 0): write it again",
        ))
    } else if ends(&[".ldb", ".sst"]) {
        Ok(FileKind::LevelTable)
    } else if settings.column.is_some() {
        Ok(FileKind::Table)
    } else if is_table_name(&name) {
        Err(CliError::message("it is a table: name its key by --column"))
    } else {
        Ok(FileKind::Lines)
    }
}

fn is_table_name(name: &str) -> bool {
    let compressed = [".gz", ".zst", ".bz2", ".xz", ".lz4"];
    let plain = compressed.iter().find_map(|end| name.strip_suffix(end));
    let name = plain.unwrap_or(name);
    let tables = [".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson"];
    tables.iter().any(|end| name.ends_with(end))
}

/// Hashes keys that are given as text.
struct KeyHasher {
    reader: KeyReader,
    hashes: HashSpool,
}

impl KeyHasher {
    fn new(settings: &Settings) -> Self {
        Self {
            reader: KeyReader::new(Format::Mayhap, settings.key_type()),
            hashes: HashSpool::default(),
        }
    }

    fn push(&mut self, text: &[u8]) -> Result<(), CliError> {
        if self.reader.is_verbatim() {
            return self.hashes.push(SCHEME.hash(text));
        }
        let key = self.reader.read(text);
        let key = key.map_err(|error| {
            CliError::message(format!("{error}: give another --key-type, such as text"))
        })?;
        self.hashes.push(SCHEME.hash(key.as_slice()))
    }
}

fn lines(
    path: &Path,
    settings: &Settings,
    count: &mut Counter<'_>,
) -> Result<Vec<BuiltFilter>, CliError> {
    let mut input = InputArgs::default().for_list(path);
    // A carriage return is not part of a key that somebody types.
    input.crlf = true;
    let mut blocks = input.blocks();
    let mut block = Block::default();
    let mut keys = KeyHasher::new(settings);
    let mut is_first = true;
    while blocks.fill(&mut block)? {
        if std::mem::take(&mut is_first) && block.raw(0..block.len()).contains(&0) {
            return Err(CliError::message(
                "it is neither text nor of another kind that is known: remove it from the folder",
            ));
        }
        let mut done = Ok(());
        block.for_each_key(|key| {
            if let (Ok(()), Some(key)) = (&done, key) {
                done = keys.push(key);
            }
        });
        done?;
        count.set(blocks.bytes_read().load(Ordering::Relaxed));
    }
    one_filter(keys.hashes, KeyForm::Text, settings)
}

fn one_filter(
    hashes: HashSpool,
    key_form: KeyForm,
    settings: &Settings,
) -> Result<Vec<BuiltFilter>, CliError> {
    Ok(vec![BuiltFilter {
        row_group: None,
        key_form,
        bits: hashes.build(settings)?,
    }])
}

fn open_table(path: &Path, settings: &Settings) -> Result<Table, CliError> {
    let format = settings.delimiter.map(|delimiter| {
        RowFormat::Delimited(Dialect {
            delimiter,
            has_quotes: true,
        })
    });
    Table::open_by_field(
        path,
        &TableField {
            // Without a column, a table of one column is meant.
            column: settings.column.as_deref().unwrap_or("1"),
            format,
            has_quotes: true,
            has_names: settings.header,
            flag: "--column",
            is_keys_only: true,
        },
    )
}

fn table(
    path: &Path,
    settings: &Settings,
    count: &mut Counter<'_>,
) -> Result<Vec<BuiltFilter>, CliError> {
    let mut table = open_table(path, settings)?;
    let mut keys = KeyHasher::new(settings);
    while table.read_keys()? {
        for key in table.move_batch(None)?.iter().flatten() {
            keys.push(key)?;
        }
        count.set(table.bytes_read().load(Ordering::Relaxed));
    }
    one_filter(keys.hashes, KeyForm::Text, settings)
}

fn parquet(
    path: &Path,
    settings: &Settings,
    count: &mut Counter<'_>,
) -> Result<Vec<BuiltFilter>, CliError> {
    let mut table = open_table(path, settings)?;
    if settings.column.is_none() && table.names().len() != 1 {
        let names = crate::table::shown(table.names());
        return Err(CliError::message(format!(
            "it has the columns {names}: name the key by --column"
        )));
    }
    let has_groups = settings.granularity == Granularity::RowGroup;
    let (mut key_form, mut groups) = (KeyForm::Text, 0);
    if let Some(rows) = table.parquet() {
        key_form = rows.key_form();
        groups = rows.group_count();
    }
    let mut built = Vec::new();
    let mut keys = KeyHasher::new(settings);
    let mut group = 0;
    while table.read_keys()? {
        let current = table.parquet().map_or(0, |rows| rows.current_group());
        if has_groups {
            // Row groups without rows have no batches.
            while group < current {
                let done = std::mem::replace(&mut keys, KeyHasher::new(settings));
                built.push(row_group(done.hashes, group, key_form, settings)?);
                group += 1;
            }
        }
        for key in table.move_batch(None)?.iter().flatten() {
            keys.push(key)?;
        }
        count.set(table.bytes_read().load(Ordering::Relaxed));
    }
    if !has_groups {
        return one_filter(keys.hashes, key_form, settings);
    }
    while group < groups {
        let done = std::mem::replace(&mut keys, KeyHasher::new(settings));
        built.push(row_group(done.hashes, group, key_form, settings)?);
        group += 1;
    }
    Ok(built)
}

fn row_group(
    hashes: HashSpool,
    number: usize,
    key_form: KeyForm,
    settings: &Settings,
) -> Result<BuiltFilter, CliError> {
    Ok(BuiltFilter {
        row_group: Some(number as u32),
        key_form,
        bits: hashes.build(settings)?,
    })
}

/// The keys of a database as they are stored, including those that were deleted.
fn level_table(path: &Path, settings: &Settings) -> Result<Vec<BuiltFilter>, CliError> {
    let file = TableFile::open(path).map_err(|error| cannot_read(path, &error))?;
    let explain = |error: mayhap_codec::DecodeError| CliError::message(error.to_string());
    let table = LevelTable::open(file.bytes(), Limits::default()).map_err(explain)?;
    let mut hashes = HashSpool::default();
    let mut done = Ok(());
    table
        .each_user_key(|key| {
            if done.is_ok() {
                done = hashes.push(SCHEME.hash(key));
            }
        })
        .map_err(explain)?;
    done?;
    one_filter(hashes, KeyForm::Text, settings)
}

/// The filter of an SSTable, as it is.
fn cassandra(path: &Path) -> Result<Vec<BuiltFilter>, CliError> {
    let bytes = crate::filter_files::read(path)?;
    // Bytes that cannot be queried are not stored.
    cassandra_filter(path, &bytes)?;
    Ok(vec![BuiltFilter {
        row_group: None,
        key_form: KeyForm::Text,
        bits: FilterBits::Cassandra(bytes),
    }])
}

/// A filter of Cassandra, whose layout follows from the name of its file.
pub(crate) fn cassandra_filter(
    path: &Path,
    bytes: &[u8],
) -> Result<mayhap_codec::cassandra::Filter, CliError> {
    let layout = match file_name(path).and_then(Layout::from_file_name) {
        Some(Ok(layout)) => layout,
        Some(Err(error)) => return Err(crate::codec_errors::parameter(&error)),
        None => {
            return Err(CliError::message(
                "its name does not say which version of Cassandra wrote it: give it its name back, such as nb-1-big-Filter.db",
            ));
        }
    };
    mayhap_codec::cassandra::decode(bytes, layout)
        .map_err(|error| CliError::message(error.to_string()))
}

/// How keys of Cassandra's partitions are read.
pub(crate) fn cassandra_reader(key_type: KeyType) -> KeyReader {
    KeyReader::new(Format::Cassandra, key_type)
}
