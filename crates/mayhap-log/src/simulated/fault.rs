//! Calls that fail.

use super::DiskState;
use parking_lot::MutexGuard;
use std::io;

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The call that fails, counted as [`SimulatedDisk::calls`](super::SimulatedDisk::calls) does; the next one is that number.
    pub at: u64,
    /// With which error.
    pub error: FaultKind,
    /// Whether all later calls that change something fail too, until [`SimulatedDisk::mend`](super::SimulatedDisk::mend).
    pub stays: bool,
}

/// How a disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The device does not answer: any call fails.
    Eio,
    /// There is no room: making and writing files fails, and syncing them.
    Enospc,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    Reading,
    /// Takes room.
    Filling,
    /// Takes none.
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
