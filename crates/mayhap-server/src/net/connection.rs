//! What is kept of a client between rounds. While it is idle that is the socket, the session and a few words: buffers belong to the
//! worker's desk, and a connection has some of its own only for requests that are not complete and replies that are not read.

use super::client::ClientHandle;
use super::desk::Desk;
use super::ledger::Account;
use super::transport::{Got, Transport};
use super::{Next, Service};
use crate::resp::{Parsed, Parser};
use mio::Registry;
use mio::event::Event;
use std::time::Instant;

/// Requests of one connection in one round; the others have to wait for them.
const MOST_REQUESTS: usize = 1024;

/// Requests have few words as a rule, which need no memory of their own.
const FEW_WORDS: usize = 16;

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own; a client can be all of it at once"
)]
pub(super) struct Connection<T> {
    pub(super) session: T,
    /// Replies of this round, which are yet to be settled.
    pub(super) fresh: Vec<u8>,
    /// Whether it is in the worker's queue.
    pub(super) is_queued: bool,
    pub(super) last_active: Instant,
    /// Closed at this time, whatever happens.
    pub(super) deadline: Option<Instant>,
    transport: Transport,
    account: Account,
    rest: Option<Box<Rest>>,
    /// Settled replies, and how much of them was sent.
    output: Vec<u8>,
    sent: usize,
    is_readable: bool,
    is_writable: bool,
    has_hung_up: bool,
    /// Nothing more is read or served, and it is closed when all was sent.
    is_ending: bool,
    is_broken: bool,
}

/// Bytes that were read and are no complete request, or were too many for one round.
struct Rest {
    input: Vec<u8>,
    start: usize,
    parser: Parser,
    /// How many bytes the request needs beyond those.
    missing: usize,
    /// Whether there may be a complete request in it.
    is_unread: bool,
}

/// What was served of some bytes.
struct Stop {
    /// Bytes of the requests that were served.
    consumed: usize,
    served: usize,
    why: Why,
}

/// Why no more requests are served in this round.
enum Why {
    Incomplete { at_least: usize },
    Enough,
    Ending { shuts_down: bool },
}

/// What happened in a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Turn {
    /// Requests that were served, or refused.
    pub(super) served: usize,
    pub(super) shuts_down: bool,
}

impl<T> Connection<T> {
    pub(super) fn new(transport: Transport, session: T, account: Account, now: Instant) -> Self {
        Self {
            session,
            fresh: Vec::new(),
            is_queued: false,
            last_active: now,
            deadline: None,
            transport,
            account,
            rest: None,
            output: Vec::new(),
            sent: 0,
            is_readable: true,
            is_writable: true,
            has_hung_up: false,
            is_ending: false,
            is_broken: false,
        }
    }

    pub(super) fn client(&self) -> &ClientHandle {
        self.account.client()
    }

    pub(super) fn notice(&mut self, event: &Event) {
        self.has_hung_up |= event.is_read_closed() || event.is_error();
        self.is_readable |= event.is_readable() || self.has_hung_up;
        self.is_writable |= event.is_writable() || event.is_write_closed() || event.is_error();
    }

    fn unsent(&self) -> usize {
        self.output.len() - self.sent
    }

    fn is_behind(&self) -> bool {
        self.unsent() > 0 || self.transport.is_behind()
    }

    /// Whether there is something to do before the next event.
    pub(super) fn wants_turn(&self, soft_output: usize) -> bool {
        let has_requests = self.rest.as_ref().is_some_and(|rest| rest.is_unread);
        !self.is_ending && self.unsent() <= soft_output && (self.is_readable || has_requests)
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_broken || self.is_ending && !self.is_behind()
    }

    pub(super) fn is_ending(&self) -> bool {
        self.is_ending
    }

    pub(super) fn is_shaking_hands(&self) -> bool {
        self.transport.is_shaking_hands()
    }

    /// Reads no more, so that only requests that were read already are served.
    pub(super) fn stop_reading(&mut self) {
        self.is_readable = false;
    }

