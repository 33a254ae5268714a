//! Splits one row of CSV into fields and removes their quotes.

use super::row_writer::Dialect;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};
use memchr::{memchr, memchr_iter};

/// The nth field of a row without quotes.
pub(crate) fn nth_field(row: &[u8], delimiter: u8, number: usize) -> Option<&[u8]> {
    let begin = match number {
        0 => 0,
        later => memchr_iter(delimiter, row).nth(later - 1)? + 1,
    };
    let rest = row.get(begin..)?;
    let end = memchr(delimiter, rest).unwrap_or(rest.len());
    rest.get(..end)
}

pub(crate) enum FieldState {
    /// The length of a complete row with its end.
    Whole(usize),
    /// The row continues beyond the buffer.
    Cut,
}

/// The fields of one row, without quotes.
pub(crate) struct Fields {
    parser: Reader,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    used: usize,
    count: usize,
}

impl Fields {
    pub(crate) fn new(dialect: Dialect) -> Self {
        let parser = ReaderBuilder::new()
            .delimiter(dialect.delimiter)
            .quoting(dialect.has_quotes)
            // A CR alone does not end a row; a CR before the LF is removed from the last field.
            .terminator(Terminator::Any(b'\n'))
            .build();
        Self {
            parser,
            bytes: Vec::new(),
            ends: vec![0; 64],
            used: 0,
            count: 0,
        }
    }

    pub(crate) fn parse(&mut self, input: &[u8]) -> FieldState {
        self.parser.reset();
        (self.used, self.count) = (0, 0);
        self.feed(input)
    }

    fn feed(&mut self, input: &[u8]) -> FieldState {
        // Fields are never longer than the input.
        if self.bytes.len() < self.used + input.len() {
            self.bytes.resize(self.used + input.len(), 0);
        }
        let mut taken = 0;
        loop {
            let (result, read, written, ended) = self.parser.read_record(
                &input[taken..],
                &mut self.bytes[self.used..],
                &mut self.ends[self.count..],
            );
            taken += read;
            self.used += written;
            self.count += ended;
            if matches!(result, ReadRecordResult::Record | ReadRecordResult::End) {
                return FieldState::Whole(taken);
            }
            if self.count == self.ends.len() {
                self.ends.resize(2 * self.count, 0);
            }
            if taken == input.len() {
                return FieldState::Cut;
            }
        }
    }

    /// Whether the end of the file also ends the row, rather than cutting a quoted field.
    pub(crate) fn is_closed_by_end(&mut self) -> bool {
        matches!(self.feed(b"\n"), FieldState::Whole(_))
    }

    /// The fields of a complete row, without its end.
    pub(crate) fn split(&mut self, body: &[u8]) -> Split<'_> {
        if matches!(self.parse(body), FieldState::Cut) {
            self.feed(b"\n");
        }
        self.parsed(false)
    }

    /// The fields that were parsed last; with CR LF, the CR is in the last one.
    pub(crate) fn parsed(&self, ends_in_return: bool) -> Split<'_> {
        let ends = &self.ends[..self.count];
        let used = ends.last().copied().unwrap_or(0);
        let is_longer = ends_in_return && self.bytes[..used].ends_with(b"\r");
        Split {
            bytes: &self.bytes[..used - usize::from(is_longer)],
            ends,
        }
    }
}

/// Fields in one buffer.
pub(crate) struct Split<'f> {
    bytes: &'f [u8],
    ends: &'f [usize],
}

impl<'f> Split<'f> {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<&'f [u8]> {
        let end = *self.ends.get(number)?;
        let begin = match number {
            0 => 0,
            later => *self.ends.get(later - 1)?,
        };
        self.bytes.get(begin..end.min(self.bytes.len()))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'f [u8]> {
        (0..self.len()).filter_map(|number| self.get(number))
    }
}
