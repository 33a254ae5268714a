//! Snapshots, taken while the server keeps running.
//!
//! The log switches to a new file, then each key is written with the number of the newest record at that moment. Replay applies
//! only records with higher numbers to the key, so that nothing is applied twice. A value is shared while it is written, without
//! any lock: reads continue, and writes to this one filter wait.
//!
//! RENAME, COPY and BF.MERGE give a key the contents of another key. If the snapshot has written the target before and the
//! source after the command, replay could not reconstruct it. So such targets are written again before the snapshot is finished.

use crate::engine::Engine;
use crate::keyspace::{KeyEntry, LARGE_BYTES};
use crate::record::write_entry;
use mayhap_log::{Folder, Snapshot, SnapshotError};
use parking_lot::{Condvar, Mutex};
use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The retry interval for a key that a long command has leased.
const WAIT: Duration = Duration::from_millis(5);

#[derive(Default)]
pub(crate) struct Snapshots {
    /// Whether a snapshot is running or requested.
    is_under_way: AtomicBool,
    /// Keys to write again; `None` if no snapshot is running.
    again: Mutex<Option<HashSet<Box<[u8]>>>>,
    /// Milliseconds since 1970.
    last: AtomicU64,
    pub(crate) taken: AtomicU64,
    /// One snapshot at a time.
    turn: Mutex<()>,
    pub(crate) last_error: Mutex<Option<String>>,
    wanted: Mutex<bool>,
    bell: Condvar,
}

impl Snapshots {
    pub(crate) fn is_running(&self) -> bool {
        self.is_under_way.load(Ordering::SeqCst)
    }

    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    pub(crate) fn set_last(&self, time: u64) {
        self.last.store(time, Ordering::Relaxed);
    }

    /// Requests a snapshot.
    pub(crate) fn request(&self) {
        self.is_under_way.store(true, Ordering::SeqCst);
        *self.wanted.lock() = true;
        self.bell.notify_all();
    }

    /// Schedules keys that received the contents of others to be written again. The caller holds the keyspace lock and has not
    /// logged the command yet.
    pub(crate) fn rewrite_key(&self, keys: Vec<Box<[u8]>>) {
        if !keys.is_empty()
            && let Some(again) = &mut *self.again.lock()
        {
            again.extend(keys);
        }
    }

    /// Wakes the waiting thread.
    pub(crate) fn notify(&self) {
        self.bell.notify_all();
    }

    /// Waits for a request, or for a while.
    pub(crate) fn wait(&self, most: Duration) -> bool {
        let mut wanted = self.wanted.lock();
        if !*wanted {
            self.bell.wait_for(&mut wanted, most);
        }
        std::mem::take(&mut *wanted)
    }
}

/// Takes a snapshot. The caller must not hold the keyspace lock.
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
    engine.snapshots.is_under_way.store(true, Ordering::SeqCst);
    // Syncs most of the log before blocking others; a failure shows in the next step.
    let _ = engine.journal.sync();
    {
        // Commands that log something from now on see this, and everything logged before is in the values.
        let _alone = engine.exclusive();
        *engine.snapshots.again.lock() = Some(HashSet::new());
    }
    let written = write_keys(engine);
    *engine.snapshots.again.lock() = None;
    let snapshot = written.map_err(|error| told(&error))?;
    if engine.keys.is_memory_damaged() {
        return Err("a command has panicked: the keys in memory are not to be trusted".to_owned());
    }
    snapshot.finish().map_err(|error| told(&error))?;
    Ok(())
}

fn write_keys(engine: &Engine) -> Result<Snapshot<Folder>, SnapshotError> {
    let mut snapshot = engine.journal.begin_snapshot()?;
    for shard in 0..engine.keys.shards() {
        let names = {
            // Not in the middle of a transaction: a key that it removed would be missing from the snapshot and, after a crash,
            // from the log.
            let _shared = engine.shared();
            engine.keys.keys_in_shard(shard)
        };
        for key in names {
            write_key(engine, &mut snapshot, &key)?;
        }
    }
    loop {
        let again = {
            let _alone = engine.exclusive();
            let mut again = engine.snapshots.again.lock();
            let keys = again.as_mut().map(std::mem::take).unwrap_or_default();
            if keys.is_empty() {
                // Later records are replayed on values that are all known.
                *again = None;
                return Ok(snapshot);
            }
            keys
        };
        for key in again {
            write_key(engine, &mut snapshot, &key)?;
        }
    }
}

fn write_key(
    engine: &Engine,
    snapshot: &mut Snapshot<Folder>,
    key: &[u8],
) -> Result<(), SnapshotError> {
    let sharing = engine.leases.share();
    let (lsn, expires, value) = loop {
        {
            // Not in the middle of a transaction.
            let _shared = engine.shared();
            // Including expired keys: their removal is logged.
            let look = |body: Option<&KeyEntry>| {
                let (value, expires) = body.map(|body| (body.value.share(), body.expires()))?;
                Some((engine.journal.last_lsn(), expires, value))
            };
            match engine.keys.read(key, 0, look) {
                None => return Ok(()),
                Some((lsn, expires, Some(value))) if !engine.leases.is_leased([key]) => {
                    break (lsn, expires, value);
                }
                Some(_) => {}
            }
        }
        // A long command has leased it and will put it back.
        std::thread::sleep(WAIT);
    };
    let written = if value.size_bytes() < LARGE_BYTES {
        // Not shared during the disk write.
        let mut bytes = Vec::new();
        let Ok(()) = write_entry(key, expires, &value, |piece| {
            bytes.extend_from_slice(piece);
            Ok::<_, Infallible>(())
        });
        drop((value, sharing));
        snapshot.entry(lsn, &bytes)
    } else {
        snapshot.entry_with(lsn, |put| write_entry(key, expires, &value, put))
    };
    written.map_err(|error| SnapshotError::Io {
        what: "writing it",
        error,
    })
}
