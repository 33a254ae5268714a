//! CONFIG, SAVE, BGSAVE, SHUTDOWN: settings, snapshots, shutdown.

use super::client::unknown_subcommand;
use crate::call::{Call, CommandResult, SYNTAX, lossy};
use crate::settings::Settings;

pub(super) fn config(call: &mut Call<'_>) -> CommandResult {
    let word = call.args[1].to_ascii_lowercase();
    match (word.as_slice(), call.args.len()) {
        (b"get", 3..) => {
            let found = call.engine.settings.load().matching(&call.args[2..]);
            call.out.map(found.len());
            for (name, value) in found {
                call.out.bulk(name);
                call.out.bulk(value);
            }
        }
        (b"set", _) => {
            set(call)?;
            call.out.ok();
        }
        (b"resetstat", 2) => {
            call.engine.counters.reset();
            call.engine.times.reset();
            call.out.ok();
        }
        (b"rewrite", 2) => return Err("ERR The server is running without a config file: pass settings as options of `mayhap serve`".into()),
        _ => return Err(unknown_subcommand("CONFIG", &word)),
    }
    Ok(())
}

/// Sets all settings or none.
fn set(call: &mut Call<'_>) -> CommandResult {
    if !call.args.len().is_multiple_of(2) {
        return Err(SYNTAX.into());
    }
    call.engine.set(|settings| {
        let mut named = Vec::new();
        for pair in call.args[2..].chunks(2) {
            let Some(name) = Settings::canonical_name(pair[0]) else {
                let name = lossy(pair[0]);
                return Err(format!(
                    "ERR Unknown option or number of arguments for CONFIG SET - '{name}'"
                ));
            };
            let failed = |error: &str| {
                format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {error}")
            };
            if named.contains(&name) {
                return Err(failed("duplicate parameter"));
            }
            named.push(name);
            settings
                .set(name, pair[1])
                .map_err(|error| failed(&error))?;
        }
        Ok(())
    })?;
    let fsync = call.engine.settings.load().fsync;
    call.engine.journal.set_fsync(fsync);
    Ok(())
}

pub(super) fn save(call: &mut Call<'_>) -> CommandResult {
    crate::snapshot::take(call.engine).map_err(|error| format!("ERR {error}"))?;
    call.out.ok();
    Ok(())
}

pub(super) fn bgsave(call: &mut Call<'_>) -> CommandResult {
    let is_schedule = call.args.len() == 2 && call.is(1, "schedule");
    if call.args.len() > 1 && !is_schedule {
        return Err(SYNTAX.into());
    }
    if call.engine.snapshots.is_running() && !is_schedule {
        return Err("ERR Background save already in progress".into());
    }
    call.engine.snapshots.request();
    call.out.simple("Background saving started");
    Ok(())
}

/// Takes a snapshot, after which the log is empty.
pub(super) fn bgrewriteaof(call: &mut Call<'_>) -> CommandResult {
    let started = if call.engine.snapshots.is_running() {
        "scheduled"
    } else {
        "started"
    };
    call.engine.snapshots.request();
    let text = format!("Background append only file rewriting {started}");
    call.out.simple(&text);
    Ok(())
}

pub(super) fn lastsave(call: &mut Call<'_>) -> CommandResult {
    call.out.count(call.engine.snapshots.last() / 1000);
    Ok(())
}

/// The log has everything. With SAVE a snapshot is taken too, so that the next start is fast.
pub(super) fn shutdown(call: &mut Call<'_>) -> CommandResult {
    for word in &call.args[1..] {
        match word.to_ascii_lowercase().as_slice() {
            b"save" => {
                crate::snapshot::take(call.engine).map_err(|error| format!("ERR {error}"))?;
            }
            b"nosave" | b"now" | b"force" => {}
            _ => return Err(SYNTAX.into()),
        }
    }
    Ok(())
}
