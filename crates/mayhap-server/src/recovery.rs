//! From the disk back to the keys, as they were when the last command was acknowledged.
//!
//! A record is applied to a key if the snapshot's entry of the key does not know of it yet. Whatever was applied once has to apply again: a
//! filter that finds no memory, or a record that finds another key than it did the first time, stops the start. There is one exception. A key that
//! is removed while a snapshot is taken may have no entry, and then the records between the switch of the log and its removal find nothing.
//! So a failure counts only when all records are read and nothing has removed or replaced the key since.

use crate::call::lossy;
use crate::keyspace::{KeyEntry, Keyspace, Value};
use crate::record::{self, NoMemory};
use crate::shared_slot::SharedSlot;
use mayhap_codec::{DecodeError, Limits, Problem, redis};
use mayhap_command::{Command, Config, Context, Outcome, Replication, Reply, Slot, Write};
use mayhap_core::{PlanError, SipKey, Timestamp};
use mayhap_log::{Lsn, Recovered};
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) struct Replay<'k> {
    keys: &'k Keyspace,
    config: Config,
    secret: SipKey,
    /// Up to which record the snapshot has each key.
    known: HashMap<Box<[u8]>, Lsn>,
    /// Keys that are not as they were.
    failed: HashMap<Box<[u8]>, Failed>,
    pub(crate) entries: u64,
    pub(crate) records: u64,
}

/// Why a key is not as it was.
#[derive(Clone, Debug)]
enum Failed {
    /// It has no value, since that takes so many bytes.
    NoMemory(u64),
    /// A record could not be applied.
    Record { lsn: Lsn, reason: String },
}

const MISSING: &str = "there is no such key";

impl<'k> Replay<'k> {
    pub(crate) fn new(keys: &'k Keyspace, secret: SipKey) -> Self {
        Self {
            keys,
            config: Config::for_replay(),
            secret,
            known: HashMap::new(),
            failed: HashMap::new(),
            entries: 0,
            records: 0,
        }
    }

    pub(crate) fn take(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        match *recovered {
            Recovered::Entry { lsn, body } => {
                let (key, body) = record::read_entry(body)?;
                self.entry(lsn, key, body);
            }
            Recovered::LargeEntry { lsn, length, read } => {
                let (key, body) = record::read_large_entry(length, read)?;
                self.entry(lsn, &key, body);
            }
            Recovered::Record { lsn, time, body } => {
                let mut rest = body;
                while !rest.is_empty() {
                    let words = record::next_command(&mut rest)
                        .ok_or_else(|| format!("record {lsn} of the log is not understood"))?;
                    self.command(lsn, time, &words)?;
                }
                self.records += 1;
            }
        }
        Ok(())
    }

    /// How many keys are not as they were. Without an accepted loss there must be none, and in any case what is left has to fit into the
    /// memory.
    ///
    /// # Errors
    /// In one line, with what to do.
    pub(crate) fn finish(self, accepts_loss: bool) -> Result<u64, String> {
        let mut failed: Vec<_> = self.failed.into_iter().collect();
        failed.sort_by(|one, other| one.0.cmp(&other.0));
        let mut without_memory = 0;
        let mut missing_bytes = 0_u64;
        for (_, failure) in &failed {
            if let Failed::NoMemory(bytes) = failure {
                without_memory += 1;
                missing_bytes = missing_bytes.saturating_add(*bytes);
            }
        }
        if without_memory > 0 {
            let loaded = self.keys.len();
            let used = self.keys.used_bytes();
            return Err(format!(
                "there is too little memory: {without_memory} keys need {missing_bytes} bytes more than the system gives, beside {used} bytes of {loaded} others; raise the limit of the process (ulimit -v, or the container's) or use a larger machine, and start again; nothing was changed"
            ));
        }
        let lost = failed.len() as u64;
        for (key, failure) in failed {
            let Failed::Record { lsn, reason } = failure else {
                continue;
            };
            let key = lossy(&key);
            let what = format!(
                "record {lsn} of the log cannot be applied again to the key {key:?}: {reason}"
            );
            if !accepts_loss {
                return Err(format!(
                    "{what}; restore the folder from a copy, or give up what the key has lost by --accept-loss"
                ));
            }
            crate::report(&format!("lost: {what}"));
        }
        Ok(lost)
    }

