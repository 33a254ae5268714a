//! Which keys of a server are filters.

use super::filter_type::{FilterType, Stays, other_type};
use super::node::CommandError;
use super::report::printable;
use super::server::{Server, bytes_of, is_stopped, text_of, unexpected};
use super::slot;
use redis::Value;
use std::collections::BTreeSet;

/// Keys per SCAN: a server takes less than a millisecond for them.
const COUNT: &[u8] = b"1000";

/// A key of the source.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) database: u64,
    pub(super) key: Vec<u8>,
    pub(super) content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Filter(FilterType),
    Other(&'static str, Stays),
}

/// What a key with this type is, if it belongs into the report.
pub(super) fn content(type_name: &[u8]) -> Option<Content> {
    match FilterType::from_name(type_name) {
        Some(kind) => Some(Content::Filter(kind)),
        None => other_type(type_name).map(|(name, stays)| Content::Other(name, stays)),
    }
}

/// Calls `each` with the keys of all masters that match, in parts, and with the address of their node.
fn scan(
    server: &mut Server,
    pattern: Option<&[u8]>,
    mut each: impl FnMut(&mut Server, &str, Vec<Vec<u8>>) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    for address in server.masters() {
        let mut cursor = b"0".to_vec();
        // A cursor that returns never ends: one in so many calls is kept, so that circles of any length are noticed.
        let (mut kept, mut calls) = (cursor.clone(), 0_u64);
        loop {
            if is_stopped() {
                return Err(CommandError::Interrupted);
            }
            let mut words: Vec<&[u8]> = vec![b"SCAN", &cursor, b"COUNT", COUNT];
            if let Some(pattern) = pattern {
                words.extend([&b"MATCH"[..], pattern]);
            }
            let Value::Array(parts) = server.run_at(&address, &words)? else {
                return Err(unexpected("SCAN", &Value::Nil));
            };
            let mut parts = parts.into_iter();
            let (Some(next), Some(Value::Array(keys))) =
                (parts.next().and_then(bytes_of), parts.next())
            else {
                return Err(unexpected("SCAN", &Value::Nil));
            };
            let keys: Option<Vec<_>> = keys.into_iter().map(bytes_of).collect();
            each(
                server,
                &address,
                keys.ok_or_else(|| unexpected("SCAN", &Value::Nil))?,
            )?;
            if next == b"0" {
                break;
            }
            calls += 1;
            if calls.is_power_of_two() {
                kept.clone_from(&cursor);
            }
            if next == kept {
                return Err(CommandError::broken(format!(
                    "{address}: SCAN does not get behind cursor {}: is a proxy in between?",
                    printable(&next)
                )));
            }
            cursor = next;
        }
    }
    Ok(())
}

/// The filters that match, and other keys that belong into the report, sorted by key.
pub(super) fn filters(
    server: &mut Server,
    pattern: Option<&[u8]>,
) -> Result<Vec<Listed>, CommandError> {
    let database = u64::try_from(server.database()).unwrap_or(0);
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    scan(server, pattern, |server, address, keys| {
        let commands: Vec<Vec<&[u8]>> = keys.iter().map(|key| vec![&b"TYPE"[..], key]).collect();
        let types = server.run_all_at(address, &commands)?;
        for (key, type_name) in keys.iter().zip(types) {
            let type_name = match type_name {
                // A cluster moved the slot meanwhile.
                Err(CommandError::Redirected { .. }) => server.run(key, &[b"TYPE", key]),
                reply => reply,
            };
            let type_name = type_name
                .and_then(|reply| text_of("TYPE", reply))
                .map_err(|error| no_type(key, error))?;
            let Some(content) = content(&type_name) else {
                continue;
            };
            // SCAN may return a key twice. What another run left behind is no filter of the user.
            if slot::key_of_temporary(key).is_none() && seen.insert(key.clone()) {
                found.push(Listed {
                    database,
                    key: key.clone(),
                    content,
                });
            }
        }
        Ok(())
    })?;
    found.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(found)
}

/// Without its type, a key may be a filter: a run that left it out would not have moved everything.
fn no_type(key: &[u8], error: CommandError) -> CommandError {
    match error {
        CommandError::Server { code, text } => CommandError::Server {
            code,
            text: format!(
                "{text} (for TYPE {}, which --match can leave out)",
                printable(key)
            ),
        },
        error => error,
    }
}

/// Removes what killed runs left at the target for these keys.
pub(super) fn remove_leftovers(
    target: &mut Server,
    keys: &BTreeSet<&[u8]>,
) -> Result<u64, CommandError> {
    let pattern = format!("{}*", slot::PREFIX);
    let mut names = Vec::new();
    scan(target, Some(pattern.as_bytes()), |_, _, found| {
        let is_leftover = |name: &Vec<u8>| {
            let key = slot::key_of_temporary(name);
            key.is_some_and(|key| keys.contains(key))
        };
        names.extend(found.into_iter().filter(is_leftover));
        Ok(())
    })?;
    for name in &names {
        target.run(name, &[b"UNLINK", name])?;
    }
    Ok(names.len() as u64)
}
