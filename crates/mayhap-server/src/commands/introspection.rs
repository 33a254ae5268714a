//! Commands about the server and its commands: INFO, COMMAND, MEMORY, OBJECT, SLOWLOG and others.

use super::client::unknown_subcommand;
use super::{COMMANDS, ResolvedCommand, find, resolve};
use crate::call::{Call, CommandResult, NOT_AN_INTEGER, SYNTAX};
use crate::info;
use crate::keyspace::Value;
use mayhap_command::{CommandSpec, KeyPositions, RespWriter, integer};

pub(super) fn modules(out: &mut RespWriter<'_>) {
    out.array(crate::MODULES.len());
    for (name, version) in crate::MODULES {
        out.map(2);
        out.bulk("name");
        out.bulk(name);
        out.bulk("ver");
        out.integer(version);
    }
}

pub(super) fn module(call: &mut Call<'_>) -> CommandResult {
    if !call.is(1, "list") || call.args.len() != 2 {
        return Err(unknown_subcommand("MODULE", call.args[1]));
    }
    modules(&mut call.out);
    Ok(())
}

pub(super) fn info(call: &mut Call<'_>) -> CommandResult {
    let text = info::text(call.engine, call.now, &call.args[1..]);
    call.out.text(&text);
    Ok(())
}

pub(super) fn role(call: &mut Call<'_>) -> CommandResult {
    call.out.array(3);
    call.out.bulk("master");
    call.out.integer(0);
    call.out.array(0);
    Ok(())
}

pub(super) fn wait(call: &mut Call<'_>) -> CommandResult {
    call.integer(1)?;
    call.integer(2)?;
    call.out.integer(0);
    Ok(())
}

pub(super) fn time(call: &mut Call<'_>) -> CommandResult {
    call.out.array(2);
    call.out.bulk((call.now / 1000).to_string());
    call.out.bulk((call.now % 1000 * 1000).to_string());
    Ok(())
}

pub(super) fn memory(call: &mut Call<'_>) -> CommandResult {
    // SAMPLES is accepted and ignored: the size is known exactly.
    for pair in call.args[3..].chunks(2) {
        let is_option = pair.len() == 2 && pair[0].eq_ignore_ascii_case(b"samples");
        if !is_option {
            return Err(SYNTAX.into());
        }
        if integer(pair[1]).ok_or(NOT_AN_INTEGER)? < 0 {
            return Err(SYNTAX.into());
        }
    }
    let key = call.args[2];
    let size = call
        .engine
        .keys
        .read(key, call.now, |body| body.map(|body| body.size_bytes(key)));
    let of_file = || {
        let served = call.engine.files.get(key)?;
        Some(served.description.stats.size_bytes)
    };
    match size.or_else(of_file) {
        Some(size) => call.out.count(size),
        None => call.out.null(),
    }
    Ok(())
}

const NO_FREQUENCY: &str = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.";

pub(super) fn object(call: &mut Call<'_>) -> CommandResult {
    let word = call.args[1].to_ascii_lowercase();
    let &[_, _, key] = call.args else {
        return Err(unknown_subcommand("OBJECT", &word));
    };
    let encoding = call.engine.keys.read(key, call.now, |body| {
        body.map(|body| match &body.value {
            Value::Text(text) if integer(text).is_some() => "int",
            Value::Text(text) if text.len() <= 44 => "embstr",
            _ => "raw",
        })
    });
    let is_file = encoding.is_none() && call.engine.files.contains(key);
    let encoding = encoding.or(is_file.then_some("raw"));
    match (word.as_slice(), encoding) {
        (b"encoding" | b"refcount" | b"idletime" | b"freq", None) => call.out.null(),
        (b"encoding", Some(encoding)) => call.out.bulk(encoding),
        (b"refcount", Some(_)) => call.out.integer(1),
        (b"idletime", Some(_)) => call.out.integer(0),
        (b"freq", Some(_)) => return Err(NO_FREQUENCY.into()),
        _ => return Err(unknown_subcommand("OBJECT", &word)),
    }
    Ok(())
}

pub(super) fn slowlog(call: &mut Call<'_>) -> CommandResult {
    let slow = &call.engine.slowlog;
    let word = call.args[1].to_ascii_lowercase();
    match (word.as_slice(), call.args.len()) {
        (b"get", 2 | 3) => {
            let max_entries = match call.args.get(2) {
                None => 10,
                Some(word) => match integer(word) {
                    Some(-1) => usize::MAX,
                    Some(count) if count >= 0 => count as usize,
                    _ => return Err("ERR count should be greater than or equal to -1".into()),
                },
            };
            slow.write(&mut call.out, max_entries);
        }
        (b"len", 2) => call.out.count(slow.len() as u64),
        (b"reset", 2) => {
            slow.clear();
            call.out.ok();
        }
        _ => return Err(unknown_subcommand("SLOWLOG", &word)),
    }
    Ok(())
}

