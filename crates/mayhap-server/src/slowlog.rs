//! SLOWLOG: commands that took long.

use crate::printable::printable;
use crate::session::Session;
use crate::settings::Settings;
use arc_swap::ArcSwap;
use mayhap_command::RespWriter;
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The part of a command that is kept.
const MAX_WORDS: usize = 32;
const MAX_WORD_BYTES: usize = 128;

struct SlowlogEntry {
    id: u64,
    /// Seconds since 1970.
    time: u64,
    took: Duration,
    words: Vec<Vec<u8>>,
    peer: String,
    name: String,
}

/// An entry of the slow log.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SlowCommand {
    pub(crate) id: u64,
    /// Seconds since 1970.
    pub(crate) time: u64,
    pub(crate) microseconds: u64,
    pub(crate) words: Vec<String>,
    pub(crate) peer: String,
    pub(crate) name: String,
}

#[derive(Default)]
pub(crate) struct Slowlog {
    /// The threshold in nanoseconds, copied here to avoid reading the settings for every command.
    from: AtomicU64,
    kept: Mutex<(u64, VecDeque<SlowlogEntry>)>,
}

impl Slowlog {
    /// Applies the settings.
    pub(crate) fn apply_settings(&self, settings: &Settings) {
        let from =
            u64::try_from(settings.slow_from).map_or(u64::MAX, |from| from.saturating_mul(1000));
        self.from.store(from, Ordering::Relaxed);
    }

    /// Records the command if it took long enough.
    #[inline]
    pub(crate) fn record(
        &self,
        settings: &ArcSwap<Settings>,
        session: &Session,
        words: &[&[u8]],
        now: u64,
        took: Duration,
    ) {
        if took.as_nanos() >= self.from.load(Ordering::Relaxed).into() {
            self.push(&settings.load(), session, words, now, took);
        }
    }

    #[cold]
    fn push(
        &self,
        settings: &Settings,
        session: &Session,
        words: &[&[u8]],
        now: u64,
        took: Duration,
    ) {
        // Commands with passwords are not recorded.
        let command = session.last_command.split('|').next().unwrap_or_default();
        let is_secret = ["auth", "hello", "config"].contains(&command);
        if settings.slow_from < 0 || is_secret || settings.slow_kept == 0 {
            return;
        }
        let mut kept: Vec<Vec<u8>> = words
            .iter()
            .take(MAX_WORDS)
            .map(|word| word[..word.len().min(MAX_WORD_BYTES)].to_vec())
            .collect();
        if words.len() > MAX_WORDS {
            let more = format!("... ({} more arguments)", words.len() - MAX_WORDS);
            kept.push(more.into_bytes());
        }
        let (next, entries) = &mut *self.kept.lock();
        entries.push_front(SlowlogEntry {
            id: *next,
            time: now / 1000,
            took,
            words: kept,
            peer: session.client.handle.peer.to_string(),
            name: session.client.names.lock().name.clone(),
        });
        *next += 1;
        entries.truncate(settings.slow_kept);
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.lock().1.len()
    }

    pub(crate) fn clear(&self) {
        self.kept.lock().1.clear();
    }

    /// The newest entries for people, with unprintable bytes escaped.
    pub(crate) fn newest(&self, most: usize) -> Vec<SlowCommand> {
        let (_, entries) = &*self.kept.lock();
        let newest = entries.iter().take(most).map(|entry| SlowCommand {
            id: entry.id,
            time: entry.time,
            microseconds: entry.took.as_micros() as u64,
            words: entry
                .words
                .iter()
                .map(|word| printable(word, &[]))
                .collect(),
            peer: entry.peer.clone(),
            name: entry.name.clone(),
        });
        newest.collect()
    }

    pub(crate) fn write(&self, out: &mut RespWriter<'_>, most: usize) {
        let (_, entries) = &*self.kept.lock();
        let told = entries.len().min(most);
        out.array(told);
        for entry in entries.iter().take(told) {
            out.array(6);
            out.count(entry.id);
            out.count(entry.time);
            out.count(entry.took.as_micros() as u64);
            out.bulks(&entry.words);
            out.bulk(&entry.peer);
            out.bulk(&entry.name);
        }
    }
}
