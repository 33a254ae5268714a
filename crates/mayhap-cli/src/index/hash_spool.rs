//! The hashes of one file, in memory or, if there are many, in an unlinked temporary file; and the filter that is built from them.

use super::file_keys::FilterBits;
use super::{IndexKind, Settings};
use crate::error::CliError;
use mayhap_codec::index::SCHEME;
use mayhap_core::{Fuse, KeyHash, Ribbon};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, OnceLock};

/// Hashes that are held in memory: 32 MiB.
const MAX_IN_MEMORY: usize = 4 << 20;
/// Hashes that are read from the file at once.
const BATCH: u64 = 64 << 10;

#[derive(Default)]
pub(super) struct HashSpool {
    in_memory: Vec<KeyHash>,
    /// Earlier hashes.
    file: Option<File>,
    in_file: u64,
}

impl HashSpool {
    pub(super) fn push(&mut self, hash: KeyHash) -> Result<(), CliError> {
        if self.in_memory.len() == MAX_IN_MEMORY {
            self.flush()?;
        }
        self.in_memory.push(hash);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), CliError> {
        let hashes = self.in_memory.iter();
        let bytes: Vec<u8> = hashes
            .flat_map(|hash| hash.to_u64().to_le_bytes())
            .collect();
        let file = match &mut self.file {
            Some(file) => file,
            None => self
                .file
                .insert(tempfile::tempfile().map_err(|error| cannot_spool(&error))?),
        };
        file.write_all(&bytes)
            .map_err(|error| cannot_spool(&error))?;
        self.in_file += self.in_memory.len() as u64;
        self.in_memory.clear();
        Ok(())
    }

    pub(super) fn build(mut self, settings: &Settings) -> Result<FilterBits, CliError> {
        if self.file.is_none() {
            let hashes = &self.in_memory;
            return Ok(match settings.kind {
                IndexKind::Ribbon => {
                    FilterBits::Ribbon(Ribbon::build_with(hashes, settings.fpr, SCHEME)?)
                }
                IndexKind::Fuse => {
                    FilterBits::Fuse(Fuse::build_with(hashes, settings.fpr, SCHEME)?)
                }
            });
        }
        self.flush()?;
        let Some(file) = self.file else {
            return Err(CliError::message("the temporary file is gone: try again"));
        };
        let spooled = SpooledHashes {
            file: Mutex::new(file),
            count: self.in_file,
            error: OnceLock::new(),
        };
        let hashes = || SpoolIter {
            spooled: &spooled,
            next: 0,
            batch: Vec::new().into_iter(),
        };
        let built = match settings.kind {
            IndexKind::Ribbon => {
                FilterBits::Ribbon(Ribbon::build_with(hashes(), settings.fpr, SCHEME)?)
            }
            IndexKind::Fuse => FilterBits::Fuse(Fuse::build_with(hashes(), settings.fpr, SCHEME)?),
        };
        match spooled.error.into_inner() {
            None => Ok(built),
            Some(error) => Err(cannot_spool(&error)),
        }
    }
}

struct SpooledHashes {
    file: Mutex<File>,
    count: u64,
    /// An iterator cannot return it.
    error: OnceLock<io::Error>,
}

impl SpooledHashes {
    fn read(&self, first: u64, count: u64) -> Vec<KeyHash> {
        let mut bytes = vec![0; 8 * count as usize];
        let read = self.file.lock().map_or_else(
            |_| Err(io::Error::other("another thread failed")),
            |mut file| {
                file.seek(SeekFrom::Start(8 * first))?;
                file.read_exact(&mut bytes)
            },
        );
        if let Err(error) = read {
            // The first error is the one to report.
            let _ = self.error.set(error);
        }
        let hashes = bytes.as_chunks::<8>().0.iter();
        hashes
            .map(|hash| SCHEME.stored_hash(u64::from_le_bytes(*hash)))
            .collect()
    }
}

/// The hashes in the file, from the first; the filter is built in several passes.
#[derive(Clone)]
struct SpoolIter<'s> {
    spooled: &'s SpooledHashes,
    next: u64,
    batch: std::vec::IntoIter<KeyHash>,
}

impl Iterator for SpoolIter<'_> {
    type Item = KeyHash;

    fn next(&mut self) -> Option<KeyHash> {
        if self.batch.len() == 0 {
            let count = BATCH.min(self.spooled.count - self.next);
            self.batch = self.spooled.read(self.next, count).into_iter();
            self.next += count;
        }
        self.batch.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.spooled.count - self.next) as usize + self.batch.len();
        (left, Some(left))
    }
}

impl ExactSizeIterator for SpoolIter<'_> {}

fn cannot_spool(error: &io::Error) -> CliError {
    CliError::message(format!(
        "cannot store keys in a temporary file ({error}): set TMPDIR to a folder with free space"
    ))
}