    fn entry(&mut self, lsn: Lsn, key: &[u8], body: Result<KeyEntry, NoMemory>) {
        self.known.insert(key.into(), lsn);
        match body {
            Ok(body) => self.put(key, body),
            Err(NoMemory { bytes }) => self.fail(key, Failed::NoMemory(bytes)),
        }
        self.entries += 1;
    }

    /// Whether the snapshot had the key before the record came.
    fn is_new(&self, key: &[u8], lsn: Lsn) -> bool {
        is_new(&self.known, key, lsn)
    }

    /// Gives a key another value, whatever was there.
    fn put(&mut self, key: &[u8], body: impl Into<Option<KeyEntry>>) {
        self.failed.remove(key);
        let body = body.into();
        self.keys.replace(key, |place| *place = body);
    }

    /// Notes that a key is not as it was. Of several reasons the first is told, unless memory is missing: that has to be known in any case.
    fn fail(&mut self, key: &[u8], failure: Failed) {
        if let Failed::NoMemory(_) = failure {
            // Others may need the memory that it has.
            self.keys.replace(key, |place| *place = None);
            self.failed.insert(key.into(), failure);
        } else {
            self.failed.entry(key.into()).or_insert(failure);
        }
    }

    fn fail_record(&mut self, key: &[u8], lsn: Lsn, reason: &str) {
        let reason = reason.to_owned();
        self.fail(key, Failed::Record { lsn, reason });
    }

    fn has_no_memory(&self, key: &[u8]) -> bool {
        matches!(self.failed.get(key), Some(Failed::NoMemory(_)))
    }

    /// The server's own records are spelt as below; all others are commands of filters, as clients or `mayhap-command` spell them.
    fn command(&mut self, lsn: Lsn, time: u64, words: &[&[u8]]) -> Result<(), String> {
        let keys = self.keys;
        match *words {
            [b"FLUSHALL"] => {
                let known = &self.known;
                keys.remove_if(|key| is_new(known, key, lsn));
                self.failed.retain(|key, _| !is_new(known, key, lsn));
            }
            // What a key got from another while a snapshot was under way is in the snapshot, unless it was removed since.
            [b"RENAME", from, to] => {
                let (body, failure) = if self.is_new(from, lsn) {
                    let failure = self.failed.remove(from);
                    (keys.replace(from, Option::take), failure)
                } else {
                    (None, None)
                };
                if self.is_new(to, lsn) {
                    self.put_as(lsn, to, body, failure);
                }
            }
            [b"COPY", _, to] if !self.is_new(to, lsn) => {}
            [b"COPY", from, to] => self.copy(lsn, from, to),
            [b"DEL", key] if self.is_new(key, lsn) => self.put(key, None),
            [b"SET", key, text, expires] if self.is_new(key, lsn) => {
                let expires = number(expires)?;
                match record::text(text) {
                    Ok(text) => self.put(key, KeyEntry::new(text).until(expires)),
                    Err(NoMemory { bytes }) => self.fail(key, Failed::NoMemory(bytes)),
                }
            }
            [b"PEXPIREAT", key, at] if self.is_new(key, lsn) => {
                self.expire(lsn, key, number(at)?);
            }
            [b"PERSIST", key] if self.is_new(key, lsn) => self.expire(lsn, key, None),
            [b"DEL" | b"PERSIST", _] | [b"PEXPIREAT", _, _] | [b"SET", _, _, _] => {}
            _ => self.filter(lsn, time, words)?,
        }
        Ok(())
    }

    /// Gives a key what another one held.
    fn put_as(&mut self, lsn: Lsn, to: &[u8], body: Option<KeyEntry>, failure: Option<Failed>) {
        let is_missing = body.is_none() && failure.is_none();
        self.put(to, body);
        if let Some(failure) = failure {
            self.fail(to, failure);
        } else if is_missing {
            self.fail_record(to, lsn, MISSING);
        }
    }

