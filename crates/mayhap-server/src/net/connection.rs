//! The state of a client between rounds. An idle client needs only the socket, the session and a few words: the worker owns the
//! buffers, and a connection has its own only for incomplete requests and unread replies.

use super::Service;
use super::backlog::Backlog;
use super::buffer_quota::BufferUse;
use super::client::ClientHandle;
use super::serve::{Postponed, StopReason, Thread, serve_each};
use super::transport::{ReadResult, Transport};
use super::worker_buffers::WorkerBuffers;
use mio::Registry;
use mio::event::Event;
use std::time::Instant;

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own; a client can be all of it at once"
)]
pub(super) struct Connection<T> {
    pub(super) session: T,
    /// The replies of this round, before the log is committed.
    pub(super) pending_replies: Vec<u8>,
    /// Whether it is in the worker's queue.
    pub(super) is_queued: bool,
    pub(super) last_active: Instant,
    /// The time at which the connection is closed in any case.
    pub(super) deadline: Option<Instant>,
    transport: Transport,
    buffer_use: BufferUse,
    backlog: Option<Box<Backlog>>,
    /// Committed replies, and how much of them was sent.
    output: Vec<u8>,
    sent: usize,
    is_readable: bool,
    is_writable: bool,
    has_hung_up: bool,
    /// Its next request waits for a key that is in use.
    is_waiting: bool,
    /// Nothing more is read or served; the connection is closed once all replies are sent.
    is_ending: bool,
    is_broken: bool,
}

/// The result of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Turn {
    /// The number of requests that were served or rejected.
    pub(super) served: usize,
    pub(super) shuts_down: bool,
    /// How to continue with a request that was not served.
    pub(super) postponed: Option<Postponed>,
}

impl<T> Connection<T> {
    pub(super) fn new(transport: Transport, session: T, account: BufferUse, now: Instant) -> Self {
        Self {
            session,
            pending_replies: Vec::new(),
            is_queued: false,
            last_active: now,
            deadline: None,
            transport,
            buffer_use: account,
            backlog: None,
            output: Vec::new(),
            sent: 0,
            is_readable: true,
            is_writable: true,
            has_hung_up: false,
            is_waiting: false,
            is_ending: false,
            is_broken: false,
        }
    }

    pub(super) fn client(&self) -> &ClientHandle {
        self.buffer_use.client()
    }

    pub(super) fn record_event(&mut self, event: &Event) {
        self.has_hung_up |= event.is_read_closed() || event.is_error();
        self.is_readable |= event.is_readable() || self.has_hung_up;
        self.is_writable |= event.is_writable() || event.is_write_closed() || event.is_error();
    }

    fn unsent(&self) -> usize {
        self.output.len() - self.sent
    }

    fn has_unsent_output(&self) -> bool {
        self.unsent() > 0 || self.transport.has_unsent_output()
    }

    /// Whether there is work to do before the next event.
    pub(super) fn wants_turn(&self, soft_output: usize) -> bool {
        let has_requests = self.backlog.as_ref().is_some_and(|rest| rest.is_unread);
        let may_serve = !self.is_ending && !self.is_waiting && self.unsent() <= soft_output;
        may_serve && (self.is_readable || has_requests)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.is_broken || self.is_ending && !self.has_unsent_output()
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_ending
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.transport.is_handshaking()
    }

    /// Stops reading. Requests that were read already are still served.
    pub(super) fn stop_reading(&mut self) {
        self.is_readable = false;
    }

    pub(super) fn close(self, registry: &Registry) -> T {
        self.transport.close(registry);
        self.session
    }

    /// Whether its request waits for a key that is in use.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Retries the waiting request in the next turn.
    pub(super) fn retry(&mut self) {
        self.is_waiting = false;
    }

    /// Serves one long request, on an offload thread.
    pub(super) fn take_offloaded_turn<S>(
        &mut self,
        service: &S,
        buffers: &mut WorkerBuffers,
    ) -> Turn
    where
        S: Service<Session = T>,
    {
        self.serve((service, Thread::Offload), buffers, 0)
    }

    /// Events were missed while the connection was offloaded.
    pub(super) fn resume(&mut self, now: Instant) {
        self.is_readable = true;
        self.is_writable = true;
        self.last_active = now;
    }

