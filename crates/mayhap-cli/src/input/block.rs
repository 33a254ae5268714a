//! Blocks of whole lines: small enough for the cache of a core, large enough to be worth a system call.

use super::field_args::FieldArgs;
use super::table_blocks::TableBlocks;
use super::{LineEnd, cannot_read, is_standard, missing_key_error, name, open};
use crate::error::CliError;
use crate::table::RowKeys;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock};

const BLOCK_BYTES: usize = 256 << 10;

/// Recycled memory of finished blocks: new memory would have to be zeroed, by the kernel and by us.
type Pool = Arc<Mutex<Vec<Vec<u8>>>>;

/// Whole lines, one after the other.
#[derive(Debug)]
pub(crate) struct Block {
    /// The lines, followed by free space.
    memory: Vec<u8>,
    /// The end of the lines.
    end: usize,
    /// The end of each line, computed on demand.
    ends: OnceLock<Vec<usize>>,
    pool: Pool,
    line_end: LineEnd,
    /// The keys, if they are a column.
    keys: Option<RowKeys>,
    /// A first row with the names of columns, which is printed and has no key.
    header: Vec<u8>,
    /// The number of its first line, from 1, across all inputs; or of its first row in its table.
    pub(crate) first_line: u64,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            memory: Vec::new(),
            end: 0,
            ends: OnceLock::new(),
            pool: Pool::default(),
            line_end: LineEnd::LINE_FEED,
            keys: None,
            header: Vec::new(),
            first_line: 1,
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // The memory of a long line is not recycled.
        if (1..=2 * BLOCK_BYTES).contains(&self.memory.len())
            && let Ok(mut pool) = self.pool.lock()
        {
            pool.push(std::mem::take(&mut self.memory));
        }
    }
}

impl Block {
    fn bytes(&self) -> &[u8] {
        &self.memory[..self.end]
    }

    /// The range of each line, including its end. Line ends are searched once.
    #[inline]
    pub(crate) fn lines(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = self.ends.get_or_init(|| {
            let ends = memchr::memchr_iter(self.line_end.byte, self.bytes());
            let mut ends: Vec<usize> = ends.map(|at| at + 1).collect();
            if ends.last().copied().unwrap_or(0) < self.end {
                ends.push(self.end);
            }
            ends
        });
        let mut begin = 0;
        ends.iter().map(move |&end| {
            let line = begin..end;
            begin = end;
            line
        })
    }

    /// Passes on the key of every line or row; `None` is a null.
    #[inline]
    pub(crate) fn for_each_key<'b>(&'b self, mut take: impl FnMut(Option<&'b [u8]>)) {
        match &self.keys {
            None => self.lines().for_each(|line| take(Some(self.key(line)))),
            Some(keys) => keys.iter().for_each(take),
        }
    }

    /// The number of keys, without nulls.
    pub(crate) fn count_keys(&self) -> u64 {
        match &self.keys {
            None => self.count_lines(),
            Some(keys) => keys.iter().flatten().count() as u64,
        }
    }

    /// The rows of a table, and their keys.
    pub(super) fn set_rows(&mut self, rows: Vec<u8>, ends: Vec<usize>, keys: RowKeys) {
        self.end = rows.len();
        self.memory = rows;
        self.ends = ends.into();
        self.keys = Some(keys);
        self.header = Vec::new();
    }

    pub(super) fn set_header(&mut self, header: Vec<u8>) {
        self.set_rows(Vec::new(), Vec::new(), RowKeys::default());
        self.header = header;
    }

    /// A first row that is printed before the lines.
    pub(crate) fn header(&self) -> &[u8] {
        &self.header
    }

    fn count_lines(&self) -> u64 {
        let ended = memchr::memchr_iter(self.line_end.byte, self.bytes()).count() as u64;
        ended + u64::from(self.end > 0 && !self.ends_in_line_end())
    }

    /// A line without its end.
    #[inline]
    fn key(&self, line: Range<usize>) -> &[u8] {
        self.line_end.strip(&self.bytes()[line])
    }

    /// Lines unchanged; the last line of an input may lack its end.
    pub(crate) fn raw(&self, lines: Range<usize>) -> &[u8] {
        &self.bytes()[lines]
    }

    pub(crate) fn len(&self) -> usize {
        self.end
    }

    pub(crate) fn line_end(&self) -> LineEnd {
        self.line_end
    }

    fn ends_in_line_end(&self) -> bool {
        self.bytes().last() == Some(&self.line_end.byte)
    }
}

/// The lines of several inputs, one input after the other.
#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
pub(crate) struct Blocks {
    tables: Option<TableBlocks>,
    /// Lines that are there already, with their ends.
    given: Option<(Vec<u8>, Vec<usize>)>,
    inputs: std::vec::IntoIter<PathBuf>,
    current: Option<(PathBuf, Box<dyn Read + Send>)>,
    /// Whether nothing of the current input was passed on yet.
    is_new_input: bool,
    /// The start of a line whose end has not been read yet.
    begun: Vec<u8>,
    line_end: LineEnd,
    next_line: u64,
    is_counted: bool,
    suggests_keys: bool,
    may_be_slow: bool,
    pool: Pool,
    bytes_read: Arc<AtomicU64>,
}

