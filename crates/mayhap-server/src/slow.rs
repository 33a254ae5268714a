//! Commands that took long.

use crate::out::Out;
use crate::session::Session;
use crate::settings::Settings;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::Duration;

/// As much of a command as is kept.
const MOST_WORDS: usize = 32;
const MOST_LETTERS: usize = 128;

struct Entry {
    id: u64,
    /// Seconds since 1970.
    time: u64,
    took: Duration,
    words: Vec<Vec<u8>>,
    peer: String,
    name: String,
}

#[derive(Default)]
pub(crate) struct Slow(Mutex<(u64, VecDeque<Entry>)>);

impl Slow {
    /// Keeps the command if it took long enough.
    #[inline]
    pub(crate) fn note(
        &self,
        settings: &ArcSwap<Settings>,
        session: &Session,
        words: &[&[u8]],
        now: u64,
        took: Duration,
    ) {
        // Nobody asks for less, and the settings are not looked at for every command.
        if took.as_micros() >= 1000 {
            self.keep(&settings.load(), session, words, now, took);
        }
    }

    #[cold]
    fn keep(
        &self,
        settings: &Settings,
        session: &Session,
        words: &[&[u8]],
        now: u64,
        took: Duration,
    ) {
        let Ok(from) = u128::try_from(settings.slow_from) else {
            return;
        };
        // Who gives a password is not written down.
        let is_secret = ["auth", "hello", "config"].contains(&session.last_command);
        if took.as_micros() < from || is_secret || settings.slow_kept == 0 {
            return;
        }
        let mut kept: Vec<Vec<u8>> = words
            .iter()
            .take(MOST_WORDS)
            .map(|word| word[..word.len().min(MOST_LETTERS)].to_vec())
            .collect();
        if words.len() > MOST_WORDS {
            let more = format!("... ({} more arguments)", words.len() - MOST_WORDS);
            kept.push(more.into_bytes());
        }
        let (next, entries) = &mut *self.0.lock();
        entries.push_front(Entry {
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
        self.0.lock().1.len()
    }

    pub(crate) fn clear(&self) {
        self.0.lock().1.clear();
    }

    pub(crate) fn write(&self, out: &mut Out<'_>, most: usize) {
        let (_, entries) = &*self.0.lock();
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
