//! Runs filter commands on the keys of the server.

use crate::call::{Call, CommandError, CommandResult};
use crate::counters::count_lookup;
use crate::keyspace::{KeyEntry, SharedValue, Value};
use crate::settings::Settings;
use crate::shared_slot::SharedSlot;
use mayhap_command::{
    Command, Context, FilterCommand, Flags, Outcome, Query, Replication, Reply, Slot, Write,
};
use mayhap_core::Timestamp;
use std::sync::Arc;

static MISSING: Slot = Slot::Missing;
static OTHER: Slot = Slot::Other;

pub(super) fn run(call: &mut Call<'_>, row: &FilterCommand) -> CommandResult {
    let settings = call.engine.settings.load();
    let reply = match row.parse(call.args, &settings.filters) {
        Err(reply) => reply,
        Ok(Command::Query(query)) => apply_query(call, &query, &settings)?,
        Ok(Command::Write(write)) => {
            call.may_change()?;
            if row.spec.flags.contains(Flags::DENYOOM) {
                call.may_grow()?;
            }
            let outcome = if call.is_long {
                apply_write_long(call, &write, &settings)
            } else if write.sources().is_empty() {
                apply_write(call, &write, &settings)
            } else {
                merge(call, &write, &settings)
            }?;
            outcome.reply
        }
    };
    call.out.reply(&reply);
    Ok(())
}

/// The slot of a value.
fn slot_of(value: &Value) -> &Slot {
    match value {
        Value::Filter(slot) => slot,
        // Only the holder of the lease gets here, after it has put the filter back.
        Value::Text(_) | Value::Leased { .. } => &OTHER,
    }
}

fn apply_query(
    call: &Call<'_>,
    query: &Query<'_>,
    settings: &Settings,
) -> Result<Reply, CommandError> {
    let (engine, key) = (call.engine, query.key());
    let context = context(call, settings, u64::MAX);
    let reply = if call.is_long {
        let _sharing = engine.leases.share();
        let shared = call.share(key)?.map(|(value, _)| slot(value));
        shared.map(|slot| query.apply(&slot, &context))
    } else {
        engine.keys.read(key, call.now, |body| {
            body.map(|body| query.apply(slot_of(&body.value), &context))
        })
    };
    if let Some(reply) = reply {
        count_lookup(true);
        return Ok(reply);
    }
    let of_file = if engine.files.has_any() {
        engine.files.query(query)
    } else {
        None
    };
    count_lookup(of_file.is_some());
    Ok(of_file.unwrap_or_else(|| query.apply(&MISSING, &context)))
}

/// The slot of a shared value.
fn slot(value: SharedValue) -> Arc<Slot> {
    match value {
        SharedValue::Filter(slot) => slot,
        SharedValue::Text(_) => Arc::new(Slot::Other),
    }
}

/// `left` is the memory that all keys together may still take.
fn context<'s>(call: &Call<'_>, settings: &'s Settings, left: u64) -> Context<'s> {
    Context {
        config: &settings.filters,
        now: Timestamp(call.now),
        secret: call.engine.secret,
        max_bytes: settings.filters.max_filter_bytes.min(left),
    }
}

/// Applies a write to an existing value.
fn apply(
    write: &Write<'_>,
    value: &mut Value,
    sources: &[&Slot],
    context: &Context<'_>,
) -> Result<Outcome, CommandError> {
    match value {
        Value::Filter(slot) => match slot.get_mut() {
            Some(slot) => Ok(write.apply(slot, sources, context)),
            None => Err(CommandError::Busy),
        },
        Value::Text(_) => Ok(write.apply(&mut Slot::Other, sources, context)),
        Value::Leased { .. } => Err(CommandError::Busy),
    }
}

/// Applies a write to a missing key. Returns its new value, if it has one.
fn create(write: &Write<'_>, sources: &[&Slot], context: &Context<'_>) -> (Option<Value>, Outcome) {
    let mut slot = Slot::Missing;
    let outcome = write.apply(&mut slot, sources, context);
    let value = match slot {
        Slot::Missing => None,
        slot => Some(Value::Filter(SharedSlot::new(slot))),
    };
    (value, outcome)
}

fn is_change(outcome: &Outcome) -> bool {
    !matches!(
        outcome.replication,
        Replication::None | Replication::Unchanged
    )
}

fn apply_write(
    call: &mut Call<'_>,
    write: &Write<'_>,
    settings: &Settings,
) -> Result<Outcome, CommandError> {
    let (engine, key) = (call.engine, write.key());
    let is_limited = settings.max_memory > 0;
    match apply_to_existing(call, write, settings, !is_limited) {
        Some(Existing::Done(outcome)) => return outcome,
        None if engine.files.has_any() && engine.files.contains(key) => {
            return Err(crate::files::READ_ONLY.into());
        }
        Some(Existing::MayGrow) | None => {}
    }
    // Commands that may take memory run one at a time, so that together they do not exceed the limit.
    let _memory_lock = is_limited.then(|| engine.memory_lock.lock());
    if let Some(Existing::Done(outcome)) = apply_to_existing(call, write, settings, true) {
        return outcome;
    }
    // Another command may have created the key meanwhile; it is small then.
    let context = context(call, settings, engine.available_bytes());
    engine.keys.replace(key, |body| {
        create_or_update(call, write, body, &[], &context)
    })
}

/// The result of a write to an existing key.
enum Existing {
    Done(Result<Outcome, CommandError>),
    /// Nothing was changed, because the filter may grow.
    MayGrow,
}

