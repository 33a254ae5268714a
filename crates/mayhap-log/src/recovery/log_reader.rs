//! Reads the records of a log in order, up to the end or the first unexpected bytes.

use crate::Lsn;
use crate::disk::Disk;
use crate::error::DamageKind;
use crate::file_reader::FileReader;
use crate::format::{
    FileHeader, HEAD_BYTES, HEADER_BYTES, LogItem, MARK_BYTES, SyncMark, check_record,
};
use std::collections::VecDeque;
use std::io;

/// The size of a read when searching for marks after damage.
const CHUNK: u64 = 256 << 10;

pub(crate) struct LogReader<'a, D: Disk> {
    source: FileReader<'a, D>,
    seed: u32,
    next: Lsn,
    /// The newest log that a mark names as the continuation.
    pub(crate) continues_in: u64,
    /// Marks with the number of the next record, starting at the last one whose preceding records are all known to be
    /// synced.
    unsynced: VecDeque<(u64, Lsn)>,
}

/// The next item of a log.
pub(crate) enum LogStep<'b> {
    Record {
        lsn: Lsn,
        time: u64,
        body: &'b [u8],
    },
    /// The end of the file, or unexpected bytes.
    End(Option<DamageKind>),
}

impl<'a, D: Disk> LogReader<'a, D> {
    pub(crate) fn new(disk: &'a D, file: &'a D::File, header: &FileHeader) -> io::Result<Self> {
        let start = HEADER_BYTES as u64;
        Ok(Self {
            source: FileReader::new(disk, file, start)?,
            seed: header.seed(),
            next: header.first,
            continues_in: 0,
            unsynced: VecDeque::from([(start, header.first)]),
        })
    }

    /// The end of the last record or mark.
    pub(crate) fn offset(&self) -> u64 {
        self.source.at()
    }

    pub(crate) fn length(&self) -> u64 {
        self.source.length()
    }

    /// Every record that may not be durable starts at or after this byte.
    pub(crate) fn synced_bytes(&self) -> u64 {
        self.unsynced.front().map_or(0, |(offset, _)| *offset)
    }

    pub(crate) fn step(&mut self) -> io::Result<LogStep<'_>> {
        let taken = loop {
            let left = self.source.left();
            if left == 0 {
                return Ok(LogStep::End(None));
            }
            let Some(head) = self.source.peek(HEAD_BYTES as u64)? else {
                return Ok(truncated(HEAD_BYTES as u64, left));
            };
            match LogItem::parse(head) {
                Err(problem) => return Ok(LogStep::End(Some(problem))),
                Ok(LogItem::Mark) => {
                    if let Some(problem) = self.read_mark()? {
                        return Ok(LogStep::End(Some(problem)));
                    }
                }
                Ok(LogItem::Record(length)) => break HEAD_BYTES as u64 + length,
            }
        };
        let (seed, expected, left) = (self.seed, self.next, self.source.left());
        let Some(bytes) = self.source.peek(taken)? else {
            return Ok(truncated(taken, left));
        };
        let time = match check_record(seed, bytes) {
            Err(problem) => return Ok(LogStep::End(Some(problem))),
            Ok((found, _)) if found != expected => {
                return Ok(LogStep::End(Some(DamageKind::Sequence { expected, found })));
            }
            Ok((_, time)) => time,
        };
        self.next += 1;
        let bytes = self.source.take(taken)?.unwrap_or_default();
        Ok(LogStep::Record {
            lsn: expected,
            time,
            body: bytes.get(HEAD_BYTES..).unwrap_or_default(),
        })
    }

    fn read_mark(&mut self) -> io::Result<Option<DamageKind>> {
        let (left, at) = (self.source.left(), self.source.at());
        let Some(bytes) = self.source.peek(MARK_BYTES as u64)? else {
            let needed = MARK_BYTES as u64;
            return Ok(Some(DamageKind::Truncated { needed, left }));
        };
        let mark = match SyncMark::decode(self.seed, bytes) {
            Ok(mark) => mark,
            Err(problem) => return Ok(Some(problem)),
        };
        if mark.next != self.next || mark.synced >= mark.next {
            let (expected, found) = (self.next, mark.next);
            return Ok(Some(DamageKind::Sequence { expected, found }));
        }
        self.source.skip(MARK_BYTES);
        self.continues_in = self.continues_in.max(mark.continues_in);
        // Only the first of several consecutive marks counts: that the record before them is synced says nothing about
        // the marks.
        if (self.unsynced.back()).is_none_or(|(_, next)| *next < mark.next) {
            self.unsynced.push_back((at, mark.next));
        }
        while (self.unsynced.get(1)).is_some_and(|(_, next)| *next <= mark.synced + 1) {
            self.unsynced.pop_front();
        }
        Ok(None)
    }
}

fn truncated(needed: u64, left: u64) -> LogStep<'static> {
    LogStep::End(Some(DamageKind::Truncated { needed, left }))
}

/// The last record that was synced, according to any mark after this position.
pub(crate) fn synced_past<D: Disk>(
    disk: &D,
    file: &D::File,
    seed: u32,
    offset: u64,
) -> io::Result<Lsn> {
    let mut source = FileReader::new(disk, file, offset)?;
    let mut synced = 0;
    while source.left() >= MARK_BYTES as u64 {
        let size = source.left().min(CHUNK);
        let bytes = source.peek(size)?.unwrap_or_default();
        // Consecutive chunks overlap, so that a mark across their border is found.
        let places = bytes.len() + 1 - MARK_BYTES;
        for place in 0..places {
            if let Some(mark) = SyncMark::find(seed, &bytes[place..]) {
                synced = synced.max(mark.synced);
            }
        }
        source.skip(places);
    }
    Ok(synced)
}
