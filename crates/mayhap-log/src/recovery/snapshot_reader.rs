//! Reads the entries of a snapshot, and the end that confirms their number.

use crate::Lsn;
use crate::disk::Disk;
use crate::error::DamageKind;
use crate::file_reader::FileReader;
use crate::format::{
    FileHeader, HEAD_BYTES, HEADER_BYTES, RunningChecksum, SnapshotItem, check_entry, check_large,
    decode_end,
};
use std::io;

/// A longer entry stays in its file.
const LARGE_BYTES: u64 = 16 << 20;
/// The size of one read of such an entry.
const STEP_BYTES: u64 = 1 << 20;

pub(crate) struct SnapshotReader<'a, D: Disk> {
    source: FileReader<'a, D>,
    seed: u32,
    count: u64,
}

/// The next item of a snapshot.
pub(crate) enum SnapshotStep<'b> {
    Entry {
        lsn: Lsn,
        body: &'b [u8],
    },
    /// An entry that stays in its file.
    LargeEntry {
        lsn: Lsn,
        /// The start of its body.
        offset: u64,
        length: u64,
    },
    /// The end; the log was synced up to this record when the snapshot was written.
    End(Lsn),
    Damage(DamageKind),
}

impl<'a, D: Disk> SnapshotReader<'a, D> {
    pub(crate) fn new(disk: &'a D, file: &'a D::File, header: &FileHeader) -> io::Result<Self> {
        Ok(Self {
            source: FileReader::new(disk, file, HEADER_BYTES as u64)?,
            seed: header.seed(),
            count: 0,
        })
    }

    pub(crate) fn offset(&self) -> u64 {
        self.source.at()
    }

    pub(crate) fn length(&self) -> u64 {
        self.source.length()
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn step(&mut self) -> io::Result<SnapshotStep<'_>> {
        let left = self.source.left();
        let Some(head) = self.source.peek(HEAD_BYTES as u64)? else {
            return Ok(truncated(HEAD_BYTES as u64, left));
        };
        let length = match SnapshotItem::parse(head) {
            Err(problem) => return Ok(SnapshotStep::Damage(problem)),
            Ok(SnapshotItem::End) => return Ok(self.end(left)),
            Ok(SnapshotItem::Entry(length)) => length,
        };
        let seed = self.seed;
        let taken = length.saturating_add(HEAD_BYTES as u64);
        if taken > left {
            return Ok(truncated(taken, left));
        }
        if length > LARGE_BYTES {
            return self.large(length);
        }
        let Some(bytes) = self.source.peek(taken)? else {
            return Ok(truncated(taken, left));
        };
        let lsn = match check_entry(seed, bytes) {
            Ok(lsn) => lsn,
            Err(problem) => return Ok(SnapshotStep::Damage(problem)),
        };
        self.count += 1;
        let bytes = self.source.take(taken)?.unwrap_or_default();
        let body = bytes.get(HEAD_BYTES..).unwrap_or_default();
        Ok(SnapshotStep::Entry { lsn, body })
    }

    /// Verifies the checksum of a large entry before anybody reads it.
    fn large(&mut self, length: u64) -> io::Result<SnapshotStep<'static>> {
        let mut head = [0; HEAD_BYTES];
        let offset = self.source.at() + HEAD_BYTES as u64;
        if let Some(bytes) = self.source.peek(HEAD_BYTES as u64)? {
            head.copy_from_slice(bytes);
        }
        let mut sum = RunningChecksum::default();
        self.source.go_to(offset);
        let mut left = length;
        while left > 0 {
            let step = left.min(STEP_BYTES);
            match self.source.take(step)? {
                Some(bytes) => sum.add(bytes),
                None => return Ok(truncated(left, self.source.left())),
            }
            left -= step;
        }
        match check_large(self.seed, &head, &sum) {
            Ok(lsn) => {
                self.count += 1;
                Ok(SnapshotStep::LargeEntry {
                    lsn,
                    offset,
                    length,
                })
            }
            Err(problem) => Ok(SnapshotStep::Damage(problem)),
        }
    }

    fn end(&mut self, left: u64) -> SnapshotStep<'static> {
        let (seed, found) = (self.seed, self.count);
        let Ok(Some(bytes)) = self.source.peek(HEAD_BYTES as u64) else {
            // The file shrank while it was read.
            return truncated(HEAD_BYTES as u64, left);
        };
        match decode_end(seed, bytes) {
            Err(problem) => SnapshotStep::Damage(problem),
            Ok((expected, _)) if expected != found => {
                SnapshotStep::Damage(DamageKind::Count { expected, found })
            }
            Ok(_) if left > HEAD_BYTES as u64 => SnapshotStep::Damage(DamageKind::TrailingBytes),
            Ok((_, synced)) => SnapshotStep::End(synced),
        }
    }
}

fn truncated(needed: u64, left: u64) -> SnapshotStep<'static> {
    SnapshotStep::Damage(DamageKind::Truncated { needed, left })
}