fn apply_to_existing(
    call: &mut Call<'_>,
    write: &Write<'_>,
    settings: &Settings,
    may_grow: bool,
) -> Option<Existing> {
    let (engine, now, key) = (call.engine, call.now, write.key());
    let mut context = context(call, settings, u64::MAX);
    engine.keys.update(key, now, |body| {
        if !may_grow && write.may_grow(slot_of(&body.value)) {
            return Existing::MayGrow;
        }
        let left = engine
            .available_bytes()
            .saturating_add(body.value.size_bytes());
        context.max_bytes = settings.filters.max_filter_bytes.min(left);
        Existing::Done(update_entry(call, write, body, &[], &context))
    })
}

fn update_entry(
    call: &mut Call<'_>,
    write: &Write<'_>,
    body: &mut KeyEntry,
    sources: &[&Slot],
    context: &Context<'_>,
) -> Result<Outcome, CommandError> {
    let outcome = apply(write, &mut body.value, sources, context)?;
    if is_change(&outcome) {
        body.touch();
    }
    log_changes(call, write, &outcome)?;
    Ok(outcome)
}

/// The values of the other keys that a write reads.
fn sources(call: &Call<'_>, write: &Write<'_>) -> Result<Vec<Arc<Slot>>, CommandError> {
    let sources = write.sources().iter();
    let shared = sources.map(|source| {
        let shared = call.share(source)?;
        // A replay of the log could find another file of that name, or none.
        if shared.is_none() && call.engine.files.contains(source) {
            return Err(crate::files::NOT_A_SOURCE.into());
        }
        Ok(shared.map_or_else(Arc::default, |(value, _)| slot(value)))
    });
    shared.collect()
}

fn merge(
    call: &mut Call<'_>,
    write: &Write<'_>,
    settings: &Settings,
) -> Result<Outcome, CommandError> {
    let (engine, key) = (call.engine, write.key());
    if engine.files.contains(key) {
        return Err(crate::files::READ_ONLY.into());
    }
    let sources = sources(call, write)?;
    let sources: Vec<&Slot> = sources.iter().map(|source| &**source).collect();
    let _memory_lock = engine.memory_lock.lock();
    let context = context(call, settings, engine.available_bytes());
    engine.keys.replace(key, |body| {
        create_or_update(call, write, body, &sources, &context)
    })
}

fn create_or_update(
    call: &mut Call<'_>,
    write: &Write<'_>,
    body: &mut Option<KeyEntry>,
    sources: &[&Slot],
    context: &Context<'_>,
) -> Result<Outcome, CommandError> {
    call.forget_if_expired(write.key(), body);
    if let Some(body) = body {
        return update_entry(call, write, body, sources, context);
    }
    let (value, outcome) = create(write, sources, context);
    *body = value.map(KeyEntry::new);
    log_changes(call, write, &outcome)?;
    Ok(outcome)
}

/// Applies a write that takes long and has leased its key: the filter is taken out of the keyspace, and no lock is held meanwhile.
fn apply_write_long(
    call: &mut Call<'_>,
    write: &Write<'_>,
    settings: &Settings,
) -> Result<Outcome, CommandError> {
    let (engine, key) = (call.engine, write.key());
    if engine.files.contains(key) {
        return Err(crate::files::READ_ONLY.into());
    }
    let _sharing = engine.leases.share();
    let sources = sources(call, write)?;
    let sources: Vec<&Slot> = sources.iter().map(|source| &**source).collect();
    // Reserve its memory first, because other commands check what is left meanwhile.
    let is_batch = call.args.len() > super::long::MAX_SHORT_ARGUMENTS;
    let reserved = if is_batch {
        call.reserve_for_growth(key)
    } else {
        // The result is as large as the largest filter among its arguments and sources.
        let lengths = call.args.iter().map(|argument| argument.len() as u64);
        let largest = sources.iter().map(|source| source.size_bytes());
        call.reserve(lengths.chain(largest).max().unwrap_or(0))?
    };
    let taken = {
        let _guard = call.keyspace_guard();
        engine.keys.replace(key, |body| {
            call.forget_if_expired(key, body);
            call.log_whole()
                .map(|()| body.as_mut().map(KeyEntry::lease_value))
        })?
    };
    let held = taken.as_ref().map_or(0, Value::size_bytes);
    let others = if is_batch && settings.max_memory > 0 {
        0
    } else {
        engine.available_bytes()
    };
    let left = others.saturating_add(held + reserved.bytes());
    let context = context(call, settings, left);
    let _watch = engine.keys.watch_for_panic();
    let (value, result) = if let Some(mut value) = taken {
        let outcome = apply(write, &mut value, &sources, &context);
        (Some(value), outcome)
    } else {
        let (value, outcome) = create(write, &sources, &context);
        (value, Ok(outcome))
    };
    let _guard = call.keyspace_guard();
    engine.keys.replace(key, |body| {
        match (body, value) {
            (Some(body), Some(value)) => {
                body.value = value;
                if result.as_ref().is_ok_and(is_change) {
                    body.touch();
                }
            }
            (body, value) => *body = value.map(KeyEntry::new),
        }
        let outcome = result?;
        log_changes(call, write, &outcome)?;
        Ok(outcome)
    })
}

/// Logs the change while the key is still locked.
fn log_changes(call: &mut Call<'_>, write: &Write<'_>, outcome: &Outcome) -> CommandResult {
    match &outcome.replication {
        Replication::Unchanged | Replication::None => {}
        Replication::Verbatim => {
            if !write.sources().is_empty() {
                call.moved.push(write.key().into());
            }
            call.changes.push(call.args);
        }
        Replication::Rewritten(commands) => {
            for command in commands {
                call.changes.push(command);
            }
        }
    }
    call.log_whole()
}