impl Blocks {
    pub(super) fn new(inputs: Vec<PathBuf>, line_end: LineEnd) -> Self {
        Self {
            tables: None,
            given: None,
            inputs: inputs.into_iter(),
            current: None,
            is_new_input: false,
            begun: Vec::new(),
            line_end,
            next_line: 1,
            is_counted: false,
            suggests_keys: false,
            may_be_slow: false,
            pool: Pool::default(),
            bytes_read: Arc::default(),
        }
    }

    /// Each key as a line, whatever bytes it has.
    pub(super) fn from_keys<'k>(keys: impl Iterator<Item = &'k [u8]>, line_end: LineEnd) -> Self {
        let (mut lines, mut ends) = (Vec::new(), Vec::new());
        for key in keys {
            lines.extend_from_slice(key);
            lines.push(line_end.byte);
            ends.push(lines.len());
        }
        Self {
            given: Some((lines, ends)),
            ..Self::new(Vec::new(), line_end)
        }
    }

    /// The rows of tables, whose keys are a column.
    pub(super) fn from_tables(field: FieldArgs, inputs: Vec<PathBuf>, line_end: LineEnd) -> Self {
        Self {
            tables: Some(TableBlocks::new(field, inputs)),
            ..Self::new(Vec::new(), line_end)
        }
    }

    /// Reading may wait for another program.
    pub(super) fn maybe_slow(mut self, may_be_slow: bool) -> Self {
        self.may_be_slow = may_be_slow;
        self
    }

    pub(super) fn may_be_slow(&self) -> bool {
        self.may_be_slow
    }

    /// Rows of tables are not printed.
    pub(crate) fn keys_only(mut self) -> Self {
        if let Some(tables) = &mut self.tables {
            tables.is_keys_only = true;
        }
        self
    }

    /// Counts lines while reading, for error messages.
    pub(crate) fn counted(mut self) -> Self {
        self.is_counted = true;
        self
    }

    /// If a file does not exist, the error suggests `-k`.
    pub(super) fn suggesting_keys(mut self) -> Self {
        self.suggests_keys = true;
        if let Some(tables) = &mut self.tables {
            tables.suggests_keys = true;
        }
        self
    }

    /// The number of decompressed bytes read, for another thread to display.
    pub(crate) fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes_read)
    }

    /// Reads the next block into recycled memory; `false` at the end. Lines are passed on without delay: as soon as a read ends
    /// a line.
    pub(crate) fn fill(&mut self, block: &mut Block) -> Result<bool, CliError> {
        block.line_end = self.line_end;
        block.ends = OnceLock::new();
        block.first_line = self.next_line;
        if let Some(tables) = &mut self.tables {
            return tables.fill(block, &self.bytes_read);
        }
        if let Some((lines, ends)) = self.given.take() {
            block.end = lines.len();
            block.memory = lines;
            block.ends = ends.into();
            return Ok(true);
        }
        if block.memory.is_empty() {
            block.pool = Arc::clone(&self.pool);
            let used = self.pool.lock().ok().and_then(|mut pool| pool.pop());
            block.memory = used.unwrap_or_default();
        }
        let filled = self.read_lines(block)?;
        if self.is_counted {
            self.next_line += block.count_lines();
        }
        Ok(filled)
    }

    fn read_lines(&mut self, block: &mut Block) -> Result<bool, CliError> {
        let Block { memory, end, .. } = block;
        *end = self.begun.len();
        memory.resize(memory.len().max(*end), 0);
        memory[..*end].copy_from_slice(&self.begun);
        self.begun.clear();
        loop {
            let Some((path, reader)) = &mut self.current else {
                let Some(path) = self.inputs.next() else {
                    return Ok(false);
                };
                if self.suggests_keys && !is_standard(&path) && !path.exists() {
                    return Err(missing_key_error(&path));
                }
                let reader = open(&path)?;
                self.current = Some((path, reader));
                self.is_new_input = true;
                continue;
            };
            let old = *end;
            // A long line doubles the buffer, so that it is not scanned again and again.
            let room = old + BLOCK_BYTES.max(old);
            memory.resize(memory.len().max(room), 0);
            let read = loop {
                match reader.read(&mut memory[old..room]) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read.map_err(|error| cannot_read(path, &error))?,
                }
            };
            *end = old + read;
            self.bytes_read.fetch_add(read as u64, Ordering::Relaxed);
            if read == 0 {
                self.current = None;
                if *end > 0 {
                    return Ok(true);
                }
                continue;
            }
            if let Some(last) = memchr::memrchr(self.line_end.byte, &memory[old..*end]) {
                let whole = old + last + 1;
                if std::mem::take(&mut self.is_new_input) && self.line_end == LineEnd::LINE_FEED {
                    report_carriage_returns(path, &memory[..whole]);
                }
                self.begun.extend_from_slice(&memory[whole..*end]);
                *end = whole;
                return Ok(true);
            }
        }
    }
}

/// Text of Windows without `--crlf` is a likely mistake: reported once, by the first line of an input.
fn report_carriage_returns(path: &Path, lines: &[u8]) {
    static REPORTED: Once = Once::new();
    let first = memchr::memchr(b'\n', lines).map_or(lines, |end| &lines[..end]);
    if first.ends_with(b"\r") {
        REPORTED.call_once(|| {
            // Without stderr, nothing can be reported.
            let _ = writeln!(
                io::stderr(),
                "mayhap: lines of {} end with CR LF, and the CR is part of the key: give --crlf to remove it",
                name(path)
            );
        });
    }
}
