//! What the server knows of one connection.

use crate::clients::Client;
use crate::keyspace::Version;
use mayhap_command::Protocol;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

pub(crate) struct Session {
    pub(crate) client: Arc<Client>,
    pub(crate) protocol: Protocol,
    /// Whether it has given the password, or there is none.
    pub(crate) is_authenticated: bool,
    pub(crate) transaction: Option<Transaction>,
    /// Keys that a transaction depends on, as they were.
    pub(crate) watched: HashMap<Box<[u8]>, Option<Version>>,
    pub(crate) replies: Replies,
    /// Whether the command that is being served acknowledges a change, its own or another's that it found: its reply is an error if the
    /// log cannot be written.
    pub(crate) is_unsettled: bool,
    /// Where the replies to such commands stand.
    pub(crate) unsettled_replies: Vec<Range<usize>>,
    /// The end of the last command of this round.
    pub(crate) ended: Option<Instant>,
    /// Commands of this round.
    pub(crate) served: u64,
    pub(crate) last_command: &'static str,
}

/// What `CLIENT REPLY` asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Replies {
    All,
    None,
    /// Not for this command and the next.
    SkipThisAndNext,
    SkipNext,
}

/// What came after MULTI.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) commands: Vec<Vec<Box<[u8]>>>,
    /// One of them was refused: all of them are.
    pub(crate) has_error: bool,
    bytes: usize,
    /// What all connections have between MULTI and EXEC.
    all_bytes: Arc<AtomicUsize>,
}

/// All that clients may have us keep between MULTI and EXEC.
const MAX_QUEUED_BYTES: usize = 512 << 20;
/// What a word takes besides its bytes.
const WORD_BYTES: usize = 32;

impl Transaction {
    pub(crate) fn new(all_bytes: &Arc<AtomicUsize>) -> Self {
        Self {
            commands: Vec::new(),
            has_error: false,
            bytes: 0,
            all_bytes: Arc::clone(all_bytes),
        }
    }

    /// Keeps a command; `false` when that is too much.
    pub(crate) fn keep(&mut self, words: &[&[u8]]) -> bool {
        let bytes = words.iter().map(|word| word.len() + WORD_BYTES).sum();
        let all = self.all_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.bytes += bytes;
        if all > MAX_QUEUED_BYTES {
            return false;
        }
        let words = words.iter().map(|word| (*word).into()).collect();
        self.commands.push(words);
        true
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.all_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Session {
    /// The reply acknowledges a change: it is an error if the log cannot be written.
    pub(crate) fn acknowledges(&mut self) {
        self.is_unsettled = true;
    }

    pub(crate) fn new(client: Arc<Client>, is_known: bool) -> Self {
        Self {
            client,
            protocol: Protocol::Resp2,
            is_authenticated: is_known,
            transaction: None,
            watched: HashMap::new(),
            replies: Replies::All,
            is_unsettled: false,
            unsettled_replies: Vec::new(),
            ended: None,
            served: 0,
            last_command: "",
        }
    }

    /// As a new connection is.
    pub(crate) fn reset(&mut self, is_known: bool) {
        self.protocol = Protocol::Resp2;
        self.is_authenticated = is_known;
        self.transaction = None;
        self.watched.clear();
        self.replies = Replies::All;
    }

    /// Whether the reply that has just been written is to be sent.
    pub(crate) fn sends_reply(&mut self) -> bool {
        match self.replies {
            Replies::All => true,
            Replies::None => false,
            Replies::SkipThisAndNext => {
                self.replies = Replies::SkipNext;
                false
            }
            Replies::SkipNext => {
                self.replies = Replies::All;
                false
            }
        }
    }
}
