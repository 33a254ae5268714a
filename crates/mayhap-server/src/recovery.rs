//! From the disk back to the keys, as they were when the last command was acknowledged.

use crate::keyspace::{Body, Keyspace, Value};
use crate::record;
use crate::shared_slot::SharedSlot;
use mayhap::{SipKey, Timestamp};
use mayhap_command::{Command, Config, Context, Slot};
use mayhap_log::{Lsn, Recovered};
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) struct Replay<'k> {
    keys: &'k Keyspace,
    config: Config,
    secret: SipKey,
    /// Up to which record the snapshot has each key.
    known: HashMap<Box<[u8]>, Lsn>,
    /// The time of the newest record.
    pub(crate) newest: u64,
    pub(crate) entries: u64,
    pub(crate) records: u64,
}

impl<'k> Replay<'k> {
    pub(crate) fn new(keys: &'k Keyspace, secret: SipKey) -> Self {
        Self {
            keys,
            config: Config::for_replay(),
            secret,
            known: HashMap::new(),
            newest: 0,
            entries: 0,
            records: 0,
        }
    }

    pub(crate) fn take(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        match *recovered {
            Recovered::Entry { lsn, body } => {
                let (key, body) = record::read_entry(body)?;
                self.known.insert(key.into(), lsn);
                self.keys.replace(key, |place| *place = Some(body));
                self.entries += 1;
            }
            Recovered::Record { lsn, time, body } => {
                self.newest = self.newest.max(time);
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

    /// Whether the snapshot had the key before the record came.
    fn is_new(&self, key: &[u8], lsn: Lsn) -> bool {
        self.known.get(key).is_none_or(|known| lsn > *known)
    }

    fn command(&mut self, lsn: Lsn, time: u64, words: &[&[u8]]) -> Result<(), String> {
        let keys = self.keys;
        match *words {
            [b"FLUSHALL"] => keys.remove_all(|key| self.is_new(key, lsn)),
            // What a key got from another while a snapshot was under way is in the snapshot.
            [b"RENAME", from, to] => {
                let body = if self.is_new(from, lsn) {
                    keys.replace(from, Option::take)
                } else {
                    None
                };
                if self.is_new(to, lsn) {
                    keys.replace(to, |place| *place = body);
                }
            }
            [b"COPY", _, to] if !self.is_new(to, lsn) => {}
            [b"COPY", from, to] => {
                let copied = keys.look(from, 0, |body| {
                    let body = body?;
                    let value = body.value.share()?.copy().ok()?;
                    Some(Body::new(value).until(body.expires()))
                });
                keys.replace(to, |place| *place = copied);
            }
            [_, key, ..] if !self.is_new(key, lsn) => {}
            [b"DEL", key] => keys.replace(key, |place| *place = None),
            [b"SET", key, text, expires] => {
                let expires = number(expires)?;
                let body = Body::new(Value::Text(text.into())).until(expires);
                keys.replace(key, |place| *place = Some(body));
            }
            [b"PEXPIREAT", key, at] => {
                let at = number(at)?;
                keys.alter(key, 0, |body| keys.set_expiry(key, body, at));
            }
            [b"PERSIST", key] => {
                keys.alter(key, 0, |body| keys.set_expiry(key, body, None));
            }
            _ => self.filter(time, words)?,
        }
        Ok(())
    }

    /// A command of a filter. That it was refused in part, or in whole, is as it was the first time.
    fn filter(&self, time: u64, words: &[&[u8]]) -> Result<(), String> {
        let not_known = || {
            let name = crate::call::lossy(words.first().copied().unwrap_or_default());
            format!("the log has the command {name}, which this version does not know")
        };
        let Ok(Command::Change(change)) = Command::parse(words, &self.config) else {
            return Err(not_known());
        };
        let context = Context {
            config: &self.config,
            now: Timestamp(time),
            secret: self.secret,
            most_bytes: u64::MAX,
        };
        let sources = change.sources().iter().map(|source| {
            self.keys
                .look(source, 0, |body| match body.map(|body| &body.value) {
                    Some(Value::Filter(slot)) => slot.share(),
                    _ => Arc::default(),
                })
        });
        let sources: Vec<Arc<Slot>> = sources.collect();
        let sources: Vec<&Slot> = sources.iter().map(|source| &**source).collect();
        self.keys.replace(change.key(), |place| match place {
            Some(Body {
                value: Value::Filter(slot),
                ..
            }) => {
                if let Some(slot) = slot.get_mut() {
                    change.apply(slot, &sources, &context);
                }
            }
            Some(_) => {}
            None => {
                let mut slot = Slot::Missing;
                change.apply(&mut slot, &sources, &context);
                if !matches!(slot, Slot::Missing) {
                    *place = Some(Body::new(Value::Filter(SharedSlot::new(slot))));
                }
            }
        });
        Ok(())
    }
}

/// 0 is no time.
fn number(word: &[u8]) -> Result<Option<u64>, String> {
    let text = std::str::from_utf8(word).ok();
    let number: Option<u64> = text.and_then(|text| text.parse().ok());
    let number = number.ok_or("a time in the log is no number")?;
    Ok(Some(number).filter(|number| *number != 0))
}
