//! The calls of the log, on the simulated disk.

use super::crash::{Inode, PendingWrite};
use super::fault::{CallKind, DiskError};
use super::{DiskCall, SimulatedDisk, SimulatedFile};
use crate::disk::Disk;
use std::io;

impl Disk for SimulatedDisk {
    type File = SimulatedFile;

    fn list(&self) -> io::Result<Vec<String>> {
        let state = self.begin_call(self.epoch, CallKind::Reading)?;
        Ok(state.names.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<SimulatedFile> {
        let mut state = self.begin_call(self.epoch, CallKind::Filling)?;
        let inode = state.inodes.len();
        state.inodes.push(Inode::new(name));
        state.change(PendingWrite::Link(name.into(), inode));
        let epoch = self.epoch;
        Ok(SimulatedFile { inode, epoch })
    }

    fn open(&self, name: &str) -> io::Result<SimulatedFile> {
        let state = self.begin_call(self.epoch, CallKind::Reading)?;
        let inode = state.named(name)?;
        let epoch = self.epoch;
        Ok(SimulatedFile { inode, epoch })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.begin_call(self.epoch, CallKind::Filling)?;
        let inode = state.named(from)?;
        state.change(PendingWrite::Rename(from.into(), to.into(), inode));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.begin_call(self.epoch, CallKind::Changing)?;
        let inode = state.named(name)?;
        state.change(PendingWrite::Unlink(name.into(), inode));
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        let mut state = self.begin_call(self.epoch, CallKind::Filling)?;
        state.durable_names = state.names.clone();
        state.changes.clear();
        state.record_event(|| DiskCall::SyncFolder);
        Ok(())
    }

    fn sync_path(&self) -> io::Result<()> {
        let mut state = self.begin_call(self.epoch, CallKind::Filling)?;
        state.is_durable = true;
        state.record_event(|| DiskCall::SyncPath);
        Ok(())
    }

    fn length(&self, file: &SimulatedFile) -> io::Result<u64> {
        let mut state = self.begin_call(file.epoch, CallKind::Reading)?;
        Ok(state.inode(file)?.bytes().len() as u64)
    }

    fn read_at(&self, file: &SimulatedFile, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.begin_call(file.epoch, CallKind::Reading)?;
        let bytes = state.inode(file)?.bytes();
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, file: &SimulatedFile, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.begin_call(file.epoch, CallKind::Filling) {
            Ok(mut state) => {
                let inode = state.inode(file)?;
                inode.write(offset, bytes);
                let name = inode.name().to_string();
                state.record_event(|| DiskCall::Write {
                    file: name,
                    offset,
                    bytes: bytes.to_vec(),
                });
                Ok(())
            }
            Err(DiskError::Fails(mut state, failure)) => {
                // A failed write leaves part of the bytes.
                let part = state.random.below(bytes.len() as u64 + 1) as usize;
                state.inode(file)?.write(offset, &bytes[..part]);
                Err(failure.into())
            }
            Err(dead) => Err(dead.into()),
        }
    }

    fn set_length(&self, file: &SimulatedFile, length: u64) -> io::Result<()> {
        let mut state = self.begin_call(file.epoch, CallKind::Changing)?;
        state.inode(file)?.set_length(length);
        Ok(())
    }

    fn sync(&self, file: &SimulatedFile) -> io::Result<()> {
        match self.begin_call(file.epoch, CallKind::Filling) {
            Ok(mut state) => {
                state.syncs += 1;
                let inode = state.inode(file)?;
                inode.sync();
                let name = inode.name().to_string();
                state.record_event(|| DiskCall::Sync { file: name });
                Ok(())
            }
            Err(DiskError::Fails(mut state, failure)) => {
                let mut random = state.random.fork();
                state.inode(file)?.fail_sync(&mut random);
                Err(failure.into())
            }
            Err(dead) => Err(dead.into()),
        }
    }
}
