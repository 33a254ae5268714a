//! The server's own commands: one row each, of the same kind as the rows of the filter commands.

use super::long::RunsLong;
use super::subcommands::{self, Subcommand};
use super::{
    admin, client, connection, expiry, export, introspection, keys, strings, transaction, transfer,
};
use crate::call::{Call, CommandResult};
use crate::net::AfterReply;
use mayhap_command::{Arity, Categories, CommandSpec, Flags, KeyPositions};

/// How a command locks the keyspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeyspaceAccess {
    /// Not at all: it touches no keys, or locks them itself.
    Open,
    /// Shared: it works on one key, or on keys one after the other.
    Shared,
    /// Exclusive: it works on several keys at once.
    Exclusive,
}

/// A row of the table.
pub(crate) struct ServerCommand {
    pub(crate) spec: CommandSpec,
    pub(crate) keyspace_access: KeyspaceAccess,
    pub(crate) run: fn(&mut Call<'_>) -> CommandResult,
    /// The commands that are named by its second argument.
    pub(crate) subcommands: &'static [Subcommand],
    /// Keys that must not be leased to another command while it runs.
    pub(crate) locked_keys: KeyPositions,
    /// The key whose value is replaced, which a long command leases.
    pub(crate) replaced_key: Option<usize>,
    /// When it runs on a thread of its own.
    pub(crate) runs_long: RunsLong,
    pub(crate) after_reply: AfterReply,
}

/// The group of a command in `COMMAND DOCS`, which is an ACL category too.
#[derive(Clone, Copy)]
enum Group {
    Connection,
    Generic,
    Server,
    String,
    Transactions,
}

impl Group {
    const fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Generic => "generic",
            Self::Server => "server",
            Self::String => "string",
            Self::Transactions => "transactions",
        }
    }

    const fn category(self) -> Categories {
        match self {
            Self::Connection => Categories::CONNECTION,
            Self::Generic => Categories::KEYSPACE,
            Self::Server => Categories::SERVER,
            Self::String => Categories::STRING,
            Self::Transactions => Categories::TRANSACTIONS,
        }
    }
}

/// The ACL categories that follow from the flags.
const fn categories(flags: Flags) -> Categories {
    const CATEGORIES: [(Flags, Categories); 5] = [
        (Flags::READONLY, Categories::READ),
        (Flags::WRITE, Categories::WRITE),
        (Flags::ADMIN, Categories::ADMIN),
        (Flags::FAST, Categories::FAST),
        (Flags::BLOCKING, Categories::BLOCKING),
    ];
    let mut categories = Categories::NONE;
    let mut at = 0;
    while at < CATEGORIES.len() {
        let (flag, category) = CATEGORIES[at];
        if flags.contains(flag) {
            categories = categories.with(category);
        }
        at += 1;
    }
    categories
}

/// The arity of a Redis command: the number of arguments, the name included; negative means at least that many.
pub(super) const fn arity(reported: i32) -> Arity {
    let count = reported.unsigned_abs() as usize;
    if reported < 0 {
        Arity::at_least(count)
    } else {
        Arity::exactly(count)
    }
}

const fn spec(
    name: &'static str,
    arity: Arity,
    flags: Flags,
    keys: KeyPositions,
    group: Group,
    summary: &'static str,
) -> CommandSpec {
    CommandSpec {
        name,
        arity,
        flags,
        categories: categories(flags).with(group.category()),
        keys,
        group: group.name(),
        summary,
        complexity: "",
        since: "1.0.0",
        arguments: &[],
    }
}

/// Rows: name, arity, keyspace access, function, flags, keys, group, summary, and the fields that differ from the default.
macro_rules! commands {
    ($($name:literal $arity:literal $access:ident $run:path, [$($flag:ident)*] $keys:ident $group:ident $summary:literal $({ $($field:ident: $value:expr),* })?;)*) => {
        &[$({
            #[allow(unused_mut, reason = "most rows have the default")]
            let mut row = ServerCommand {
                spec: spec($name, arity($arity), Flags::NONE$(.with(Flags::$flag))*, KeyPositions::$keys, Group::$group, $summary),
                keyspace_access: KeyspaceAccess::$access,
                run: $run,
                subcommands: &[],
                locked_keys: KeyPositions::$keys,
                replaced_key: None,
                runs_long: RunsLong::Never,
                after_reply: AfterReply::GoOn,
            };
            $($(row.$field = $value;)*)?
            row
        }),*]
    };
}

