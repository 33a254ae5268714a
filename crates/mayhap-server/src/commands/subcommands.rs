//! Subcommands: their names, how many arguments they take, and what HELP replies.

use super::ServerCommand;
use super::table::arity;
use crate::call::{CommandError, lossy};
use mayhap_command::{Arity, RespWriter};

pub(crate) struct Subcommand {
    /// As Redis names it: `client|list`.
    pub(crate) name: &'static str,
    arity: Arity,
    /// The arguments after the name.
    arguments: &'static str,
    summary: &'static str,
}

macro_rules! subcommands {
    ($($name:literal $arity:literal $arguments:literal $summary:literal;)*) => {
        &[$(Subcommand {
            name: $name,
            arity: arity($arity),
            arguments: $arguments,
            summary: $summary,
        }),*]
    };
}

pub(super) const CLIENT: &[Subcommand] = subcommands! {
    "client|getname" 2 "" "Return the name of the current connection.";
    "client|help" 2 "" "Print this help.";
    "client|id" 2 "" "Return the ID of the current connection.";
    "client|info" 2 "" "Return information about the current connection.";
    "client|kill" -3 "<ip:port> | [ID <id>] [ADDR <ip:port>] [LADDR <ip:port>] [TYPE normal] [USER <name>] [SKIPME yes|no]" "Close connections.";
    "client|list" -2 "[TYPE normal] [ID <id> ...]" "Return information about connections.";
    "client|no-evict" 3 "ON|OFF" "Accepted and ignored: connections are closed only by the limits.";
    "client|no-touch" 3 "ON|OFF" "Accepted and ignored: the last use of keys is not tracked.";
    "client|pause" -3 "<milliseconds> [WRITE|ALL]" "Hold back all commands, or those that write.";
    "client|reply" 3 "ON|OFF|SKIP" "Control the replies sent to the current connection.";
    "client|setinfo" 4 "LIB-NAME|LIB-VER <value>" "Set the library name or version of the current connection.";
    "client|setname" 3 "<name>" "Set the name of the current connection.";
    "client|tracking" -3 "OFF" "Only OFF: invalidation messages are not supported.";
    "client|unpause" 2 "" "End CLIENT PAUSE.";
};
pub(super) const COMMAND: &[Subcommand] = subcommands! {
    "command|count" 2 "" "Return the number of commands.";
    "command|docs" -2 "[<command> ...]" "Return documentation of commands.";
    "command|getkeys" -3 "<command> [<argument> ...]" "Return the keys of a full command.";
    "command|help" 2 "" "Print this help.";
    "command|info" -2 "[<command> ...]" "Return details about commands.";
    "command|list" -2 "" "Return the names of all commands.";
};
pub(super) const CONFIG: &[Subcommand] = subcommands! {
    "config|get" -3 "<pattern> [<pattern> ...]" "Return settings and their values.";
    "config|help" 2 "" "Print this help.";
    "config|resetstat" 2 "" "Set the counters of INFO to zero.";
    "config|rewrite" 2 "" "Not possible: settings are options of `mayhap serve`.";
    "config|set" -4 "<name> <value> [<name> <value> ...]" "Change settings, all of them or none.";
};
pub(super) const LATENCY: &[Subcommand] = subcommands! {
    "latency|doctor" 2 "" "Return where to find latencies.";
    "latency|help" 2 "" "Print this help.";
    "latency|histogram" -2 "[<command> ...]" "Always empty: latencies are not tracked by command.";
    "latency|history" 3 "<event>" "Always empty: latencies are not tracked by event.";
    "latency|latest" 2 "" "Always empty: latencies are not tracked by event.";
    "latency|reset" -2 "[<event> ...]" "Return 0: there is nothing to reset.";
};
pub(super) const MEMORY: &[Subcommand] = subcommands! {
    "memory|help" 2 "" "Print this help.";
    "memory|usage" -3 "<key> [SAMPLES <count>]" "Return the memory usage of a key in bytes.";
};
pub(super) const MODULE: &[Subcommand] = subcommands! {
    "module|help" 2 "" "Print this help.";
    "module|list" 2 "" "Return the modules that clients look for.";
};
pub(super) const OBJECT: &[Subcommand] = subcommands! {
    "object|encoding" 3 "<key>" "Return how the value of a key is stored.";
    "object|freq" 3 "<key>" "Not tracked: nothing is evicted.";
    "object|help" 2 "" "Print this help.";
    "object|idletime" 3 "<key>" "Always 0: not tracked, since nothing is evicted.";
    "object|refcount" 3 "<key>" "Always 1.";
};
pub(super) const SLOWLOG: &[Subcommand] = subcommands! {
    "slowlog|get" -2 "[<count>]" "Return the newest <count> entries, -1 for all; 10 by default.";
    "slowlog|help" 2 "" "Print this help.";
    "slowlog|len" 2 "" "Return the number of entries.";
    "slowlog|reset" 2 "" "Remove all entries.";
};

impl Subcommand {
    /// Without the name of the command.
    fn short_name(&self) -> &'static str {
        self.name.rsplit('|').next().unwrap_or_default()
    }
}

fn find(command: &ServerCommand, name: &[u8]) -> Option<&'static Subcommand> {
    let is_named = |one: &&Subcommand| name.eq_ignore_ascii_case(one.short_name().as_bytes());
    command.subcommands.iter().find(is_named)
}

/// `client|list`, or the command's own name if it has no subcommands.
pub(super) fn full_name(command: &'static ServerCommand, argv: &[&[u8]]) -> &'static str {
    let subcommand = argv.get(1).and_then(|name| find(command, name));
    subcommand.map_or(command.spec.name, |subcommand| subcommand.name)
}

/// Checks that the subcommand exists and has a valid number of arguments.
pub(super) fn check(command: &ServerCommand, argv: &[&[u8]]) -> Result<(), CommandError> {
    let [_, name, ..] = argv else {
        return Ok(());
    };
    if command.subcommands.is_empty() {
        return Ok(());
    }
    let Some(subcommand) = find(command, name) else {
        let (name, command) = (lossy(name), command.spec.name.to_ascii_uppercase());
        return Err(format!("ERR unknown subcommand '{name}'. Try {command} HELP.").into());
    };
    if subcommand.arity.accepts(argv.len()) {
        return Ok(());
    }
    let name = subcommand.name;
    Err(format!("ERR wrong number of arguments for '{name}' command").into())
}

/// Replies to HELP; `false` if the subcommand is another.
pub(super) fn help(command: &ServerCommand, argv: &[&[u8]], out: &mut RespWriter<'_>) -> bool {
    let is_help = matches!(argv, [_, name] if name.eq_ignore_ascii_case(b"help"));
    if command.subcommands.is_empty() || !is_help {
        return false;
    }
    out.array(1 + 2 * command.subcommands.len());
    let name = command.spec.name.to_ascii_uppercase();
    out.simple(&format!(
        "{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"
    ));
    for subcommand in command.subcommands {
        let name = subcommand.short_name().to_ascii_uppercase();
        out.simple(format!("{name} {}", subcommand.arguments).trim_end());
        out.simple(&format!("    {}", subcommand.summary));
    }
    true
}
