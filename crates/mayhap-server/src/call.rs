//! One command on its way: who asks, what, when, and where the answer goes.

use crate::engine::Engine;
use crate::keyspace::{Body, Value};
use crate::out::Out;
use crate::record::Changes;
use crate::session::Session;
use std::borrow::Cow;

/// Why a command was refused, as an error line of Redis.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) Cow<'static, str>);

impl From<&'static str> for Failure {
    fn from(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

pub(crate) type Done = Result<(), Failure>;

pub(crate) const SYNTAX: &str = "ERR syntax error";
pub(crate) const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
pub(crate) const WRONG_TYPE: &str =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

pub(crate) struct Call<'c> {
    pub(crate) engine: &'c Engine,
    pub(crate) session: &'c mut Session,
    /// The name of the command first.
    pub(crate) words: &'c [&'c [u8]],
    pub(crate) now: u64,
    pub(crate) out: Out<'c>,
    pub(crate) changes: &'c mut Changes,
    /// Within a transaction changes are logged together at its end.
    pub(crate) is_in_transaction: bool,
}

impl<'c> Call<'c> {
    pub(crate) fn key(&self) -> &'c [u8] {
        self.words[1]
    }

    /// A word that is compared without regard to case.
    pub(crate) fn is(&self, at: usize, word: &str) -> bool {
        self.words
            .get(at)
            .is_some_and(|given| given.eq_ignore_ascii_case(word.as_bytes()))
    }

    pub(crate) fn integer(&self, at: usize) -> Result<i64, Failure> {
        self.words
            .get(at)
            .and_then(|word| integer(word))
            .ok_or_else(|| NOT_AN_INTEGER.into())
    }

    /// Puts a change into the log. To be called while the key is locked, so that the log has the changes of a key in their order.
    pub(crate) fn log<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Done {
        self.changes.push(words);
        self.log_whole()
    }

    /// The same for changes that are in [`Call::changes`] already.
    pub(crate) fn log_whole(&mut self) -> Done {
        if self.is_in_transaction || self.changes.is_empty() {
            return Ok(());
        }
        let logged = self.engine.journal.append(self.now, self.changes.bytes());
        self.changes.clear();
        match logged {
            Ok(_) => {
                self.session.acknowledges();
                Ok(())
            }
            Err(error) => {
                // The change is made and no record says so, such as a transaction that is longer than a record may be.
                self.engine.journal.give_up(&error);
                Err(log_is_broken(&error))
            }
        }
    }

    /// Refuses a change while nothing can be logged: before anything is touched. From here on the reply acknowledges something, even that
    /// there was nothing to do: whoever is told that a key is gone, or there already, relies on a change of somebody else.
    pub(crate) fn may_change(&mut self) -> Done {
        if let Some(broken) = self.engine.journal.broken() {
            return Err(log_is_broken(&broken));
        }
        self.session.acknowledges();
        Ok(())
    }

    /// Refuses what takes memory when all keys have as much as they may.
    pub(crate) fn may_grow(&self) -> Done {
        let most = self.engine.settings.load().most_memory;
        if most > 0 && self.engine.keys.used_bytes() > most {
            return Err("OOM command not allowed when used memory > 'maxmemory'.".into());
        }
        Ok(())
    }

    /// The same for a value whose size is known.
    pub(crate) fn may_take(&self, bytes: u64) -> Done {
        let most = self.engine.settings.load().most_memory;
        if most > 0 && self.engine.keys.used_bytes().saturating_add(bytes) > most {
            return Err("OOM command not allowed when used memory > 'maxmemory'.".into());
        }
        Ok(())
    }

    /// Puts a whole value on its way into the log, for a key that held another or none.
    pub(crate) fn push_value(&mut self, key: &[u8], body: &Body) {
        let expires = body.expires().unwrap_or(0).to_string();
        match &body.value {
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

    /// A key whose time has come is gone, and the log has it before what is made in its place.
    pub(crate) fn forget_if_expired(&mut self, key: &[u8], body: &mut Option<Body>) {
        if body.as_ref().is_some_and(|body| body.is_expired(self.now)) {
            *body = None;
            self.changes.push(&[&b"DEL"[..], key]);
        }
    }
}

/// What writers hear when the disk fails.
pub(crate) fn log_is_broken(reason: &impl std::fmt::Display) -> Failure {
    format!("MISCONF the log cannot be written ({reason}): nothing is changed until a snapshot succeeds again. Make room on the disk, then wait a second or send SAVE").into()
}

/// An integer as Redis reads one: no plus, no spaces, no leading zeros.
pub(crate) fn integer(word: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(word).ok()?;
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

pub(crate) fn lossy(word: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&word[..word.len().min(128)])
}
