//! All commands of the server: the filter commands are `mayhap-command`'s, the server's own are here, one file per topic.

#![expect(
    clippy::unnecessary_wraps,
    reason = "all commands have the same signature"
)]

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
use mayhap_command::{CommandSpec, FilterCommand, Flags};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

/// The row of a command.
#[derive(Clone, Copy)]
pub(crate) enum ResolvedCommand {
    Server(&'static ServerCommand),
    Filter(&'static FilterCommand),
}

static BY_NAME: LazyLock<HashMap<&'static [u8], &'static ServerCommand>> = LazyLock::new(|| {
    let rows = COMMANDS.iter();
    rows.map(|row| (row.spec.name.as_bytes(), row)).collect()
});

/// Finds one of the server's own commands by its name, ignoring case.
fn find_server_command(name: &[u8]) -> Option<&'static ServerCommand> {
    let mut lower = [0; 16];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    #[cfg(test)]
    if lower == panics::PANIC.spec.name.as_bytes() {
        return Some(&panics::PANIC);
    }
    BY_NAME.get(&*lower).copied()
}

/// Finds a command by its name, ignoring case.
fn find(name: &[u8]) -> Option<ResolvedCommand> {
    match mayhap_command::find(name) {
        Some(row) => Some(ResolvedCommand::Filter(row)),
        None => find_server_command(name).map(ResolvedCommand::Server),
    }
}

/// Finds the command of a request and checks the number of its arguments.
///
/// # Errors
/// If there is no such command, or it has too many or too few arguments.
pub(crate) fn resolve(argv: &[&[u8]]) -> Result<ResolvedCommand, CommandError> {
    let name = argv.first().copied().unwrap_or_default();
    let command = find(name).ok_or_else(|| unknown(argv))?;
    if !command.spec().arity.accepts(argv.len()) {
        let name = command.spec().name;
        return Err(format!("ERR wrong number of arguments for '{name}' command").into());
    }
    if let ResolvedCommand::Server(row) = command {
        subcommands::check(row, argv)?;
    }
    Ok(command)
}

fn unknown(argv: &[&[u8]]) -> CommandError {
    let mut text = "ERR unknown command '".to_owned();
    let _ = write!(
        text,
        "{}', with args beginning with: ",
        lossy(argv.first().copied().unwrap_or_default())
    );
    for argument in argv.iter().skip(1) {
        if text.len() > 256 {
            break;
        }
        let _ = write!(text, "'{}' ", lossy(argument));
    }
    text.into()
}

impl ResolvedCommand {
    pub(crate) fn spec(self) -> &'static CommandSpec {
        match self {
            Self::Server(row) => &row.spec,
            Self::Filter(row) => &row.spec,
        }
    }

    fn has(self, flag: Flags) -> bool {
        self.spec().flags.contains(flag)
    }

    /// The name with the subcommand: `client|list`.
    pub(crate) fn full_name(self, argv: &[&[u8]]) -> &'static str {
        match self {
            Self::Server(row) => subcommands::full_name(row, argv),
            Self::Filter(row) => row.spec.name,
        }
    }

    /// Whether clients may use it before they have authenticated.
    pub(crate) fn allowed_before_auth(self) -> bool {
        self.has(Flags::NO_AUTH)
    }

    /// Whether `CLIENT PAUSE` does not hold it back.
    pub(crate) fn ignores_pause(self, argv: &[&[u8]]) -> bool {
        self.has(Flags::IGNORES_PAUSE) || self.full_name(argv) == "client|unpause"
    }

    /// Whether it may change keys.
    pub(crate) fn is_change(self) -> bool {
        self.has(Flags::WRITE) || self.has(Flags::RUNS_COMMANDS)
    }

    /// Whether it runs at once after MULTI, instead of being queued.
    pub(crate) fn is_never_queued(self) -> bool {
        self.has(Flags::NOT_QUEUED)
    }

    /// Whether it may be part of a transaction.
    fn allowed_in_transaction(self) -> bool {
        !self.has(Flags::NO_MULTI)
    }

    pub(crate) fn after_reply(self) -> AfterReply {
        match self {
            Self::Server(row) => row.after_reply,
            Self::Filter(_) => AfterReply::GoOn,
        }
    }

    pub(crate) fn keyspace_access(self) -> KeyspaceAccess {
        match self {
            Self::Server(row) => row.keyspace_access,
            Self::Filter(row) if row.spec.keys.are_several() => KeyspaceAccess::Exclusive,
            Self::Filter(_) => KeyspaceAccess::Shared,
        }
    }

    pub(crate) fn run(self, call: &mut Call<'_>) -> CommandResult {
        match self {
            Self::Server(row) if subcommands::help(row, call.args, &mut call.out) => Ok(()),
            Self::Server(row) => (row.run)(call),
            Self::Filter(row) => filter::run(call, row),
        }
    }
}
