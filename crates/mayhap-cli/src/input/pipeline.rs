//! Processes blocks on several threads and returns the results in order, with pauses, intervals and signals as events between.

use super::{Block, Blocks};
use crate::error::CliError;
use crate::interrupt::{self, Signal};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum number of blocks that wait for one worker.
const MAX_QUEUED_BLOCKS: usize = 1;
/// After a signal, a read that takes longer waits for input. Shorter ones are finished, so that no line is read and dropped.
const MAX_READ_TIME: Duration = Duration::from_millis(100);

/// What happens while blocks are processed.
pub(crate) enum Event<T> {
    /// The result of the next block, in order.
    Done(T),
    /// No result is ready: the input is slower than the work.
    Idle,
    /// The interval has passed, whether there was input or not.
    Interval,
    /// A signal has stopped the reading; the results of everything that was read came before.
    Signal(Signal),
}

/// Passes every block to `work`, on `threads` threads, and the results to `take`, in order, until `take` has enough.
pub(crate) fn in_order<T: Send + 'static>(
    blocks: Blocks,
    threads: usize,
    work: impl Fn(Block) -> T + Sync,
    mut take: impl FnMut(T) -> Result<ControlFlow<()>, CliError>,
) -> Result<(), CliError> {
    let take = |event| match event {
        Event::Done(result) => take(result),
        Event::Idle | Event::Interval | Event::Signal(_) => Ok(ControlFlow::Continue(())),
    };
    if threads <= 1 {
        run_on_one_thread(blocks, None, work, take)
    } else {
        run_on_threads(blocks, threads, None, work, take)
    }
}

/// The same with events between the results. Input that may be slow is read on a thread of its own, so events do not wait for it.
/// With an `interval`, signals are events too; without, they end the program.
pub(crate) fn with_events<T: Send + 'static>(
    blocks: Blocks,
    threads: usize,
    interval: Option<Duration>,
    work: impl Fn(Block) -> T + Sync,
    take: impl FnMut(Event<T>) -> Result<ControlFlow<()>, CliError>,
) -> Result<(), CliError> {
    if threads <= 1 && !blocks.may_be_slow() {
        run_on_one_thread(blocks, interval, work, take)
    } else {
        run_on_threads(blocks, threads, interval, work, take)
    }
}

fn run_on_one_thread<T>(
    mut blocks: Blocks,
    interval: Option<Duration>,
    work: impl Fn(Block) -> T,
    mut take: impl FnMut(Event<T>) -> Result<ControlFlow<()>, CliError>,
) -> Result<(), CliError> {
    let shared = Arc::new(Shared::default());
    if interval.is_some() {
        subscribe(Arc::clone(&shared), || {});
    }
    let mut timer = Timer::new(interval);
    let mut block = Block::default();
    while shared.signal().is_none() && blocks.fill(&mut block)? {
        if take(Event::Done(work(std::mem::take(&mut block))))?.is_break()
            || timer.has_expired() && take(Event::Interval)?.is_break()
        {
            return Ok(());
        }
    }
    pass_signal(&shared, take)
}

fn run_on_threads<T: Send + 'static>(
    blocks: Blocks,
    threads: usize,
    interval: Option<Duration>,
    work: impl Fn(Block) -> T + Sync,
    take: impl FnMut(Event<T>) -> Result<ControlFlow<()>, CliError>,
) -> Result<(), CliError> {
    let shared = Arc::new(Shared::default());
    thread::scope(|scope| {
        // Dropped before the threads are joined, so that none of them waits for a receiver.
        let (to_main, messages) = sync_channel(threads);
        let to_main = Arc::new(to_main);
        if interval.is_some() {
            let to_main = Arc::downgrade(&to_main);
            subscribe(Arc::clone(&shared), move || wake(&to_main));
        }
        let mut to_workers = Vec::new();
        for _ in 0..threads {
            let (to_worker, own_blocks) = sync_channel(MAX_QUEUED_BLOCKS);
            let (to_main, work) = (Arc::clone(&to_main), &work);
            scope.spawn(move || run_worker(&own_blocks, &to_main, work));
            to_workers.push(to_worker);
        }
        // When the last worker ends, the channel is disconnected.
        drop(to_main);
        let reader = Arc::clone(&shared);
        scope.spawn(move || read_all(blocks, &to_workers, &reader));
        receive(&messages, &shared, interval, take)
    })
}

/// What the threads and the signal handler know of each other.
#[derive(Default)]
struct Shared {
    /// The number of blocks that were read and passed to workers.
    blocks_read: AtomicU64,
    /// The signal that stops the reading; 0 is none.
    signal: AtomicU8,
}

