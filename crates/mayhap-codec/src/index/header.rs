//! The two headers, which say where the directory is. Each is a page with a checksum, so that a write that was cut off is noticed.

use super::directory::{self, Directory};
use super::{FORMAT, IndexError, MAGIC, checksum};
use crate::cursor::Cursor;
use crate::{DecodeError, Problem};

/// Bytes of a header.
pub(super) const HEADER_BYTES: u64 = 4096;
/// Bytes before the first body.
pub(super) const HEADERS_BYTES: u64 = 2 * HEADER_BYTES;
const VERSION: u16 = 1;
const CHECKSUM_BYTES: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// 0 or 1.
    pub(super) number: u32,
    /// Each update has a higher one.
    pub(super) generation: u64,
    pub(super) directory_offset: u64,
    pub(super) directory_bytes: u64,
    pub(super) directory_checksum: u64,
}

/// Both headers.
pub(super) struct Headers {
    /// The newest valid one.
    pub(super) used: Header,
    /// The other one, if it is damaged.
    pub(super) damaged: Option<DecodeError>,
}

impl Headers {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, IndexError> {
        let mut at = Cursor::new(bytes, FORMAT);
        let is_magic = |begin: usize| bytes.get(begin..).is_some_and(super::is_index);
        if !is_magic(0) && !is_magic(HEADER_BYTES as usize) {
            return Err(IndexError::NotAnIndex);
        }
        at.check_left("the headers", HEADERS_BYTES)?;
        let read: Vec<_> = (0..2).map(|number| Header::read(&mut at, number)).collect();
        let mut valid: Vec<Header> = Vec::new();
        let mut damaged = None;
        for read in read {
            match read {
                Ok(header) => valid.extend(header),
                Err(error) => damaged = Some(error),
            }
        }
        match (
            valid.into_iter().max_by_key(|header| header.generation),
            damaged,
        ) {
            (Some(used), damaged) => Ok(Self { used, damaged }),
            (None, Some(error)) => Err(error.into()),
            (None, None) => Err(IndexError::NotAnIndex),
        }
    }
}

impl Header {
    /// `None` if it was never written.
    fn read(at: &mut Cursor<'_>, number: u32) -> Result<Option<Self>, DecodeError> {
        let begin = at.clone();
        let mut fields = begin.clone();
        let page = at.take("a header", HEADER_BYTES)?;
        if page.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        let (bytes, sum) = page.split_at(page.len() - CHECKSUM_BYTES);
        let sum = sum
            .iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        if checksum(0, bytes) != sum {
            return Err(begin.error(Problem::Checksum));
        }
        if fields.take("magic number", 8)? != MAGIC {
            return Err(begin.value("magic number", 0, "that of an index"));
        }
        let version = fields.u16_le("version")?;
        if version != VERSION {
            let accepted = "1: a newer mayhap reads newer indexes";
            return Err(begin.value("version", version.into(), accepted));
        }
        let reserved = fields.u16_le("reserved")?;
        let own_number = fields.u32_le("number of the header")?;
        if reserved != 0 || own_number != number {
            let accepted = "0 in the first header and 1 in the second";
            return Err(begin.value("number of the header", own_number.into(), accepted));
        }
        let header = Self {
            number,
            generation: fields.u64_le("generation")?,
            directory_offset: fields.u64_le("offset of the directory")?,
            directory_bytes: fields.u64_le("length of the directory")?,
            directory_checksum: fields.u64_le("checksum of the directory")?,
        };
        let features = fields.u64_le("required features")?;
        if features != 0 {
            let accepted = "0: a newer mayhap supports more features";
            return Err(begin.value("required features", features.into(), accepted));
        }
        Ok(Some(header))
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut page = Vec::with_capacity(HEADER_BYTES as usize);
        page.extend_from_slice(&MAGIC);
        page.extend_from_slice(&VERSION.to_le_bytes());
        page.extend_from_slice(&[0; 2]);
        page.extend_from_slice(&self.number.to_le_bytes());
        page.extend_from_slice(&self.generation.to_le_bytes());
        page.extend_from_slice(&self.directory_offset.to_le_bytes());
        page.extend_from_slice(&self.directory_bytes.to_le_bytes());
        page.extend_from_slice(&self.directory_checksum.to_le_bytes());
        page.resize(HEADER_BYTES as usize - CHECKSUM_BYTES, 0);
        let sum = checksum(0, &page);
        page.extend_from_slice(&sum.to_le_bytes());
        page
    }

    /// The directory, verified.
    pub(super) fn directory(&self, bytes: &[u8]) -> Result<Directory, DecodeError> {
        let mut at = Cursor::new(bytes, FORMAT);
        at.take("the bytes before the directory", self.directory_offset)?;
        let mut directory = at.part("the directory", self.directory_bytes)?;
        let begin = directory.clone();
        let content = directory.take("the directory", self.directory_bytes)?;
        if checksum(self.generation, content) != self.directory_checksum {
            return Err(begin.error(Problem::Checksum));
        }
        directory::decode(begin, self.directory_offset)
    }
}
