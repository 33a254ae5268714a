//! Threads for requests that take long: a worker hands its connection over with the request still in it, and gets it back when the
//! request was served. So nobody else waits for it, and the client's next requests stay in their order.
//!
//! Nothing here decides what is long: the service does ([`Next::Offload`](super::Next::Offload)).

use super::connection::Connection;
use super::mailbox::Mailbox;
use super::worker_buffers::WorkerBuffers;
use super::{ListenOptions, Service};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Long requests that are served at a time; the others wait for a thread.
pub(super) const THREADS: usize = 4;

type Boxed<S> = Box<Connection<<S as Service>::Session>>;

/// A connection whose request was served elsewhere.
pub(super) struct FinishedRequest<S: Service> {
    pub(super) connection: Boxed<S>,
    pub(super) shuts_down: bool,
}

/// Where a worker finds the connections that come back.
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

/// What waits for a thread.
pub(super) struct OffloadPool<S: Service> {
    queue: Mutex<JobQueue<S>>,
    condvar: Condvar,
}

struct JobQueue<S: Service> {
    jobs: VecDeque<Job<S>>,
    /// Workers that may still hand something over.
    workers: usize,
    /// A thread has panicked, and a connection went with it.
    has_panicked: bool,
}

/// A worker that may hand something over, until this is dropped.
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

    /// Whether connections may be gone for good.
    pub(super) fn has_panicked(&self) -> bool {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.has_panicked
    }

    /// A worker hands over no more. After the last one the threads end.
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

    /// One thread: serves, settles, and gives the connection back to be sent what it is owed.
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
