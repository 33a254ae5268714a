//! Commands that have commands of their own, how many words these take, and what HELP says of them.

use super::ServerCommand;
use crate::call::{CommandError, lossy};
use crate::reply_writer::ReplyWriter;

struct Subcommand {
    /// As Redis names it.
    name: &'static str,
    /// The number of words as Redis counts: all of them; negative is at least so many.
    arity: i32,
    /// What comes behind the name.
    arguments: &'static str,
    summary: &'static str,
}

macro_rules! parts {
    ($($name:literal $arity:literal $arguments:literal $summary:literal;)*) => {
        &[$(Subcommand {
            name: $name,
            arity: $arity,
            arguments: $arguments,
            summary: $summary,
        }),*]
    };
}

const CLIENT: &[Subcommand] = parts! {
    "client|getname" 2 "" "Return the name of the current connection.";
    "client|help" 2 "" "Print this help.";
    "client|id" 2 "" "Return the ID of the current connection.";
    "client|info" 2 "" "Return information about the current connection.";
    "client|kill" -3 "<ip:port> | [ID <id>] [ADDR <ip:port>] [LADDR <ip:port>] [TYPE normal] [USER <name>] [SKIPME yes|no]" "Close connections.";
    "client|list" -2 "[TYPE normal] [ID <id> ...]" "Return information about connections.";
    "client|no-evict" 3 "ON|OFF" "Accepted: connections are closed only as the limits say.";
    "client|no-touch" 3 "ON|OFF" "Accepted: no command changes when a key was last used.";
    "client|pause" -3 "<milliseconds> [WRITE|ALL]" "Let all commands, or those that change something, wait.";
    "client|reply" 3 "ON|OFF|SKIP" "Control the replies sent to the current connection.";
    "client|setinfo" 4 "LIB-NAME|LIB-VER <value>" "Set what the current connection says of its library.";
    "client|setname" 3 "<name>" "Set the name of the current connection.";
    "client|tracking" -3 "OFF" "Only OFF: clients are not told of changes.";
    "client|unpause" 2 "" "End CLIENT PAUSE.";
};
const COMMAND: &[Subcommand] = parts! {
    "command|count" 2 "" "Return the number of commands.";
    "command|docs" -2 "[<command> ...]" "Return what commands are for.";
    "command|getkeys" -3 "<command> [<argument> ...]" "Return the keys of a full command.";
    "command|help" 2 "" "Print this help.";
    "command|info" -2 "[<command> ...]" "Return details about commands.";
    "command|list" -2 "" "Return the names of all commands.";
};
const CONFIG: &[Subcommand] = parts! {
    "config|get" -3 "<pattern> [<pattern> ...]" "Return settings and their values.";
    "config|help" 2 "" "Print this help.";
    "config|resetstat" 2 "" "Set the counters of INFO to zero.";
    "config|rewrite" 2 "" "Not possible: settings are options of `mayhap serve`.";
    "config|set" -4 "<name> <value> [<name> <value> ...]" "Change settings, all of them or none.";
};
const LATENCY: &[Subcommand] = parts! {
    "latency|doctor" 2 "" "Say where to look.";
    "latency|help" 2 "" "Print this help.";
    "latency|histogram" -2 "[<command> ...]" "Always empty: latencies are not tracked by command.";
    "latency|history" 3 "<event>" "Always empty: latencies are not tracked by event.";
    "latency|latest" 2 "" "Always empty: latencies are not tracked by event.";
    "latency|reset" -2 "[<event> ...]" "Return 0: there is nothing to forget.";
};
const MEMORY: &[Subcommand] = parts! {
    "memory|help" 2 "" "Print this help.";
    "memory|usage" -3 "<key> [SAMPLES <count>]" "Return the bytes that a key takes.";
};
const MODULE: &[Subcommand] = parts! {
    "module|help" 2 "" "Print this help.";
    "module|list" 2 "" "Return the modules that a client would find.";
};
const OBJECT: &[Subcommand] = parts! {
    "object|encoding" 3 "<key>" "Return how the value of a key is kept.";
    "object|freq" 3 "<key>" "Not tracked: nothing is evicted.";
    "object|help" 2 "" "Print this help.";
    "object|idletime" 3 "<key>" "Always 0: not tracked, since nothing is evicted.";
    "object|refcount" 3 "<key>" "Always 1.";
};
const SLOWLOG: &[Subcommand] = parts! {
    "slowlog|get" -2 "[<count>]" "Return the newest <count> entries, -1 for all; 10 by default.";
    "slowlog|help" 2 "" "Print this help.";
    "slowlog|len" 2 "" "Return the number of entries.";
    "slowlog|reset" 2 "" "Remove all entries.";
};

fn subcommands_of(own: &ServerCommand) -> &'static [Subcommand] {
    match own.name {
        "client" => CLIENT,
        "command" => COMMAND,
        "config" => CONFIG,
        "latency" => LATENCY,
        "memory" => MEMORY,
        "module" => MODULE,
        "object" => OBJECT,
        "slowlog" => SLOWLOG,
        _ => &[],
    }
}

impl Subcommand {
    /// Without the name of the command.
    fn own_name(&self) -> &'static str {
        self.name.rsplit('|').next().unwrap_or_default()
    }
}

fn find(own: &ServerCommand, word: &[u8]) -> Option<&'static Subcommand> {
    let is_named = |part: &&Subcommand| word.eq_ignore_ascii_case(part.own_name().as_bytes());
    subcommands_of(own).iter().find(is_named)
}

/// `client|list`, or the command's own name when it has no parts.
pub(super) fn name(own: &'static ServerCommand, words: &[&[u8]]) -> &'static str {
    let part = words.get(1).and_then(|word| find(own, word));
    part.map_or(own.name, |part| part.name)
}

/// Whether there is such a part, with as many words as it may have.
pub(super) fn check(own: &ServerCommand, words: &[&[u8]]) -> Result<(), CommandError> {
    let [_, word, ..] = words else {
        return Ok(());
    };
    if subcommands_of(own).is_empty() {
        return Ok(());
    }
    let Some(part) = find(own, word) else {
        let (word, command) = (lossy(word), own.name.to_ascii_uppercase());
        return Err(format!("ERR unknown subcommand '{word}'. Try {command} HELP.").into());
    };
    if super::table::takes(part.arity, words.len()) {
        return Ok(());
    }
    let name = part.name;
    Err(format!("ERR wrong number of arguments for '{name}' command").into())
}

/// Answers HELP, if that is what was asked for.
pub(super) fn help(own: &ServerCommand, words: &[&[u8]], out: &mut ReplyWriter<'_>) -> bool {
    let parts = subcommands_of(own);
    let is_help = matches!(words, [_, word] if word.eq_ignore_ascii_case(b"help"));
    if parts.is_empty() || !is_help {
        return false;
    }
    out.array(1 + 2 * parts.len());
    let command = own.name.to_ascii_uppercase();
    out.simple(&format!(
        "{command} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"
    ));
    for part in parts {
        let name = part.own_name().to_ascii_uppercase();
        out.simple(format!("{name} {}", part.arguments).trim_end());
        out.simple(&format!("    {}", part.summary));
    }
    true
}
