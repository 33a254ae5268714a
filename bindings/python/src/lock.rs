//! The lock of a filter's state.
//!
//! Batches use the state without the GIL, so the GIL alone does not protect it. Whoever waits for the lock has released the GIL, and no
//! Python code runs while it is held, so the two cannot block each other.
//!
//! A lookup of one key takes less time than two atomic operations on a lock. While it has the GIL, no other thread can begin to use the
//! state, except threads that run without the GIL, and those are counted. So if there are none, and nobody has the lock, the state can be
//! used without taking it: 240 instructions for a lookup in Python instead of 325 (callgrind).

#![expect(
    unsafe_code,
    reason = "the GIL protects the state while nobody uses it without"
)]

use crate::storage::State;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct StateLock {
    lock: RwLock<State>,
    /// Calls that may take the lock without the GIL. Changed only with the GIL.
    detached: AtomicUsize,
}

impl StateLock {
    pub(crate) fn new(state: State) -> Self {
        Self {
            lock: RwLock::new(state),
            detached: AtomicUsize::new(0),
        }
    }

    #[inline]
    pub(crate) fn read(&self, py: Python<'_>) -> RwLockReadGuard<'_, State> {
        match self.lock.try_read() {
            Some(guard) => guard,
            None => self.detach(py, RwLock::read),
        }
    }

    #[inline]
    pub(crate) fn write(&self, py: Python<'_>) -> RwLockWriteGuard<'_, State> {
        match self.lock.try_write() {
            Some(guard) => guard,
            None => self.detach(py, RwLock::write),
        }
    }

    /// Calls a function without the GIL. The lock may be taken without the GIL only in here.
    pub(crate) fn detach<'a, R: Send>(
        &'a self,
        py: Python<'_>,
        call: impl Send + FnOnce(&'a RwLock<State>) -> R,
    ) -> R {
        let _counted = Counted::new(&self.detached);
        py.detach(|| call(&self.lock))
    }

    /// Calls a function with the state, if nobody is changing it. The function must not run Python code, which could release the GIL.
    #[inline]
    pub(crate) fn peek<R>(
        &self,
        _py: Python<'_>,
        call: impl FnOnce(&State) -> Option<R>,
    ) -> Option<R> {
        if self.detached.load(Ordering::Relaxed) != 0 || self.lock.is_locked_exclusive() {
            return None;
        }
        // SAFETY: Nobody has the lock exclusively, and until this returns nobody can take it: threads with the GIL do not run, because this
        // one has it, and there are none that may take it without. What they wrote before is visible, because the counter is changed and
        // guards are dropped with the GIL.
        call(unsafe { &*self.lock.data_ptr() })
    }

    /// The same for a change, if nobody uses the state.
    #[inline]
    pub(crate) fn poke<R>(
        &self,
        _py: Python<'_>,
        call: impl FnOnce(&mut State) -> Option<R>,
    ) -> Option<R> {
        if self.detached.load(Ordering::Relaxed) != 0 || self.lock.is_locked() {
            return None;
        }
        // SAFETY: As in `peek`, and nobody has the lock at all.
        call(unsafe { &mut *self.lock.data_ptr() })
    }
}

/// Counts a call while it exists.
pub(crate) struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    pub(crate) fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
