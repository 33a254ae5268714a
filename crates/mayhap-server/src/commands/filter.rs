//! BF.*, CF.* and CBF.* on the keys of the server.

use crate::call::{Call, CommandError, CommandResult};
use crate::counters::count_lookup;
use crate::keyspace::{KeyEntry, SharedValue, Value};
use crate::settings::Settings;
use crate::shared_slot::SharedSlot;
use mayhap_command::{
    Ask, Change, Command, Context, Outcome, PassedOn, Reply, Slot, Specification,
};
use mayhap_core::Timestamp;
use std::sync::Arc;

static MISSING: Slot = Slot::Missing;
static OTHER: Slot = Slot::Other;

pub(super) fn run(
    call: &mut Call<'_>,
    specification: &'static Specification,
    command: &Command<'_>,
    settings: &Settings,
) -> CommandResult {
    match command {
        Command::Ask(ask) => {
            let reply = answer(call, ask, settings)?;
            call.out.reply(&reply);
            Ok(())
        }
        Command::Change(change) => {
            call.may_change()?;
            if specification.flags.contains(&"denyoom") {
                call.may_grow()?;
            }
            let outcome = if call.is_long {
                alter_long(call, change, settings)
            } else if change.sources().is_empty() {
                alter(call, change, settings)
            } else {
                merge(call, change, settings)
            }?;
            call.out.reply(&outcome.reply);
            Ok(())
        }
    }
}

/// What a filter command finds in a key.
fn slot_of(value: &Value) -> &Slot {
    match value {
        Value::Filter(slot) => slot,
        // Whoever has a lease is the only one to come here, and puts the filter back first.
        Value::Text(_) | Value::Leased { .. } => &OTHER,
    }
}

fn answer(call: &Call<'_>, ask: &Ask<'_>, settings: &Settings) -> Result<Reply, CommandError> {
    let (engine, key) = (call.engine, ask.key());
    let context = context(call, settings, u64::MAX);
    let reply = if call.is_long {
        let _sharing = engine.leases.share();
        let shared = call.share(key)?.map(|(value, _)| slot(value));
        shared.map(|slot| ask.ask(&slot, &context))
    } else {
        engine.keys.read(key, call.now, |body| {
            body.map(|body| ask.ask(slot_of(&body.value), &context))
        })
    };
    if let Some(reply) = reply {
        count_lookup(true);
        return Ok(reply);
    }
    let of_file = if engine.files.has_any() {
        engine.files.query(call.words)
    } else {
        None
    };
    count_lookup(of_file.is_some());
    Ok(of_file.unwrap_or_else(|| ask.ask(&MISSING, &context)))
}

/// What a filter command finds in a shared value.
fn slot(value: SharedValue) -> Arc<Slot> {
    match value {
        SharedValue::Filter(slot) => slot,
        SharedValue::Text(_) => Arc::new(Slot::Other),
    }
}

/// `left` is what all keys may grow by.
fn context<'s>(call: &Call<'_>, settings: &'s Settings, left: u64) -> Context<'s> {
    Context {
        config: &settings.filters,
        now: Timestamp(call.now),
        secret: call.engine.secret,
        max_bytes: settings.filters.max_filter_bytes.min(left),
    }
}

/// Applies a change to what a key holds; text stays as it is.
fn apply(
    change: &Change<'_>,
    value: &mut Value,
    sources: &[&Slot],
    context: &Context<'_>,
) -> Result<Outcome, CommandError> {
    match value {
        Value::Filter(slot) => match slot.get_mut() {
            Some(slot) => Ok(change.apply(slot, sources, context)),
            None => Err(CommandError::Busy),
        },
        Value::Text(_) => Ok(change.apply(&mut Slot::Other, sources, context)),
        Value::Leased { .. } => Err(CommandError::Busy),
    }
}

/// Applies a change to a key that is not there; the value that it has then, if any.
fn make(change: &Change<'_>, sources: &[&Slot], context: &Context<'_>) -> (Option<Value>, Outcome) {
    let mut slot = Slot::Missing;
    let outcome = change.apply(&mut slot, sources, context);
    let value = match slot {
        Slot::Missing => None,
        slot => Some(Value::Filter(SharedSlot::new(slot))),
    };
    (value, outcome)
}

fn is_change(outcome: &Outcome) -> bool {
    !matches!(outcome.passed_on, PassedOn::Nothing | PassedOn::Unchanged)
}

fn alter(
    call: &mut Call<'_>,
    change: &Change<'_>,
    settings: &Settings,
) -> Result<Outcome, CommandError> {
    let (engine, key) = (call.engine, change.key());
    let is_limited = settings.max_memory > 0;
    match alter_present(call, change, settings, !is_limited) {
        Some(Present::Done(outcome)) => return outcome,
        None if engine.files.has_any() && engine.files.contains(key) => {
            return Err(crate::files::READ_ONLY.into());
        }
        Some(Present::MayGrow) | None => {}
    }
    // Who may take memory looks at what is left one after the other, so that all together never take more.
    let _growing = is_limited.then(|| engine.memory_lock.lock());
    if let Some(Present::Done(outcome)) = alter_present(call, change, settings, true) {
        return outcome;
    }
    // Somebody may make it in between; it is small then.
    let context = context(call, settings, engine.available_bytes());
    engine.keys.replace(key, |body| {
        make_or_change(call, change, body, &[], &context)
    })
}

