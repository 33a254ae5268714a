//! What the log asks of the disk.

use super::crash::{Change, Inode};
use super::fault::{Asked, Stop};
use super::{Call, SimulatedDisk, SimulatedFile};
use crate::disk::Disk;
use std::io;

impl Disk for SimulatedDisk {
    type File = SimulatedFile;

    fn list(&self) -> io::Result<Vec<String>> {
        let state = self.enter(self.epoch, Asked::Reading)?;
        Ok(state.names.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<SimulatedFile> {
        let mut state = self.enter(self.epoch, Asked::Filling)?;
        let inode = state.inodes.len();
        state.inodes.push(Inode::new(name));
        state.change(Change::Link(name.into(), inode));
        let epoch = self.epoch;
        Ok(SimulatedFile { inode, epoch })
    }

    fn open(&self, name: &str) -> io::Result<SimulatedFile> {
        let state = self.enter(self.epoch, Asked::Reading)?;
        let inode = state.named(name)?;
        let epoch = self.epoch;
        Ok(SimulatedFile { inode, epoch })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.enter(self.epoch, Asked::Filling)?;
        let inode = state.named(from)?;
        state.change(Change::Rename(from.into(), to.into(), inode));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.enter(self.epoch, Asked::Changing)?;
        let inode = state.named(name)?;
        state.change(Change::Unlink(name.into(), inode));
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        let mut state = self.enter(self.epoch, Asked::Filling)?;
        state.durable_names = state.names.clone();
        state.changes.clear();
        state.tell(|| Call::SyncFolder);
        Ok(())
    }

    fn sync_path(&self) -> io::Result<()> {
        let mut state = self.enter(self.epoch, Asked::Filling)?;
        state.is_durable = true;
        state.tell(|| Call::SyncPath);
        Ok(())
    }

    fn length(&self, file: &SimulatedFile) -> io::Result<u64> {
        let mut state = self.enter(file.epoch, Asked::Reading)?;
        Ok(state.inode(file)?.bytes().len() as u64)
    }

    fn read_at(&self, file: &SimulatedFile, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.enter(file.epoch, Asked::Reading)?;
        let bytes = state.inode(file)?.bytes();
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, file: &SimulatedFile, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.enter(file.epoch, Asked::Filling) {
            Ok(mut state) => {
                let inode = state.inode(file)?;
                inode.write(offset, bytes);
                let name = inode.name().to_string();
                state.tell(|| Call::Write {
                    file: name,
                    offset,
                    bytes: bytes.to_vec(),
                });
                Ok(())
            }
            Err(Stop::Fails(mut state, failure)) => {
                // Part of it is there.
                let part = state.random.below(bytes.len() as u64 + 1) as usize;
                state.inode(file)?.write(offset, &bytes[..part]);
                Err(failure.into())
            }
            Err(dead) => Err(dead.into()),
        }
    }

    fn set_length(&self, file: &SimulatedFile, length: u64) -> io::Result<()> {
        let mut state = self.enter(file.epoch, Asked::Changing)?;
        state.inode(file)?.set_length(length);
        Ok(())
    }

    fn sync(&self, file: &SimulatedFile) -> io::Result<()> {
        match self.enter(file.epoch, Asked::Filling) {
            Ok(mut state) => {
                state.syncs += 1;
                let inode = state.inode(file)?;
                inode.sync();
                let name = inode.name().to_string();
                state.tell(|| Call::Sync { file: name });
                Ok(())
            }
            Err(Stop::Fails(mut state, failure)) => {
                let mut random = state.random.fork();
                state.inode(file)?.fail_to_sync(&mut random);
                Err(failure.into())
            }
            Err(dead) => Err(dead.into()),
        }
    }
}
