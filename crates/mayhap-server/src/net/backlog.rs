//! What a connection keeps of its input from one round to the next.

use super::serve::{ServeResult, StopReason};
use crate::resp::Parser;

/// Bytes that were read and are no complete request, or were too many for one round.
pub(super) struct Backlog {
    pub(super) input: Vec<u8>,
    pub(super) start: usize,
    pub(super) parser: Parser,
    /// How many bytes the request needs beyond those.
    missing: usize,
    /// Whether there may be a complete request in it.
    pub(super) is_unread: bool,
}

impl Backlog {
    /// What is left of the worker's bytes, with the state of its parser if that is in the middle of them.
    pub(super) fn new(bytes: &[u8], parser: &mut Parser, stop: &ServeResult) -> Self {
        let mut rest = Self {
            input: bytes.get(stop.consumed..).unwrap_or_default().to_vec(),
            start: 0,
            parser: Parser::default(),
            missing: 0,
            is_unread: false,
        };
        if parser.is_mid_request() {
            std::mem::swap(&mut rest.parser, parser);
        }
        rest.note(&stop.why);
        rest
    }

    pub(super) fn size_bytes(&self) -> usize {
        size_of::<Self>() + self.input.capacity() + self.parser.size_bytes()
    }

    /// Grows as bytes arrive: by half, or less where the request has declared its end. False when there is no memory.
    pub(super) fn add(&mut self, bytes: &[u8]) -> bool {
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

    pub(super) fn consume(&mut self, stop: &ServeResult) {
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

    fn note(&mut self, why: &StopReason) {
        self.is_unread = matches!(why, StopReason::OutputFull | StopReason::Postponed(_))
            && self.start < self.input.len();
        if let StopReason::Incomplete { at_least } = why {
            self.missing = *at_least;
        }
    }
}
