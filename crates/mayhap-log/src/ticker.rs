//! A thread that runs a task once a second until its owner is dropped.

use parking_lot::{Condvar, Mutex};
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_secs(1);

pub(crate) struct Ticker {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Calls `work` until the ticker is dropped. Errors do not stop it, because a log can be repaired; commits report them.
    pub(crate) fn start<E>(work: impl Fn() -> Result<(), E> + Send + 'static) -> io::Result<Self> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let told = Arc::clone(&stop);
        let run = move || {
            let (is_stopped, changed) = &*told;
            let mut next = Instant::now() + PERIOD;
            loop {
                let mut is_stopped = is_stopped.lock();
                while !*is_stopped && Instant::now() < next {
                    changed.wait_until(&mut is_stopped, next);
                }
                if *is_stopped {
                    return;
                }
                drop(is_stopped);
                let _ = work();
                // Counted from the end, so that a slow disk gets a pause too.
                next = Instant::now() + PERIOD;
            }
        };
        let thread = thread::Builder::new()
            .name("mayhap-log".into())
            .spawn(run)?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        *self.stop.0.lock() = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
