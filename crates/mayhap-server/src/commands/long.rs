//! Commands that take long: those that read or write all bits of a large filter, or have very many words. A worker hands them to
//! another thread (`net/offload.rs`), where they have the keys that they change for themselves (`leases.rs`).

use super::{ResolvedCommand, find};
use crate::call::{Call, CommandError, CommandResult};
use crate::engine::Engine;
use crate::keyspace::{KeyEntry, LARGE_BYTES, Value};

/// Words of a command that a worker takes: their items are asked or added in a few milliseconds.
pub(super) const MANY_WORDS: usize = 16 << 10;
/// Keys that a worker goes through.
const MANY_KEYS: usize = 100_000;

/// The keys that a command names.
fn keys<'w>(command: ResolvedCommand, words: &'w [&'w [u8]]) -> impl Iterator<Item = &'w [u8]> {
    let (first, last, step) = match command {
        ResolvedCommand::Own(own) => match own.name {
            "memory" | "object" => (2, 2, 1),
            _ => own.keys,
        },
        ResolvedCommand::Filter(specification) => {
            let place = |at: i64| i32::try_from(at).unwrap_or(0);
            (
                place(specification.first_key),
                place(specification.last_key),
                1,
            )
        }
    };
    let end = if last < 0 {
        words.len()
    } else {
        words.len().min(last as usize + 1)
    };
    let first = first.max(0) as usize;
    let named = words.get(..end).filter(|_| first > 0);
    let named = named.and_then(|words| words.get(first..));
    named
        .unwrap_or_default()
        .iter()
        .step_by(step.max(1) as usize)
        .copied()
}

/// The keys of one command whose values it changes, other than by putting a new one in their place.
fn changed<'w>(command: ResolvedCommand, words: &'w [&'w [u8]]) -> Option<&'w [u8]> {
    match command {
        ResolvedCommand::Filter(specification) if specification.writes => {
            keys(command, words).next()
        }
        ResolvedCommand::Filter(_) | ResolvedCommand::Own(_) => None,
    }
}

/// The words of every command between MULTI and EXEC; empty for other commands.
fn queued<'s>(call: &'s Call<'_>, command: ResolvedCommand) -> impl Iterator<Item = Vec<&'s [u8]>> {
    let transaction = call.session.transaction.as_ref();
    let transaction = transaction.filter(|_| command.name() == "exec");
    let commands = transaction.into_iter().flat_map(|all| &all.commands);
    commands.map(|words| words.iter().map(|word| &**word).collect())
}

/// Whether nobody else needs the command's keys for long. Asked behind the gate, before anything is touched.
#[inline]
pub(crate) fn check_free(call: &Call<'_>, command: ResolvedCommand) -> CommandResult {
    if !call.engine.leases.is_idle() && !is_free(call, command) {
        return Err(CommandError::Busy);
    }
    Ok(())
}

fn is_free(call: &Call<'_>, command: ResolvedCommand) -> bool {
    let engine = call.engine;
    let is_free = |command, words: &[&[u8]]| {
        let is_shared = |body: Option<&KeyEntry>| {
            body.is_some_and(|body| matches!(&body.value, Value::Filter(slot) if slot.is_shared()))
        };
        !engine.leases.is_leased(keys(command, words))
            && !changed(command, words).is_some_and(|key| engine.keys.read(key, 0, is_shared))
    };
    if locks_all_keys(command) {
        return !engine.leases.is_any_leased();
    }
    is_free(command, call.words)
        && queued(call, command).all(|words| match find(&words) {
            Ok(command) if locks_all_keys(command) => !engine.leases.is_any_leased(),
            Ok(command) => is_free(command, &words),
            Err(_) => true,
        })
}

fn locks_all_keys(command: ResolvedCommand) -> bool {
    matches!(command.name(), "flushall" | "flushdb")
}

/// Whether others should not wait for a command.
#[inline]
pub(crate) fn is_long(call: &Call<'_>, command: ResolvedCommand) -> bool {
    match command {
        ResolvedCommand::Own(own) if own.name == "exec" => is_long_transaction(call, command),
        ResolvedCommand::Own(_) | ResolvedCommand::Filter(_) => {
            is_long_alone(call.engine, command, call.words)
        }
    }
}

/// One that needs all keys at once has them behind the gate only.
fn is_long_transaction(call: &Call<'_>, command: ResolvedCommand) -> bool {
    let mut is_long = false;
    for words in queued(call, command) {
        let Ok(command) = find(&words) else {
            continue;
        };
        if locks_all_keys(command) {
            return false;
        }
        is_long |= is_long_alone(call.engine, command, &words);
    }
    is_long
}

fn is_long_alone(engine: &Engine, command: ResolvedCommand, words: &[&[u8]]) -> bool {
    if words.len() > MANY_WORDS {
        return true;
    }
    let is_large = |key: &[u8]| {
        let is_large = |body: Option<&KeyEntry>| body.is_some_and(|body| body.value.is_large());
        engine.keys.read(key, 0, is_large)
    };
    let has_large_word = || words.iter().any(|word| word.len() as u64 >= LARGE_BYTES);
    match command {
        ResolvedCommand::Filter(specification) => {
            specification.takes_filters() && has_large_word()
                || specification.works_on_all_bits() && keys(command, words).any(is_large)
        }
        ResolvedCommand::Own(own) => match own.name {
            "save" => true,
            "shutdown" => words.iter().any(|word| word.eq_ignore_ascii_case(b"save")),
            "copy" | "dump" | "mayhap.export" => words.get(1).is_some_and(|key| is_large(key)),
            "restore" | "set" => has_large_word(),
            "keys" => engine.keys.len() > MANY_KEYS,
            // What is told of each filter is read from its bits.
            "info" => words.len() > 1,
            _ => false,
        },
    }
}

/// The keys that a long command has for itself.
pub(crate) fn changed_keys(call: &Call<'_>, command: ResolvedCommand) -> Vec<Box<[u8]>> {
    let mut all: Vec<Box<[u8]>> = Vec::new();
    match command {
        ResolvedCommand::Filter(_) => all.extend(changed(command, call.words).map(Box::from)),
        ResolvedCommand::Own(own) => match own.name {
            "copy" => all.extend(call.words.get(2).map(|key| Box::from(*key))),
            "restore" | "set" => all.extend(call.words.get(1).map(|key| Box::from(*key))),
            "exec" => {
                for words in queued(call, command) {
                    if let Ok(command) = find(&words) {
                        all.extend(keys(command, &words).map(Box::from));
                    }
                }
            }
            _ => {}
        },
    }
    all
}