    /// Sends unsent replies, reads, and serves requests.
    pub(super) fn take_turn<S>(&mut self, service: &S, buffers: &mut WorkerBuffers) -> Turn
    where
        S: Service<Session = T>,
    {
        if self.has_unsent_output() && self.is_writable {
            self.send(buffers.now);
        }
        if self.is_broken || !self.wants_turn(buffers.limits.soft_output) {
            return Turn::default();
        }
        let is_unread = self.backlog.as_ref().is_some_and(|rest| rest.is_unread);
        let count = if is_unread { 0 } else { self.read(buffers) };
        if count == 0 && !is_unread {
            return Turn::default();
        }
        if self.pending_replies.capacity() == 0 {
            self.pending_replies = buffers.take_output();
        }
        self.last_active = buffers.now;
        let turn = self.serve((service, Thread::Worker), buffers, count);
        if turn.served == 0 {
            buffers.recycle(std::mem::take(&mut self.pending_replies));
        }
        self.update_quota();
        turn
    }

    /// Reads into the worker's buffer and returns the number of bytes.
    fn read(&mut self, buffers: &mut WorkerBuffers) -> usize {
        match self.transport.read(&mut buffers.input) {
            Ok(ReadResult::Bytes { count, is_more }) => {
                self.is_readable = is_more || count > 0 && self.has_hung_up;
                count
            }
            Ok(ReadResult::End) => {
                self.is_readable = false;
                self.is_ending = true;
                0
            }
            Err(_) => {
                self.is_broken = true;
                0
            }
        }
    }

    /// Serves the backlog, followed by what was just read.
    fn serve<S>(&mut self, service: (&S, Thread), buffers: &mut WorkerBuffers, count: usize) -> Turn
    where
        S: Service<Session = T>,
    {
        let most = buffers.limits.soft_output.saturating_sub(self.unsent());
        let bytes = buffers.input.get(..count).unwrap_or_default();
        let (session, fresh) = (&mut self.session, &mut self.pending_replies);
        let stop = if let Some(rest) = &mut self.backlog {
            if !rest.add(bytes) {
                self.is_broken = true;
                return Turn::default();
            }
            let input = rest.input.get(rest.start..).unwrap_or_default();
            let stop = serve_each(service, session, input, &mut rest.parser, fresh, most);
            rest.consume(&stop);
            if rest.input.is_empty() {
                self.backlog = None;
            }
            stop
        } else {
            let parser = &mut buffers.parser;
            let stop = serve_each(service, session, bytes, parser, fresh, most);
            if stop.consumed < count {
                self.backlog = Some(Box::new(Backlog::new(bytes, parser, &stop)));
            }
            stop
        };
        let mut shuts_down = false;
        if let StopReason::Ending {
            shuts_down: for_all,
        } = stop.why
        {
            self.is_ending = true;
            self.backlog = None;
            shuts_down = for_all;
        }
        let postponed = match stop.why {
            StopReason::Postponed(postponed) => Some(postponed),
            StopReason::Incomplete { .. } | StopReason::OutputFull | StopReason::Ending { .. } => {
                None
            }
        };
        self.is_waiting = postponed == Some(Postponed::Retry);
        Turn {
            served: stop.served,
            shuts_down,
            postponed,
        }
    }

    /// Sends the committed replies as far as the socket accepts them without blocking.
    pub(super) fn send_pending(&mut self, buffers: &mut WorkerBuffers) {
        let mut fresh = std::mem::take(&mut self.pending_replies);
        if self.unsent() == 0 {
            self.output = fresh;
            self.sent = 0;
            self.send(buffers.now);
            if self.unsent() == 0 {
                buffers.recycle(std::mem::take(&mut self.output));
                self.sent = 0;
            }
        } else {
            self.output.drain(..self.sent);
            self.sent = 0;
            self.output.append(&mut fresh);
            buffers.recycle(fresh);
            if self.is_writable {
                self.send(buffers.now);
            }
        }
        self.is_broken |= self.unsent() > buffers.limits.hard_output;
        self.update_quota();
    }

    /// A slow reader does not count as idle.
    fn send(&mut self, now: Instant) {
        let bytes = self.output.get(self.sent..).unwrap_or_default();
        let length = bytes.len();
        if length == 0 && !self.transport.has_unsent_output() {
            return;
        }
        match self.transport.write(bytes) {
            Ok(count) => {
                self.sent += count;
                if count > 0 {
                    self.last_active = now;
                }
                // Otherwise the socket is full, and an event follows when it is not.
                self.is_writable = count == length && !self.transport.has_unsent_output();
            }
            Err(_) => self.is_broken = true,
        }
    }

    /// Frees unused buffers, and reports the rest to the quota.
    pub(super) fn update_quota(&mut self) {
        if self.unsent() == 0 && self.output.capacity() > 0 {
            self.output = Vec::new();
            self.sent = 0;
        }
        let rest = self.backlog.as_ref().map_or(0, |rest| rest.size_bytes());
        if !self.buffer_use.set(rest + self.output.capacity()) {
            self.is_broken = true;
        }
    }
}
