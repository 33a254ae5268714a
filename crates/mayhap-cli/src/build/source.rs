//! The hashes of the input keys: block by block, all at once, or counted first.

use super::BuildArgs;
use crate::args::threads;
use crate::error::CliError;
use crate::filter_files::{KeyBatch, keys};
use crate::input::{Block, Blocks, in_order};
use crate::progress::Progress;
use mayhap_codec::KeyReader;
use mayhap_core::{HashScheme, KeyHash};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::ops::ControlFlow;

/// The number of hashes that are read from the spool at once.
const BATCH: usize = 1 << 16;

/// The source of the hashes.
pub(super) struct KeySource<'a> {
    pub(super) args: &'a BuildArgs,
    pub(super) reader: KeyReader,
    pub(super) scheme: HashScheme,
}

impl KeySource<'_> {
    pub(super) fn blocks(&self) -> Blocks {
        let blocks = self.args.input.blocks().keys_only();
        if self.reader.is_verbatim() {
            blocks
        } else {
            blocks.counted()
        }
    }

    pub(super) fn threads(&self) -> usize {
        threads(self.args.threads)
    }

    pub(super) fn hashes(&self, block: &Block) -> Result<Vec<KeyHash>, CliError> {
        if self.reader.is_verbatim() {
            let mut hashes = Vec::new();
            block.for_each_key(|key| hashes.extend(key.map(|key| self.scheme.hash(key))));
            return Ok(hashes);
        }
        let mut lines = KeyBatch::Verbatim(Vec::new());
        keys(block, &self.reader, &mut lines)?;
        let mut hashes = Vec::with_capacity(lines.len());
        lines.for_each(|key| {
            hashes.push(self.scheme.hash(key));
            Ok(())
        })?;
        Ok(hashes)
    }

    /// Block by block.
    pub(super) fn for_each(
        &self,
        mut take: impl FnMut(&[KeyHash]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let blocks = self.blocks();
        let _progress = Progress::for_input(blocks.bytes_read(), self.args.input.size());
        let threads = if self.args.input.are_regular_files() {
            self.threads()
        } else {
            1
        };
        in_order(
            blocks,
            threads,
            |block| self.hashes(&block),
            |hashes| take(&hashes?).map(|()| ControlFlow::Continue(())),
        )
    }

    pub(super) fn all(&self) -> Result<Vec<KeyHash>, CliError> {
        let mut all = Vec::new();
        self.for_each(|hashes| {
            all.extend_from_slice(hashes);
            Ok(())
        })?;
        Ok(all)
    }

    /// Counts the keys unless their number is given, and returns their hashes.
    pub(super) fn counted(&self) -> Result<(u64, Hashes), CliError> {
        if let Some(capacity) = self.args.capacity {
            return Ok((capacity, Hashes::Again));
        }
        if self.args.bits.is_some() {
            return Ok((1, Hashes::Again));
        }
        if self.args.input.are_regular_files() {
            return Ok((self.args.input.count_keys()?, Hashes::Again));
        }
        let file = tempfile::tempfile().map_err(|error| cannot_spool(&error))?;
        let mut file = BufWriter::new(file);
        let mut count = 0;
        self.for_each(|hashes| {
            count += hashes.len() as u64;
            hashes.iter().try_for_each(|hash| {
                let bytes = hash.to_u64().to_le_bytes();
                file.write_all(&bytes).map_err(|error| cannot_spool(&error))
            })
        })?;
        let mut file = file
            .into_inner()
            .map_err(|error| cannot_spool(error.error()))?;
        file.rewind().map_err(|error| cannot_spool(&error))?;
        Ok((count, Hashes::Spooled { file, count }))
    }
}

/// Hashes that are computed (again) from the input, or read from a spool file.
pub(super) enum Hashes {
    Again,
    Spooled { file: File, count: u64 },
}

impl Hashes {
    pub(super) fn for_each(
        self,
        source: &KeySource<'_>,
        mut take: impl FnMut(&[KeyHash]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let Self::Spooled { file, count } = self else {
            return source.for_each(take);
        };
        let mut file = BufReader::new(file);
        let mut left = count;
        let mut hashes = Vec::with_capacity(BATCH);
        while left > 0 {
            hashes.clear();
            for _ in 0..left.min(BATCH as u64) {
                let mut bytes = [0; 8];
                file.read_exact(&mut bytes)
                    .map_err(|error| cannot_spool(&error))?;
                let bits = u64::from_le_bytes(bytes);
                hashes.push(source.scheme.stored_hash(bits));
            }
            left -= hashes.len() as u64;
            take(&hashes)?;
        }
        Ok(())
    }
}

pub(super) fn cannot_spool(error: &io::Error) -> CliError {
    CliError::message(format!(
        "cannot store keys in a temporary file ({error}): set --capacity, or set TMPDIR to a folder with free space"
    ))
}
