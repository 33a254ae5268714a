//! What the server tells of itself.

use super::client::unknown_subcommand;
use super::{COMMANDS, ServerCommand, own};
use crate::call::{Call, CommandError, CommandResult, NOT_AN_INTEGER, SYNTAX, integer};
use crate::info;
use crate::keyspace::Value;
use crate::reply_writer::ReplyWriter;
use mayhap_command::Specification;

pub(super) fn modules(out: &mut ReplyWriter<'_>) {
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
    if !call.is(1, "list") || call.words.len() != 2 {
        return Err(unknown_subcommand("MODULE", call.words[1]));
    }
    modules(&mut call.out);
    Ok(())
}

pub(super) fn info(call: &mut Call<'_>) -> CommandResult {
    let text = info::text(call.engine, call.now, &call.words[1..]);
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
    // How many parts of a value to look at: we know its size.
    for pair in call.words[3..].chunks(2) {
        let is_option = pair.len() == 2 && pair[0].eq_ignore_ascii_case(b"samples");
        if !is_option {
            return Err(SYNTAX.into());
        }
        if integer(pair[1]).ok_or(NOT_AN_INTEGER)? < 0 {
            return Err(SYNTAX.into());
        }
    }
    let key = call.words[2];
    let size = call
        .engine
        .keys
        .read(key, call.now, |body| body.map(|body| body.size_bytes(key)));
    let of_file = || {
        let served = call.engine.files.get(key)?;
        Some(served.description.size_bytes)
    };
    match size.or_else(of_file) {
        Some(size) => call.out.count(size),
        None => call.out.null(),
    }
    Ok(())
}

const NO_FREQUENCY: &str = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.";

