//! `MAYHAP.AT milliseconds command ..`: a command with the time at which it ran first. Hosts whose logs and replicas carry no times
//! pass commands on window filters on like this: a window filter is identical everywhere only if every host uses the same time.

use crate::command::{ApplyWrite, Write};
use crate::outcome::OwnedCommand;
use crate::parse::{integer, is};
use crate::spec::Args;
use crate::{Command, Context, Outcome, Replication, Reply, Slot};
use mayhap_core::Timestamp;

const NAME: &str = "MAYHAP.AT";

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct At<'a> {
    time: Timestamp,
    command: Box<Write<'a>>,
}

impl<'a> At<'a> {
    pub(crate) fn new(time: Timestamp, command: Write<'a>) -> Self {
        Self {
            time,
            command: Box::new(command),
        }
    }

    pub(crate) fn parse(args: &Args<'_, 'a>) -> Result<Command<'a>, Reply> {
        let time = integer(args.argv[1]).and_then(|time| u64::try_from(time).ok());
        let time = time.ok_or(Reply::error("ERR the time must be milliseconds since 1970"))?;
        let carried = &args.argv[2..];
        // Hosts know of one key after the time. A command with more keys would reach keys that the host has not opened.
        if !is(carried[0], NAME)
            && let Command::Write(write) = Command::parse(carried, args.config)?
            && write.sources().is_empty()
        {
            return Ok(Command::Write(write.at(Timestamp(time))));
        }
        Err(Reply::error(
            "ERR MAYHAP.AT must be followed by a filter command that writes one key",
        ))
    }
}

impl<'a> ApplyWrite<'a> for At<'a> {
    fn apply(
        &self,
        _key: &[u8],
        slot: &mut Slot,
        sources: &[&Slot],
        context: &Context<'_>,
    ) -> Outcome {
        let now = self.time;
        let outcome = self
            .command
            .apply(slot, sources, &Context { now, ..*context });
        outcome.with_rewritten_at(slot, now)
    }

    fn may_grow(&self, slot: &Slot) -> bool {
        self.command.may_grow(slot)
    }
}

impl Write<'_> {
    /// Adds the time to what is replicated, if the filter depends on it: for hosts whose logs and replicas carry no times. `argv` are the
    /// command's arguments and `slot` is the value that it left.
    #[must_use]
    pub fn with_time(
        &self,
        outcome: Outcome,
        argv: &[&[u8]],
        slot: &Slot,
        now: Timestamp,
    ) -> Outcome {
        if !slot.is_timed() || self.is_independent_of_time() {
            return outcome;
        }
        let replication = match outcome.replication {
            Replication::Verbatim => {
                let argv = argv.iter().map(|argument| argument.to_vec());
                Replication::Rewritten(vec![at(now, argv.collect())])
            }
            replication @ (Replication::None
            | Replication::Unchanged
            | Replication::Rewritten(_)) => replication,
        };
        Outcome {
            replication,
            ..outcome
        }
        .with_rewritten_at(slot, now)
    }
}

impl Outcome {
    /// Adds the time to rewritten commands.
    fn with_rewritten_at(self, slot: &Slot, time: Timestamp) -> Self {
        let replication = match self.replication {
            Replication::Rewritten(commands) if slot.is_timed() => {
                let is_timed =
                    |command: &OwnedCommand| command.first().is_some_and(|name| is(name, NAME));
                let timed = commands.into_iter().map(|command| {
                    if is_timed(&command) {
                        command
                    } else {
                        at(time, command)
                    }
                });
                Replication::Rewritten(timed.collect())
            }
            replication => replication,
        };
        Self {
            replication,
            ..self
        }
    }
}

fn at(now: Timestamp, command: OwnedCommand) -> OwnedCommand {
    let mut timed = vec![NAME.as_bytes().to_vec(), now.0.to_string().into_bytes()];
    timed.extend(command);
    timed
}
