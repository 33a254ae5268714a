//! A disk in memory that crashes, fails and records its calls, for tests of the log and its users.
//!
//! Unsynced data may be lost in a crash, all of it or any sectors, in any order. Unsynced creates, renames and removes
//! may be undone, and the whole folder may disappear unless the folders above it were synced. A failed sync leaves
//! pages that look written and never will be, as on Linux.
//!
//! Everything follows from the seeds: the same calls produce the same bytes.

mod crash;
mod disk_calls;
mod fault;
mod random;

pub use fault::{Fault, FaultKind};

use crash::{Inode, PendingWrite};
use fault::{CallKind, DiskError};
use parking_lot::{Mutex, MutexGuard};
use random::Random;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// A disk in memory. Clones share it until it crashes.
#[derive(Clone)]
pub struct SimulatedDisk {
    state: Arc<Mutex<DiskState>>,
    epoch: u64,
}

/// An open file of a [`SimulatedDisk`].
#[derive(Debug)]
pub struct SimulatedFile {
    inode: usize,
    epoch: u64,
}

/// A call with its number, in the same order as those of [`SimulatedDisk::record`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskEvent {
    /// Its position in the order of calls.
    pub number: u64,
    /// The call.
    pub call: DiskCall,
}

/// A call that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskCall {
    /// Bytes were written.
    Write {
        /// The name under which the file was opened.
        file: String,
        /// The offset.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A file was synced.
    Sync {
        /// The name under which the file was opened.
        file: String,
    },
    /// The folder was synced.
    SyncFolder,
    /// The folders above it were synced.
    SyncPath,
    /// A value that the test recorded.
    Note(u64),
}

#[derive(Default)]
struct DiskState {
    epoch: u64,
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    /// Changes since the folder was synced.
    changes: Vec<PendingWrite>,
    /// Whether the folder itself survives a crash.
    is_durable: bool,
    calls: u64,
    syncs: u64,
    fault: Option<Fault>,
    random: Random,
    trace: Option<Vec<DiskEvent>>,
}

impl SimulatedDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self {
            state: Arc::default(),
            epoch: 0,
        }
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.state.lock().calls
    }

    /// Files that were synced so far, without folders.
    pub fn syncs(&self) -> u64 {
        self.state.lock().syncs
    }

    /// Makes a call fail.
    pub fn fail(&self, fault: Fault) {
        self.state.lock().fault = Some(fault);
    }

    /// No call fails from now on.
    pub fn clear_faults(&self) {
        self.state.lock().fault = None;
    }

    /// Sets the seed for what partial writes leave behind.
    pub fn set_seed(&self, seed: u64) {
        self.state.lock().random = Random::new(seed);
    }

    /// Loses unsynced data, or any part of it, depending on the seed. Files that were open fail from now on; the returned disk
    /// continues.
    #[must_use]
    pub fn crash(&self, seed: u64) -> Self {
        let mut state = self.state.lock();
        let mut random = Random::new(seed);
        state.epoch += 1;
        state.fault = None;
        for inode in &mut state.inodes {
            inode.crash(&mut random);
        }
        let changes = std::mem::take(&mut state.changes);
        for change in changes {
            if random.coin() {
                change.apply(&mut state.durable_names);
            }
        }
        if !state.is_durable && random.coin() {
            state.durable_names.clear();
        }
        state.names = state.durable_names.clone();
        Self {
            state: Arc::clone(&self.state),
            epoch: state.epoch,
        }
    }

    /// The same disk after a restart of the process: nothing is lost, and files that were open fail.
    #[must_use]
    pub fn restart(&self) -> Self {
        let mut state = self.state.lock();
        state.epoch += 1;
        state.fault = None;
        Self {
            state: Arc::clone(&self.state),
            epoch: state.epoch,
        }
    }

    /// An independent copy with the same files, all of them synced.
    #[must_use]
    pub fn copy(&self) -> Self {
        let copy = Self::new();
        for name in self.names() {
            copy.write_file(&name, &self.bytes(&name).unwrap_or_default());
        }
        copy
    }

    /// The files that are there.
    pub fn names(&self) -> Vec<String> {
        self.state.lock().names.keys().cloned().collect()
    }

    /// The contents of a file.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state.lock();
        let inode = *state.names.get(name)?;
        Some(state.inodes.get(inode)?.bytes().to_vec())
    }

    /// Creates or replaces a file, synced.
    pub fn write_file(&self, name: &str, bytes: &[u8]) {
        let mut state = self.state.lock();
        let inode = state.inodes.len();
        state.inodes.push(Inode::synced(name, bytes));
        state.names.insert(name.into(), inode);
        state.durable_names.insert(name.into(), inode);
        state.is_durable = true;
    }

    /// Removes a file, synced.
    pub fn delete_file(&self, name: &str) {
        let mut state = self.state.lock();
        state.names.remove(name);
        state.durable_names.remove(name);
    }

    /// Starts to record the calls.
    pub fn trace(&self) {
        self.state.lock().trace = Some(Vec::new());
    }

    /// The calls since [`SimulatedDisk::trace`].
    pub fn events(&self) -> Vec<DiskEvent> {
        self.state.lock().trace.clone().unwrap_or_default()
    }

    /// Records a value of the test between the calls.
    pub fn record(&self, note: u64) {
        self.state.lock().record_event(|| DiskCall::Note(note));
    }

    /// Counts a call, and fails it if a fault is due.
    fn begin_call(
        &self,
        epoch: u64,
        call: CallKind,
    ) -> Result<MutexGuard<'_, DiskState>, DiskError<'_>> {
        let mut state = self.state.lock();
        if epoch != state.epoch || self.epoch != state.epoch {
            return Err(DiskError::Dead);
        }
        let number = state.calls;
        state.calls += 1;
        match state.fault {
            Some(fault) if fault.hits(number, call) => Err(DiskError::Fails(state, fault.error)),
            _ => Ok(state),
        }
    }
}

impl Default for SimulatedDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl DiskState {
    fn record_event(&mut self, call: impl FnOnce() -> DiskCall) {
        if let Some(trace) = &mut self.trace {
            let number = trace.len() as u64;
            trace.push(DiskEvent {
                number,
                call: call(),
            });
        }
    }

    fn inode(&mut self, file: &SimulatedFile) -> io::Result<&mut Inode> {
        Ok(self
            .inodes
            .get_mut(file.inode)
            .ok_or(io::ErrorKind::NotFound)?)
    }

    fn change(&mut self, change: PendingWrite) {
        change.apply(&mut self.names);
        self.changes.push(change);
    }

    fn named(&self, name: &str) -> io::Result<usize> {
        Ok(*self.names.get(name).ok_or(io::ErrorKind::NotFound)?)
    }
}