/// What came of a change of a key that is there.
enum Present {
    Done(Result<Outcome, CommandError>),
    /// Nothing was done, since it may take memory.
    MayGrow,
}

fn alter_present(
    call: &mut Call<'_>,
    change: &Change<'_>,
    settings: &Settings,
    may_grow: bool,
) -> Option<Present> {
    let (engine, now, key) = (call.engine, call.now, change.key());
    let mut context = context(call, settings, u64::MAX);
    engine.keys.update(key, now, |body| {
        if !may_grow && change.may_grow(slot_of(&body.value)) {
            return Present::MayGrow;
        }
        let left = engine
            .available_bytes()
            .saturating_add(body.value.size_bytes());
        context.max_bytes = settings.filters.max_filter_bytes.min(left);
        Present::Done(change_body(call, change, body, &[], &context))
    })
}

fn change_body(
    call: &mut Call<'_>,
    change: &Change<'_>,
    body: &mut KeyEntry,
    sources: &[&Slot],
    context: &Context<'_>,
) -> Result<Outcome, CommandError> {
    let outcome = apply(change, &mut body.value, sources, context)?;
    if is_change(&outcome) {
        body.touch();
    }
    pass_on(call, change, &outcome)?;
    Ok(outcome)
}

/// The values of other keys that a change reads.
fn sources(call: &Call<'_>, change: &Change<'_>) -> Result<Vec<Arc<Slot>>, CommandError> {
    let sources = change.sources().iter();
    let shared = sources.map(|source| {
        let shared = call.share(source)?;
        // By a name in the log a replay would find another file, or none.
        if shared.is_none() && call.engine.files.contains(source) {
            return Err(crate::files::NOT_A_SOURCE.into());
        }
        Ok(shared.map_or_else(Arc::default, |(value, _)| slot(value)))
    });
    shared.collect()
}

fn merge(
    call: &mut Call<'_>,
    change: &Change<'_>,
    settings: &Settings,
) -> Result<Outcome, CommandError> {
    let (engine, key) = (call.engine, change.key());
    if engine.files.contains(key) {
        return Err(crate::files::READ_ONLY.into());
    }
    let sources = sources(call, change)?;
    let sources: Vec<&Slot> = sources.iter().map(|source| &**source).collect();
    let _growing = engine.memory_lock.lock();
    let context = context(call, settings, engine.available_bytes());
    engine.keys.replace(key, |body| {
        make_or_change(call, change, body, &sources, &context)
    })
}

fn make_or_change(
    call: &mut Call<'_>,
    change: &Change<'_>,
    body: &mut Option<KeyEntry>,
    sources: &[&Slot],
    context: &Context<'_>,
) -> Result<Outcome, CommandError> {
    call.forget_if_expired(change.key(), body);
    if let Some(body) = body {
        return change_body(call, change, body, sources, context);
    }
    let (value, outcome) = make(change, sources, context);
    *body = value.map(KeyEntry::new);
    pass_on(call, change, &outcome)?;
    Ok(outcome)
}

/// The same for a command that takes long and has a lease on its key: the filter is out of the keyspace meanwhile, and no lock is held.
fn alter_long(
    call: &mut Call<'_>,
    change: &Change<'_>,
    settings: &Settings,
) -> Result<Outcome, CommandError> {
    let (engine, key) = (call.engine, change.key());
    if engine.files.contains(key) {
        return Err(crate::files::READ_ONLY.into());
    }
    let _sharing = engine.leases.share();
    let sources = sources(call, change)?;
    let sources: Vec<&Slot> = sources.iter().map(|source| &**source).collect();
    // What it may take counts before it is there, since others look at what is left meanwhile.
    let is_batch = call.words.len() > super::long::MANY_WORDS;
    let reserved = if is_batch {
        call.reserve_for_growth(key)
    } else {
        // As large as the largest filter in it.
        let words = call.words.iter().map(|word| word.len() as u64);
        let largest = sources.iter().map(|source| source.size_bytes());
        call.reserve(words.chain(largest).max().unwrap_or(0))?
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
        let outcome = apply(change, &mut value, &sources, &context);
        (Some(value), outcome)
    } else {
        let (value, outcome) = make(change, &sources, &context);
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
        pass_on(call, change, &outcome)?;
        Ok(outcome)
    })
}

/// Logs what has to be logged, while the key is still locked.
fn pass_on(call: &mut Call<'_>, change: &Change<'_>, outcome: &Outcome) -> CommandResult {
    match &outcome.passed_on {
        PassedOn::Unchanged | PassedOn::Nothing => {}
        PassedOn::AsItCame => {
            if !change.sources().is_empty() {
                call.moved.push(change.key().into());
            }
            call.changes.push(call.words);
        }
        PassedOn::Instead(commands) => {
            for words in commands {
                call.changes.push(words);
            }
        }
    }
    call.log_whole()
}
