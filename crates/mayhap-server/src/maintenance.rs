//! Periodic maintenance: expired keys, changed files, and snapshots when the log is long or broken.

use crate::engine::Engine;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(100);
/// Ticks between two scans of the folder.
const FILES: u64 = 5;
/// The number of keys removed at once, so that other commands do not wait long.
const MAX_AT_ONCE: usize = 256;

/// Starts the two threads. They stop with the engine.
pub(crate) fn start(engine: &Arc<Engine>) -> std::io::Result<Vec<JoinHandle<()>>> {
    let (one, other) = (Arc::clone(engine), Arc::clone(engine));
    Ok(vec![
        thread::Builder::new()
            .name("maintenance".to_owned())
            .spawn(move || run(&one))?,
        thread::Builder::new()
            .name("snapshots".to_owned())
            .spawn(move || snapshots(&other))?,
    ])
}

/// Stops the server if a maintenance thread panics: without it nothing expires and no broken log is repaired.
struct EndOnPanic;

impl Drop for EndOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            crate::report(
                "a maintenance thread has panicked: the server shuts down, and everything that was acknowledged is in the log",
            );
            std::process::abort();
        }
    }
}

fn run(engine: &Engine) {
    let _end = EndOnPanic;
    for tick in 1_u64.. {
        if engine.is_ending.load(Ordering::Relaxed) {
            return;
        }
        thread::sleep(TICK);
        engine.clock.follow();
        while expire(engine) == MAX_AT_ONCE {}
        close_unauthenticated(engine);
        engine.counters.sample();
        engine.filter_table.forget();
        if tick.is_multiple_of(FILES) {
            engine.files.scan(|| engine.available_bytes());
        }
    }
}

/// Closes clients that did not authenticate in time.
fn close_unauthenticated(engine: &Engine) {
    let most = engine.settings.load().auth_timeout_seconds;
    if most > 0 {
        let closed = engine.clients.close_timed_out(Duration::from_secs(most));
        let counter = &engine.counters.closed_unauthenticated;
        counter.fetch_add(closed, Ordering::Relaxed);
    }
}

/// Removes expired keys, logs that, and returns their number.
fn expire(engine: &Engine) -> usize {
    let now = engine.clock.now();
    let due = engine.keys.expired(now, MAX_AT_ONCE);
    if due.is_empty() || engine.journal.broken().is_some() {
        return 0;
    }
    let mut newest = None;
    let mut gone_keys = 0;
    for key in &due {
        let _shared = engine.shared();
        // A long command has leased it and will put it back first.
        if engine.leases.is_leased([&**key]) {
            continue;
        }
        let gone = engine.keys.replace(key, |body| {
            if !body.as_ref().is_some_and(|body| body.is_expired(now)) {
                return None;
            }
            let mut changes = crate::record::Changes::default();
            changes.push(&[&b"DEL"[..], key]);
            // Without a log record the key must stay: a key created in its place could not be replayed.
            newest = Some(engine.journal.append(now, changes.bytes()).ok()?);
            // Large values are freed after the key is unlocked.
            body.take()
        });
        if gone.is_some() {
            gone_keys += 1;
            engine.counters.expired.fetch_add(1, Ordering::Relaxed);
        }
    }
    if let Some(newest) = newest {
        // The next write reports a broken log.
        let _ = engine.journal.commit(newest);
    }
    gone_keys
}

fn snapshots(engine: &Engine) {
    let _end = EndOnPanic;
    // Not retried immediately after a failure: each attempt may leave a log file behind.
    let mut patience = SnapshotBackoff::default();
    while !engine.is_ending.load(Ordering::Relaxed) {
        let is_wanted = engine.snapshots.wait(Duration::from_secs(1));
        let state = engine.journal.state();
        let after = engine.settings.load().snapshot_after;
        let is_long = after > 0 && state.log_bytes > after.max(state.snapshot_bytes);
        // A snapshot repairs a broken log: all keys are in memory.
        let is_due = is_wanted || state.broken.is_some() || (is_long && patience.is_over());
        if is_due && !engine.is_ending.load(Ordering::Relaxed) {
            patience.after(crate::snapshot::take(engine).is_ok());
        }
    }
}

/// The delay after failures: longer each time, up to a minute.
#[derive(Default)]
struct SnapshotBackoff {
    seconds: u64,
    since: Option<Instant>,
}

impl SnapshotBackoff {
    fn is_over(&self) -> bool {
        self.since
            .is_none_or(|since| since.elapsed().as_secs() >= self.seconds)
    }

    fn after(&mut self, is_well: bool) {
        self.seconds = if is_well {
            0
        } else {
            (2 * self.seconds).clamp(1, 60)
        };
        self.since = Some(Instant::now());
    }
}
