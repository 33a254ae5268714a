//! Leaving files so that writing can go on.

use crate::disk::Disk;
use crate::file_name;
use crate::file_reader::FileReader;
use crate::recovery::directory::FoundFile;
use std::io;

const CHUNK: u64 = 256 << 10;

/// Cuts off the end that is not good, and writes the good bytes again that may not be on the disk. They can be read, but of a
/// file whose sync failed before a restart that says nothing: such pages count as clean, and no later sync writes them.
pub(crate) fn truncate_and_rewrite<D: Disk>(
    disk: &D,
    file: &D::File,
    synced: u64,
    end: u64,
    length: u64,
) -> io::Result<()> {
    if end < length {
        disk.set_length(file, end)?;
    }
    copy(disk, file, synced, end, file)?;
    disk.sync(file)
}

/// Writes bytes of one file to another, from its beginning, or to the same file, where they are.
fn copy<D: Disk>(disk: &D, from: &D::File, start: u64, end: u64, to: &D::File) -> io::Result<()> {
    let is_same = std::ptr::eq(from, to);
    let mut source = FileReader::new(disk, from, start)?;
    while source.at() < end {
        let at = source.at();
        let count = CHUNK.min(end - at);
        let bytes = source.take(count)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let target = if is_same { at } else { at - start };
        disk.write_at(to, target, bytes)?;
    }
    Ok(())
}

/// Keeps what comes after this byte in a file of its own, and cuts it off.
pub(crate) fn move_tail_aside<D: Disk>(disk: &D, log: &FoundFile, offset: u64) -> io::Result<()> {
    let file = disk.open(&log.name)?;
    if offset < log.length {
        let aside = disk.create(&file_name::lost(log.kind, log.generation, offset))?;
        copy(disk, &file, offset, log.length, &aside)?;
        disk.sync(&aside)?;
        disk.sync_folder()?;
        disk.set_length(&file, offset)?;
    }
    copy(disk, &file, 0, offset, &file)?;
    disk.sync(&file)
}

/// Gives a file another name, under which nobody reads it.
pub(crate) fn move_aside<D: Disk>(disk: &D, log: &FoundFile) -> io::Result<()> {
    disk.rename(&log.name, &file_name::lost(log.kind, log.generation, 0))?;
    disk.sync_folder()
}
