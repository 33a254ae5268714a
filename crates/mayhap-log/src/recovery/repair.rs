//! Leaves the files in a state in which writing can continue.

use crate::disk::Disk;
use crate::file_name;
use crate::file_reader::FileReader;
use crate::recovery::directory::FoundFile;
use std::io;

const CHUNK: u64 = 256 << 10;

/// Cuts off the invalid end and rewrites the valid bytes that may not be durable. They can be read, but after a failed
/// sync before the restart that proves nothing: the kernel marks such pages as clean, and no later sync writes them.
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

/// Copies bytes to the start of another file, or rewrites them in place in the same file.
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

/// Copies everything after this byte to a separate file, and cuts it off.
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

/// Renames a file so that no recovery reads it.
pub(crate) fn move_aside<D: Disk>(disk: &D, log: &FoundFile) -> io::Result<()> {
    disk.rename(&log.name, &file_name::lost(log.kind, log.generation, 0))?;
    disk.sync_folder()
}
