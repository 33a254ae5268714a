//! A disk in memory that crashes, fails and tells, for tests of the log and of those who use it.
//!
//! What is not synced may be lost at a crash, all of it or any sectors of it, in any order; what was created, renamed or removed since
//! the folder was synced may be undone, and the whole folder may be gone unless those above it were synced. A sync that fails leaves pages that look written and never will be, as Linux does.
//!
//! All of it follows from the seeds that are given: the same calls end in the same bytes.

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

/// A disk in memory. Clones are the same disk, as long as it does not crash.
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

/// A call, with its number: those of [`SimulatedDisk::note`] are in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskEvent {
    /// When it was done.
    pub number: u64,
    /// What was done.
    pub call: DiskCall,
}

/// What was asked of the disk, and done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskCall {
    /// Bytes were written.
    Write {
        /// The file's name when it was opened.
        file: String,
        /// Where.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// A file was synced.
    Sync {
        /// The file's name when it was opened.
        file: String,
    },
    /// The folder was synced.
    SyncFolder,
    /// The folders above it were synced.
    SyncPath,
    /// Whatever a test noted.
    Note(u64),
}

#[derive(Default)]
struct DiskState {
    epoch: u64,
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    /// Since the folder was synced.
    changes: Vec<PendingWrite>,
    /// Whether the folder itself is surely there after a crash.
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

    /// What half-done writes leave behind follows from this.
    pub fn set_seed(&self, seed: u64) {
        self.state.lock().random = Random::new(seed);
    }

    /// Loses what is not synced, or any part of it by this seed. What was open before fails from now on; the disk goes on as the
    /// one that is given back.
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

    /// The same disk after a restart of the program alone: nothing is lost, what was open before fails.
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

    /// A disk of its own with the same files, all of them synced.
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

    /// What can be read in a file.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state.lock();
        let inode = *state.names.get(name)?;
        Some(state.inodes.get(inode)?.bytes().to_vec())
    }

    /// Makes or replaces a file, synced.
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

    /// Begins to keep what is asked of the disk.
    pub fn trace(&self) {
        self.state.lock().trace = Some(Vec::new());
    }

    /// What was asked of the disk since [`SimulatedDisk::trace`].
    pub fn events(&self) -> Vec<DiskEvent> {
        self.state.lock().trace.clone().unwrap_or_default()
    }

    /// Puts something of the test's own between the calls.
    pub fn record(&self, note: u64) {
        self.state.lock().record_event(|| DiskCall::Note(note));
    }

    /// Counts a call, and fails it when it is its turn.
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
