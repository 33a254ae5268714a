//! What other threads want of a worker: take this connection, close that one, stop.

use super::transport::Arrival;
use mio::{Registry, Token, Waker};
use std::io;
use std::sync::{Mutex, PoisonError};

/// The token of a mailbox; connections have smaller ones.
pub(super) const MAILBOX: Token = Token(usize::MAX);

pub(super) enum Letter {
    Adopt(Arrival),
    Close { slot: usize, id: u64 },
}

pub(super) struct Mailbox {
    letters: Mutex<Vec<Letter>>,
    waker: Waker,
}

impl Mailbox {
    pub(super) fn new(registry: &Registry) -> io::Result<Self> {
        Ok(Self {
            letters: Mutex::default(),
            waker: Waker::new(registry, MAILBOX)?,
        })
    }

    pub(super) fn put(&self, letter: Letter) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        letters.push(letter);
        drop(letters);
        self.wake();
    }

    /// Ends the worker's wait. It cannot fail but for a counter that is full, and then the worker is about to wake anyway.
    pub(super) fn wake(&self) {
        let _ = self.waker.wake();
    }

    pub(super) fn take(&self, letters: &mut Vec<Letter>) {
        let mut waiting = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        letters.append(&mut waiting);
    }
}
