//! Snapshots, taken while the server goes on.
//!
//! The log is switched to a new file, then each key is written down under its own lock, with the number of the newest record at that
//! moment: what the log has of the key beyond that number is replayed, and nothing twice.

use crate::engine::Engine;
use crate::record;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

#[derive(Default)]
pub(crate) struct Snapshots {
    /// Between the switch of the log and the end of the snapshot.
    is_under_way: AtomicBool,
    /// Milliseconds since 1970.
    last: AtomicU64,
    pub(crate) taken: AtomicU64,
    /// One at a time.
    turn: Mutex<()>,
    pub(crate) last_error: Mutex<Option<String>>,
    wanted: Mutex<bool>,
    bell: Condvar,
}

impl Snapshots {
    pub(crate) fn is_under_way(&self) -> bool {
        self.is_under_way.load(Ordering::SeqCst)
    }

    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    pub(crate) fn set_last(&self, time: u64) {
        self.last.store(time, Ordering::Relaxed);
    }

    /// Asks for one, soon.
    pub(crate) fn ask(&self) {
        *self.wanted.lock() = true;
        self.bell.notify_all();
    }

    /// Wakes who waits, with nothing to do.
    pub(crate) fn ring(&self) {
        self.bell.notify_all();
    }

    /// Waits until one is asked for, or for a while.
    pub(crate) fn wait(&self, most: Duration) -> bool {
        let mut wanted = self.wanted.lock();
        if !*wanted {
            self.bell.wait_for(&mut wanted, most);
        }
        std::mem::take(&mut *wanted)
    }
}

/// Takes a snapshot. The caller must not hold the gate.
///
/// # Errors
/// The disk's, in words; the log goes on as it was.
pub(crate) fn take(engine: &Engine) -> Result<(), String> {
    let _turn = engine.snapshots.turn.lock();
    let taken = write(engine);
    engine.snapshots.is_under_way.store(false, Ordering::SeqCst);
    match &taken {
        Ok(()) => {
            engine.snapshots.set_last(engine.clock.now());
            engine.snapshots.taken.fetch_add(1, Ordering::Relaxed);
        }
        Err(error) => crate::report(&format!("no snapshot was taken: {error}")),
    }
    *engine.snapshots.last_error.lock() = taken.clone().err();
    taken
}

fn write(engine: &Engine) -> Result<(), String> {
    let told =
        |error: &dyn std::fmt::Display| format!("the snapshot could not be written: {error}");
    // Most of the log is on the disk before anybody is held up; whether it failed is seen next.
    let _ = engine.journal.sync();
    let mut snapshot = {
        let _alone = engine.alone();
        engine.snapshots.is_under_way.store(true, Ordering::SeqCst);
        engine
            .journal
            .begin_snapshot()
            .map_err(|error| told(&error))?
    };
    for shard in 0..engine.keys.shards() {
        let names = {
            // Not in the middle of a transaction: a key that it has removed would be in neither the snapshot nor, after a crash, the log.
            let _shared = engine.shared();
            engine.keys.names_of_shard(shard)
        };
        for key in names {
            let entry = {
                // Not in the middle of a transaction.
                let _shared = engine.shared();
                // Expired keys as well: that they are gone is in the log.
                engine.keys.look(&key, 0, |body| {
                    body.map(|body| (engine.journal.last_lsn(), record::entry(&key, body)))
                })
            };
            if let Some((lsn, body)) = entry {
                snapshot.entry(lsn, &body).map_err(|error| told(&error))?;
            }
        }
    }
    snapshot.finish().map_err(|error| told(&error))?;
    Ok(())
}
