//! A progress bar on stderr, if it is a terminal and the work takes long.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const TICK: Duration = Duration::from_millis(100);
/// Short work needs no bar.
const SHOW_AFTER: u32 = 5;

/// Shows the progress of a byte counter until it is dropped.
pub(crate) struct Progress {
    is_done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// For `total` bytes, if that is known (the size of compressed inputs is not).
    pub(crate) fn for_input(bytes: Arc<AtomicU64>, total: Option<u64>) -> Self {
        let is_seen = io::stderr().is_terminal();
        Self::shown_if(is_seen, String::new(), bytes, total)
    }

    /// The same behind the name of what is processed, if there are several.
    pub(crate) fn labelled(label: String, bytes: Arc<AtomicU64>, total: u64) -> Self {
        let is_seen = io::stderr().is_terminal();
        Self::shown_if(is_seen, label, bytes, Some(total))
    }

    /// The same for a subcommand that prints lines: no bar if both go to the terminal.
    pub(crate) fn beside_lines(bytes: Arc<AtomicU64>, total: Option<u64>) -> Self {
        let is_seen = io::stderr().is_terminal() && !io::stdout().is_terminal();
        Self::shown_if(is_seen, String::new(), bytes, total)
    }

    fn shown_if(is_seen: bool, label: String, bytes: Arc<AtomicU64>, total: Option<u64>) -> Self {
        let is_done = Arc::new(AtomicBool::new(false));
        let thread = is_seen.then(|| {
            let is_done = Arc::clone(&is_done);
            thread::spawn(move || show(&label, &bytes, total, &is_done))
        });
        Self { is_done, thread }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // Failing to draw the bar is not an error.
            let _ = thread.join();
        }
    }
}

fn show(label: &str, bytes: &AtomicU64, total: Option<u64>, is_done: &AtomicBool) {
    let mut waited = 0;
    let mut bar: Option<ProgressBar> = None;
    while !is_done.load(Ordering::Relaxed) {
        thread::park_timeout(TICK);
        waited += 1;
        if waited < SHOW_AFTER {
            continue;
        }
        let read = bytes.load(Ordering::Relaxed);
        let bar = bar.get_or_insert_with(|| new_bar(label, total));
        if total.is_some_and(|total| read > total) {
            bar.unset_length();
        }
        bar.set_position(read);
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn new_bar(label: &str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "{prefix}{wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
        ),
        None => (
            ProgressBar::new_spinner(),
            "{prefix}{spinner} {bytes} {bytes_per_sec} {elapsed}",
        ),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    if !label.is_empty() {
        bar.set_prefix(format!("{label} "));
    }
    bar
}
