//! BF.*, CF.* and CBF.* on the keys of the server.

use crate::call::{Call, Done, Failure};
use crate::keyspace::{Body, Value};
use crate::settings::Settings;
use mayhap::Timestamp;
use mayhap_command::{Change, Command, Context, Outcome, PassedOn, Slot, Specification};

/// What the sources of one merge may take together.
const MOST_COPIED: u64 = 8 << 30;

static MISSING: Slot = Slot::Missing;
static OTHER: Slot = Slot::Other;

pub(super) fn run(
    call: &mut Call<'_>,
    specification: &'static Specification,
    command: &Command<'_>,
    settings: &Settings,
) -> Done {
    match command {
        Command::Ask(ask) => {
            let key = ask.key();
            let context = context(call, settings, u64::MAX);
            let reply = call.engine.keys.look(key, call.now, |body| match body {
                Some(body) => Some(ask.ask(slot_of(body), &context)),
                None if call.engine.files.has_any() => None,
                None => Some(ask.ask(&MISSING, &context)),
            });
            let reply = match reply {
                Some(reply) => reply,
                None => match call.engine.files.ask(call.words) {
                    Some(reply) => reply,
                    None => ask.ask(&MISSING, &context),
                },
            };
            call.out.reply(&reply);
            Ok(())
        }
        Command::Change(change) => {
            call.may_change()?;
            if specification.flags.contains(&"denyoom") {
                call.may_grow()?;
            }
            let used = call.engine.keys.used_bytes();
            let limit = settings.most_memory;
            let left = if limit == 0 {
                u64::MAX
            } else {
                limit.saturating_sub(used)
            };
            if change.sources().is_empty() {
                alter(call, change, settings, left)
            } else {
                merge(call, change, settings, left)
            }
        }
    }
}

fn slot_of(body: &Body) -> &Slot {
    match &body.value {
        Value::Filter(slot) => slot,
        Value::Text(_) => &OTHER,
    }
}

/// `left` is what all keys may grow by.
fn context<'s>(call: &Call<'_>, settings: &'s Settings, left: u64) -> Context<'s> {
    Context {
        config: &settings.filters,
        now: Timestamp(call.now),
        secret: call.engine.secret,
        most_bytes: settings.filters.most_filter_bytes.min(left),
    }
}

/// Applies a change to what a key holds; text stays as it is.
fn apply(
    change: &Change<'_>,
    body: &mut Body,
    sources: &[&Slot],
    context: &Context<'_>,
) -> Outcome {
    let outcome = match &mut body.value {
        Value::Filter(slot) => change.apply(slot, sources, context),
        Value::Text(_) => change.apply(&mut Slot::Other, sources, context),
    };
    if !matches!(outcome.passed_on, PassedOn::Nothing | PassedOn::Unchanged) {
        body.touch();
    }
    outcome
}

fn alter(call: &mut Call<'_>, change: &Change<'_>, settings: &Settings, left: u64) -> Done {
    let (engine, now, key) = (call.engine, call.now, change.key());
    let mut context = context(call, settings, left);
    let room = |body: &Body| left.saturating_add(body.value.size_bytes());
    let most = settings.filters.most_filter_bytes;
    let altered = engine.keys.alter(key, now, |body| {
        context.most_bytes = most.min(room(body));
        let outcome = apply(change, body, &[], &context);
        pass_on(call, &outcome).map(|()| outcome)
    });
    if let Some(outcome) = altered {
        call.out.reply(&outcome?.reply);
        return Ok(());
    }
    if engine.files.has_any() && engine.files.holds(key) {
        return Err(crate::files::READ_ONLY.into());
    }
    // Somebody may make it in between; it is small then.
    context.most_bytes = most.min(left);
    let outcome = engine.keys.replace(key, |body| {
        make_or_change(call, change, body, &[], &context)
    })?;
    call.out.reply(&outcome.reply);
    Ok(())
}

/// The sources are copied: a filter is not locked while another one is.
fn merge(call: &mut Call<'_>, change: &Change<'_>, settings: &Settings, left: u64) -> Done {
    let (engine, now, key) = (call.engine, call.now, change.key());
    if engine.files.holds(key) {
        return Err(crate::files::READ_ONLY.into());
    }
    let copy = |source: &&[u8]| {
        engine.keys.look(source, now, |body| {
            body.map_or(Slot::Missing, |body| slot_of(body).clone())
        })
    };
    // All copies together are no larger than what all keys may still take.
    let size = |source: &&[u8]| {
        let size = |body: Option<&Body>| body.map_or(0, |body| body.value.size_bytes());
        engine.keys.look(source, now, size)
    };
    let copied = change
        .sources()
        .iter()
        .map(size)
        .fold(0, u64::saturating_add);
    if copied > left.min(MOST_COPIED) {
        return Err(
            "OOM the sources are too large to be merged at once: merge them one by one".into(),
        );
    }
    let sources: Vec<Slot> = change.sources().iter().map(copy).collect();
    let sources: Vec<&Slot> = sources.iter().collect();
    let context = context(call, settings, left);
    let outcome = engine.keys.replace(key, |body| {
        make_or_change(call, change, body, &sources, &context)
    })?;
    call.out.reply(&outcome.reply);
    Ok(())
}

fn make_or_change(
    call: &mut Call<'_>,
    change: &Change<'_>,
    body: &mut Option<Body>,
    sources: &[&Slot],
    context: &Context<'_>,
) -> Result<Outcome, Failure> {
    call.forget_if_expired(change.key(), body);
    let outcome = if let Some(body) = body {
        apply(change, body, sources, context)
    } else {
        let mut slot = Slot::Missing;
        let outcome = change.apply(&mut slot, sources, context);
        if !matches!(slot, Slot::Missing) {
            *body = Some(Body::new(Value::Filter(slot)));
        }
        outcome
    };
    pass_on(call, &outcome)?;
    Ok(outcome)
}

/// Logs what has to be logged, while the key is still locked.
fn pass_on(call: &mut Call<'_>, outcome: &Outcome) -> Done {
    match &outcome.passed_on {
        PassedOn::Unchanged | PassedOn::Nothing => {}
        PassedOn::AsItCame => call.changes.push(call.words),
        PassedOn::Instead(commands) => {
            for words in commands {
                call.changes.push(words);
            }
        }
    }
    call.log_whole()
}
