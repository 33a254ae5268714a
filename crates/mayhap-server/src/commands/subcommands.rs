//! Commands that have commands of their own, and how many words these take.

use super::Own;
use crate::call::{Failure, lossy};

/// As Redis names them, and the number of words as it counts: all of them; negative is at least so many.
type Part = (&'static str, i32);

const CLIENT: &[Part] = &[
    ("client|getname", 2),
    ("client|help", 2),
    ("client|id", 2),
    ("client|info", 2),
    ("client|kill", -3),
    ("client|list", -2),
    ("client|no-evict", 3),
    ("client|no-touch", 3),
    ("client|reply", 3),
    ("client|setinfo", 4),
    ("client|setname", 3),
    ("client|tracking", -3),
];
const COMMAND: &[Part] = &[
    ("command|count", 2),
    ("command|docs", -2),
    ("command|getkeys", -3),
    ("command|info", -2),
    ("command|list", -2),
];
const CONFIG: &[Part] = &[
    ("config|get", -3),
    ("config|help", 2),
    ("config|resetstat", 2),
    ("config|rewrite", 2),
    ("config|set", -4),
];
const MEMORY: &[Part] = &[("memory|usage", -3)];
const MODULE: &[Part] = &[("module|list", 2)];
const OBJECT: &[Part] = &[
    ("object|encoding", 3),
    ("object|freq", 3),
    ("object|idletime", 3),
    ("object|refcount", 3),
];
const SLOWLOG: &[Part] = &[
    ("slowlog|get", -2),
    ("slowlog|help", 2),
    ("slowlog|len", 2),
    ("slowlog|reset", 2),
];

fn parts_of(own: &Own) -> &'static [Part] {
    match own.name {
        "client" => CLIENT,
        "command" => COMMAND,
        "config" => CONFIG,
        "memory" => MEMORY,
        "module" => MODULE,
        "object" => OBJECT,
        "slowlog" => SLOWLOG,
        _ => &[],
    }
}

fn find(own: &Own, word: &[u8]) -> Option<Part> {
    let is_named = |(name, _): &&Part| {
        let part = name.rsplit('|').next().unwrap_or_default();
        word.eq_ignore_ascii_case(part.as_bytes())
    };
    parts_of(own).iter().find(is_named).copied()
}

/// `client|list`, or the command's own name when it has no parts.
pub(super) fn name(own: &'static Own, words: &[&[u8]]) -> &'static str {
    let part = words.get(1).and_then(|word| find(own, word));
    part.map_or(own.name, |(name, _)| name)
}

/// Whether there is such a part, with as many words as it may have.
pub(super) fn check(own: &Own, words: &[&[u8]]) -> Result<(), Failure> {
    let [_, word, ..] = words else {
        return Ok(());
    };
    if parts_of(own).is_empty() {
        return Ok(());
    }
    let Some((name, arity)) = find(own, word) else {
        let (word, command) = (lossy(word), own.name.to_ascii_uppercase());
        return Err(format!("ERR unknown subcommand '{word}'. Try {command} HELP.").into());
    };
    if super::table::takes(arity, words.len()) {
        return Ok(());
    }
    Err(format!("ERR wrong number of arguments for '{name}' command").into())
}
