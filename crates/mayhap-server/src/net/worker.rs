//! A worker: one thread with one epoll and its own connections. On the path of a request, workers share only the service.

use super::Service;
use super::buffer_quota::BufferUse;
use super::client::ClientHandle;
use super::connection::Connection;
use super::mailbox::{MAILBOX, Mailbox, WorkerMessage};
use super::offload::{FinishedRequest, FinishedRequests, OffloadPool};
use super::running::{ServerState, WorkerHandle};
use super::serve::Postponed;
use super::transport::{AcceptedConnection, Transport};
use super::worker_buffers::WorkerBuffers;
use mio::{Events, Poll, Token};
use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The number of events per poll.
const EVENTS: usize = 1024;
/// A round ends early after so many bytes of replies or requests; the other connections are served in the next.
const ROUND_BYTES: usize = 16 << 20;
const ROUND_REQUESTS: usize = 16 << 10;
/// The interval between checks for timeouts.
const SWEEP: Duration = Duration::from_secs(1);
/// The time limit for a TLS handshake, and for reading the last replies.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(30);

/// The interval between retries of a request that waits for a key in use.
const RETRY: Duration = Duration::from_millis(5);

type Boxed<S> = Box<Connection<<S as Service>::Session>>;

pub(super) struct Worker<S: Service> {
    poll: Poll,
    index: usize,
    shared: Arc<ServerState>,
    service: Arc<S>,
    buffers: WorkerBuffers,
    /// Connections by token. A connection that is being served is taken out of its slot.
    slots: Vec<Option<Boxed<S>>>,
    free: Vec<usize>,
    /// Slots with work to do.
    queue: Vec<usize>,
    /// Connections that were served in this round.
    round: Vec<Boxed<S>>,
    /// Slots whose request is retried.
    waiting: Vec<usize>,
    /// Connections whose request is served on another thread.
    offloaded: Vec<OffloadedConnection>,
    offload: Arc<OffloadPool<S>>,
    returns: Arc<FinishedRequests<S>>,
    /// Whether any connection has a deadline.
    has_deadlines: bool,
    last_sweep: Instant,
}

struct OffloadedConnection {
    slot: usize,
    id: u64,
    is_killed: bool,
}