pub(super) fn object(call: &mut Call<'_>) -> CommandResult {
    let word = call.words[1].to_ascii_lowercase();
    let &[_, _, key] = call.words else {
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
    let word = call.words[1].to_ascii_lowercase();
    match (word.as_slice(), call.words.len()) {
        (b"get", 2 | 3) => {
            let most = match call.words.get(2) {
                None => 10,
                Some(word) => match integer(word) {
                    Some(-1) => usize::MAX,
                    Some(count) if count >= 0 => count as usize,
                    _ => return Err("ERR count should be greater than or equal to -1".into()),
                },
            };
            slow.write(&mut call.out, most);
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

/// As Redis answers while nothing is monitored.
pub(super) fn latency(call: &mut Call<'_>) -> CommandResult {
    let word = call.words[1].to_ascii_lowercase();
    match word.as_slice() {
        b"latest" | b"history" => call.out.array(0),
        b"histogram" => call.out.map(0),
        b"reset" => call.out.integer(0),
        b"doctor" => call.out.text(
            "Latencies are not tracked by event. SLOWLOG GET has the commands that took long (slowlog-log-slower-than), `redis-cli --latency` measures from outside, and INFO persistence and /metrics tell how far the disk is behind.\n",
        ),
        _ => return Err(unknown_subcommand("LATENCY", &word)),
    }
    Ok(())
}

/// Whichever it is, as COMMAND tells it.
struct HostCommand {
    name: &'static str,
    arity: i64,
    flags: Vec<&'static str>,
    keys: (i32, i32, i32),
    categories: Vec<String>,
    group: &'static str,
    summary: &'static str,
}

impl From<&'static ServerCommand> for HostCommand {
    fn from(own: &'static ServerCommand) -> Self {
        let flags: Vec<&str> = own.flags.split(' ').collect();
        let kind = |name: &str| {
            if name == "readonly" {
                "read".to_owned()
            } else {
                name.to_owned()
            }
        };
        let mut categories: Vec<String> = flags
            .iter()
            .filter(|flag| ["readonly", "write", "admin", "fast", "blocking"].contains(flag))
            .map(|flag| format!("@{}", kind(flag)))
            .collect();
        categories.push(format!(
            "@{}",
            if own.group == "generic" {
                "keyspace"
            } else {
                own.group
            }
        ));
        Self {
            name: own.name,
            arity: own.arity.into(),
            flags,
            keys: own.keys,
            categories,
            group: own.group,
            summary: own.summary,
        }
    }
}

impl From<&'static Specification> for HostCommand {
    fn from(specification: &'static Specification) -> Self {
        Self {
            name: specification.name,
            arity: specification.arity,
            flags: specification.flags.to_vec(),
            keys: (
                specification.first_key as i32,
                specification.last_key as i32,
                1,
            ),
            categories: specification
                .categories
                .iter()
                .map(|name| format!("@{name}"))
                .collect(),
            group: "module",
            summary: specification.summary,
        }
    }
}

fn command_info(name: &[u8]) -> Option<HostCommand> {
    match mayhap_command::find(name) {
        Some(specification) => Some(specification.into()),
        None => own(name).map(HostCommand::from),
    }
}

fn all() -> Vec<HostCommand> {
    let own = COMMANDS.iter().map(HostCommand::from);
    own.chain(mayhap_command::COMMANDS.iter().map(HostCommand::from))
        .collect()
}

fn simples<S: AsRef<str>>(out: &mut ReplyWriter<'_>, words: &[S]) {
    out.set(words.len());
    for word in words {
        out.simple(word.as_ref());
    }
}

fn write_info(out: &mut ReplyWriter<'_>, told: &HostCommand) {
    out.array(10);
    out.bulk(told.name);
    out.integer(told.arity);
    simples(out, &told.flags);
    let (first, last, step) = told.keys;
    out.integer(first.into());
    out.integer(last.into());
    out.integer(step.into());
    simples(out, &told.categories);
    // Tips, specifications of keys, subcommands.
    out.array(0);
    out.array(0);
    out.array(0);
}

fn write_docs(out: &mut ReplyWriter<'_>, told: &[HostCommand]) {
    out.map(told.len());
    for told in told {
        out.bulk(told.name);
        out.map(3);
        out.bulk("summary");
        out.bulk(told.summary);
        out.bulk("since");
        out.bulk("1.0.0");
        out.bulk("group");
        out.bulk(told.group);
    }
}

pub(super) fn command(call: &mut Call<'_>) -> CommandResult {
    let Some(word) = call.words.get(1).map(|word| word.to_ascii_lowercase()) else {
        let all = all();
        call.out.array(all.len());
        for told in &all {
            write_info(&mut call.out, told);
        }
        return Ok(());
    };
    let names = &call.words[2..];
    match word.as_slice() {
        b"count" if names.is_empty() => call.out.count(all().len() as u64),
        b"list" if names.is_empty() => {
            let names: Vec<&str> = all().iter().map(|told| told.name).collect();
            call.out.bulks(&names);
        }
        b"info" => {
            let all = all();
            let asked: Vec<Option<HostCommand>> = if names.is_empty() {
                all.into_iter().map(Some).collect()
            } else {
                names.iter().map(|name| command_info(name)).collect()
            };
            call.out.array(asked.len());
            for told in &asked {
                match told {
                    Some(told) => write_info(&mut call.out, told),
                    None => call.out.null(),
                }
            }
        }
        b"docs" => {
            let asked: Vec<HostCommand> = if names.is_empty() {
                all()
            } else {
                names.iter().filter_map(|name| command_info(name)).collect()
            };
            write_docs(&mut call.out, &asked);
        }
        b"getkeys" if !names.is_empty() => return keys_of(call, names),
        _ => return Err(unknown_subcommand("COMMAND", &word)),
    }
    Ok(())
}

fn keys_of(call: &mut Call<'_>, words: &[&[u8]]) -> CommandResult {
    let told = command_info(words[0]).ok_or("ERR Invalid command specified")?;
    let wrong_number = "ERR Invalid number of arguments specified for command";
    let (first, last, step) = told.keys;
    let from_end = last.unsigned_abs() as usize;
    let last = if last < 0 {
        words.len() - from_end
    } else {
        from_end
    };
    if first == 0 {
        return Err("ERR The command has no key arguments".into());
    }
    let places = (first as usize..=last).step_by(step.max(1) as usize);
    let keys: Option<Vec<&[u8]>> = places.map(|at| words.get(at).copied()).collect();
    let keys = keys.filter(|keys| !keys.is_empty());
    let is_known = super::find(words).is_ok();
    let keys = keys
        .filter(|_| is_known)
        .ok_or_else(|| CommandError::from(wrong_number))?;
    call.out.bulks(&keys);
    Ok(())
}
