//! Threads for requests that take long: a worker hands its connection over with the request still in it, and gets it back when the
//! request was served. So nobody else waits for it, and the client's next requests stay in their order.
//!
//! Nothing here decides what is long: the service does ([`Next::Offload`](super::Next::Offload)).

use super::connection::Connection;
use super::desk::Desk;
use super::mailbox::Mailbox;
use super::{Listening, Service};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Long requests that are served at a time; the others wait for a thread.
pub(super) const THREADS: usize = 4;

type Boxed<S> = Box<Connection<<S as Service>::Session>>;

/// A connection whose request was served elsewhere.
pub(super) struct Returned<S: Service> {
    pub(super) connection: Boxed<S>,
    pub(super) shuts_down: bool,
}

/// Where a worker finds the connections that come back.
pub(super) struct Returns<S: Service> {
    connections: Mutex<Vec<Returned<S>>>,
    mailbox: Arc<Mailbox>,
}

impl<S: Service> Returns<S> {
    pub(super) fn new(mailbox: Arc<Mailbox>) -> Self {
        Self {
            connections: Mutex::default(),
            mailbox,
        }
    }

    fn put(&self, returned: Returned<S>) {
        let mut connections = self
            .connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        connections.push(returned);
        drop(connections);
        self.mailbox.wake();
    }

    pub(super) fn take(&self) -> Vec<Returned<S>> {
        let connections = self.connections.lock();
        std::mem::take(&mut *connections.unwrap_or_else(PoisonError::into_inner))
    }
}

struct Job<S: Service> {
    connection: Boxed<S>,
    returns: Arc<Returns<S>>,
}

/// What waits for a thread.
pub(super) struct Offload<S: Service> {
    queue: Mutex<Queue<S>>,
    bell: Condvar,
}

struct Queue<S: Service> {
    jobs: VecDeque<Job<S>>,
    /// Workers that may still hand something over.
    workers: usize,
    /// A thread has panicked, and a connection went with it.
    has_panicked: bool,
}

/// A worker that may hand something over, until this is dropped.
pub(super) struct Source<S: Service>(pub(super) Arc<Offload<S>>);

impl<S: Service> Drop for Source<S> {
    fn drop(&mut self) {
        self.0.worker_ended();
    }
}

struct NoteOnPanic<'o, S: Service>(&'o Offload<S>);

impl<S: Service> Drop for NoteOnPanic<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.has_panicked = true;
        }
    }
}

impl<S: Service> Offload<S> {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            queue: Mutex::new(Queue {
                jobs: VecDeque::new(),
                workers,
                has_panicked: false,
            }),
            bell: Condvar::new(),
        }
    }

    pub(super) fn hand_over(&self, connection: Boxed<S>, returns: &Arc<Returns<S>>) {
        let returns = Arc::clone(returns);
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.jobs.push_back(Job {
            connection,
            returns,
        });
        drop(queue);
        self.bell.notify_one();
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
        self.bell.notify_all();
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
                .bell
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// One thread: serves, settles, and gives the connection back to be sent what it is owed.
    pub(super) fn run(&self, listening: &Listening, service: &S) {
        let _note = NoteOnPanic(self);
        let mut desk = Desk::new(listening);
        while let Some(job) = self.next() {
            let Job {
                mut connection,
                returns,
            } = job;
            desk.now = Instant::now();
            let turn = connection.take_offloaded_turn(service, &mut desk);
            if turn.served > 0 {
                let served = (&mut connection.session, &mut connection.fresh);
                service.settle(&mut std::iter::once(served));
            }
            let shuts_down = turn.shuts_down;
            returns.put(Returned {
                connection,
                shuts_down,
            });
        }
    }
}
