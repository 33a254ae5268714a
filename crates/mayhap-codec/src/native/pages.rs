//! The pages of the body and their checksums: 64 KiB each, the last one shorter. A checksum is XXH3 of the page, seeded with its
//! number, which detects swapped pages. The checksum of the table is seeded with that of the header, which detects the table of
//! another file.

use super::FORMAT;
use super::header::FileHeader;
use crate::cursor::Cursor;
use crate::{DecodeError, Problem};
use std::io::{self, Write};
use twox_hash::XxHash3_64;

pub(super) const PAGE_BYTES: u64 = 1 << 16;
const CHECKSUM_BYTES: u64 = 8;

/// Bytes of the table for a body of that length.
pub(super) fn table_bytes(body_bytes: u64) -> u64 {
    CHECKSUM_BYTES * (body_bytes.div_ceil(PAGE_BYTES) + 1)
}

fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

/// The pages of a file.
pub(super) struct Pages<'a> {
    body: &'a [u8],
    table: &'a [u8],
    /// Where the body begins.
    at: Cursor<'a>,
    header_checksum: u64,
}

impl<'a> Pages<'a> {
    pub(super) fn new(bytes: &'a [u8], header: &FileHeader<'_>) -> Result<Self, DecodeError> {
        let mut at = Cursor::new(bytes, FORMAT);
        at.take("header", header.body_begins)?;
        let begin = at.clone();
        let body = at.take("body", header.body_bytes)?;
        let table = at.take("checksums", table_bytes(header.body_bytes))?;
        Ok(Self {
            body,
            table,
            at: begin,
            header_checksum: header.checksum,
        })
    }

    pub(super) fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Whether the table itself is intact.
    pub(super) fn check_table(&self) -> Result<(), DecodeError> {
        let mut at = self.at.clone();
        at.take("body", self.body.len() as u64)?;
        match self.table.split_last_chunk() {
            Some((sums, last))
                if u64::from_le_bytes(*last) == checksum(self.header_checksum, sums) =>
            {
                Ok(())
            }
            _ => Err(at.error(Problem::Checksum)),
        }
    }

    /// Whether all pages are intact.
    pub(super) fn check_all(&self) -> Result<(), DecodeError> {
        match self.damaged().next() {
            Some(page) => Err(self.error(page)),
            None => Ok(()),
        }
    }

    /// Whether one page is intact.
    pub(super) fn check(&self, number: u64) -> Result<(), DecodeError> {
        let page = self.body.chunks(PAGE_BYTES as usize).nth(number as usize);
        let sum = self.table.as_chunks::<8>().0.get(number as usize);
        match (page, sum) {
            (Some(page), Some(sum)) if checksum(number, page) == u64::from_le_bytes(*sum) => Ok(()),
            _ => Err(self.error(number)),
        }
    }

    /// The damaged pages.
    pub(super) fn damaged(&self) -> impl Iterator<Item = u64> {
        let pages = self.body.chunks(PAGE_BYTES as usize);
        let sums = self.table.as_chunks::<8>().0.iter();
        let pages = (0..).zip(pages.zip(sums));
        pages
            .filter(|&(number, (page, sum))| checksum(number, page) != u64::from_le_bytes(*sum))
            .map(|(number, _)| number)
    }

    /// The error for a damaged page.
    pub(super) fn error(&self, page: u64) -> DecodeError {
        let mut at = self.at.clone();
        match at.take("pages", page * PAGE_BYTES) {
            Ok(_) => at.error(Problem::Checksum),
            Err(error) => error,
        }
    }
}

/// Writes a body page by page, and then the table.
pub(super) struct PageWriter<W> {
    out: W,
    page: Vec<u8>,
    written: u64,
    sums: Vec<u8>,
    header_checksum: u64,
}

impl<W: Write> PageWriter<W> {
    pub(super) fn new(out: W, header_checksum: u64) -> Self {
        Self {
            out,
            page: Vec::with_capacity(PAGE_BYTES as usize),
            written: 0,
            sums: Vec::new(),
            header_checksum,
        }
    }

    /// Zeros up to the next multiple.
    pub(super) fn align(&mut self, to: u64) -> io::Result<()> {
        let zeros = self.written.next_multiple_of(to) - self.written;
        for _ in 0..zeros {
            self.bytes(&[0])?;
        }
        Ok(())
    }

    pub(super) fn bytes(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        while !bytes.is_empty() {
            if self.page.is_empty()
                && let Some((page, later)) = bytes.split_at_checked(PAGE_BYTES as usize)
            {
                self.write_page(page)?;
                bytes = later;
                continue;
            }
            let room = PAGE_BYTES as usize - self.page.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.page.extend_from_slice(now);
            bytes = later;
            if self.page.len() as u64 == PAGE_BYTES {
                self.end_page()?;
            }
        }
        Ok(())
    }

    fn end_page(&mut self) -> io::Result<()> {
        let mut page = std::mem::take(&mut self.page);
        self.write_page(&page)?;
        page.clear();
        self.page = page;
        Ok(())
    }

    fn write_page(&mut self, page: &[u8]) -> io::Result<()> {
        let number = self.sums.len() as u64 / CHECKSUM_BYTES;
        let sum = checksum(number, page);
        self.sums.extend_from_slice(&sum.to_le_bytes());
        self.out.write_all(page)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        if !self.page.is_empty() {
            self.end_page()?;
        }
        let sum = checksum(self.header_checksum, &self.sums);
        self.sums.extend_from_slice(&sum.to_le_bytes());
        self.out.write_all(&self.sums)?;
        self.out.flush()
    }
}
