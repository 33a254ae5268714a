//! Messages from other threads to a worker: add this connection, close that one, stop.

use super::transport::AcceptedConnection;
use mio::{Registry, Token, Waker};
use std::io;
use std::sync::{Mutex, PoisonError};

/// The token of a mailbox; connections have smaller ones.
pub(super) const MAILBOX: Token = Token(usize::MAX);

pub(super) enum WorkerMessage {
    Connect(AcceptedConnection),
    Close { slot: usize, id: u64 },
}

pub(super) struct Mailbox {
    messages: Mutex<Vec<WorkerMessage>>,
    waker: Waker,
}

impl Mailbox {
    pub(super) fn new(registry: &Registry) -> io::Result<Self> {
        Ok(Self {
            messages: Mutex::default(),
            waker: Waker::new(registry, MAILBOX)?,
        })
    }

    pub(super) fn put(&self, message: WorkerMessage) {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.push(message);
        drop(messages);
        self.wake();
    }

    /// Wakes the worker. It can fail only if the counter is full, and then the worker is about to wake anyway.
    pub(super) fn wake(&self) {
        let _ = self.waker.wake();
    }

    pub(super) fn take(&self, messages: &mut Vec<WorkerMessage>) {
        let mut waiting = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.append(&mut waiting);
    }
}
