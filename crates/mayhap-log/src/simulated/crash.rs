//! What a crash leaves of files and names.

use crate::simulated::random::Random;
use std::collections::{BTreeMap, BTreeSet};

const SECTOR: usize = 512;

/// A file, independent of its name.
pub(crate) struct Inode {
    name: String,
    /// What reads return.
    live: Vec<u8>,
    /// What certainly survives a crash.
    durable: Vec<u8>,
    /// Sectors that may survive a crash.
    dirty: BTreeSet<usize>,
}

impl Inode {
    pub(crate) fn new(name: &str) -> Self {
        Self::synced(name, &[])
    }

    pub(crate) fn synced(name: &str, bytes: &[u8]) -> Self {
        Self {
            name: name.into(),
            live: bytes.to_vec(),
            durable: bytes.to_vec(),
            dirty: BTreeSet::new(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.live
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        let start = offset as usize;
        let end = start + bytes.len();
        if bytes.is_empty() {
            return;
        }
        let from = start.min(self.live.len());
        if self.live.len() < end {
            self.live.resize(end, 0);
        }
        self.live[start..end].copy_from_slice(bytes);
        self.dirty.extend(from / SECTOR..=(end - 1) / SECTOR);
    }

    pub(crate) fn set_length(&mut self, length: u64) {
        self.live.resize(length as usize, 0);
        let sectors = self.live.len().div_ceil(SECTOR);
        self.dirty.retain(|sector| *sector < sectors);
    }

    pub(crate) fn sync(&mut self) {
        let dirty = std::mem::take(&mut self.dirty);
        // Sectors that an earlier sync failed to write are not written by this one.
        self.durable.resize(self.live.len(), 0);
        for sector in dirty {
            self.persist_sector(sector);
        }
    }

    fn persist_sector(&mut self, sector: usize) {
        let start = sector * SECTOR;
        let end = (start + SECTOR).min(self.live.len());
        if self.durable.len() < end {
            self.durable.resize(end, 0);
        }
        if start < end {
            self.durable[start..end].copy_from_slice(&self.live[start..end]);
        }
    }

    /// Writes some sectors and marks all of them as clean.
    pub(crate) fn fail_sync(&mut self, random: &mut Random) {
        for sector in std::mem::take(&mut self.dirty) {
            if random.coin() {
                self.persist_sector(sector);
            }
        }
    }

    pub(crate) fn crash(&mut self, random: &mut Random) {
        let mut left = self.durable.clone();
        let (shorter, longer) = if self.live.len() < left.len() {
            (self.live.len(), left.len())
        } else {
            (left.len(), self.live.len())
        };
        let length = match random.below(3) {
            0 => left.len(),
            1 => self.live.len(),
            _ => shorter + random.below((longer - shorter) as u64 + 1) as usize,
        };
        let synced = left.len();
        left.resize(length, 0);
        let everything = random.below(8) == 0;
        for sector in std::mem::take(&mut self.dirty) {
            let start = sector * SECTOR;
            let end = (start + SECTOR).min(length).min(self.live.len());
            if start >= end {
                continue;
            }
            match random.below(if everything { 1 } else { 4 }) {
                0 => left[start..end].copy_from_slice(&self.live[start..end]),
                // Unchanged.
                1 => {}
                // A torn sector.
                2 => {
                    let middle = start + random.below((end - start) as u64) as usize;
                    left[start..middle].copy_from_slice(&self.live[start..middle]);
                }
                // Old contents of the disk.
                _ => {
                    for byte in &mut left[start.max(synced).min(end)..end] {
                        *byte = random.next() as u8;
                    }
                }
            }
        }
        self.durable.clone_from(&left);
        self.live = left;
    }
}

/// A change to the names in the folder.
#[derive(Clone, Debug)]
pub(crate) enum PendingWrite {
    Link(String, usize),
    Rename(String, String, usize),
    Unlink(String, usize),
}

impl PendingWrite {
    pub(crate) fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Self::Link(name, inode) => {
                names.insert(name.clone(), *inode);
            }
            Self::Rename(from, to, inode) => {
                forget(names, from, *inode);
                names.insert(to.clone(), *inode);
            }
            Self::Unlink(name, inode) => forget(names, name, *inode),
        }
    }
}

/// Removes a name, unless another file has it by now.
fn forget(names: &mut BTreeMap<String, usize>, name: &str, inode: usize) {
    if names.get(name) == Some(&inode) {
        names.remove(name);
    }
}