    fn copy(&mut self, lsn: Lsn, from: &[u8], to: &[u8]) {
        if !self.is_new(from, lsn) {
            return self.put_as(lsn, to, None, None);
        }
        let failure = self.failed.get(from).cloned();
        let copied = self.keys.read(from, 0, |body| {
            let Some(body) = body else { return Ok(None) };
            let bytes = body.value.size_bytes();
            let value = body.value.share().and_then(|value| value.copy().ok());
            let value = value.ok_or(Failed::NoMemory(bytes))?;
            Ok(Some(KeyEntry::new(value).until(body.expires())))
        });
        match copied {
            Ok(body) => self.put_as(lsn, to, body, failure),
            Err(failure) => self.fail(to, failure),
        }
    }

    fn expire(&mut self, lsn: Lsn, key: &[u8], at: Option<u64>) {
        if self.has_no_memory(key) {
            return;
        }
        let keys = self.keys;
        let set = keys.update(key, 0, |body| keys.set_expiry(key, body, at));
        if set.is_none() {
            self.fail_record(key, lsn, MISSING);
        }
    }

    /// A command of a filter. That it was refused in part is as it was the first time.
    fn filter(&mut self, lsn: Lsn, time: u64, words: &[&[u8]]) -> Result<(), String> {
        let config = self.config.clone();
        let Ok(Command::Write(write)) = Command::parse(words, &config) else {
            let name = lossy(words.first().copied().unwrap_or_default());
            return Err(format!(
                "the log has the command {name}, which this version does not know"
            ));
        };
        // Where a command has its key is for the command to say: before it there may be a time.
        let key = write.key();
        if !self.is_new(key, lsn) {
            return Ok(());
        }
        // Not even a whole value takes its place: when the key expires was part of what it had.
        if self.has_no_memory(key) {
            return Ok(());
        }
        let context = Context {
            config: &config,
            now: Timestamp(time),
            secret: self.secret,
            max_bytes: u64::MAX,
        };
        // As the sources were then, or as nobody can know: then the key was removed since.
        let is_bad =
            |source: &&&[u8]| !self.is_new(source, lsn) || self.failed.contains_key(**source);
        if let Some(source) = write.sources().iter().find(is_bad) {
            let failure = self.failed.get(*source).cloned();
            self.put_as(lsn, key, None, failure);
            return Ok(());
        }
        let sources: Vec<Arc<Slot>> = write
            .sources()
            .iter()
            .map(|source| self.source(source))
            .collect();
        let sources: Vec<&Slot> = sources.iter().map(|source| &**source).collect();
        let (before, outcome) = self
            .keys
            .replace(key, |place| apply(&write, place, &sources, &context));
        if is_applied(&outcome, before) {
            return Ok(());
        }
        let reason = refusal(&outcome.reply);
        let needed = match loaded(words) {
            Some(image) => needed_by(image),
            // It could not grow: its next part is not smaller than what it has, as a rule.
            None if before > 0 && lacks_memory(&outcome) => Some(before.saturating_mul(2)),
            None => None,
        };
        match needed {
            Some(bytes) => self.fail(key, Failed::NoMemory(bytes)),
            // An item was put into a filter that it had to make.
            None if reason.is_empty() => self.fail_record(key, lsn, MISSING),
            None => self.fail_record(key, lsn, &reason),
        }
        Ok(())
    }
}

impl Replay<'_> {
    /// What a key holds that another is merged with.
    fn source(&self, key: &[u8]) -> Arc<Slot> {
        self.keys
            .read(key, 0, |body| match body.map(|body| &body.value) {
                Some(Value::Filter(slot)) => slot.share(),
                Some(_) => Arc::new(Slot::Other),
                None => Arc::default(),
            })
    }
}

fn is_new(known: &HashMap<Box<[u8]>, Lsn>, key: &[u8], lsn: Lsn) -> bool {
    known.get(key).is_none_or(|known| lsn > *known)
}

