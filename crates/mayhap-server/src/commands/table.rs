//! The server's own commands.

use super::{
    admin, client, connection, expiry, export, introspection, keys, strings, transaction, transfer,
};
use crate::call::{Call, CommandResult};

/// What a command needs to have for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeyspaceAccess {
    /// No keys are touched, or the command sees to it.
    Open,
    /// One key, or keys one after the other.
    Shared,
    /// Several keys at once.
    Exclusive,
}

pub(crate) struct ServerCommand {
    /// In lower case.
    pub(crate) name: &'static str,
    /// As Redis counts: the words, the name included; negative is at least so many.
    pub(crate) arity: i32,
    pub(crate) keyspace_access: KeyspaceAccess,
    pub(crate) run: fn(&mut Call<'_>) -> CommandResult,
    /// For `COMMAND`: flags, then the first key, the last and the step.
    pub(crate) flags: &'static str,
    pub(crate) keys: (i32, i32, i32),
    pub(crate) group: &'static str,
    pub(crate) summary: &'static str,
}

/// Whether a command of this arity may have so many words.
pub(super) fn takes(arity: i32, words: usize) -> bool {
    let least = arity.unsigned_abs() as usize;
    words == least || (arity < 0 && words > least)
}

const NONE: (i32, i32, i32) = (0, 0, 0);
const ONE: (i32, i32, i32) = (1, 1, 1);
const TWO: (i32, i32, i32) = (1, 2, 1);
const ALL: (i32, i32, i32) = (1, -1, 1);

macro_rules! commands {
    ($($name:literal $arity:literal $keyspace_access:ident $run:path, $flags:literal $keys:ident $group:literal $summary:literal;)*) => {
        &[$(ServerCommand {
            name: $name,
            arity: $arity,
            keyspace_access: KeyspaceAccess::$keyspace_access,
            run: $run,
            flags: $flags,
            keys: $keys,
            group: $group,
            summary: $summary,
        }),*]
    };
}

pub(crate) const COMMANDS: &[ServerCommand] = commands! {
    "auth" -2 Open connection::auth, "noscript loading stale fast no-auth" NONE "connection" "Gives the password.";
    "bgrewriteaof" 1 Open admin::bgrewriteaof, "admin noscript no-multi" NONE "server" "Takes a snapshot in the background, after which older logs are removed.";
    "bgsave" -1 Open admin::bgsave, "admin noscript no-multi" NONE "server" "Takes a snapshot in the background.";
    "client" -2 Open client::client, "noscript loading stale" NONE "connection" "Tells about connections, names and closes them.";
    "command" -1 Open introspection::command, "loading stale" NONE "server" "Tells about commands.";
    "config" -2 Open admin::config, "admin noscript loading stale" NONE "server" "Shows and changes settings.";
    "copy" -3 Exclusive keys::copy, "write denyoom" TWO "generic" "Copies a key.";
    "dbsize" 1 Shared keys::dbsize, "readonly fast" NONE "server" "Number of keys.";
    "del" -2 Shared keys::del, "write" ALL "generic" "Removes keys.";
    "discard" 1 Open transaction::discard, "noscript loading stale fast" NONE "transactions" "Forgets what came after MULTI.";
    "dump" 2 Shared transfer::dump, "readonly" ONE "generic" "The value of a key, packed for RESTORE.";
    "echo" 2 Open connection::echo, "loading stale fast" NONE "connection" "Says the same.";
    "exec" 1 Exclusive transaction::exec, "noscript loading stale" NONE "transactions" "Does what came after MULTI, as one.";
    "exists" -2 Shared keys::exists, "readonly fast" ALL "generic" "How many of the keys are there.";
    "expire" -3 Shared expiry::expire, "write fast" ONE "generic" "Removes a key after some seconds.";
    "expireat" -3 Shared expiry::expire, "write fast" ONE "generic" "Removes a key at a time in seconds.";
    "expiretime" 2 Shared expiry::ttl, "readonly fast" ONE "generic" "When a key goes away, in seconds.";
    "flushall" -1 Exclusive keys::flush, "write" NONE "server" "Removes all keys.";
    "flushdb" -1 Exclusive keys::flush, "write" NONE "server" "Removes all keys.";
    "get" 2 Shared strings::get, "readonly fast" ONE "string" "The value of a string.";
    "hello" -1 Open connection::hello, "noscript loading stale fast no-auth" NONE "connection" "Agrees on the protocol.";
    "info" -1 Open introspection::info, "loading stale" NONE "server" "How the server is.";
    "keys" 2 Shared keys::keys, "readonly" NONE "generic" "The keys whose names fit a pattern.";
    "lastsave" 1 Open admin::lastsave, "loading stale fast" NONE "server" "When the last snapshot was taken.";
    "latency" -2 Open introspection::latency, "admin noscript loading stale" NONE "server" "Latencies are not tracked by event: SLOWLOG has commands that took long.";
    "mayhap.export" -3 Open export::export, "readonly no-multi" ONE "server" "Writes a filter into the data folder, without the secret of its hash.";
    "memory" -2 Shared introspection::memory, "readonly" NONE "server" "What a key takes.";
    "module" -2 Open introspection::module, "admin noscript" NONE "server" "Which modules a client would find.";
    "multi" 1 Open transaction::multi, "noscript loading stale fast" NONE "transactions" "Begins a transaction.";
    "object" -2 Shared introspection::object, "readonly" NONE "generic" "How a key is kept.";
    "persist" 2 Shared expiry::persist, "write fast" ONE "generic" "Lets a key stay.";
    "pexpire" -3 Shared expiry::expire, "write fast" ONE "generic" "Removes a key after some milliseconds.";
    "pexpireat" -3 Shared expiry::expire, "write fast" ONE "generic" "Removes a key at a time in milliseconds.";
    "pexpiretime" 2 Shared expiry::ttl, "readonly fast" ONE "generic" "When a key goes away, in milliseconds.";
    "ping" -1 Open connection::ping, "fast" NONE "connection" "Answers PONG.";
    "pttl" 2 Shared expiry::ttl, "readonly fast" ONE "generic" "How long a key stays, in milliseconds.";
    "quit" -1 Open connection::quit, "noscript loading stale fast no-auth" NONE "connection" "Closes the connection.";
    "randomkey" 1 Shared keys::randomkey, "readonly" NONE "generic" "Some key.";
    "rename" 3 Exclusive keys::rename, "write" TWO "generic" "Gives a key another name.";
    "renamenx" 3 Exclusive keys::rename, "write fast" TWO "generic" "Gives a key another name, if that is free.";
    "reset" 1 Open connection::reset, "noscript loading stale fast no-auth" NONE "connection" "Makes the connection as new.";
    "restore" -4 Shared transfer::restore, "write denyoom" ONE "generic" "Makes a key of what DUMP gave.";
    "role" 1 Open introspection::role, "noscript loading stale fast" NONE "server" "Always master.";
    "save" 1 Open admin::save, "admin noscript no-multi" NONE "server" "Takes a snapshot and waits for it.";
    "scan" -2 Shared keys::scan, "readonly" NONE "generic" "Goes through all keys.";
    "select" 2 Open connection::select, "loading stale fast" NONE "connection" "There is database 0 only.";
    "set" -3 Shared strings::set, "write denyoom" ONE "string" "Sets a string.";
    "shutdown" -1 Open admin::shutdown, "admin noscript loading stale no-multi" NONE "server" "Ends the server; everything is on the disk then.";
    "slowlog" -2 Open introspection::slowlog, "admin loading stale" NONE "server" "Commands that took long.";
    "strlen" 2 Shared strings::strlen, "readonly fast" ONE "string" "The length of a string.";
    "time" 1 Open introspection::time, "loading stale fast" NONE "server" "The server's clock.";
    "touch" -2 Shared keys::exists, "readonly fast" ALL "generic" "How many of the keys are there.";
    "ttl" 2 Shared expiry::ttl, "readonly fast" ONE "generic" "How long a key stays, in seconds.";
    "type" 2 Shared keys::type_of, "readonly fast" ONE "generic" "What a key holds.";
    "unlink" -2 Shared keys::del, "write fast" ALL "generic" "Removes keys.";
    "unwatch" 1 Open transaction::unwatch, "noscript loading stale fast" NONE "transactions" "Forgets what WATCH asked for.";
    "wait" 3 Open introspection::wait, "blocking" NONE "generic" "There are no replicas: 0.";
    "watch" -2 Shared transaction::watch, "noscript loading stale fast" ALL "transactions" "Lets EXEC do nothing if one of the keys changes before.";
};
