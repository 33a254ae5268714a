//! `MAYHAP.AT milliseconds command ..`: a command with the time at which it came first. Filters that forget are the same everywhere
//! only if nobody looks at a clock a second time; hosts whose logs and replicas carry no times pass commands on like this.

use crate::command::Words;
use crate::words::{integer, is};
use crate::{Command, Config, Outcome, PassedOn, Reply, Slot};
use mayhap_core::Timestamp;

const NAME: &str = "MAYHAP.AT";

/// `words` begin with the name.
pub(crate) fn parse<'a>(words: &[&'a [u8]], config: &Config) -> Result<Command<'a>, Reply> {
    let time = integer(words[1]).and_then(|time| u64::try_from(time).ok());
    let time = time.ok_or(Reply::error("ERR the time must be milliseconds since 1970"))?;
    let inner = &words[2..];
    // Hosts are told of one key behind the time: a command with more would reach keys that they have not looked at.
    if !is(inner[0], NAME)
        && let Command::Change(change) = Command::parse(inner, config)?
        && change.sources().is_empty()
    {
        return Ok(Command::Change(change.at(Timestamp(time))));
    }
    Err(Reply::error(
        "ERR MAYHAP.AT is followed by a command of ours that writes, of one key",
    ))
}

impl Outcome {
    /// What has to be passed on where nothing else carries the time: of filters that forget, with it. `words` are the command's
    /// and `slot` is what it left.
    #[must_use]
    pub fn with_time(self, words: &[&[u8]], slot: &Slot, now: Timestamp) -> Self {
        // What is merged does not depend on the time, and has more than one key.
        let is_named = |names: [&str; 2]| {
            words
                .first()
                .is_some_and(|name| names.iter().any(|other| is(name, other)))
        };
        if !slot.is_timed() || is_named([NAME, "BF.MERGE"]) {
            return self;
        }
        let passed_on = match self.passed_on {
            PassedOn::AsItCame => {
                let words = words.iter().map(|word| word.to_vec());
                PassedOn::Instead(vec![at(now, words.collect())])
            }
            passed_on => passed_on,
        };
        Self { passed_on, ..self }.replaced_at(slot, now)
    }

    /// Other commands that are passed on in place of one have its time.
    pub(crate) fn replaced_at(self, slot: &Slot, time: Timestamp) -> Self {
        let passed_on = match self.passed_on {
            PassedOn::Instead(commands) if slot.is_timed() => {
                let is_timed = |words: &Words| words.first().is_some_and(|name| is(name, NAME));
                let timed = commands.into_iter().map(|words| {
                    if is_timed(&words) {
                        words
                    } else {
                        at(time, words)
                    }
                });
                PassedOn::Instead(timed.collect())
            }
            passed_on => passed_on,
        };
        Self { passed_on, ..self }
    }
}

fn at(now: Timestamp, command: Words) -> Words {
    let mut words = vec![NAME.as_bytes().to_vec(), now.0.to_string().into_bytes()];
    words.extend(command);
    words
}
