//! EXPIRE, TTL and related commands. The log contains absolute times only.

use crate::call::{Call, CommandError, CommandResult, SYNTAX, lossy};
use crate::counters::count_lookup;
use crate::keyspace::KeyEntry;

/// Converts a number in some unit, counted from `base`, to milliseconds since 1970.
pub(super) fn parse_expiry(number: i64, is_seconds: bool, base: u64) -> Option<u64> {
    let milliseconds = if is_seconds {
        number.checked_mul(1000)?
    } else {
        number
    };
    let sum = i64::try_from(base).ok()?.checked_add(milliseconds)?;
    // Times before 1970 have passed.
    Some(u64::try_from(sum).unwrap_or(1).max(1))
}

/// The condition under which a new expiry time is set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    /// NX: the key has none.
    None,
    /// XX: the key has one.
    Some,
    /// GT: the new one is later.
    Later,
    /// LT: the new one is earlier.
    Sooner,
}

impl Condition {
    fn read(word: &[u8]) -> Result<Self, CommandError> {
        Ok(match word.to_ascii_lowercase().as_slice() {
            b"nx" => Self::None,
            b"xx" => Self::Some,
            b"gt" => Self::Later,
            b"lt" => Self::Sooner,
            _ => return Err(format!("ERR Unsupported option {}", lossy(word)).into()),
        })
    }

    fn allows(self, before: Option<u64>, at: u64) -> bool {
        match self {
            Self::None => before.is_none(),
            Self::Some => before.is_some(),
            // No expiry time counts as later than any.
            Self::Later => before.is_some_and(|before| at > before),
            Self::Sooner => before.is_none_or(|before| at < before),
        }
    }
}

fn all_allow(conditions: &[Condition], before: Option<u64>, at: u64) -> bool {
    conditions
        .iter()
        .all(|condition| condition.allows(before, at))
}

/// Served files do not expire.
fn check_no_file(call: &Call<'_>) -> CommandResult {
    let is_key = |key| call.engine.keys.read(key, call.now, |body| body.is_some());
    if call.engine.files.contains(call.key()) && !is_key(call.key()) {
        return Err(crate::files::READ_ONLY.into());
    }
    Ok(())
}

/// EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT.
pub(super) fn expire(call: &mut Call<'_>) -> CommandResult {
    let name = call.args[0].to_ascii_lowercase();
    let number = call.integer(2)?;
    let base = if name.ends_with(b"at") { 0 } else { call.now };
    let Some(at) = parse_expiry(number, !name.starts_with(b"p"), base) else {
        let name = String::from_utf8_lossy(&name);
        return Err(format!("ERR invalid expire time in '{name}' command").into());
    };
    let conditions: Vec<Condition> = call.args[3..]
        .iter()
        .map(|word| Condition::read(word))
        .collect::<Result<_, _>>()?;
    let has = |condition| conditions.contains(&condition);
    if has(Condition::None) && conditions.iter().any(|other| *other != Condition::None) {
        return Err("ERR NX and XX, GT or LT options at the same time are not compatible".into());
    }
    if has(Condition::Later) && has(Condition::Sooner) {
        return Err("ERR GT and LT options at the same time are not compatible".into());
    }
    call.may_change()?;
    let (engine, key) = (call.engine, call.key());
    check_no_file(call)?;
    if at <= call.now {
        return expire_at_once(call, &conditions, at);
    }
    let is_set = engine.keys.update(key, call.now, |body| {
        if !all_allow(&conditions, body.expires(), at) {
            return Ok(false);
        }
        engine.keys.set_expiry(key, body, Some(at));
        call.log(&[&b"PEXPIREAT"[..], key, at.to_string().as_bytes()])?;
        Ok(true)
    });
    let is_set = is_set.unwrap_or(Ok::<_, CommandError>(false))?;
    call.out.integer(i64::from(is_set));
    Ok(())
}

fn expire_at_once(call: &mut Call<'_>, conditions: &[Condition], at: u64) -> CommandResult {
    let key = call.key();
    let is_gone = call.engine.keys.replace(key, |body| {
        call.forget_if_expired(key, body);
        let is_gone = match body {
            Some(there) => all_allow(conditions, there.expires(), at),
            None => false,
        };
        if is_gone {
            *body = None;
            call.changes.push(&[&b"DEL"[..], key]);
        }
        call.log_whole().map(|()| is_gone)
    })?;
    call.out.integer(i64::from(is_gone));
    Ok(())
}

pub(super) fn persist(call: &mut Call<'_>) -> CommandResult {
    call.may_change()?;
    check_no_file(call)?;
    let (engine, key) = (call.engine, call.key());
    let stays = engine.keys.update(key, call.now, |body| {
        if body.expires().is_none() {
            return Ok(false);
        }
        engine.keys.set_expiry(key, body, None);
        call.log(&[&b"PERSIST"[..], key])?;
        Ok(true)
    });
    let stays = stays.unwrap_or(Ok::<_, CommandError>(false))?;
    call.out.integer(i64::from(stays));
    Ok(())
}

/// TTL, PTTL, EXPIRETIME, PEXPIRETIME: -2 if the key does not exist, -1 if it does not expire.
pub(super) fn ttl(call: &mut Call<'_>) -> CommandResult {
    let name = call.args[0].to_ascii_lowercase();
    let now = call.now;
    let expires = call
        .engine
        .keys
        .read(call.key(), now, |body| body.map(KeyEntry::expires));
    // A served file exists and does not expire.
    let is_file = expires.is_none() && call.engine.files.contains(call.key());
    count_lookup(expires.is_some() || is_file);
    let answer = match expires {
        None if is_file => -1,
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => {
            let left = match name.as_slice() {
                b"ttl" => (at - now + 500) / 1000,
                b"pttl" => at - now,
                b"expiretime" => at / 1000,
                _ => at,
            };
            i64::try_from(left).map_err(|_| SYNTAX)?
        }
    };
    call.out.integer(answer);
    Ok(())
}
