//! GET, SET and STRLEN: plain strings beside the filters.

use crate::call::{Call, CommandError, CommandResult, SYNTAX, WRONG_TYPE};
use crate::counters::count_lookup;
use crate::keyspace::{KeyEntry, Value};
use mayhap_command::integer;
use std::sync::Arc;

/// The string of a key, if it exists.
fn text(call: &Call<'_>) -> Result<Option<Vec<u8>>, CommandError> {
    call.engine.keys.read(call.key(), call.now, |body| {
        count_lookup(body.is_some());
        match body {
            None => Ok(None),
            Some(KeyEntry {
                value: Value::Text(text),
                ..
            }) => Ok(Some(text.to_vec())),
            Some(_) => Err(WRONG_TYPE.into()),
        }
    })
}

pub(super) fn get(call: &mut Call<'_>) -> CommandResult {
    match text(call)? {
        Some(text) => call.out.bulk(text),
        None => call.out.null(),
    }
    Ok(())
}

pub(super) fn strlen(call: &mut Call<'_>) -> CommandResult {
    let length = text(call)?.map_or(0, |text| text.len());
    call.out.count(length as u64);
    Ok(())
}

#[derive(Default)]
struct SetOptions {
    expires: Option<u64>,
    keeps_expiry: bool,
    /// XX: only if the key exists; NX: only if it does not.
    if_exists: Option<bool>,
    returns_old: bool,
}

fn options(call: &Call<'_>) -> Result<SetOptions, CommandError> {
    let mut options = SetOptions::default();
    let mut at = 3;
    while at < call.args.len() {
        let word = call.args[at].to_ascii_lowercase();
        let has_expiry = options.expires.is_some() || options.keeps_expiry;
        match word.as_slice() {
            b"nx" if options.if_exists != Some(true) => options.if_exists = Some(false),
            b"xx" if options.if_exists != Some(false) => options.if_exists = Some(true),
            b"get" => options.returns_old = true,
            b"keepttl" if !has_expiry => options.keeps_expiry = true,
            b"ex" | b"px" | b"exat" | b"pxat" if !has_expiry => {
                at += 1;
                let word_after = call.args.get(at).ok_or(SYNTAX)?;
                let number = integer(word_after).ok_or(crate::call::NOT_AN_INTEGER)?;
                let is_seconds = word.starts_with(b"e");
                let base = if word.ends_with(b"at") { 0 } else { call.now };
                options.expires = super::expiry::parse_expiry(number, is_seconds, base)
                    .filter(|_| number > 0)
                    .ok_or("ERR invalid expire time in 'set' command")?
                    .into();
            }
            _ => return Err(SYNTAX.into()),
        }
        at += 1;
    }
    Ok(options)
}

pub(super) fn set(call: &mut Call<'_>) -> CommandResult {
    let options = options(call)?;
    call.may_change()?;
    call.may_grow()?;
    let (key, value) = (call.key(), call.args[2]);
    if call.engine.files.contains(key) {
        return Err(crate::files::READ_ONLY.into());
    }
    let _reserved = call.reserve(value.len() as u64)?;
    let new: Arc<[u8]> = value.into();
    let _guard = call.keyspace_guard();
    let (old, is_set) = call.engine.keys.replace(key, |body| {
        call.forget_if_expired(key, body);
        let old = match body {
            Some(KeyEntry {
                value: Value::Text(text),
                ..
            }) => Some(Arc::clone(text)),
            Some(_) if options.returns_old => return Err(CommandError::from(WRONG_TYPE)),
            _ => None,
        };
        if options
            .if_exists
            .is_some_and(|wanted| wanted != body.is_some())
        {
            call.log_whole()?;
            return Ok((old, false));
        }
        let expires = match body {
            Some(body) if options.keeps_expiry => body.expires(),
            _ => options.expires,
        };
        *body = Some(KeyEntry::new(Value::Text(Arc::clone(&new))).until(expires));
        let expires = expires.unwrap_or(0).to_string();
        call.log(&[&b"SET"[..], key, value, expires.as_bytes()])?;
        Ok((old, true))
    })?;
    match (options.returns_old, old, is_set) {
        (true, Some(old), _) => call.out.bulk(old),
        (true, None, _) | (false, _, false) => call.out.null(),
        (false, _, true) => call.out.ok(),
    }
    Ok(())
}
