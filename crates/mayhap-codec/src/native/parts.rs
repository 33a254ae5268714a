//! The parts of a filter in a file: the fields of its plan, eight bytes each, and its sections.

use super::header::{self, FileHeader};
use super::pages::{self, PageWriter};
use super::{ALIGNMENT, HashKey};
use crate::DecodeError;
use crate::cursor::Cursor;
use mayhap_core::{HashScheme, KeyType};
use std::borrow::Cow;
use std::io::{self, Write};

/// What is stored of a filter.
pub struct Parts<'f> {
    pub(super) kind: u16,
    /// Required features.
    pub(super) features: u64,
    pub(super) scheme: HashScheme,
    pub(super) key_type: Option<KeyType>,
    /// Whether the file says that the filter is a set.
    pub(super) is_set: bool,
    pub(super) self_test: u64,
    pub(super) plan: Vec<u8>,
    pub(super) sections: Vec<Section<'f>>,
}

/// Contiguous bytes.
pub(super) enum Section<'f> {
    Bytes(Cow<'f, [u8]>),
    /// A number of words.
    Words(u64, Box<dyn Iterator<Item = u64> + 'f>),
}

impl Parts<'_> {
    /// The whole file.
    pub(super) fn write(self, hash_key: HashKey, mut out: impl Write) -> io::Result<()> {
        let header = FileHeader::bytes(&self, hash_key);
        out.write_all(&header)?;
        let mut body = PageWriter::new(out, header::checksum_of(&header));
        for section in self.sections {
            body.align(ALIGNMENT)?;
            section.write(&mut body)?;
        }
        body.finish()
    }

    /// An upper bound for the length of the file.
    pub(super) fn max_bytes(&self) -> usize {
        let sections = self
            .sections
            .iter()
            .map(|section| section.len() + ALIGNMENT);
        let body = sections.fold(0, u64::saturating_add);
        let header = 1024 + 8 * self.sections.len() as u64 + self.plan.len() as u64;
        let all = (body + header).saturating_add(pages::table_bytes(body));
        usize::try_from(all).unwrap_or(usize::MAX)
    }

    pub(super) fn number(&mut self, number: u64) {
        self.plan.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn rate(&mut self, rate: f64) {
        self.number(rate.to_bits());
    }
}

impl<'f> Section<'f> {
    pub(super) fn words(words: &'f [u64]) -> Self {
        Self::Words(words.len() as u64, Box::new(words.iter().copied()))
    }

    pub(super) fn own_words(words: Vec<u64>) -> Self {
        Self::Words(words.len() as u64, Box::new(words.into_iter()))
    }

    /// Entries of a directory, four bytes each.
    pub(super) fn entries(entries: &[u32]) -> Self {
        let bytes = entries.iter().flat_map(|entry| entry.to_le_bytes());
        Self::Bytes(Cow::Owned(bytes.collect()))
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Words(count, _) => 8 * count,
        }
    }

    pub(super) fn write(self, out: &mut PageWriter<impl Write>) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => out.bytes(&bytes),
            Self::Words(_, words) => {
                let mut words = words;
                words.try_for_each(|word| out.bytes(&word.to_le_bytes()))
            }
        }
    }
}

/// The sections of a file, read in order.
pub(super) struct Sections<'a> {
    body: Cursor<'a>,
    left: std::vec::IntoIter<(u64, u64)>,
    taken: u64,
}

impl<'a> Sections<'a> {
    pub(super) fn new(body: &'a [u8], header: &FileHeader<'_>) -> Self {
        Self {
            body: Cursor::new(body, super::FORMAT),
            left: header.sections.clone().into_iter(),
            taken: 0,
        }
    }

    /// The next section, which must have the length that the plan states.
    pub(super) fn take(&mut self, at: &Cursor<'_>, expected: u64) -> Result<&'a [u8], DecodeError> {
        let length = self.left.as_slice().first().map(|&(_, length)| length);
        if length != Some(expected) {
            let length = length.map_or(-1, i128::from);
            return Err(at.value("section length", length, "what the plan needs"));
        }
        self.any(at)
    }

    /// The next section, whatever its length.
    pub(super) fn any(&mut self, at: &Cursor<'_>) -> Result<&'a [u8], DecodeError> {
        let Some((begin, length)) = self.left.next() else {
            return Err(at.value("sections", 0, "as many as the plan needs"));
        };
        let between = self
            .body
            .take("zeros between sections", begin - self.taken)?;
        if between.iter().any(|&byte| byte != 0) {
            return Err(at.value("bytes between sections", 1, "zeros"));
        }
        self.taken = begin + length;
        self.body.take("section", length)
    }

    /// The next section, which must consist of items of that many bytes.
    pub(super) fn whole(&mut self, at: &Cursor<'_>, item: usize) -> Result<&'a [u8], DecodeError> {
        let section = self.any(at)?;
        if section.len().is_multiple_of(item) {
            return Ok(section);
        }
        let accepted = match item {
            4 => "a multiple of 4",
            8 => "a multiple of 8",
            _ => "a multiple of 16",
        };
        Err(at.value("section length", section.len() as i128, accepted))
    }

    /// The next section, the entries of a directory.
    pub(super) fn entries(&mut self, at: &Cursor<'_>) -> Result<Vec<u32>, DecodeError> {
        let entries = self.whole(at, 4)?.as_chunks::<4>().0.iter();
        Ok(entries.map(|entry| u32::from_le_bytes(*entry)).collect())
    }

    /// Checks that no section is left.
    pub(super) fn finish(&self, at: &Cursor<'_>) -> Result<(), DecodeError> {
        match self.left.len() {
            0 => Ok(()),
            more => Err(at.value("sections", more as i128, "none that the plan does not need")),
        }
    }
}

/// The words of a section.
pub(super) fn words(bytes: &[u8]) -> impl ExactSizeIterator<Item = u64> + Clone {
    let words = bytes.as_chunks::<8>().0.iter();
    words.map(|word| u64::from_le_bytes(*word))
}
