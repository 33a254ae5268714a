//! Creates and extends indexes.

use super::directory::{Directory, FilterEntry, Verified};
use super::header::{HEADER_BYTES, HEADERS_BYTES, Header};
use super::{ALIGNMENT, Index, IndexError, IndexFilter, KeyForm, PAGE_BYTES, checksum};
use mayhap_core::KeyType;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

/// Writes filters to the end of a file, and then the directory and a header.
pub struct IndexWriter<'f> {
    out: BufWriter<&'f File>,
    file: &'f File,
    /// Where the next body begins.
    end: u64,
    /// The header to write.
    number: u32,
    generation: u64,
}

impl<'f> IndexWriter<'f> {
    /// A new index in an empty file. It is complete after [`IndexWriter::commit`], so the file must not be visible under its name
    /// before.
    ///
    /// # Errors
    /// When writing fails.
    pub fn create(file: &'f File) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        out.write_all(&[0; HEADERS_BYTES as usize])?;
        Ok(Self {
            out,
            file,
            end: HEADERS_BYTES,
            number: 0,
            generation: 1,
        })
    }

    /// Extends an existing index, which stays as it is until [`IndexWriter::commit`]. Bytes are only appended: those of an update that was
    /// interrupted stay, unused.
    ///
    /// # Errors
    /// When writing fails.
    pub fn extend(file: &'f File, index: &Index) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let end = length.next_multiple_of(ALIGNMENT);
        let mut out = BufWriter::with_capacity(1 << 20, file);
        out.seek(SeekFrom::Start(length))?;
        write_zeros(&mut out, end - length)?;
        Ok(Self {
            out,
            file,
            end,
            number: index.header.number ^ 1,
            generation: index.header.generation + 1,
        })
    }

    /// Appends a filter, which must have been built from hashes by [`SCHEME`](super::SCHEME).
    ///
    /// # Errors
    /// When writing fails, or the filter was built from the slices of another.
    pub fn append(
        &mut self,
        filter: &IndexFilter<'_>,
        row_group: Option<u32>,
        key_form: KeyForm,
        key_type: KeyType,
    ) -> io::Result<FilterEntry> {
        let keys = match filter {
            IndexFilter::Ribbon(filter) => filter.len(),
            IndexFilter::Fuse(filter) => filter.len(),
            IndexFilter::Cassandra(_) => 0,
        };
        if filter.has_slices() {
            let message = "an index does not store filters of slices: build one from hashes";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let body = filter.body();
        let mut entry = FilterEntry {
            row_group,
            key_form,
            key_type,
            keys,
            kind: filter.kind(),
            plan: filter.plan(),
            shards: filter.shards(),
            body_offset: self.end,
            body_bytes: body.len() as u64,
            sums: Vec::new(),
            verified: Verified::default(),
        };
        let padding = entry.padded_bytes() - entry.body_bytes;
        let mut pages = body.chunks(PAGE_BYTES as usize).peekable();
        let mut number = 0;
        while let Some(page) = pages.next() {
            let is_last = pages.peek().is_none();
            let mut padded = page.to_vec();
            // The zeros after the body are checked as well. They fit in the last page, because pages are multiples of 64 bytes.
            if is_last {
                padded.resize(page.len() + padding as usize, 0);
            }
            entry.sums.push(checksum(number, &padded));
            self.out.write_all(&padded)?;
            number += 1;
        }
        self.end += entry.padded_bytes();
        Ok(entry)
    }

    /// Copies a filter of another index, verified.
    ///
    /// # Errors
    /// When the filter is damaged, or writing fails.
    pub fn copy(&mut self, index: &Index, filter: &FilterEntry) -> Result<FilterEntry, IndexError> {
        let body = index.body(filter)?;
        self.out.write_all(body)?;
        write_zeros(&mut self.out, filter.padded_bytes() - filter.body_bytes)?;
        let copy = FilterEntry {
            body_offset: self.end,
            ..filter.clone()
        };
        self.end += filter.padded_bytes();
        Ok(copy)
    }

    /// Appends the directory, and then switches to it. A crash before the end leaves the index as it was.
    ///
    /// # Errors
    /// When writing fails.
    pub fn commit(mut self, directory: &Directory) -> io::Result<()> {
        let bytes = directory.encode();
        let header = Header {
            number: self.number,
            generation: self.generation,
            directory_offset: self.end,
            directory_bytes: bytes.len() as u64,
            directory_checksum: checksum(self.generation, &bytes),
        };
        self.out.write_all(&bytes)?;
        self.out.flush()?;
        self.file.sync_all()?;
        self.out
            .seek(SeekFrom::Start(HEADER_BYTES * u64::from(self.number)))?;
        self.out.write_all(&header.to_bytes())?;
        self.out.flush()?;
        self.file.sync_all()
    }
}

fn write_zeros(out: &mut impl Write, count: u64) -> io::Result<()> {
    // Fewer than a cache line.
    for _ in 0..count {
        out.write_all(&[0])?;
    }
    Ok(())
}
