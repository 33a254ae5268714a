//! One call of a command: its session, its arguments, its time, and where its reply is written.

use crate::engine::Engine;
use crate::keyspace::{KeyEntry, Reservation, SharedValue, Value};
use crate::record::Changes;
use crate::session::Session;
use crossbeam_utils::sync::ShardedLockReadGuard;
use mayhap_command::{RespWriter, integer};
use std::borrow::Cow;

/// Why a command did not run.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// It was rejected with this error reply.
    Error(Cow<'static, str>),
    /// A long command has leased one of its keys, or reads the filter that it changes. Nothing was changed; the command is retried.
    Busy,
    /// It would take long. Nothing was changed; the command runs on another thread.
    Long,
}

impl From<&'static str> for CommandError {
    fn from(text: &'static str) -> Self {
        Self::Error(Cow::Borrowed(text))
    }
}

impl From<String> for CommandError {
    fn from(text: String) -> Self {
        Self::Error(Cow::Owned(text))
    }
}

pub(crate) type CommandResult = Result<(), CommandError>;

pub(crate) const SYNTAX: &str = "ERR syntax error";
pub(crate) const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
pub(crate) const NO_MEMORY: &str = "OOM the system is out of memory";
const NO_ROOM: &str = "OOM command not allowed when used memory > 'maxmemory'.";
pub(crate) const WRONG_TYPE: &str =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

pub(crate) struct Call<'c> {
    pub(crate) engine: &'c Engine,
    pub(crate) session: &'c mut Session,
    /// The arguments, the name of the command first.
    pub(crate) args: &'c [&'c [u8]],
    pub(crate) now: u64,
    pub(crate) out: RespWriter<'c>,
    pub(crate) changes: &'c mut Changes,
    /// The changes of a transaction are logged together at its end.
    pub(crate) is_in_transaction: bool,
    /// Whether it runs on a thread of its own, with leases on the keys that it changes and without the keyspace lock.
    pub(crate) is_long: bool,
    /// Keys that received the value of another key. A snapshot in progress visits them again: see `snapshot.rs`.
    pub(crate) moved: Vec<Box<[u8]>>,
}