/// Applies a change to what a key holds. What that took before, 0 if there was none, and what came of it.
fn apply(
    write: &Write<'_>,
    place: &mut Option<KeyEntry>,
    sources: &[&Slot],
    context: &Context<'_>,
) -> (u64, Outcome) {
    let Some(body) = place else {
        let mut slot = Slot::Missing;
        let outcome = write.apply(&mut slot, sources, context);
        if !matches!(slot, Slot::Missing) {
            *place = Some(KeyEntry::new(Value::Filter(SharedSlot::new(slot))));
        }
        return (0, outcome);
    };
    let before = body.value.size_bytes();
    let outcome = match &mut body.value {
        // Nobody else has it before the server listens.
        Value::Filter(slot) => match slot.get_mut() {
            Some(slot) => write.apply(slot, sources, context),
            None => write.apply(&mut Slot::Other, sources, context),
        },
        Value::Text(_) | Value::Leased { .. } => write.apply(&mut Slot::Other, sources, context),
    };
    (before, outcome)
}

/// Whether a command that was logged has done what it did the first time.
fn is_applied(outcome: &Outcome, bytes_before: u64) -> bool {
    match &outcome.replication {
        // Items that found the filter full are refused again: they are part of the record.
        Replication::Verbatim | Replication::Unchanged => true,
        Replication::None => false,
        // A log has what is passed on, which is passed on as it is. Others come in its place when it makes a filter that was there the first
        // time, or when there is no memory for all items.
        Replication::Rewritten(_) => bytes_before > 0 && !lacks_memory(outcome),
    }
}

/// Whether an item, or all of them, found no memory.
fn lacks_memory(outcome: &Outcome) -> bool {
    let is_refused = |reply: &Reply| match reply {
        // The two ways to say that a filter could not be made, or not grow.
        Reply::Error(text) => text.contains("memory") || text.contains("problem inserting"),
        // Of CF.INSERT, which is passed on as it came unless memory was missing.
        Reply::NotAdded | Reply::Integer(-1) => true,
        _ => false,
    };
    match (&outcome.replication, &outcome.reply) {
        (Replication::Verbatim | Replication::Unchanged, _) => false,
        (_, Reply::Array(replies)) => replies.iter().any(is_refused),
        (_, reply) => is_refused(reply),
    }
}

fn refusal(reply: &Reply) -> String {
    match reply {
        Reply::Error(text) => text.clone().into_owned(),
        Reply::Array(replies) => {
            let mut errors = replies.iter().map(refusal).filter(|text| !text.is_empty());
            errors.next().unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// The bytes of a filter that a command makes.
fn loaded<'a>(words: &[&'a [u8]]) -> Option<&'a [u8]> {
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    match *words {
        [at, _, ref inner @ ..] if is(at, "MAYHAP.AT") => loaded(inner),
        [name, _, image, ..] if is(name, "MAYHAP.LOAD") => Some(image),
        [name, _, b"1", image] if is(name, "BF.LOADCHUNK") || is(name, "CF.LOADCHUNK") => {
            Some(image)
        }
        _ => None,
    }
}

/// What the filter takes, if it is sound and there is no memory for it. A reply to a command does not tell.
fn needed_by(image: &[u8]) -> Option<u64> {
    let limits = Limits {
        max_bytes: u64::MAX,
    };
    let attempts = [
        Slot::decode(image, limits).err(),
        redis::Bloom::from_header(image, limits).err(),
        redis::Cuckoo::from_header(image, limits).err(),
    ];
    attempts.iter().flatten().find_map(memory_needed)
}

/// What a filter takes for which there is no memory.
pub(crate) fn memory_needed(error: &DecodeError) -> Option<u64> {
    match error.problem {
        Problem::Plan(PlanError::OutOfMemory { size_bytes }) => Some(size_bytes),
        _ => None,
    }
}

/// 0 is no time.
fn number(word: &[u8]) -> Result<Option<u64>, String> {
    let text = std::str::from_utf8(word).ok();
    let number: Option<u64> = text.and_then(|text| text.parse().ok());
    let number = number.ok_or("a time in the log is no number")?;
    Ok(Some(number).filter(|number| *number != 0))
}

#[cfg(test)]
mod tests;
