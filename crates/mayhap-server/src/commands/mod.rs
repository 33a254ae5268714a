//! All commands: the vocabulary of filters is `mayhap-command`'s, the rest is here, a file a topic.

#![expect(clippy::unnecessary_wraps, reason = "all commands have one shape")]

mod admin;
mod client;
mod connection;
mod expiry;
mod export;
mod filter;
mod introspection;
mod keys;
pub(crate) mod long;
#[cfg(test)]
mod panics;
mod strings;
mod subcommands;
mod table;
pub(crate) mod transaction;
mod transfer;

pub(crate) use table::{COMMANDS, KeyspaceAccess, ServerCommand};

use crate::call::{Call, CommandError, CommandResult, lossy};
use crate::net::AfterReply;
use mayhap_command::{Command, Specification};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

/// A command that is known and has as many words as it may.
#[derive(Clone, Copy)]
pub(crate) enum ResolvedCommand {
    Own(&'static ServerCommand),
    Filter(&'static Specification),
}

static BY_NAME: LazyLock<HashMap<&'static [u8], &'static ServerCommand>> = LazyLock::new(|| {
    let named = COMMANDS.iter().map(|own| (own.name.as_bytes(), own));
    named.collect()
});

/// One of the server's own, in whatever case.
pub(crate) fn own(name: &[u8]) -> Option<&'static ServerCommand> {
    let mut lower = [0; 16];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    #[cfg(test)]
    if lower == panics::PANIC.name.as_bytes() {
        return Some(&panics::PANIC);
    }
    BY_NAME.get(&*lower).copied()
}

/// What a request asks for.
///
/// # Errors
/// There is no such command, or it has too many words or too few.
pub(crate) fn find(words: &[&[u8]]) -> Result<ResolvedCommand, CommandError> {
    let name = words.first().copied().unwrap_or_default();
    let (found, fits) = if let Some(specification) = mayhap_command::find(name) {
        let fits = (specification.fewest..=specification.most).contains(&words.len());
        (ResolvedCommand::Filter(specification), fits)
    } else if let Some(own) = own(name) {
        (
            ResolvedCommand::Own(own),
            table::takes(own.arity, words.len()),
        )
    } else {
        return Err(unknown(words));
    };
    if !fits {
        let name = found.name();
        return Err(format!("ERR wrong number of arguments for '{name}' command").into());
    }
    if let ResolvedCommand::Own(own) = found {
        subcommands::check(own, words)?;
    }
    Ok(found)
}

fn unknown(words: &[&[u8]]) -> CommandError {
    let mut text = "ERR unknown command '".to_owned();
    let _ = write!(
        text,
        "{}', with args beginning with: ",
        lossy(words.first().copied().unwrap_or_default())
    );
    for word in words.iter().skip(1) {
        if text.len() > 256 {
            break;
        }
        let _ = write!(text, "'{}' ", lossy(word));
    }
    text.into()
}

impl ResolvedCommand {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Own(own) => own.name,
            Self::Filter(specification) => specification.name,
        }
    }

    /// The same with the part that is asked for: `client|list`.
    pub(crate) fn full_name(self, words: &[&[u8]]) -> &'static str {
        match self {
            Self::Own(own) => subcommands::name(own, words),
            Self::Filter(specification) => specification.name,
        }
    }

    /// Whether one who has not given the password may use it.
    pub(crate) fn allowed_before_auth(self) -> bool {
        matches!(self.name(), "auth" | "hello" | "quit" | "reset")
    }

    /// Whether CLIENT PAUSE does not hold it.
    pub(crate) fn ends_pause(self, words: &[&[u8]]) -> bool {
        matches!(self.full_name(words), "client|unpause" | "shutdown")
    }

    /// Whether it may change keys.
    pub(crate) fn is_change(self) -> bool {
        match self {
            Self::Own(own) => {
                own.name == "exec" || own.flags.split(' ').any(|flag| flag == "write")
            }
            Self::Filter(specification) => specification.flags.contains(&"write"),
        }
    }

    /// Whether it is not queued after MULTI.
    pub(crate) fn ends_queueing(self) -> bool {
        matches!(
            self.name(),
            "exec" | "discard" | "multi" | "watch" | "reset" | "quit"
        )
    }

    pub(crate) fn next(self) -> AfterReply {
        match self.name() {
            "quit" => AfterReply::CloseAfterReply,
            "shutdown" => AfterReply::ShutDown,
            _ => AfterReply::GoOn,
        }
    }

    pub(crate) fn keyspace_access(self, words: &[&[u8]]) -> KeyspaceAccess {
        match self {
            Self::Own(own) => own.keyspace_access,
            // The only one with several keys.
            Self::Filter(specification) if specification.name == "bf.merge" && words.len() > 2 => {
                KeyspaceAccess::Exclusive
            }
            Self::Filter(_) => KeyspaceAccess::Shared,
        }
    }

    pub(crate) fn run(self, call: &mut Call<'_>) -> CommandResult {
        match self {
            Self::Own(own) if subcommands::help(own, call.words, &mut call.out) => Ok(()),
            Self::Own(own) => (own.run)(call),
            Self::Filter(specification) => {
                let settings = call.engine.settings.load();
                match Command::parse(call.words, &settings.filters) {
                    Ok(command) => filter::run(call, specification, &command, &settings),
                    Err(reply) => {
                        call.out.reply(&reply);
                        Ok(())
                    }
                }
            }
        }
    }
}