impl<S: Service> Worker<S> {
    pub(super) fn new(
        index: usize,
        (poll, mailbox): (Poll, Arc<Mailbox>),
        shared: Arc<ServerState>,
        service: Arc<S>,
        offload: Arc<OffloadPool<S>>,
    ) -> Self {
        Self {
            poll,
            index,
            service,
            buffers: WorkerBuffers::new(&shared.listening),
            waiting: Vec::new(),
            offloaded: Vec::new(),
            offload,
            returns: Arc::new(FinishedRequests::new(mailbox)),
            shared,
            slots: Vec::new(),
            free: Vec::new(),
            queue: Vec::new(),
            round: Vec::new(),
            has_deadlines: false,
            last_sweep: Instant::now(),
        }
    }

    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        let mut messages = Vec::new();
        while !self.shared.is_stopping() {
            if let Err(error) = self.poll.poll(&mut events, self.timeout()) {
                if error.kind() != ErrorKind::Interrupted {
                    crate::report(&format!("waiting for events: {error}; the server stops"));
                    self.shared.stop();
                }
                continue;
            }
            self.buffers.now = Instant::now();
            self.retry_waiting();
            for event in &events {
                let Token(slot) = event.token();
                if event.token() == MAILBOX {
                    self.handle(|worker| worker.mailbox.take(&mut messages));
                    self.resume_offloaded();
                } else if let Some(Some(connection)) = self.slots.get_mut(slot) {
                    connection.record_event(event);
                    queue(&mut self.queue, slot, connection);
                }
            }
            self.round();
            for message in messages.drain(..) {
                match message {
                    WorkerMessage::Connect(arrival) => self.add_connection(arrival),
                    WorkerMessage::Close { slot, id } => self.kill(slot, id),
                }
            }
            self.sweep();
        }
        self.shut_down();
    }

    fn handle<R>(&self, ask: impl FnOnce(&WorkerHandle) -> R) -> Option<R> {
        self.shared.workers.get(self.index).map(ask)
    }

    /// How long to wait for events.
    fn timeout(&self) -> Option<Duration> {
        if !self.queue.is_empty() {
            return Some(Duration::ZERO);
        }
        if !self.waiting.is_empty() {
            return Some(RETRY);
        }
        // The timeouts may be changed while it waits.
        let has_clients = self.slots.len() > self.free.len();
        has_clients.then_some(SWEEP)
    }

    fn add_connection(&mut self, arrival: AcceptedConnection) {
        let AcceptedConnection {
            id,
            mut stream,
            peer,
            tls,
        } = arrival;
        let Some(mailbox) = self.handle(|worker| Arc::clone(&worker.mailbox)) else {
            return;
        };
        let slot = self.free.pop().unwrap_or(self.slots.len());
        let local = stream.local_addr();
        let client = ClientHandle {
            id,
            peer: peer.to_string().into(),
            local: local
                .map(|local| local.to_string())
                .unwrap_or_default()
                .into(),
            is_tls: tls.is_some(),
            slot,
            mailbox: Some(mailbox),
        };
        let account = BufferUse::new(Arc::clone(&self.shared.quota), client.clone());
        let is_tls = client.is_tls;
        let session = match self.service.connect(client) {
            Ok(session) => session,
            Err(goodbye) => {
                // Before the TLS handshake no message can be sent.
                if !is_tls {
                    let _ = stream.write(&goodbye);
                }
                return self.free_slot(slot);
            }
        };
        match Transport::new(stream, tls, self.poll.registry(), Token(slot)) {
            Ok(transport) => {
                let mut connection = Box::new(Connection::new(
                    transport,
                    session,
                    account,
                    self.buffers.now,
                ));
                if is_tls {
                    connection.deadline = Some(self.buffers.now + CLOSE_TIMEOUT);
                    self.has_deadlines = true;
                }
                // It may have sent data before it was registered.
                queue(&mut self.queue, slot, &mut connection);
                if slot == self.slots.len() {
                    self.slots.push(Some(connection));
                } else if let Some(place) = self.slots.get_mut(slot) {
                    *place = Some(connection);
                }
            }
            Err(error) => {
                crate::report(&format!("taking over a connection: {error}; it was closed"));
                self.service.disconnect(session);
                self.free_slot(slot);
            }
        }
    }

    /// Serves every queued connection once, commits the log, and sends the replies.
    fn round(&mut self) {
        let mut turns = std::mem::take(&mut self.queue);
        let mut taken = 0;
        let (mut round_bytes, mut round_requests) = (0, 0);
        let mut shuts_down = false;
        for &slot in &turns {
            taken += 1;
            let Some(mut connection) = self.slots.get_mut(slot).and_then(Option::take) else {
                continue;
            };
            connection.is_queued = false;
            let turn = connection.take_turn(&*self.service, &mut self.buffers);
            shuts_down |= turn.shuts_down;
            if turn.served == 0 && turn.postponed == Some(Postponed::Offload) {
                self.offload_request(connection);
            } else if turn.served > 0 {
                round_bytes += connection.pending_replies.len();
                round_requests += turn.served;
                self.round.push(connection);
            } else {
                connection.update_quota();
                self.put_back(connection);
            }
            if round_bytes > ROUND_BYTES || round_requests > ROUND_REQUESTS {
                break;
            }
        }
        turns.drain(..taken);
        // Connections that were not served come first in the next round.
        turns.append(&mut self.queue);
        self.queue = turns;
        self.finish_round();
        if shuts_down {
            self.shared.stop();
        }
    }

    fn finish_round(&mut self) {
        if self.round.is_empty() {
            return;
        }
        let mut served = self.round.iter_mut().map(|connection| {
            let connection = &mut **connection;
            (&mut connection.session, &mut connection.pending_replies)
        });
        self.service.settle(&mut served);
        let mut round = std::mem::take(&mut self.round);
        for mut connection in round.drain(..) {
            connection.send_pending(&mut self.buffers);
            self.put_back(connection);
        }
        self.round = round;
    }

    /// Puts a connection back after its turn: it waits for events or for its next turn, or is closed.
    fn put_back(&mut self, mut connection: Boxed<S>) {
        let slot = connection.client().slot;
        if connection.is_finished() {
            return self.close(slot, *connection);
        }
        if connection.wants_turn(self.buffers.limits.soft_output) {
            queue(&mut self.queue, slot, &mut connection);
        }
        if connection.is_waiting() && !self.waiting.contains(&slot) {
            self.waiting.push(slot);
        }
        if connection.is_closing() && connection.deadline.is_none() {
            connection.deadline = Some(self.buffers.now + CLOSE_TIMEOUT);
            self.has_deadlines = true;
        }
        if let Some(place) = self.slots.get_mut(slot) {
            *place = Some(connection);
        }
    }

    /// Passes a long request to another thread. The replies to earlier requests have been sent.
    fn offload_request(&mut self, mut connection: Boxed<S>) {
        connection.update_quota();
        let client = connection.client();
        self.offloaded.push(OffloadedConnection {
            slot: client.slot,
            id: client.id,
            is_killed: false,
        });
        self.offload.push(connection, &self.returns);
    }

    fn resume_offloaded(&mut self) {
        for returned in self.returns.take() {
            let FinishedRequest {
                mut connection,
                shuts_down,
            } = returned;
            let (slot, id) = (connection.client().slot, connection.client().id);
            let is_killed = self
                .offloaded
                .iter()
                .any(|away| away.id == id && away.is_killed);
            self.offloaded.retain(|away| away.id != id);
            connection.resume(self.buffers.now);
            if self.shared.is_stopping() {
                connection.stop_reading();
            }
            connection.send_pending(&mut self.buffers);
            if is_killed {
                self.close(slot, *connection);
            } else {
                self.put_back(connection);
            }
            if shuts_down {
                self.shared.stop();
            }
        }
    }

    fn retry_waiting(&mut self) {
        for slot in std::mem::take(&mut self.waiting) {
            if let Some(Some(connection)) = self.slots.get_mut(slot) {
                connection.retry();
                queue(&mut self.queue, slot, connection);
            }
        }
    }

    fn kill(&mut self, slot: usize, id: u64) {
        let away = self.offloaded.iter_mut().find(|away| away.id == id);
        match away.filter(|away| away.slot == slot) {
            Some(away) => away.is_killed = true,
            None => self.close_if(slot, |connection| connection.client().id == id),
        }
    }

    fn close(&mut self, slot: usize, connection: Connection<S::Session>) {
        let session = connection.close(self.poll.registry());
        self.service.disconnect(session);
        self.free_slot(slot);
    }

    fn close_if(&mut self, slot: usize, is_meant: impl FnOnce(&Connection<S::Session>) -> bool) {
        let Some(place) = self.slots.get_mut(slot) else {
            return;
        };
        if let Some(connection) = place.take_if(|connection| is_meant(connection)) {
            self.close(slot, *connection);
        }
    }

    fn free_slot(&mut self, slot: usize) {
        if slot < self.slots.len() {
            self.free.push(slot);
        }
        self.handle(|worker| worker.connections.fetch_sub(1, Ordering::Relaxed));
        self.shared.clients.fetch_sub(1, Ordering::Relaxed);
    }

    /// Closes connections that have timed out.
    fn sweep(&mut self) {
        let now = self.buffers.now;
        let idle_timeout = self.shared.listening.timeouts.idle();
        let has_reason = self.has_deadlines || !idle_timeout.is_zero();
        if !has_reason || now.duration_since(self.last_sweep) < SWEEP {
            return;
        }
        self.last_sweep = now;
        self.has_deadlines = false;
        for slot in 0..self.slots.len() {
            let Some(Some(connection)) = self.slots.get_mut(slot) else {
                continue;
            };
            if !connection.is_closing() && !connection.is_handshaking() {
                connection.deadline = None;
            }
            let is_late = connection.deadline.is_some_and(|deadline| now >= deadline);
            let idle = now.duration_since(connection.last_active);
            let is_idle = !idle_timeout.is_zero() && idle >= idle_timeout;
            self.has_deadlines |= connection.deadline.is_some();
            self.close_if(slot, |_| is_late || is_idle);
        }
    }

    /// Serves what was read already and closes all connections.
    fn shut_down(mut self) {
        for connection in self.slots.iter_mut().flatten() {
            connection.stop_reading();
        }
        let mut events = Events::with_capacity(EVENTS);
        while !self.queue.is_empty() || !self.offloaded.is_empty() && !self.offload.has_panicked() {
            self.round();
            if self.queue.is_empty() && !self.offloaded.is_empty() {
                let _ = self.poll.poll(&mut events, Some(RETRY));
                self.resume_offloaded();
            }
        }
        for slot in 0..self.slots.len() {
            self.close_if(slot, |_| true);
        }
    }
}

fn queue<T>(queue: &mut Vec<usize>, slot: usize, connection: &mut Connection<T>) {
    if !connection.is_queued {
        connection.is_queued = true;
        queue.push(slot);
    }
}
