//! Blocks of whole lines: small enough for the cache of a core, large enough to be worth a system call.

use super::{LineEnd, cannot_read, is_standard, open};
use crate::error::CliError;
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

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
    /// The number of its first line, from 1, across all inputs.
    pub(crate) first_line: u64,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            memory: Vec::new(),
            end: 0,
            ends: OnceLock::new(),
            pool: Pool::default(),
            line_end: LineEnd {
                byte: b'\n',
                carriage_return: false,
            },
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

    pub(crate) fn count_lines(&self) -> u64 {
        let ended = memchr::memchr_iter(self.line_end.byte, self.bytes()).count() as u64;
        ended + u64::from(self.end > 0 && !self.ends_in_line_end())
    }

    /// A line without its end.
    #[inline]
    pub(crate) fn key(&self, line: Range<usize>) -> &[u8] {
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
pub(crate) struct Blocks {
    /// Lines that are there already, with their ends.
    given: Option<(Vec<u8>, Vec<usize>)>,
    inputs: std::vec::IntoIter<PathBuf>,
    current: Option<(PathBuf, Box<dyn Read + Send>)>,
    /// The start of a line whose end has not been read yet.
    begun: Vec<u8>,
    line_end: LineEnd,
    next_line: u64,
    is_counted: bool,
    suggests_keys: bool,
    pool: Pool,
    bytes_read: Arc<AtomicU64>,
}

impl Blocks {
    pub(super) fn new(inputs: Vec<PathBuf>, line_end: LineEnd) -> Self {
        Self {
            given: None,
            inputs: inputs.into_iter(),
            current: None,
            begun: Vec::new(),
            line_end,
            next_line: 1,
            is_counted: false,
            suggests_keys: false,
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

    /// Counts lines while reading, for error messages.
    pub(crate) fn counted(mut self) -> Self {
        self.is_counted = true;
        self
    }

    /// If a file does not exist, the error suggests `-k`.
    pub(super) fn suggesting_keys(mut self) -> Self {
        self.suggests_keys = true;
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
                    let name = path.display();
                    return Err(CliError::message(format!(
                        "{name}: no such file; if it is a key, give -k {name}"
                    )));
                }
                let reader = open(&path)?;
                self.current = Some((path, reader));
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
                self.begun.extend_from_slice(&memory[whole..*end]);
                *end = whole;
                return Ok(true);
            }
        }
    }
}
