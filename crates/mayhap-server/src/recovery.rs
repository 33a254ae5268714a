//! Recovery: restores the keys from the snapshot and the log, as they were when the last command was acknowledged.
//!
//! A record is applied to a key unless the snapshot's entry of the key includes it already. Every record must apply again: a filter without
//! memory, or a record that does not match the value of its key, aborts the start. There is one exception. A key that is removed while a
//! snapshot is taken may have no entry, and then the records between the switch of the log and its removal do not apply. So a failure counts
//! only if no later record removes or replaces the key.

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
    /// The last record that the snapshot's entry of each key includes.
    known: HashMap<Box<[u8]>, Lsn>,
    /// Keys that could not be restored.
    failed: HashMap<Box<[u8]>, Failed>,
    pub(crate) entries: u64,
    pub(crate) records: u64,
}

/// Why a key could not be restored.
#[derive(Clone, Debug)]
enum Failed {
    /// There was no memory for its value of this size.
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
                    let args = record::next_command(&mut rest)
                        .ok_or_else(|| format!("record {lsn} of the log is malformed"))?;
                    self.command(lsn, time, &args)?;
                }
                self.records += 1;
            }
        }
        Ok(())
    }

    /// Ends the replay. Returns the number of keys that were lost, which must be 0 unless loss is accepted. Lack of memory is always an error.
    ///
    /// # Errors
    /// A message of one line that says what to do.
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

    /// Whether the record is newer than the snapshot's entry of the key.
    fn is_new(&self, key: &[u8], lsn: Lsn) -> bool {
        is_new(&self.known, key, lsn)
    }

    /// Sets or removes the value of a key.
    fn put(&mut self, key: &[u8], body: impl Into<Option<KeyEntry>>) {
        self.failed.remove(key);
        let body = body.into();
        self.keys.replace(key, |place| *place = body);
    }

    /// Records that a key could not be restored. The first reason is kept, but lack of memory replaces other reasons.
    fn fail(&mut self, key: &[u8], failure: Failed) {
        if let Failed::NoMemory(_) = failure {
            // Free its memory for other keys.
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

    /// Applies one command. The server's own records have the forms below; all others are filter commands.
    fn command(&mut self, lsn: Lsn, time: u64, args: &[&[u8]]) -> Result<(), String> {
        let keys = self.keys;
        match *args {
            [b"FLUSHALL"] => {
                let known = &self.known;
                keys.remove_if(|key| is_new(known, key, lsn));
                self.failed.retain(|key, _| !is_new(known, key, lsn));
            }
            // If a key received the value of another during a snapshot, the snapshot has that value, unless the key was removed later.
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
            _ => self.filter(lsn, time, args)?,
        }
        Ok(())
    }

    /// Gives a key the value of another one, or its failure.
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

    /// Applies a filter command. If some of its items are rejected, they were rejected the first time too.
    fn filter(&mut self, lsn: Lsn, time: u64, args: &[&[u8]]) -> Result<(), String> {
        let config = self.config.clone();
        let Ok(Command::Write(write)) = Command::parse(args, &config) else {
            let name = lossy(args.first().copied().unwrap_or_default());
            return Err(format!(
                "the log contains the command {name}, which this version does not support"
            ));
        };
        // The key is not always the first argument: MAYHAP.AT has a time before it.
        let key = write.key();
        if !self.is_new(key, lsn) {
            return Ok(());
        }
        // Even a command that replaces the whole value is ignored, because the expiry time of the key is lost.
        if self.has_no_memory(key) {
            return Ok(());
        }
        let context = Context {
            config: &config,
            now: Timestamp(time),
            secret: self.secret,
            max_bytes: u64::MAX,
        };
        // If the value of a source at that time is unknown, the result must have been removed later.
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
        let needed = match loaded(args) {
            Some(image) => needed_by(image),
            // It could not grow. Its next layer usually is at least as large as all before.
            None if before > 0 && lacks_memory(&outcome) => Some(before.saturating_mul(2)),
            None => None,
        };
        match needed {
            Some(bytes) => self.fail(key, Failed::NoMemory(bytes)),
            // An item was added to a filter that had to be created.
            None if reason.is_empty() => self.fail_record(key, lsn, MISSING),
            None => self.fail_record(key, lsn, &reason),
        }
        Ok(())
    }
}

impl Replay<'_> {
    /// The value of a source key.
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

/// Applies a write to a key. Returns the size of the value before, 0 if there was none, and the outcome.
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
        // No other thread uses it before the server listens.
        Value::Filter(slot) => match slot.get_mut() {
            Some(slot) => write.apply(slot, sources, context),
            None => write.apply(&mut Slot::Other, sources, context),
        },
        Value::Text(_) | Value::Leased { .. } => write.apply(&mut Slot::Other, sources, context),
    };
    (before, outcome)
}

/// Whether a logged command had the same effect as the first time.
fn is_applied(outcome: &Outcome, bytes_before: u64) -> bool {
    match &outcome.replication {
        // Items that are rejected because the filter is full are part of the record, and were rejected before.
        Replication::Verbatim | Replication::Unchanged => true,
        Replication::None => false,
        // Logged commands normally are replicated verbatim. They are rewritten if they create a filter that existed the first time, or if
        // there is no memory for all items.
        Replication::Rewritten(_) => bytes_before > 0 && !lacks_memory(outcome),
    }
}

/// Whether there was no memory for one or all items.
fn lacks_memory(outcome: &Outcome) -> bool {
    let is_refused = |reply: &Reply| match reply {
        // The two errors for a filter that could not be created or grow.
        Reply::Error(text) => text.contains("memory") || text.contains("problem inserting"),
        // CF.INSERT is replicated verbatim unless memory was missing.
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

/// The image or header of the filter that a command creates.
fn loaded<'a>(args: &[&'a [u8]]) -> Option<&'a [u8]> {
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    match *args {
        [at, _, ref inner @ ..] if is(at, "MAYHAP.AT") => loaded(inner),
        [name, _, image, ..] if is(name, "MAYHAP.LOAD") => Some(image),
        [name, _, b"1", image] if is(name, "BF.LOADCHUNK") || is(name, "CF.LOADCHUNK") => {
            Some(image)
        }
        _ => None,
    }
}

/// The size of the filter, if the image is valid and there is no memory for it. The reply does not contain it.
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

/// The size of a filter for which there is no memory.
pub(crate) fn memory_needed(error: &DecodeError) -> Option<u64> {
    match error.problem {
        Problem::Plan(PlanError::OutOfMemory { size_bytes }) => Some(size_bytes),
        _ => None,
    }
}

/// 0 means no expiry time.
fn number(word: &[u8]) -> Result<Option<u64>, String> {
    let text = std::str::from_utf8(word).ok();
    let number: Option<u64> = text.and_then(|text| text.parse().ok());
    let number = number.ok_or("a time in the log is not a number")?;
    Ok(Some(number).filter(|number| *number != 0))
}

#[cfg(test)]
mod tests;
