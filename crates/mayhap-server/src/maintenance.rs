//! What has to be done now and then: keys that expire, files that come and go, snapshots when the log is long or was broken.

use crate::engine::Engine;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(100);
/// Ticks between two looks into the folder of files.
const FILES: u64 = 5;
/// Keys that go in one go, so that nobody waits long.
const MAX_AT_ONCE: usize = 256;

/// Starts the two threads; they end when the engine is ending.
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

/// Without these threads nothing expires and nothing heals: who panics in one ends the server.
struct EndOnPanic;

impl Drop for EndOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            crate::report(
                "a thread that keeps the server in order has panicked: it ends, and what was acknowledged is in the log",
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
        if tick.is_multiple_of(FILES) {
            engine.files.scan(|| engine.available_bytes());
        }
    }
}

/// Closes who has not given the password in time.
fn close_unauthenticated(engine: &Engine) {
    let most = engine.settings.load().auth_timeout_seconds;
    if most > 0 {
        let closed = engine.clients.close_timed_out(Duration::from_secs(most));
        let counter = &engine.counters.closed_unauthenticated;
        counter.fetch_add(closed, Ordering::Relaxed);
    }
}

/// Removes keys whose time has come, and has the log say so. How many there were.
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
        // A long command has it, and puts it back first.
        if engine.leases.is_leased([&**key]) {
            continue;
        }
        let gone = engine.keys.replace(key, |body| {
            if !body.as_ref().is_some_and(|body| body.is_expired(now)) {
                return None;
            }
            let mut changes = crate::record::Changes::default();
            changes.push(&[&b"DEL"[..], key]);
            // Without a record it stays: what is made in its place could not be replayed.
            newest = Some(engine.journal.append(now, changes.bytes()).ok()?);
            // Large values are dropped when the key is unlocked again.
            body.take()
        });
        if gone.is_some() {
            gone_keys += 1;
            engine.counters.expired.fetch_add(1, Ordering::Relaxed);
        }
    }
    if let Some(newest) = newest {
        // Whether it is broken is seen by whoever changes something next.
        let _ = engine.journal.commit(newest);
    }
    gone_keys
}

fn snapshots(engine: &Engine) {
    let _end = EndOnPanic;
    // After a failure it is not tried again at once: each try may leave a log behind.
    let mut patience = SnapshotBackoff::default();
    while !engine.is_ending.load(Ordering::Relaxed) {
        let is_wanted = engine.snapshots.wait(Duration::from_secs(1));
        let state = engine.journal.state();
        let after = engine.settings.load().snapshot_after;
        let is_long = after > 0 && state.log_bytes > after.max(state.snapshot_bytes);
        // A snapshot heals a log that failed: the keys are all there.
        let is_due = is_wanted || state.broken.is_some() || (is_long && patience.is_over());
        if is_due && !engine.is_ending.load(Ordering::Relaxed) {
            patience.after(crate::snapshot::take(engine).is_ok());
        }
    }
}

/// How long to wait after failures: longer each time, up to a minute.
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