impl<'c> Call<'c> {
    pub(crate) fn key(&self) -> &'c [u8] {
        self.args[1]
    }

    /// Whether an argument is this word, ignoring case.
    pub(crate) fn is(&self, at: usize, word: &str) -> bool {
        self.args
            .get(at)
            .is_some_and(|given| given.eq_ignore_ascii_case(word.as_bytes()))
    }

    pub(crate) fn integer(&self, at: usize) -> Result<i64, CommandError> {
        self.args
            .get(at)
            .and_then(|argument| integer(argument))
            .ok_or_else(|| NOT_AN_INTEGER.into())
    }

    /// Appends a change to the log. Call it while the key is locked, so that the log has the changes of a key in order.
    pub(crate) fn log<W: AsRef<[u8]>>(&mut self, args: &[W]) -> CommandResult {
        self.changes.push(args);
        self.log_whole()
    }

    /// Appends the changes in [`Call::changes`] to the log.
    pub(crate) fn log_whole(&mut self) -> CommandResult {
        if self.is_in_transaction || self.changes.is_empty() {
            return Ok(());
        }
        self.engine
            .snapshots
            .rewrite_key(std::mem::take(&mut self.moved));
        let logged = self.engine.journal.append(self.now, self.changes.bytes());
        self.changes.clear();
        match logged {
            Ok(_) => {
                self.session.acknowledges();
                Ok(())
            }
            Err(error) => {
                // The change was made but is not logged, for example because a transaction is longer than a record may be.
                self.engine.journal.break_log(&error);
                Err(log_is_broken(&error).into())
            }
        }
    }

    /// Rejects a change while nothing can be logged, before anything is changed. From here on the reply acknowledges something, even if there
    /// is nothing to do: a reply that a key is gone, or exists already, relies on the change of another client.
    pub(crate) fn may_change(&mut self) -> CommandResult {
        if let Some(broken) = self.engine.journal.broken() {
            return Err(log_is_broken(&broken).into());
        }
        self.session.acknowledges();
        Ok(())
    }

    /// Rejects a command that takes memory while the keys use more than the limit.
    pub(crate) fn may_grow(&self) -> CommandResult {
        let max_memory = self.engine.settings.load().max_memory;
        if max_memory > 0 && self.engine.used_bytes() > max_memory {
            return Err(NO_ROOM.into());
        }
        Ok(())
    }

    /// Reserves memory for a value of known size, or rejects it. The reservation counts from now on.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<Reservation<'c>, CommandError> {
        let max_bytes = match self.engine.settings.load().max_memory {
            0 => u64::MAX,
            max_memory => max_memory.saturating_sub(self.engine.files.used_bytes()),
        };
        let reserved = self.engine.keys.reserve(bytes, max_bytes);
        reserved.ok_or_else(|| NO_ROOM.into())
    }

    /// Reserves memory for a filter to which very many items are added: a multiple of its size, or all that is left.
    pub(crate) fn reserve_for_growth(&self, key: &[u8]) -> Reservation<'c> {
        let engine = self.engine;
        let held = engine.keys.read(key, self.now, |body| {
            body.map_or(0, |body| body.value.size_bytes())
        });
        let items = 16 * self.args.len() as u64;
        let wanted = held.saturating_mul(4).saturating_add(items + (64 << 20));
        loop {
            // Another command may have taken it meanwhile. Reserving nothing always succeeds.
            if let Ok(reserved) = self.reserve(wanted.min(engine.available_bytes())) {
                return reserved;
            }
        }
    }

    /// Rejects a change that does not fit into a record of the log, before anything is changed.
    pub(crate) fn may_log(&self, bytes: u64) -> CommandResult {
        if !self.changes.has_room_for(bytes) {
            return Err("ERR the changes do not fit into one record of the log: split the command or transaction".into());
        }
        Ok(())
    }

    /// Takes the shared keyspace lock at the end of a long command, while it changes keys and logs that. Other commands hold the lock
    /// already.
    pub(crate) fn keyspace_guard(&self) -> Option<ShardedLockReadGuard<'c, ()>> {
        (self.is_long && !self.is_in_transaction).then(|| self.engine.shared())
    }

    /// The value of a key for a long read, and its expiry time. Fails while a long command has leased the key.
    pub(crate) fn share(
        &self,
        key: &[u8],
    ) -> Result<Option<(SharedValue, Option<u64>)>, CommandError> {
        let engine = self.engine;
        let _guard = self.keyspace_guard();
        let shared = engine.keys.read(key, self.now, |body| {
            body.map(|body| (body.value.share(), body.expires()))
        });
        if self.is_long && !self.is_in_transaction && engine.leases.is_leased([key]) {
            return Err(CommandError::Busy);
        }
        match shared {
            None => Ok(None),
            Some((Some(value), expires)) => Ok(Some((value, expires))),
            Some((None, _)) => Err(CommandError::Busy),
        }
    }

    /// Adds the whole value of a key to the changes to be logged.
    pub(crate) fn push_value(&mut self, key: &[u8], body: &KeyEntry) {
        let expires = body.expires().unwrap_or(0).to_string();
        match &body.value {
            Value::Leased { .. } => {}
            Value::Text(text) => self
                .changes
                .push(&[&b"SET"[..], key, text, expires.as_bytes()]),
            Value::Filter(slot) => {
                self.changes.push(&[&b"DEL"[..], key]);
                self.changes
                    .push(&[&b"MAYHAP.LOAD"[..], key, &slot.encode()]);
                if body.expires().is_some() {
                    self.changes
                        .push(&[&b"PEXPIREAT"[..], key, expires.as_bytes()]);
                }
            }
        }
    }

    /// Removes an expired key, and logs that before its new value.
    pub(crate) fn forget_if_expired(&mut self, key: &[u8], body: &mut Option<KeyEntry>) {
        if body.as_ref().is_some_and(|body| body.is_expired(self.now)) {
            *body = None;
            self.changes.push(&[&b"DEL"[..], key]);
        }
    }
}

/// The error reply to writes while the disk fails.
pub(crate) fn log_is_broken(reason: &impl std::fmt::Display) -> String {
    format!(
        "MISCONF the log cannot be written ({reason}): nothing is changed until a snapshot succeeds again. Make room on the disk, then wait a second or send SAVE"
    )
}

pub(crate) fn lossy(word: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&word[..word.len().min(128)])
}