/// Replies as Redis does while nothing is monitored.
pub(super) fn latency(call: &mut Call<'_>) -> CommandResult {
    let word = call.args[1].to_ascii_lowercase();
    match word.as_slice() {
        b"latest" | b"history" => call.out.array(0),
        b"histogram" => call.out.map(0),
        b"reset" => call.out.integer(0),
        b"doctor" => call.out.text(
            "Latencies are not tracked by event. SLOWLOG GET lists slow commands (slowlog-log-slower-than), `redis-cli --latency` measures round trips, and INFO persistence and /metrics report how far the disk is behind.\n",
        ),
        _ => return Err(unknown_subcommand("LATENCY", &word)),
    }
    Ok(())
}

fn all() -> Vec<&'static CommandSpec> {
    let own = COMMANDS.iter().map(|row| &row.spec);
    let filters = mayhap_command::COMMANDS.iter().map(|row| &row.spec);
    own.chain(filters).collect()
}

fn spec(name: &[u8]) -> Option<&'static CommandSpec> {
    find(name).map(ResolvedCommand::spec)
}

fn simples<S: AsRef<str>>(out: &mut RespWriter<'_>, names: &[S]) {
    out.set(names.len());
    for name in names {
        out.simple(name.as_ref());
    }
}

fn write_info(out: &mut RespWriter<'_>, spec: &CommandSpec) {
    let flags: Vec<&str> = spec.flags.names().collect();
    let categories = spec.categories.names().map(|name| format!("@{name}"));
    let categories: Vec<String> = categories.collect();
    out.array(10);
    out.bulk(spec.name);
    out.integer(spec.arity.reported().into());
    simples(out, &flags);
    out.integer(spec.keys.first.into());
    out.integer(spec.keys.last.into());
    out.integer(spec.keys.step.into());
    simples(out, &categories);
    // Tips, key specifications, subcommands.
    out.array(0);
    out.array(0);
    out.array(0);
}

fn write_docs(out: &mut RespWriter<'_>, specs: &[&CommandSpec]) {
    out.map(specs.len());
    for spec in specs {
        out.bulk(spec.name);
        out.map(3);
        out.bulk("summary");
        out.bulk(spec.summary);
        out.bulk("since");
        out.bulk("1.0.0");
        out.bulk("group");
        out.bulk(spec.group);
    }
}

pub(super) fn command(call: &mut Call<'_>) -> CommandResult {
    let Some(word) = call.args.get(1).map(|word| word.to_ascii_lowercase()) else {
        let all = all();
        call.out.array(all.len());
        for spec in &all {
            write_info(&mut call.out, spec);
        }
        return Ok(());
    };
    let names = &call.args[2..];
    match word.as_slice() {
        b"count" if names.is_empty() => call.out.count(all().len() as u64),
        b"list" if names.is_empty() => {
            let names: Vec<&str> = all().iter().map(|spec| spec.name).collect();
            call.out.bulks(&names);
        }
        b"info" => {
            let all = all();
            let specs: Vec<Option<&CommandSpec>> = if names.is_empty() {
                all.into_iter().map(Some).collect()
            } else {
                names.iter().map(|name| spec(name)).collect()
            };
            call.out.array(specs.len());
            for spec in &specs {
                match spec {
                    Some(spec) => write_info(&mut call.out, spec),
                    None => call.out.null(),
                }
            }
        }
        b"docs" => {
            let specs: Vec<&CommandSpec> = if names.is_empty() {
                all()
            } else {
                names.iter().filter_map(|name| spec(name)).collect()
            };
            write_docs(&mut call.out, &specs);
        }
        b"getkeys" if !names.is_empty() => return keys_of(call, names),
        _ => return Err(unknown_subcommand("COMMAND", &word)),
    }
    Ok(())
}

fn keys_of(call: &mut Call<'_>, argv: &[&[u8]]) -> CommandResult {
    let spec = spec(argv[0]).ok_or("ERR Invalid command specified")?;
    if spec.keys == KeyPositions::NONE {
        return Err("ERR The command has no key arguments".into());
    }
    if resolve(argv).is_err() {
        return Err("ERR Invalid number of arguments specified for command".into());
    }
    let keys: Vec<&[u8]> = spec.keys.select(argv).collect();
    call.out.bulks(&keys);
    Ok(())
}
