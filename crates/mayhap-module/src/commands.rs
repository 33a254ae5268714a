//! A command, from its words to what the engine replies and passes on.

use crate::ffi::{Call, Held, Key, Origin, can_take, memory_left};
use crate::host::Host;
use mayhap_command::{
    Ask, Change, Command, Context, Outcome, PassedOn, Reply, Slot, Specification, find,
};
use std::borrow::Cow;

const READ_ONLY: Reply = Reply::error("READONLY You can't write against a read only replica.");

static MISSING: Slot = Slot::Missing;
static OTHER: Slot = Slot::Other;

/// Runs a command.
pub(crate) fn run(call: &Call<'_>, host: &Host) {
    let Some(found) = call.words().first().and_then(|name| find(name)) else {
        return call.reply(&Reply::error("ERR unknown command"));
    };
    // An answer is the same wherever the question comes from.
    let origin = if found.writes {
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
    match Command::parse(call.words(), config) {
        Err(reply) => call.reply(&reply),
        Ok(Command::Ask(ask)) => call.reply(&answer(call, &ask, &context)),
        // Before anything else is told: whether a key is there is not for everyone to know.
        Ok(Command::Change(_))
            if !is_replaying
                && found
                    .carried_command
                    .is_some_and(|first| !call.may_run_carried(first)) =>
        {
            call.reply(&no_permission(call.words(), found));
        }
        // The engine asks this itself, but of a command that calls itself one that reads.
        Ok(Command::Change(_)) if origin == Origin::ClientOfReplica => call.reply(&READ_ONLY),
        Ok(Command::Change(change)) => {
            let outcome = alter(call, &change, is_replaying, &context);
            pass_on(
                call,
                change.key(),
                carried(call.words(), found).unwrap_or(found).name,
                &outcome,
            );
            call.reply(&outcome.reply);
        }
    }
}

/// The command that another one carries.
fn carried(words: &[&[u8]], carrier: &'static Specification) -> Option<&'static Specification> {
    find(words.get(carrier.carried_command?)?)
}

fn no_permission(words: &[&[u8]], carrier: &'static Specification) -> Reply {
    let name = carried(words, carrier).unwrap_or(carrier).name;
    Reply::Error(Cow::Owned(format!(
        "NOPERM this user has no permissions to run the '{name}' command, or to access its key, behind '{}'",
        carrier.name
    )))
}

fn answer(call: &Call<'_>, ask: &Ask<'_>, context: &Context<'_>) -> Reply {
    let key = call.open(ask.key(), false);
    ask.ask(slot_of(&key), context)
}

fn slot_of<'k>(key: &'k Key<'_>) -> &'k Slot {
    match key.held() {
        Held::Missing => &MISSING,
        Held::Other => &OTHER,
        Held::Filter(slot) => slot,
    }
}

fn alter(
    call: &Call<'_>,
    change: &Change<'_>,
    is_replaying: bool,
    context: &Context<'_>,
) -> Outcome {
    let sources = call.open_all(change.sources());
    let sources: Vec<&Slot> = sources.iter().map(slot_of).collect();
    let mut key = call.open(change.key(), true);
    // What a primary has accepted is accepted.
    let left = if is_replaying {
        u64::MAX
    } else {
        memory_left()
    };
    let mut made = Slot::Missing;
    let (slot, held) = match key.held_mut() {
        Held::Missing => (&mut made, None),
        Held::Other => {
            made = Slot::Other;
            (&mut made, None)
        }
        Held::Filter(slot) => {
            let (name, bytes) = (slot.type_name(), slot.size_bytes());
            (slot, Some((name, bytes)))
        }
    };
    // A union is made beside, and its image twice: ours, and the engine's for its replicas.
    let left = if sources.is_empty() { left } else { left / 3 };
    let max_bytes = left.saturating_add(held.map_or(0, |(_, bytes)| bytes));
    let context = Context {
        max_bytes,
        ..*context
    };
    let largest = sources.iter().map(|source| source.size_bytes()).max();
    if !can_take(largest.unwrap_or(0).saturating_mul(3)) {
        return Outcome {
            reply: Reply::error("ERR Insufficient memory to create filter"),
            passed_on: PassedOn::Nothing,
        };
    }
    let outcome = change.apply(slot, &sources, &context);
    let outcome = outcome.with_time(call.words(), slot, context.now);
    // The engine knows a value by its type: another one has to be told.
    match held {
        None if !matches!(slot, Slot::Missing | Slot::Other) => key.put(made),
        Some((name, _)) if slot.type_name() != name => {
            let slot = std::mem::take(slot);
            key.put(slot);
        }
        _ => {}
    }
    outcome
}

fn pass_on(call: &Call<'_>, key: &[u8], event: &str, outcome: &Outcome) {
    match &outcome.passed_on {
        PassedOn::Nothing => return,
        // Who asks with WAIT whether replicas have an item that was in already waits for it with this.
        PassedOn::Unchanged => return call.replicate_as_it_came(),
        PassedOn::AsItCame => call.replicate_as_it_came(),
        PassedOn::Instead(commands) => {
            for words in commands {
                call.replicate(words);
            }
        }
    }
    call.signal_changed(key);
    call.notify(key, event);
}
