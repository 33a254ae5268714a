//! The state of one connection.

use crate::clients::Client;
use crate::command_times::CommandNumber;
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
    /// Whether the client has authenticated, or there is no password.
    pub(crate) is_authenticated: bool,
    pub(crate) transaction: Option<Transaction>,
    /// The watched keys and their versions.
    pub(crate) watched: HashMap<Box<[u8]>, Option<Version>>,
    pub(crate) replies: Replies,
    /// Whether the current command's reply depends on a logged change, its own or an earlier one. It becomes an error if the log
    /// cannot be written.
    pub(crate) is_unsettled: bool,
    /// The positions of such replies.
    pub(crate) unsettled_replies: Vec<Range<usize>>,
    /// When the last command of this round ended.
    pub(crate) ended: Option<Instant>,
    /// The number of commands in this round.
    pub(crate) served: u64,
    pub(crate) last_command: &'static str,
    /// The number of the current command, once it is known.
    pub(crate) command_number: Option<CommandNumber>,
}

/// The mode of `CLIENT REPLY`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Replies {
    All,
    None,
    /// Skip the replies to this command and the next.
    SkipThisAndNext,
    SkipNext,
}

/// The commands after MULTI.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) commands: Vec<Vec<Box<[u8]>>>,
    /// One of them was rejected, so EXEC rejects all.
    pub(crate) has_error: bool,
    bytes: usize,
    /// The total size of all queued commands.
    all_bytes: Arc<AtomicUsize>,
}

/// The maximum total size of all queued commands.
const MAX_QUEUED_BYTES: usize = 512 << 20;
/// The overhead per word.
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

    /// Queues a command; `false` if the limit is reached.
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
    /// Marks the reply as depending on a logged change.
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
            command_number: None,
        }
    }

    /// Resets the state to that of a new connection.
    pub(crate) fn reset(&mut self, is_known: bool) {
        self.protocol = Protocol::Resp2;
        self.is_authenticated = is_known;
        self.transaction = None;
        self.watched.clear();
        self.replies = Replies::All;
    }

    /// Whether to send the reply that was just written.
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
