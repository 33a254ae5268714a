//! Reads a file from start to end. Items declare their own length; memory is allocated only for bytes that the file
//! really has.

use crate::disk::Disk;
use std::io;

/// The size of a read for small items.
const CHUNK: usize = 256 << 10;

/// A position in a file.
pub(crate) struct FileReader<'a, D: Disk> {
    disk: &'a D,
    file: &'a D::File,
    length: u64,
    /// The offset of the next byte.
    at: u64,
    buffer: Vec<u8>,
    /// The next byte in the buffer.
    start: usize,
}

impl<'a, D: Disk> FileReader<'a, D> {
    pub(crate) fn new(disk: &'a D, file: &'a D::File, at: u64) -> io::Result<Self> {
        Ok(Self {
            disk,
            file,
            length: disk.length(file)?,
            at,
            buffer: Vec::new(),
            start: 0,
        })
    }

    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn left(&self) -> u64 {
        self.length.saturating_sub(self.at)
    }

    /// The next bytes, without consuming them; `None` if the file has fewer.
    pub(crate) fn peek(&mut self, count: u64) -> io::Result<Option<&[u8]>> {
        if count > self.left() {
            return Ok(None);
        }
        let count = usize::try_from(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.fill(count)?;
        Ok(Some(&self.buffer[self.start..self.start + count]))
    }

    /// The next bytes; `None` if the file has fewer.
    pub(crate) fn take(&mut self, count: u64) -> io::Result<Option<&[u8]>> {
        if self.peek(count)?.is_none() {
            return Ok(None);
        }
        let start = self.start;
        self.skip(count as usize);
        Ok(Some(&self.buffer[start..start + count as usize]))
    }

    /// Continues at another offset.
    pub(crate) fn go_to(&mut self, at: u64) {
        self.at = at;
        self.buffer.clear();
        self.start = 0;
    }

    /// Consumes bytes that were peeked at.
    pub(crate) fn skip(&mut self, count: usize) {
        self.start += count;
        self.at += count as u64;
    }

    fn fill(&mut self, count: usize) -> io::Result<()> {
        let held = self.buffer.len() - self.start;
        if held >= count {
            return Ok(());
        }
        let left = usize::try_from(self.left()).unwrap_or(usize::MAX);
        let wanted = count.max(CHUNK.min(left));
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
            // Frees the memory of a large item.
            if self.buffer.capacity() > 4 * CHUNK && wanted <= CHUNK {
                self.buffer.shrink_to(CHUNK);
            }
        }
        self.buffer
            .try_reserve_exact(wanted - held)
            .map_err(|_| {
                let text = format!(
                    "there is too little memory: {wanted} bytes more are needed to read on; raise the limit of the process, or use a larger machine"
                );
                io::Error::new(io::ErrorKind::OutOfMemory, text)
            })?;
        self.buffer.resize(wanted, 0);
        let offset = self.at + held as u64;
        let read = read_exact_at(self.disk, self.file, offset, &mut self.buffer[held..]);
        if read.is_err() {
            self.buffer.truncate(held);
        }
        read
    }
}

/// Fills a buffer, starting at an offset in a file.
pub(crate) fn read_exact_at<D: Disk>(
    disk: &D,
    file: &D::File,
    offset: u64,
    bytes: &mut [u8],
) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        match disk.read_at(file, offset + filled as u64, &mut bytes[filled..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => filled += read,
        }
    }
    Ok(())
}
