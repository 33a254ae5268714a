//! Blocks of whole lines: small enough for a core's cache, large enough to pay for a system call.

use super::{LineEnd, cannot_read, open};
use crate::failure::Failure;
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const BLOCK_BYTES: usize = 256 << 10;

/// Whole lines, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    line_end: LineEnd,
    /// The number of its first line, from 1 on, in all inputs together.
    pub(crate) first_line: u64,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            line_end: LineEnd {
                byte: b'\n',
                carriage_return: false,
            },
            first_line: 1,
        }
    }
}

impl Block {
    /// Where each line lies, its end included.
    #[inline]
    pub(crate) fn lines(&self) -> impl Iterator<Item = Range<usize>> {
        let mut ends = memchr::memchr_iter(self.line_end.byte, &self.bytes);
        let mut begin = 0;
        let length = self.bytes.len();
        std::iter::from_fn(move || {
            let end = match ends.next() {
                Some(at) => at + 1,
                None if begin < length => length,
                None => return None,
            };
            let line = begin..end;
            begin = end;
            Some(line)
        })
    }

    pub(crate) fn count_lines(&self) -> u64 {
        let ended = memchr::memchr_iter(self.line_end.byte, &self.bytes).count() as u64;
        ended + u64::from(!self.bytes.is_empty() && !self.ends_in_line_end())
    }

    /// A line without its end.
    #[inline]
    pub(crate) fn key(&self, line: Range<usize>) -> &[u8] {
        self.line_end.strip(&self.bytes[line])
    }

    /// Lines as they came; the last of an input may lack its end.
    pub(crate) fn raw(&self, lines: Range<usize>) -> &[u8] {
        &self.bytes[lines]
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn line_end(&self) -> LineEnd {
        self.line_end
    }

    fn ends_in_line_end(&self) -> bool {
        self.bytes.last() == Some(&self.line_end.byte)
    }
}

/// The lines of several inputs, one input after the other.
pub(crate) struct Blocks {
    inputs: std::vec::IntoIter<PathBuf>,
    current: Option<(PathBuf, Box<dyn Read + Send>)>,
    /// The beginning of a line whose end is not read yet.
    begun: Vec<u8>,
    line_end: LineEnd,
    next_line: u64,
    is_counted: bool,
    bytes_read: Arc<AtomicU64>,
}

impl Blocks {
    pub(super) fn new(inputs: Vec<PathBuf>, line_end: LineEnd) -> Self {
        Self {
            inputs: inputs.into_iter(),
            current: None,
            begun: Vec::new(),
            line_end,
            next_line: 1,
            is_counted: false,
            bytes_read: Arc::default(),
        }
    }

    /// Counts lines while reading, so that an error can name one.
    pub(crate) fn counted(mut self) -> Self {
        self.is_counted = true;
        self
    }

    /// How many bytes have been read, unpacked, to be looked at by another thread.
    pub(crate) fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes_read)
    }

    /// The next block, in the memory of an old one; `false` at the end. Lines are not kept waiting: what one read gave is
    /// handed on as soon as it ends a line.
    pub(crate) fn fill(&mut self, block: &mut Block) -> Result<bool, Failure> {
        block.line_end = self.line_end;
        block.first_line = self.next_line;
        let filled = self.read_lines(&mut block.bytes)?;
        if self.is_counted {
            self.next_line += block.count_lines();
        }
        Ok(filled)
    }

    fn read_lines(&mut self, bytes: &mut Vec<u8>) -> Result<bool, Failure> {
        bytes.clear();
        bytes.append(&mut self.begun);
        loop {
            let Some((path, reader)) = &mut self.current else {
                let Some(path) = self.inputs.next() else {
                    return Ok(false);
                };
                let reader = open(&path)?;
                self.current = Some((path, reader));
                continue;
            };
            let old = bytes.len();
            // A long line doubles the room, so that it is not looked through again and again.
            bytes.resize(old + BLOCK_BYTES.max(old), 0);
            let read = loop {
                match reader.read(&mut bytes[old..]) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read.map_err(|error| cannot_read(path, &error))?,
                }
            };
            bytes.truncate(old + read);
            self.bytes_read.fetch_add(read as u64, Ordering::Relaxed);
            if read == 0 {
                self.current = None;
                if !bytes.is_empty() {
                    return Ok(true);
                }
                continue;
            }
            if let Some(last) = memchr::memrchr(self.line_end.byte, &bytes[old..]) {
                self.begun.extend_from_slice(&bytes[old + last + 1..]);
                bytes.truncate(old + last + 1);
                return Ok(true);
            }
        }
    }
}