impl Shared {
    fn signal(&self) -> Option<Signal> {
        match self.signal.load(Ordering::Acquire) {
            0 => None,
            number => Some(Signal(number)),
        }
    }
}

enum Message<T> {
    /// A block's number and result.
    Done(u64, Result<T, CliError>),
    /// Look at the signal.
    Wake,
}

fn subscribe(shared: Arc<Shared>, wake: impl FnOnce() + Send + 'static) {
    interrupt::pass_next_to(move |signal| {
        shared.signal.store(signal.0, Ordering::Release);
        wake();
    });
}

fn wake<T>(to_main: &Weak<SyncSender<Message<T>>>) {
    // Without a receiver, all input is done and the program is about to end. A full channel wakes the receiver too.
    if let Some(to_main) = to_main.upgrade() {
        let _ = to_main.try_send(Message::Wake);
    }
}

/// Expires whenever the interval has passed; never without one.
struct Timer {
    interval: Option<Duration>,
    due: Option<Instant>,
}

impl Timer {
    fn new(interval: Option<Duration>) -> Self {
        let due = interval.map(|interval| Instant::now() + interval);
        Self { interval, due }
    }

    /// Whether it has expired; then the next interval begins.
    fn has_expired(&mut self) -> bool {
        let has_expired = self.due.is_some_and(|due| due <= Instant::now());
        if has_expired {
            *self = Self::new(self.interval);
        }
        has_expired
    }
}

fn read_all(
    mut blocks: Blocks,
    workers: &[SyncSender<(u64, Result<Block, CliError>)>],
    shared: &Shared,
) {
    for (number, worker) in (0..).zip(workers.iter().cycle()) {
        let mut block = Block::default();
        let read = match blocks.fill(&mut block) {
            Ok(false) => return,
            Ok(true) => Ok(block),
            Err(failure) => Err(failure),
        };
        let is_end = read.is_err() || shared.signal().is_some();
        shared.blocks_read.fetch_add(1, Ordering::Release);
        // `take` has enough.
        if worker.send((number, read)).is_err() || is_end {
            return;
        }
    }
}

fn run_worker<T>(
    blocks: &Receiver<(u64, Result<Block, CliError>)>,
    to_main: &SyncSender<Message<T>>,
    work: impl Fn(Block) -> T,
) {
    for (number, block) in blocks {
        if to_main
            .send(Message::Done(number, block.map(&work)))
            .is_err()
        {
            return;
        }
    }
}

fn receive<T>(
    messages: &Receiver<Message<T>>,
    shared: &Shared,
    interval: Option<Duration>,
    mut take: impl FnMut(Event<T>) -> Result<ControlFlow<()>, CliError>,
) -> Result<(), CliError> {
    // Results that came before their turn.
    let mut early = BTreeMap::new();
    let mut next = 0;
    let mut timer = Timer::new(interval);
    loop {
        if timer.has_expired() && take(Event::Interval)?.is_break() {
            return Ok(());
        }
        let message = match messages.try_recv() {
            Ok(message) => message,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                if take(Event::Idle)?.is_break() {
                    return Ok(());
                }
                let is_stopping = shared.signal().is_some();
                let due = if is_stopping {
                    Some(Instant::now() + MAX_READ_TIME)
                } else {
                    timer.due
                };
                match wait(messages, due) {
                    Ok(message) => message,
                    // The reader waits for input, and everything that it has read came before.
                    Err(RecvTimeoutError::Timeout)
                        if is_stopping && next == shared.blocks_read.load(Ordering::Acquire) =>
                    {
                        break;
                    }
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        };
        if let Message::Done(number, result) = message {
            early.insert(number, result);
        }
        while let Some(result) = early.remove(&next) {
            next += 1;
            if take(Event::Done(result?))?.is_break() {
                return Ok(());
            }
        }
    }
    pass_signal(shared, take)
}

fn pass_signal<T>(
    shared: &Shared,
    mut take: impl FnMut(Event<T>) -> Result<ControlFlow<()>, CliError>,
) -> Result<(), CliError> {
    match shared.signal() {
        Some(signal) => take(Event::Signal(signal)).map(drop),
        None => Ok(()),
    }
}

fn wait<T>(
    messages: &Receiver<Message<T>>,
    due: Option<Instant>,
) -> Result<Message<T>, RecvTimeoutError> {
    match due {
        Some(due) => messages.recv_timeout(due.saturating_duration_since(Instant::now())),
        None => messages.recv().map_err(RecvTimeoutError::from),
    }
}
