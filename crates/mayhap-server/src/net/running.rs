//! Starting, waiting for and stopping the network side.

use super::accept::assign_to_worker;
use super::buffer_quota::BufferQuota;
use super::listeners::Listeners;
use super::mailbox::Mailbox;
use super::offload::{self, OffloadPool, OffloadProducer};
use super::worker::Worker;
use super::{ListenOptions, Service};
use mio::{Poll, Waker};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// The state that all threads share.
pub(super) struct ServerState {
    pub(super) listening: ListenOptions,
    pub(super) workers: Vec<WorkerHandle>,
    pub(super) clients: AtomicUsize,
    pub(super) last_id: AtomicU64,
    pub(super) quota: Arc<BufferQuota>,
    acceptor: Waker,
    is_stopping: AtomicBool,
    has_stopped: (Mutex<()>, Condvar),
}

/// The handle to a worker for other threads.
pub(super) struct WorkerHandle {
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) connections: AtomicUsize,
}

impl ServerState {
    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    pub(super) fn stop(&self) {
        let (lock, bell) = &self.has_stopped;
        let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_stopping.store(true, Ordering::Release);
        bell.notify_all();
        drop(guard);
        let _ = self.acceptor.wake();
        for worker in &self.workers {
            worker.mailbox.wake();
        }
    }

    fn wait(&self) {
        let (lock, bell) = &self.has_stopped;
        let mut guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_stopping() {
            guard = bell.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Stops the server if a thread panics, instead of leaving its clients without replies.
pub(super) struct StopOnPanic(pub(super) Arc<ServerState>);

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// A running server. It keeps running if this is dropped.
pub struct Running {
    /// The addresses that it listens on, those without TLS first, with the actual ports.
    pub addresses: Vec<SocketAddr>,
    shared: Arc<ServerState>,
    threads: Vec<JoinHandle<()>>,
}

/// Stops a server from any thread.
#[derive(Clone)]
pub struct StopHandle(Arc<ServerState>);

impl StopHandle {
    /// Makes [`Running::wait`] return and the threads end; the owner of the [`Running`] joins them.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Running {
    /// Returns when a request or a [`StopHandle`] stops the server.
    pub fn wait(&self) {
        self.shared.wait();
    }

    /// A handle to stop it from elsewhere, such as a thread that waits for signals.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.shared))
    }

    /// The current number of connections.
    pub fn clients(&self) -> usize {
        self.shared.clients.load(Ordering::Relaxed)
    }

    /// The current size of all buffers.
    pub fn buffered_bytes(&self) -> usize {
        self.shared.quota.total()
    }

    /// Stops accepting, serves what was read, sends what the sockets accept without blocking, and returns when all threads have
    /// ended.
    ///
    /// # Errors
    /// When one of them had panicked.
    pub fn stop(self) -> io::Result<()> {
        self.shared.stop();
        let ends: Vec<_> = self.threads.into_iter().map(JoinHandle::join).collect();
        if ends.iter().any(Result::is_err) {
            return Err(io::Error::other("a thread of the server has panicked"));
        }
        Ok(())
    }
}

/// Starts to listen and serve.
///
/// # Errors
/// When an address cannot be listened at, which the error names, or the system has no room for threads.
#[expect(clippy::needless_pass_by_value, reason = "the server keeps it")]
pub fn start<S: Service>(listening: ListenOptions, service: Arc<S>) -> io::Result<Running> {
    let plain = listening.addresses.iter().map(|address| (*address, None));
    let tls = listening.tls.iter().flat_map(|(addresses, config)| {
        let addresses = addresses.iter();
        addresses.map(move |address| (*address, Some(Arc::clone(config))))
    });
    let (addresses, tls): (Vec<_>, Vec<_>) = plain.chain(tls).unzip();
    let listeners = Listeners::new(addresses.into_iter())?;
    let addresses = listeners.addresses()?;

    let polls = (0..listening.workers.max(1)).map(|_| Poll::new());
    let polls = polls.collect::<io::Result<Vec<_>>>()?;
    let workers = polls.iter().map(|poll| {
        Ok(WorkerHandle {
            mailbox: Arc::new(Mailbox::new(poll.registry())?),
            connections: AtomicUsize::new(0),
        })
    });
    let shared = Arc::new(ServerState {
        workers: workers.collect::<io::Result<Vec<_>>>()?,
        clients: AtomicUsize::new(0),
        last_id: AtomicU64::new(0),
        quota: Arc::new(BufferQuota::new(listening.max_buffered_bytes)),
        acceptor: listeners.waker()?,
        is_stopping: AtomicBool::new(false),
        has_stopped: Default::default(),
        listening,
    });

    let mut running = Running {
        addresses,
        shared: Arc::clone(&shared),
        threads: Vec::new(),
    };
    let offload = Arc::new(OffloadPool::new(polls.len()));
    for (index, poll) in polls.into_iter().enumerate() {
        let mailbox = Arc::clone(&shared.workers[index].mailbox);
        let (shared, service) = (Arc::clone(&shared), Arc::clone(&service));
        let worker = Worker::new(
            index,
            (poll, mailbox),
            shared,
            service,
            Arc::clone(&offload),
        );
        let source = OffloadProducer(Arc::clone(&offload));
        running.spawn(format!("worker-{index}"), move || {
            let _source = source;
            worker.run();
        })?;
    }
    for index in 0..offload::THREADS {
        let (shared, service) = (Arc::clone(&shared), Arc::clone(&service));
        let offload = Arc::clone(&offload);
        running.spawn(format!("long-{index}"), move || {
            offload.run(&shared.listening, &*service);
        })?;
    }
    running.spawn("acceptor".to_owned(), move || {
        let end = listeners.run(
            || shared.is_stopping(),
            |listener, stream, peer| {
                let tls = tls.get(listener).cloned().flatten();
                assign_to_worker(&shared, stream, peer, tls);
            },
        );
        if let Err(error) = end {
            crate::report(&format!(
                "waiting for connections: {error}; the server stops"
            ));
            shared.stop();
        }
    })?;
    Ok(running)
}

impl Running {
    /// If a thread cannot be started, the earlier ones end.
    fn spawn(&mut self, name: String, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let guard = StopOnPanic(Arc::clone(&self.shared));
        let thread = thread::Builder::new().name(name).spawn(move || {
            let _guard = guard;
            body();
        });
        self.threads
            .push(thread.inspect_err(|_| self.shared.stop())?);
        Ok(())
    }
}