    pub(super) fn close(self, registry: &Registry) -> T {
        self.transport.close(registry);
        self.session
    }

    /// Sends what is left of earlier rounds, reads, and serves what was read.
    pub(super) fn take_turn<S>(&mut self, service: &S, desk: &mut Desk) -> Turn
    where
        S: Service<Session = T>,
    {
        if self.is_behind() && self.is_writable {
            self.send();
        }
        if self.is_broken || !self.wants_turn(desk.limits.soft_output) {
            return Turn::default();
        }
        let is_unread = self.rest.as_ref().is_some_and(|rest| rest.is_unread);
        let count = if is_unread { 0 } else { self.read(desk) };
        if count == 0 && !is_unread {
            return Turn::default();
        }
        if self.fresh.capacity() == 0 {
            self.fresh = desk.take_buffer();
        }
        self.last_active = desk.now;
        let turn = self.serve(service, desk, count);
        if turn.served == 0 {
            desk.give_back(std::mem::take(&mut self.fresh));
        }
        self.keep_account();
        turn
    }

    /// How many bytes are in the desk's buffer now.
    fn read(&mut self, desk: &mut Desk) -> usize {
        match self.transport.read(&mut desk.input) {
            Ok(Got::Bytes { count, is_more }) => {
                self.is_readable = is_more || count > 0 && self.has_hung_up;
                count
            }
            Ok(Got::End) => {
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

    /// Serves what is left of earlier rounds, followed by what was just read.
    fn serve<S>(&mut self, service: &S, desk: &mut Desk, count: usize) -> Turn
    where
        S: Service<Session = T>,
    {
        let most = desk.limits.soft_output.saturating_sub(self.unsent());
        let bytes = desk.input.get(..count).unwrap_or_default();
        let (session, fresh) = (&mut self.session, &mut self.fresh);
        let stop = if let Some(rest) = &mut self.rest {
            if !rest.add(bytes) {
                self.is_broken = true;
                return Turn::default();
            }
            let input = rest.input.get(rest.start..).unwrap_or_default();
            let stop = serve_each(service, session, input, &mut rest.parser, fresh, most);
            rest.consume(&stop);
            if rest.input.is_empty() {
                self.rest = None;
            }
            stop
        } else {
            let parser = &mut desk.parser;
            let stop = serve_each(service, session, bytes, parser, fresh, most);
            if stop.consumed < count {
                self.rest = Some(Box::new(Rest::new(bytes, parser, &stop)));
            }
            stop
        };
        let mut shuts_down = false;
        if let Why::Ending {
            shuts_down: for_all,
        } = stop.why
        {
            self.is_ending = true;
            self.rest = None;
            shuts_down = for_all;
        }
        Turn {
            served: stop.served,
            shuts_down,
        }
    }

    /// Takes over the settled replies, and sends what the socket takes at once.
    pub(super) fn send_fresh(&mut self, desk: &mut Desk) {
        let mut fresh = std::mem::take(&mut self.fresh);
        if self.unsent() == 0 {
            self.output = fresh;
            self.sent = 0;
            self.send();
            if self.unsent() == 0 {
                desk.give_back(std::mem::take(&mut self.output));
                self.sent = 0;
            }
        } else {
            self.output.drain(..self.sent);
            self.sent = 0;
            self.output.append(&mut fresh);
            desk.give_back(fresh);
            if self.is_writable {
                self.send();
            }
        }
        self.is_broken |= self.unsent() > desk.limits.hard_output;
        self.keep_account();
    }

    fn send(&mut self) {
        let bytes = self.output.get(self.sent..).unwrap_or_default();
        let length = bytes.len();
        if length == 0 && !self.transport.is_behind() {
            return;
        }
        match self.transport.write(bytes) {
            Ok(count) => {
                self.sent += count;
                // Otherwise the socket is full, and there is an event when it is not.
                self.is_writable = count == length && !self.transport.is_behind();
            }
            Err(_) => self.is_broken = true,
        }
    }

    /// Gives back what is not needed, and tells the ledger what is.
    pub(super) fn keep_account(&mut self) {
        if self.unsent() == 0 && self.output.capacity() > 0 {
            self.output = Vec::new();
            self.sent = 0;
        }
        let rest = self.rest.as_ref().map_or(0, |rest| rest.size_bytes());
        if !self.account.set(rest + self.output.capacity()) {
            self.is_broken = true;
        }
    }
}

impl Rest {
    /// What is left of the desk's bytes, with the state of its parser if that is in the middle of them.
    fn new(bytes: &[u8], parser: &mut Parser, stop: &Stop) -> Self {
        let mut rest = Self {
            input: bytes.get(stop.consumed..).unwrap_or_default().to_vec(),
            start: 0,
            parser: Parser::default(),
            missing: 0,
            is_unread: false,
        };
        if parser.is_amid() {
            std::mem::swap(&mut rest.parser, parser);
        }
        rest.note(&stop.why);
        rest
    }

    fn size_bytes(&self) -> usize {
        size_of::<Self>() + self.input.capacity() + self.parser.size_bytes()
    }

    /// Grows as bytes arrive: by half, or less where the request has declared its end. False when there is no memory.
    fn add(&mut self, bytes: &[u8]) -> bool {
        let free = self.input.capacity() - self.input.len();
        if free < bytes.len() {
            let length = self.input.len();
            let more = self.missing.clamp(length / 4, length / 2).max(bytes.len());
            if self.input.try_reserve_exact(more).is_err() {
                return false;
            }
        }
        self.input.extend_from_slice(bytes);
        true
    }

    fn consume(&mut self, stop: &Stop) {
        self.start += stop.consumed;
        self.note(&stop.why);
        // What was too much for this round is not moved; nothing is added to it either.
        if !self.is_unread {
            self.input.drain(..self.start);
            self.start = 0;
            // A large request is done, and a small one has begun behind it.
            if self.input.len() < self.input.capacity() / 4 {
                self.input.shrink_to(2 * self.input.len());
            }
        }
    }

    fn note(&mut self, why: &Why) {
        self.is_unread = matches!(why, Why::Enough) && self.start < self.input.len();
        if let Why::Incomplete { at_least } = why {
            self.missing = *at_least;
        }
    }
}

/// Serves one request after the other, as far as they are complete.
fn serve_each<S: Service>(
    service: &S,
    session: &mut S::Session,
    input: &[u8],
    parser: &mut Parser,
    out: &mut Vec<u8>,
    most_output: usize,
) -> Stop {
    let (mut consumed, mut served) = (0, 0);
    let why = loop {
        if served == MOST_REQUESTS || out.len() > most_output {
            break Why::Enough;
        }
        let request = input.get(consumed..).unwrap_or_default();
        match parser.parse(request, service.limits(session)) {
            Ok(Parsed::Complete { consumed: length }) => consumed += length,
            Ok(Parsed::Incomplete { at_least }) => break Why::Incomplete { at_least },
            Err(error) => {
                error.write(out);
                served += 1;
                break Why::Ending { shuts_down: false };
            }
        }
        served += 1;
        match serve_one(service, session, parser.words(request), out) {
            Next::GoOn => {}
            Next::CloseAfterReply => break Why::Ending { shuts_down: false },
            Next::ShutDown => break Why::Ending { shuts_down: true },
        }
    };
    Stop {
        consumed,
        served,
        why,
    }
}

fn serve_one<'a, S: Service>(
    service: &S,
    session: &mut S::Session,
    words: impl ExactSizeIterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
) -> Next {
    let count = words.len();
    if count == 0 {
        return Next::GoOn;
    }
    let mut few: [&[u8]; FEW_WORDS] = [&[]; FEW_WORDS];
    if let Some(few) = few.get_mut(..count) {
        for (place, word) in few.iter_mut().zip(words) {
            *place = word;
        }
        return service.serve(session, few, out);
    }
    let many: Vec<&[u8]> = words.collect();
    service.serve(session, &many, out)
}
