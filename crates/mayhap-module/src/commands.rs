//! Runs filter commands on the keys of the engine: parses them, applies them, replies, and passes on what its replicas need.

use crate::ffi::{Call, Key, KeyValue, Origin, can_allocate, memory_left};
use crate::host::Host;
use mayhap_command::{
    Command, Context, FilterCommand, Outcome, Query, Replication, Reply, Slot, Write, find,
};
use std::borrow::Cow;

const READ_ONLY: Reply = Reply::error("READONLY You can't write against a read only replica.");

static MISSING: Slot = Slot::Missing;
static OTHER: Slot = Slot::Other;

/// Runs a command.
pub(crate) fn run(call: &Call<'_>, host: &Host) {
    let Some(row) = call.args().first().and_then(|name| find(name)) else {
        return call.reply(&Reply::error("ERR unknown command"));
    };
    // The origin matters only to writes.
    let origin = if row.spec.writes() {
        call.origin()
    } else {
        Origin::Client
    };
    let is_replaying = origin == Origin::AcceptedBefore;
    let settings = host.settings();
    let config = if is_replaying {
        &settings.replaying
    } else {
        &settings.config
    };
    let context = Context {
        config,
        now: Call::now(),
        secret: host.secret,
        max_bytes: u64::MAX,
    };
    match row.parse(call.args(), config) {
        Err(reply) => call.reply(&reply),
        Ok(Command::Query(query)) => call.reply(&apply_query(call, &query, &context)),
        // Checked before anything about the key is revealed.
        Ok(Command::Write(_)) if !is_replaying && !may_run_carried(call, row) => {
            call.reply(&no_permission(call.args(), row));
        }
        // The engine checks this itself, except for commands that are declared as reading.
        Ok(Command::Write(_)) if origin == Origin::ClientOfReplica => call.reply(&READ_ONLY),
        Ok(Command::Write(write)) => {
            let outcome = apply_write(call, &write, is_replaying, &context);
            let event = carried(call.args(), row).unwrap_or(row).spec.name;
            replicate(call, write.key(), event, &outcome);
            call.reply(&outcome.reply);
        }
    }
}

/// Whether the caller may run the command that another one carries, if it carries one.
fn may_run_carried(call: &Call<'_>, carrier: &FilterCommand) -> bool {
    let first = carrier.carried_command;
    first.is_none_or(|first| call.may_run_carried(first))
}

/// The command that another one carries.
fn carried(argv: &[&[u8]], carrier: &FilterCommand) -> Option<&'static FilterCommand> {
    find(argv.get(carrier.carried_command?)?)
}

fn no_permission(argv: &[&[u8]], carrier: &'static FilterCommand) -> Reply {
    let name = carried(argv, carrier).unwrap_or(carrier).spec.name;
    Reply::Error(Cow::Owned(format!(
        "NOPERM this user has no permissions to run the '{name}' command, or to access its key, behind '{}'",
        carrier.spec.name
    )))
}

fn apply_query(call: &Call<'_>, query: &Query<'_>, context: &Context<'_>) -> Reply {
    let key = call.open(query.key(), false);
    query.apply(slot_of(&key), context)
}

fn slot_of<'k>(key: &'k Key<'_>) -> &'k Slot {
    match key.value() {
        KeyValue::Missing => &MISSING,
        KeyValue::Other => &OTHER,
        KeyValue::Filter(slot) => slot,
    }
}

fn apply_write(
    call: &Call<'_>,
    write: &Write<'_>,
    is_replaying: bool,
    context: &Context<'_>,
) -> Outcome {
    let sources = call.open_all(write.sources());
    let sources: Vec<&Slot> = sources.iter().map(slot_of).collect();
    let mut key = call.open(write.key(), true);
    // What a primary has accepted is not rejected for lack of memory.
    let left = if is_replaying {
        u64::MAX
    } else {
        memory_left()
    };
    let mut created = Slot::Missing;
    let (slot, before) = match key.value_mut() {
        KeyValue::Missing => (&mut created, None),
        KeyValue::Other => {
            created = Slot::Other;
            (&mut created, None)
        }
        KeyValue::Filter(slot) => {
            let (name, bytes) = (slot.type_name(), slot.size_bytes());
            (slot, Some((name, bytes)))
        }
    };
    // A merge needs memory for the union and for two copies of its image: ours, and the engine's for its replicas.
    let left = if sources.is_empty() { left } else { left / 3 };
    let max_bytes = left.saturating_add(before.map_or(0, |(_, bytes)| bytes));
    let context = Context {
        max_bytes,
        ..*context
    };
    let largest = sources.iter().map(|source| source.size_bytes()).max();
    if !can_allocate(largest.unwrap_or(0).saturating_mul(3)) {
        return Outcome {
            reply: Reply::error("ERR Insufficient memory to create filter"),
            replication: Replication::None,
        };
    }
    let outcome = write.apply(slot, &sources, &context);
    let outcome = write.with_time(outcome, call.args(), slot, context.now);
    // The engine stores the type of a value, so a value of another type has to be set anew.
    match before {
        None if !matches!(slot, Slot::Missing | Slot::Other) => key.put(created),
        Some((name, _)) if slot.type_name() != name => {
            let slot = std::mem::take(slot);
            key.put(slot);
        }
        _ => {}
    }
    outcome
}

fn replicate(call: &Call<'_>, key: &[u8], event: &str, outcome: &Outcome) {
    match &outcome.replication {
        Replication::None => return,
        // A client that sends WAIT to learn whether replicas have the item waits for this command.
        Replication::Unchanged => return call.replicate_verbatim(),
        Replication::Verbatim => call.replicate_verbatim(),
        Replication::Rewritten(commands) => {
            for command in commands {
                call.replicate(command);
            }
        }
    }
    call.signal_changed(key);
    call.notify(key, event);
}
