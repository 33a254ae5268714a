//! The input that a connection keeps from one round to the next.

use super::serve::{ServeResult, StopReason};
use crate::resp::Parser;

/// Bytes that were read but not served: an incomplete request, or more than one round serves.
pub(super) struct Backlog {
    pub(super) input: Vec<u8>,
    pub(super) start: usize,
    pub(super) parser: Parser,
    /// The number of bytes that the request still needs.
    missing: usize,
    /// Whether it may contain a complete request.
    pub(super) is_unread: bool,
}

impl Backlog {
    /// The unserved rest of the worker's input, with the state of the parser if that is in the middle of a request.
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

    /// Grows as bytes arrive: by half, or less if the request has declared its end. Returns false if there is no memory.
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
        // Unserved requests are not moved, and nothing is appended to them.
        if !self.is_unread {
            self.input.drain(..self.start);
            self.start = 0;
            // A large request is done and a small one follows: shrink the buffer.
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
