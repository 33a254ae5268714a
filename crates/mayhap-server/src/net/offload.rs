//! Threads for long requests. A worker passes on the connection together with the request, and gets it back when the request is
//! served. Other clients do not wait for it, and the client's own requests stay in order.
//!
//! The service decides what is long ([`AfterReply::Offload`](super::AfterReply::Offload)).

use super::connection::Connection;
use super::mailbox::Mailbox;
use super::worker_buffers::WorkerBuffers;
use super::{ListenOptions, Service};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// The number of long requests served at the same time; others wait.
pub(super) const THREADS: usize = 4;

type Boxed<S> = Box<Connection<<S as Service>::Session>>;

/// A connection whose request has been served on another thread.
pub(super) struct FinishedRequest<S: Service> {
    pub(super) connection: Boxed<S>,
    pub(super) shuts_down: bool,
}

/// The queue of finished connections for a worker.
pub(super) struct FinishedRequests<S: Service> {
    connections: Mutex<Vec<FinishedRequest<S>>>,
    mailbox: Arc<Mailbox>,
}

impl<S: Service> FinishedRequests<S> {
    pub(super) fn new(mailbox: Arc<Mailbox>) -> Self {
        Self {
            connections: Mutex::default(),
            mailbox,
        }
    }

    fn put(&self, returned: FinishedRequest<S>) {
        let mut connections = self
            .connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        connections.push(returned);
        drop(connections);
        self.mailbox.wake();
    }

    pub(super) fn take(&self) -> Vec<FinishedRequest<S>> {
        let connections = self.connections.lock();
        std::mem::take(&mut *connections.unwrap_or_else(PoisonError::into_inner))
    }
}

struct Job<S: Service> {
    connection: Boxed<S>,
    returns: Arc<FinishedRequests<S>>,
}

/// The queue of long requests.
pub(super) struct OffloadPool<S: Service> {
    queue: Mutex<JobQueue<S>>,
    condvar: Condvar,
}

struct JobQueue<S: Service> {
    jobs: VecDeque<Job<S>>,
    /// The number of workers that may still add requests.
    workers: usize,
    /// A thread has panicked and lost its connection.
    has_panicked: bool,
}

/// Marks a worker that may add requests, until it is dropped.
pub(super) struct OffloadProducer<S: Service>(pub(super) Arc<OffloadPool<S>>);

impl<S: Service> Drop for OffloadProducer<S> {
    fn drop(&mut self) {
        self.0.worker_ended();
    }
}

struct RecordPanic<'o, S: Service>(&'o OffloadPool<S>);

impl<S: Service> Drop for RecordPanic<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.has_panicked = true;
        }
    }
}

impl<S: Service> OffloadPool<S> {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            queue: Mutex::new(JobQueue {
                jobs: VecDeque::new(),
                workers,
                has_panicked: false,
            }),
            condvar: Condvar::new(),
        }
    }

    pub(super) fn push(&self, connection: Boxed<S>, returns: &Arc<FinishedRequests<S>>) {
        let returns = Arc::clone(returns);
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.jobs.push_back(Job {
            connection,
            returns,
        });
        drop(queue);
        self.condvar.notify_one();
    }

    /// Whether connections may have been lost.
    pub(super) fn has_panicked(&self) -> bool {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.has_panicked
    }

    /// Called when a worker ends. After the last one, the threads end.
    fn worker_ended(&self) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.workers = queue.workers.saturating_sub(1);
        drop(queue);
        self.condvar.notify_all();
    }

    fn next(&self) -> Option<Job<S>> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            if queue.workers == 0 {
                return None;
            }
            queue = self
                .condvar
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The body of one thread: serves a request, commits the log, and returns the connection to its worker, which sends the
    /// reply.
    pub(super) fn run(&self, listening: &ListenOptions, service: &S) {
        let _note = RecordPanic(self);
        let mut buffers = WorkerBuffers::new(listening);
        while let Some(job) = self.next() {
            let Job {
                mut connection,
                returns,
            } = job;
            buffers.now = Instant::now();
            let turn = connection.take_offloaded_turn(service, &mut buffers);
            if turn.served > 0 {
                let served = (&mut connection.session, &mut connection.pending_replies);
                service.settle(&mut std::iter::once(served));
            }
            let shuts_down = turn.shuts_down;
            returns.put(FinishedRequest {
                connection,
                shuts_down,
            });
        }
    }
}
