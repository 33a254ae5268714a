//! Calls that fail.

use super::State;
use parking_lot::MutexGuard;
use std::io;

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The call that fails, counted as [`SimulatedDisk::calls`](super::SimulatedDisk::calls) does; the next one is that number.
    pub at: u64,
    /// With which error.
    pub error: Failure,
    /// Whether all later calls that change something fail too, until [`SimulatedDisk::mend`](super::SimulatedDisk::mend).
    pub stays: bool,
}

/// How a disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The device does not answer: any call fails.
    Eio,
    /// There is no room: making and writing files fails, and syncing them.
    Enospc,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Reading,
    /// Takes room.
    Filling,
    /// Takes none.
    Changing,
}

pub(super) enum Stop<'a> {
    Dead,
    Fails(MutexGuard<'a, State>, Failure),
}

impl From<Stop<'_>> for io::Error {
    fn from(stop: Stop<'_>) -> Self {
        match stop {
            Stop::Dead => io::Error::other("this machine has crashed"),
            Stop::Fails(_, failure) => failure.into(),
        }
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Eio => io::Error::other("input/output error (simulated)"),
            Failure::Enospc => io::Error::new(
                io::ErrorKind::StorageFull,
                "no space left on device (simulated)",
            ),
        }
    }
}

impl Fault {
    pub(super) fn hits(&self, number: u64, call: Asked) -> bool {
        if number == self.at {
            return self.error == Failure::Eio || call == Asked::Filling;
        }
        let concerned = match self.error {
            Failure::Eio => call != Asked::Reading,
            Failure::Enospc => call == Asked::Filling,
        };
        self.stays && number > self.at && concerned
    }
}
