//! Injected faults.

use super::DiskState;
use parking_lot::MutexGuard;
use std::io;

/// A call that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the failing call, as counted by [`SimulatedDisk::calls`](super::SimulatedDisk::calls); the next
    /// call has that number.
    pub at: u64,
    /// The error.
    pub error: FaultKind,
    /// Whether all later calls that change something fail too, until
    /// [`SimulatedDisk::clear_faults`](super::SimulatedDisk::clear_faults).
    pub stays: bool,
}

/// How a disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The device fails: any call fails.
    Eio,
    /// The disk is full: creating, writing and syncing files fail.
    Enospc,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    Reading,
    /// Needs space.
    Filling,
    /// Needs no space.
    Changing,
}

pub(super) enum DiskError<'a> {
    Dead,
    Fails(MutexGuard<'a, DiskState>, FaultKind),
}

impl From<DiskError<'_>> for io::Error {
    fn from(stop: DiskError<'_>) -> Self {
        match stop {
            DiskError::Dead => io::Error::other("this machine has crashed"),
            DiskError::Fails(_, failure) => failure.into(),
        }
    }
}

impl From<FaultKind> for io::Error {
    fn from(failure: FaultKind) -> Self {
        match failure {
            FaultKind::Eio => io::Error::other("input/output error (simulated)"),
            FaultKind::Enospc => io::Error::new(
                io::ErrorKind::StorageFull,
                "no space left on device (simulated)",
            ),
        }
    }
}

impl Fault {
    pub(super) fn hits(&self, number: u64, call: CallKind) -> bool {
        if number == self.at {
            return self.error == FaultKind::Eio || call == CallKind::Filling;
        }
        let concerned = match self.error {
            FaultKind::Eio => call != CallKind::Reading,
            FaultKind::Enospc => call == CallKind::Filling,
        };
        self.stays && number > self.at && concerned
    }
}
