//! Commands that take long: those that read or write all bits of a large filter, or have very many arguments. A worker hands them to
//! another thread (`net/offload.rs`), where they lease the keys that they change (`leases.rs`).

use super::{ResolvedCommand, resolve};
use crate::call::{Call, CommandError, CommandResult};
use crate::engine::Engine;
use crate::keyspace::{KeyEntry, LARGE_BYTES, Value};
use mayhap_command::{CommandSpec, Flags};

/// A worker runs commands with at most this many arguments: looking up or adding their items takes a few milliseconds.
pub(super) const MAX_SHORT_ARGUMENTS: usize = 16 << 10;
/// A worker iterates over at most this many keys.
const MAX_SHORT_KEYS: usize = 100_000;

/// When one of the server's own commands takes long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RunsLong {
    Never,
    Always,
    /// With the argument SAVE.
    WithSave,
    /// With any argument: INFO then reads the bits of all filters.
    WithArguments,
    /// If the value of its first key is large.
    LargeKey,
    /// If one of its arguments is a large value.
    LargeArgument,
    /// If there are many keys.
    ManyKeys,
    /// If one of the queued commands takes long.
    Transaction,
}

/// The keys that a command names.
fn keys<'w>(command: ResolvedCommand, argv: &'w [&'w [u8]]) -> impl Iterator<Item = &'w [u8]> {
    let positions = match command {
        ResolvedCommand::Server(row) => row.locked_keys,
        ResolvedCommand::Filter(row) => row.spec.keys,
    };
    positions.select(argv)
}

/// The key whose filter a command changes. Commands that replace a value are not included.
fn changed<'w>(command: ResolvedCommand, argv: &'w [&'w [u8]]) -> Option<&'w [u8]> {
    match command {
        ResolvedCommand::Filter(row) if row.spec.writes() => keys(command, argv).next(),
        ResolvedCommand::Filter(_) | ResolvedCommand::Server(_) => None,
    }
}

/// The arguments of every command between MULTI and EXEC; empty for commands other than EXEC.
fn queued<'s>(call: &'s Call<'_>, command: ResolvedCommand) -> impl Iterator<Item = Vec<&'s [u8]>> {
    let transaction = call.session.transaction.as_ref();
    let transaction = transaction.filter(|_| has(command.spec(), Flags::RUNS_COMMANDS));
    let commands = transaction.into_iter().flat_map(|all| &all.commands);
    commands.map(|argv| argv.iter().map(|argument| &**argument).collect())
}

fn has(spec: &CommandSpec, flag: Flags) -> bool {
    spec.flags.contains(flag)
}

/// Checks that no long command uses the command's keys. Called under the keyspace lock, before anything is changed.
#[inline]
pub(crate) fn check_free(call: &Call<'_>, command: ResolvedCommand) -> CommandResult {
    if !call.engine.leases.is_idle() && !is_free(call, command) {
        return Err(CommandError::Busy);
    }
    Ok(())
}

fn is_free(call: &Call<'_>, command: ResolvedCommand) -> bool {
    let engine = call.engine;
    let is_free = |command, argv: &[&[u8]]| {
        let is_shared = |body: Option<&KeyEntry>| {
            body.is_some_and(|body| matches!(&body.value, Value::Filter(slot) if slot.is_shared()))
        };
        !engine.leases.is_leased(keys(command, argv))
            && !changed(command, argv).is_some_and(|key| engine.keys.read(key, 0, is_shared))
    };
    if locks_all_keys(command) {
        return !engine.leases.is_any_leased();
    }
    is_free(command, call.args)
        && queued(call, command).all(|argv| match resolve(&argv) {
            Ok(command) if locks_all_keys(command) => !engine.leases.is_any_leased(),
            Ok(command) => is_free(command, &argv),
            Err(_) => true,
        })
}

fn locks_all_keys(command: ResolvedCommand) -> bool {
    has(command.spec(), Flags::ALL_KEYS)
}

/// Whether a command takes so long that it runs on a thread of its own.
#[inline]
pub(crate) fn is_long(call: &Call<'_>, command: ResolvedCommand) -> bool {
    match command {
        ResolvedCommand::Server(row) if row.runs_long == RunsLong::Transaction => {
            is_long_transaction(call, command)
        }
        ResolvedCommand::Server(_) | ResolvedCommand::Filter(_) => {
            is_long_single(call.engine, command, call.args)
        }
    }
}

/// A transaction that locks all keys does not run long: it can do so only under the keyspace lock.
fn is_long_transaction(call: &Call<'_>, command: ResolvedCommand) -> bool {
    let mut is_long = false;
    for argv in queued(call, command) {
        let Ok(command) = resolve(&argv) else {
            continue;
        };
        if locks_all_keys(command) {
            return false;
        }
        is_long |= is_long_single(call.engine, command, &argv);
    }
    is_long
}

fn is_long_single(engine: &Engine, command: ResolvedCommand, argv: &[&[u8]]) -> bool {
    if argv.len() > MAX_SHORT_ARGUMENTS {
        return true;
    }
    let is_large = |key: &[u8]| {
        let is_large = |body: Option<&KeyEntry>| body.is_some_and(|body| body.value.is_large());
        engine.keys.read(key, 0, is_large)
    };
    let has_large_argument = || argv.iter().any(|word| word.len() as u64 >= LARGE_BYTES);
    match command {
        ResolvedCommand::Filter(row) => {
            has(&row.spec, Flags::LARGE_ARGUMENT) && has_large_argument()
                || has(&row.spec, Flags::WHOLE_FILTER) && keys(command, argv).any(is_large)
        }
        ResolvedCommand::Server(row) => match row.runs_long {
            // EXEC is not queued, so it is never one of several.
            RunsLong::Never | RunsLong::Transaction => false,
            RunsLong::Always => true,
            RunsLong::WithSave => argv.iter().any(|word| word.eq_ignore_ascii_case(b"save")),
            RunsLong::WithArguments => argv.len() > 1,
            RunsLong::LargeKey => argv.get(1).is_some_and(|key| is_large(key)),
            RunsLong::LargeArgument => has_large_argument(),
            RunsLong::ManyKeys => engine.keys.len() > MAX_SHORT_KEYS,
        },
    }
}

/// The keys that a long command leases.
pub(crate) fn changed_keys(call: &Call<'_>, command: ResolvedCommand) -> Vec<Box<[u8]>> {
    let mut all: Vec<Box<[u8]>> = Vec::new();
    match command {
        ResolvedCommand::Filter(_) => all.extend(changed(command, call.args).map(Box::from)),
        ResolvedCommand::Server(row) => {
            let replaced = row.replaced_key.and_then(|at| call.args.get(at));
            all.extend(replaced.map(|key| Box::from(*key)));
            for argv in queued(call, command) {
                if let Ok(command) = resolve(&argv) {
                    all.extend(keys(command, &argv).map(Box::from));
                }
            }
        }
    }
    all
}
