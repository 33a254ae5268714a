//! DEL, EXISTS, KEYS, SCAN, RENAME, COPY and others: commands on keys of any type.

use crate::call::{Call, CommandError, CommandResult, SYNTAX, lossy};
use crate::counters::count_lookup;
use crate::keyspace::KeyEntry;
use crate::pattern;
use mayhap_command::integer;

/// DEL and UNLINK.
pub(super) fn del(call: &mut Call<'_>) -> CommandResult {
    call.may_change()?;
    let is_file = |key: &&&[u8]| {
        let keys = &call.engine.keys;
        call.engine.files.contains(key) && !keys.read(key, call.now, |body| body.is_some())
    };
    if call.engine.files.has_any() && call.args[1..].iter().any(|key| is_file(&key)) {
        return Err(crate::files::READ_ONLY.into());
    }
    let mut gone = 0;
    for &key in &call.args[1..] {
        let is_there = call.engine.keys.read(key, 0, |body| body.is_some());
        if !is_there {
            continue;
        }
        // Drop the value after the lock is released.
        let removed = call.engine.keys.replace(key, |body| {
            call.forget_if_expired(key, body);
            let removed = body.take();
            if removed.is_some() {
                call.changes.push(&[&b"DEL"[..], key]);
            }
            call.log_whole().map(|()| removed)
        })?;
        gone += i64::from(removed.is_some());
    }
    call.out.integer(gone);
    Ok(())
}

/// EXISTS and TOUCH: a key that is named twice counts twice.
pub(super) fn exists(call: &mut Call<'_>) -> CommandResult {
    let is_there = |key: &&&[u8]| {
        let is_key = call.engine.keys.read(key, call.now, |body| body.is_some());
        let is_there = is_key || call.engine.files.contains(key);
        count_lookup(is_there);
        is_there
    };
    let there = call.args[1..].iter().filter(is_there).count();
    call.out.count(there as u64);
    Ok(())
}

pub(super) fn type_of(call: &mut Call<'_>) -> CommandResult {
    let name = call.engine.keys.read(call.key(), call.now, |body| {
        body.map_or("none", |body| body.value.type_name())
    });
    let name = if name == "none" && call.engine.files.contains(call.key()) {
        crate::files::TYPE_NAME
    } else {
        name
    };
    count_lookup(name != "none");
    call.out.simple(name);
    Ok(())
}

/// Served files are listed and counted like keys.
pub(super) fn dbsize(call: &mut Call<'_>) -> CommandResult {
    let files = call.engine.served_files(call.now).len();
    call.out.count((call.engine.keys.len() + files) as u64);
    Ok(())
}

const LONG_PATTERN: &str = "ERR the pattern is too long";

pub(super) fn keys(call: &mut Call<'_>) -> CommandResult {
    if call.args[1].len() > pattern::MAX_BYTES {
        return Err(LONG_PATTERN.into());
    }
    let mut found = Vec::new();
    for shard in 0..call.engine.keys.shards() {
        call.engine.keys.for_each_in_shard(shard, |key, body| {
            if !body.is_expired(call.now) && pattern::matches(call.args[1], key) {
                found.push(key.to_vec());
            }
        });
    }
    for name in call.engine.served_files(call.now) {
        if pattern::matches(call.args[1], &name) {
            found.push(name.into());
        }
    }
    call.out.bulks(&found);
    Ok(())
}

pub(super) fn randomkey(call: &mut Call<'_>) -> CommandResult {
    let keys = &call.engine.keys;
    let first = crate::random::below(keys.shards());
    for step in 0..keys.shards() {
        let mut names = Vec::new();
        keys.for_each_in_shard((first + step) % keys.shards(), |key, body| {
            if !body.is_expired(call.now) {
                names.push(key.to_vec());
            }
        });
        if !names.is_empty() {
            call.out.bulk(&names[crate::random::below(names.len())]);
            return Ok(());
        }
    }
    let files = call.engine.served_files(call.now);
    if !files.is_empty() {
        call.out.bulk(&files[crate::random::below(files.len())]);
        return Ok(());
    }
    call.out.null();
    Ok(())
}

