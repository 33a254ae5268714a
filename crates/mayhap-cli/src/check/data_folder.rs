//! A data folder of Cassandra: every `*-Filter.db` below it is queried, and the SSTables that may hold a key are named.

use super::{CheckArgs, Selected};
use crate::error::CliError;
use crate::filter_files::{KeyBatch, file_name, keys};
use crate::input::{Block, cannot_read};
use mayhap_codec::cassandra::Layout;
use mayhap_codec::{Format, KeyReader, Parameters, StoredFilter};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const FILTER: &str = "-Filter.db";
const DATA: &str = "-Data.db";

/// The filters of a folder, by path.
pub(super) struct DataFolder {
    reader: KeyReader,
    tables: Vec<(PathBuf, StoredFilter)>,
}

/// Lines as they are printed: a line, then the filters of the SSTables that may hold its key, each after a tab.
pub(super) struct NamedLines {
    pub(super) text: Vec<u8>,
    count: u64,
}

impl Selected for NamedLines {
    fn count(&self) -> u64 {
        self.count
    }
}

impl DataFolder {
    /// Opens all filters. One that cannot be opened is an error before anything is printed: its SSTable may hold any key.
    pub(super) fn open(args: &CheckArgs) -> Result<Self, CliError> {
        let folder = &args.filter;
        if args.open.from != Some(Format::Cassandra) {
            return Err(CliError::message(format!(
                "{} is a folder: give a filter file, or --from cassandra if it is a data folder of Cassandra",
                folder.display()
            )));
        }
        let mut files = Files::default();
        files.find(folder)?;
        if files.filters.is_empty() {
            return Err(CliError::message(format!(
                "{} contains no *-Filter.db: give a data folder of Cassandra, or a table's folder in it",
                folder.display()
            )));
        }
        files.report_tables_without_filter();
        let mut tables = Vec::new();
        for path in files.filters {
            let mut found = args.choose.select(&path, args.open.open(&path)?)?;
            tables.push((path, found.remove(0).filter));
        }
        let parameters = Parameters::new(Format::Cassandra, &args.open.parameters);
        let reader = parameters
            .and_then(|parameters| parameters.key_reader(args.key_type.unwrap_or_default()))
            .map_err(|error| crate::codec_errors::parameter(&error))?;
        Ok(Self { reader, tables })
    }

    /// Whether the keys are the lines themselves.
    pub(super) fn is_verbatim(&self) -> bool {
        self.reader.is_verbatim()
    }

    /// The lines whose keys an SSTable may hold; with `invert`, those that none holds.
    pub(super) fn select(&self, block: &Block, invert: bool) -> Result<NamedLines, CliError> {
        let mut batch = KeyBatch::Verbatim(Vec::new());
        let nulls = keys(block, &self.reader, &mut batch)?;
        let mut holders: Vec<Vec<&Path>> = vec![Vec::new(); batch.len()];
        let mut found = vec![false; batch.len()];
        for (path, filter) in &self.tables {
            batch.ask(filter, &mut found);
            for (holders, _) in holders.iter_mut().zip(&found).filter(|(_, found)| **found) {
                holders.push(path);
            }
        }
        // No SSTable has a null. The places are ascending.
        for place in nulls {
            holders.insert(place, Vec::new());
        }
        let is_selected = |holders: &Vec<&Path>| holders.is_empty() == invert;
        let mut named = NamedLines {
            text: block.header().to_vec(),
            // There are no lines if only the keys of a table were read.
            count: holders
                .iter()
                .filter(|holders| is_selected(holders))
                .count() as u64,
        };
        for (line, holders) in block.lines().zip(&holders) {
            if is_selected(holders) {
                named.push(block, line, holders);
            }
        }
        Ok(named)
    }
}

impl NamedLines {
    fn push(&mut self, block: &Block, line: std::ops::Range<usize>, holders: &[&Path]) {
        let raw = block.raw(line);
        let text = block.line_end().strip(raw);
        self.text.extend_from_slice(text);
        for path in holders {
            self.text.push(b'\t');
            self.text
                .extend_from_slice(path.as_os_str().as_encoded_bytes());
        }
        // The last line of an input may lack its end.
        match &raw[text.len()..] {
            [] => self.text.push(block.line_end().byte),
            end => self.text.extend_from_slice(end),
        }
    }
}

/// The files of SSTables below a folder.
#[derive(Default)]
struct Files {
    /// In order of their paths.
    filters: BTreeSet<PathBuf>,
    data: BTreeSet<PathBuf>,
}

impl Files {
    fn find(&mut self, folder: &Path) -> Result<(), CliError> {
        let cannot = |error: io::Error| cannot_read(folder, &error);
        for entry in fs::read_dir(folder).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let path = entry.path();
            // A link to a folder may lead back here.
            if entry.file_type().map_err(cannot)?.is_dir() {
                self.find(&path)?;
                continue;
            }
            match file_name(&path) {
                Some(name) if name.ends_with(FILTER) => _ = self.filters.insert(path),
                Some(name) if name.ends_with(DATA) => _ = self.data.insert(path),
                _ => {}
            }
        }
        Ok(())
    }

    /// A table with `bloom_filter_fp_chance = 1` has no filters, so nothing is known about what it holds.
    fn report_tables_without_filter(&self) {
        let filter_of = |path: &PathBuf| {
            let name = file_name(path)?.strip_suffix(DATA)?.to_owned() + FILTER;
            let is_table = Layout::from_file_name(&name).is_some();
            is_table.then(|| path.with_file_name(name))
        };
        let lacking = self
            .data
            .iter()
            .filter(|path| filter_of(path).is_some_and(|filter| !self.filters.contains(&filter)));
        for path in lacking {
            // Without stderr, nothing can be reported.
            let _ = writeln!(
                io::stderr(),
                "mayhap: {} has no filter: its SSTable may hold any key",
                path.display()
            );
        }
    }
}