pub(crate) static COMMANDS: &[ServerCommand] = commands! {
    "auth" -2 Open connection::auth, [NOSCRIPT LOADING STALE FAST NO_AUTH] NONE Connection "Authenticates the connection.";
    "bgrewriteaof" 1 Open admin::bgrewriteaof, [ADMIN NOSCRIPT NO_MULTI] NONE Server "Takes a snapshot in the background, after which older logs are removed.";
    "bgsave" -1 Open admin::bgsave, [ADMIN NOSCRIPT NO_MULTI] NONE Server "Takes a snapshot in the background.";
    "client" -2 Open client::client, [NOSCRIPT LOADING STALE] NONE Connection "Returns information about connections, names and closes them." { subcommands: subcommands::CLIENT };
    "command" -1 Open introspection::command, [LOADING STALE] NONE Server "Returns information about commands." { subcommands: subcommands::COMMAND };
    "config" -2 Open admin::config, [ADMIN NOSCRIPT LOADING STALE] NONE Server "Returns and changes settings." { subcommands: subcommands::CONFIG };
    "copy" -3 Exclusive keys::copy, [WRITE DENYOOM] TWO Generic "Copies a key." { runs_long: RunsLong::LargeKey, replaced_key: Some(2) };
    "dbsize" 1 Shared keys::dbsize, [READONLY FAST] NONE Server "Returns the number of keys.";
    "del" -2 Shared keys::del, [WRITE] ALL Generic "Removes keys.";
    "discard" 1 Open transaction::discard, [NOSCRIPT LOADING STALE FAST NOT_QUEUED] NONE Transactions "Discards a transaction.";
    "dump" 2 Shared transfer::dump, [READONLY] ONE Generic "Returns the serialized value of a key, for RESTORE." { runs_long: RunsLong::LargeKey };
    "echo" 2 Open connection::echo, [LOADING STALE FAST] NONE Connection "Returns its argument.";
    "exec" 1 Exclusive transaction::exec, [NOSCRIPT LOADING STALE NOT_QUEUED RUNS_COMMANDS] NONE Transactions "Runs the commands of a transaction." { runs_long: RunsLong::Transaction };
    "exists" -2 Shared keys::exists, [READONLY FAST] ALL Generic "Returns how many of the keys exist.";
    "expire" -3 Shared expiry::expire, [WRITE FAST] ONE Generic "Sets the time to live of a key in seconds.";
    "expireat" -3 Shared expiry::expire, [WRITE FAST] ONE Generic "Sets the expiry time of a key in seconds since 1970.";
    "expiretime" 2 Shared expiry::ttl, [READONLY FAST] ONE Generic "Returns the expiry time of a key in seconds since 1970.";
    "flushall" -1 Exclusive keys::flush, [WRITE ALL_KEYS] NONE Server "Removes all keys.";
    "flushdb" -1 Exclusive keys::flush, [WRITE ALL_KEYS] NONE Server "Removes all keys.";
    "get" 2 Shared strings::get, [READONLY FAST] ONE String "Returns the value of a string.";
    "hello" -1 Open connection::hello, [NOSCRIPT LOADING STALE FAST NO_AUTH] NONE Connection "Selects the protocol and authenticates.";
    "info" -1 Open introspection::info, [LOADING STALE] NONE Server "Returns information and statistics about the server." { runs_long: RunsLong::WithArguments };
    "keys" 2 Shared keys::keys, [READONLY] NONE Generic "Returns the keys that match a pattern." { runs_long: RunsLong::ManyKeys };
    "lastsave" 1 Open admin::lastsave, [LOADING STALE FAST] NONE Server "Returns the time of the last snapshot.";
    "latency" -2 Open introspection::latency, [ADMIN NOSCRIPT LOADING STALE] NONE Server "Latencies are not tracked by event: SLOWLOG lists slow commands." { subcommands: subcommands::LATENCY };
    "mayhap.export" -3 Open export::export, [READONLY NO_MULTI] ONE Server "Writes a filter into the data folder as a file, without the secret of its hash." { runs_long: RunsLong::LargeKey };
    "memory" -2 Shared introspection::memory, [READONLY] NONE Server "Returns the memory usage of a key." { subcommands: subcommands::MEMORY, locked_keys: KeyPositions::at(2) };
    "module" -2 Open introspection::module, [ADMIN NOSCRIPT] NONE Server "Returns the modules that clients look for." { subcommands: subcommands::MODULE };
    "multi" 1 Open transaction::multi, [NOSCRIPT LOADING STALE FAST NOT_QUEUED] NONE Transactions "Starts a transaction.";
    "object" -2 Shared introspection::object, [READONLY] NONE Generic "Returns how a key is stored." { subcommands: subcommands::OBJECT, locked_keys: KeyPositions::at(2) };
    "persist" 2 Shared expiry::persist, [WRITE FAST] ONE Generic "Removes the expiry time of a key.";
    "pexpire" -3 Shared expiry::expire, [WRITE FAST] ONE Generic "Sets the time to live of a key in milliseconds.";
    "pexpireat" -3 Shared expiry::expire, [WRITE FAST] ONE Generic "Sets the expiry time of a key in milliseconds since 1970.";
    "pexpiretime" 2 Shared expiry::ttl, [READONLY FAST] ONE Generic "Returns the expiry time of a key in milliseconds since 1970.";
    "ping" -1 Open connection::ping, [FAST] NONE Connection "Returns PONG.";
    "pttl" 2 Shared expiry::ttl, [READONLY FAST] ONE Generic "Returns the time to live of a key in milliseconds.";
    "quit" -1 Open connection::quit, [NOSCRIPT LOADING STALE FAST NO_AUTH NOT_QUEUED] NONE Connection "Closes the connection." { after_reply: AfterReply::CloseAfterReply };
    "randomkey" 1 Shared keys::randomkey, [READONLY] NONE Generic "Returns a random key.";
    "rename" 3 Exclusive keys::rename, [WRITE] TWO Generic "Renames a key.";
    "renamenx" 3 Exclusive keys::rename, [WRITE FAST] TWO Generic "Renames a key if the new name does not exist.";
    "reset" 1 Open connection::reset, [NOSCRIPT LOADING STALE FAST NO_AUTH NOT_QUEUED] NONE Connection "Resets the connection.";
    "restore" -4 Shared transfer::restore, [WRITE DENYOOM] ONE Generic "Creates a key from the serialized value that DUMP returned." { runs_long: RunsLong::LargeArgument, replaced_key: Some(1) };
    "role" 1 Open introspection::role, [NOSCRIPT LOADING STALE FAST] NONE Server "Returns the role: always master.";
    "save" 1 Open admin::save, [ADMIN NOSCRIPT NO_MULTI] NONE Server "Takes a snapshot and waits for it." { runs_long: RunsLong::Always };
    "scan" -2 Shared keys::scan, [READONLY] NONE Generic "Iterates over the keys.";
    "select" 2 Open connection::select, [LOADING STALE FAST] NONE Connection "Selects a database: only 0 exists.";
    "set" -3 Shared strings::set, [WRITE DENYOOM] ONE String "Sets the value of a string." { runs_long: RunsLong::LargeArgument, replaced_key: Some(1) };
    "shutdown" -1 Open admin::shutdown, [ADMIN NOSCRIPT LOADING STALE NO_MULTI IGNORES_PAUSE] NONE Server "Stops the server after writing everything to disk." { runs_long: RunsLong::WithSave, after_reply: AfterReply::ShutDown };
    "slowlog" -2 Open introspection::slowlog, [ADMIN LOADING STALE] NONE Server "Returns the slow log." { subcommands: subcommands::SLOWLOG };
    "strlen" 2 Shared strings::strlen, [READONLY FAST] ONE String "Returns the length of a string.";
    "time" 1 Open introspection::time, [LOADING STALE FAST] NONE Server "Returns the server time.";
    "touch" -2 Shared keys::exists, [READONLY FAST] ALL Generic "Returns how many of the keys exist.";
    "ttl" 2 Shared expiry::ttl, [READONLY FAST] ONE Generic "Returns the time to live of a key in seconds.";
    "type" 2 Shared keys::type_of, [READONLY FAST] ONE Generic "Returns the type of a key.";
    "unlink" -2 Shared keys::del, [WRITE FAST] ALL Generic "Removes keys.";
    "unwatch" 1 Open transaction::unwatch, [NOSCRIPT LOADING STALE FAST] NONE Transactions "Forgets the watched keys.";
    "wait" 3 Open introspection::wait, [BLOCKING] NONE Generic "Returns the number of replicas: always 0.";
    "watch" -2 Shared transaction::watch, [NOSCRIPT LOADING STALE FAST NOT_QUEUED] ALL Transactions "Lets EXEC fail if one of the keys changes first.";
};