/// The cursor is the next shard. A key never moves to another shard, so a key that exists throughout is returned at least once.
pub(super) fn scan(call: &mut Call<'_>) -> CommandResult {
    let cursor = std::str::from_utf8(call.args[1]).ok();
    let cursor: u64 = cursor
        .and_then(|text| text.parse().ok())
        .ok_or("ERR invalid cursor")?;
    let (mut wanted, mut fitting, mut kind) = (10, None, None);
    for pair in call.args[2..].chunks(2) {
        let [option, value] = pair else {
            return Err(SYNTAX.into());
        };
        match option.to_ascii_lowercase().as_slice() {
            b"match" if value.len() > pattern::MAX_BYTES => return Err(LONG_PATTERN.into()),
            b"match" => fitting = Some(*value),
            b"count" => {
                let count = integer(value).ok_or(crate::call::NOT_AN_INTEGER)?;
                wanted = usize::try_from(count)
                    .ok()
                    .filter(|count| *count > 0)
                    .ok_or(SYNTAX)?;
            }
            b"type" => kind = Some(lossy(value).to_ascii_lowercase()),
            _ => return Err(SYNTAX.into()),
        }
    }
    let keys = &call.engine.keys;
    let mut shard = usize::try_from(cursor).unwrap_or(usize::MAX);
    let (mut seen, mut found) = (0, Vec::new());
    while shard < keys.shards() && seen < wanted {
        keys.for_each_in_shard(shard, |key, body| {
            seen += 1;
            let fits = fitting.is_none_or(|pattern| pattern::matches(pattern, key));
            let is_kind = kind
                .as_ref()
                .is_none_or(|kind| body.value.type_name().eq_ignore_ascii_case(kind));
            if fits && is_kind && !body.is_expired(call.now) {
                found.push(key.to_vec());
            }
        });
        shard += 1;
    }
    let next = if shard < keys.shards() { shard } else { 0 };
    // There are few files: all of them are returned with the last part.
    let is_kind = kind
        .as_ref()
        .is_none_or(|kind| crate::files::TYPE_NAME.eq_ignore_ascii_case(kind));
    if next == 0 && is_kind {
        let names = call.engine.served_files(call.now).into_iter();
        let fits = |name: &[u8]| fitting.is_none_or(|pattern| pattern::matches(pattern, name));
        found.extend(names.filter(|name| fits(name)).map(Vec::from));
    }
    call.out.array(2);
    call.out.bulk(next.to_string());
    call.out.bulks(&found);
    Ok(())
}

pub(super) fn flush(call: &mut Call<'_>) -> CommandResult {
    let is_plain = call.args.len() == 1;
    if !is_plain && !(call.args.len() == 2 && (call.is(1, "sync") || call.is(1, "async"))) {
        return Err(SYNTAX.into());
    }
    call.may_change()?;
    // Log first: if that fails, the keys stay.
    call.log(&[b"FLUSHALL"])?;
    call.engine.keys.remove_if(|_| true);
    call.out.ok();
    Ok(())
}

/// RENAME and RENAMENX, under the exclusive keyspace lock.
pub(super) fn rename(call: &mut Call<'_>) -> CommandResult {
    call.may_change()?;
    let (from, to) = (call.args[1], call.args[2]);
    let keys = &call.engine.keys;
    if !keys.read(from, call.now, |body| body.is_some()) {
        if call.engine.files.contains(from) {
            return Err(crate::files::NOT_A_SOURCE.into());
        }
        return Err("ERR no such key".into());
    }
    let only_if_free = call.is(0, "renamenx");
    if only_if_free && keys.read(to, call.now, |body| body.is_some()) {
        call.out.integer(0);
        return Ok(());
    }
    if call.engine.files.contains(to) {
        return Err(crate::files::READ_ONLY.into());
    }
    if from != to {
        call.moved.push(to.into());
        call.log(&[&b"RENAME"[..], from, to])?;
        let body = keys.replace(from, Option::take);
        keys.replace(to, |place| *place = body);
    }
    if only_if_free {
        call.out.integer(1);
    } else {
        call.out.ok();
    }
    Ok(())
}

pub(super) fn copy(call: &mut Call<'_>) -> CommandResult {
    let (from, to) = (call.args[1], call.args[2]);
    let mut replaces = false;
    let mut at = 3;
    while at < call.args.len() {
        if call.is(at, "replace") {
            replaces = true;
            at += 1;
        } else if call.is(at, "db") && at + 1 < call.args.len() {
            if call.integer(at + 1)? != 0 {
                return Err("ERR DB index is out of range".into());
            }
            at += 2;
        } else {
            return Err(SYNTAX.into());
        }
    }
    if from == to {
        return Err("ERR source and destination objects are the same".into());
    }
    call.may_change()?;
    call.may_grow()?;
    let keys = &call.engine.keys;
    let is_taken = keys.read(to, call.now, |body| body.is_some());
    let size = keys.read(from, call.now, |body| {
        body.map(|body| body.value.size_bytes())
    });
    if size.is_none() && call.engine.files.contains(from) {
        return Err(crate::files::NOT_A_SOURCE.into());
    }
    let Some(size) = size.filter(|_| replaces || !is_taken) else {
        call.out.integer(0);
        return Ok(());
    };
    if call.engine.files.contains(to) {
        return Err(CommandError::from(crate::files::READ_ONLY));
    }
    let _reserved = call.reserve(size)?;
    let Some(body) = copied(call, from)? else {
        call.out.integer(0);
        return Ok(());
    };
    let _guard = call.keyspace_guard();
    call.moved.push(to.into());
    keys.replace(to, |place| {
        call.log(&[&b"COPY"[..], from, to])?;
        *place = Some(body);
        Ok::<_, CommandError>(())
    })?;
    call.out.integer(1);
    Ok(())
}

/// COPY. Other commands may read the source meanwhile.
fn copied(call: &Call<'_>, from: &[u8]) -> Result<Option<KeyEntry>, CommandError> {
    let _sharing = call.engine.leases.share();
    let Some((value, expires)) = call.share(from)? else {
        return Ok(None);
    };
    Ok(Some(KeyEntry::new(value.copy()?).until(expires)))
}
