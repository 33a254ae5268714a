//! DUMP and RESTORE.

use crate::call::{Call, CommandError, CommandResult, SYNTAX};
use crate::keyspace::{KeyEntry, SharedValue, Value};
use crate::shared_slot::SharedSlot;
use mayhap_codec::Limits;
use mayhap_codec::redis::plain;
use mayhap_command::Slot;

/// The version of RDB that Redis 7.0 writes, which all later ones read.
const RDB_VERSION: u16 = 10;

/// The longest bulk string of the protocol.
const MAX_BULK: u64 = 512 << 20;

pub(super) fn dump(call: &mut Call<'_>) -> CommandResult {
    let _sharing = call.engine.leases.share();
    let Some((value, _)) = call.share(call.key())? else {
        if call.engine.files.contains(call.key()) {
            return Err(crate::files::NOT_A_SOURCE.into());
        }
        call.out.null();
        return Ok(());
    };
    if value.size_bytes() > MAX_BULK {
        return Err(
            "ERR the filter is larger than a reply may be: copy it with SCANDUMP and LOADCHUNK"
                .into(),
        );
    }
    match value {
        SharedValue::Text(text) => call.out.bulk(plain::encode(&text, RDB_VERSION)),
        SharedValue::Filter(slot) => call.out.bulk(slot.dump(RDB_VERSION)),
    }
    Ok(())
}

struct RestoreOptions {
    replaces: bool,
    is_absolute: bool,
}

fn options(call: &Call<'_>) -> Result<RestoreOptions, CommandError> {
    let mut options = RestoreOptions {
        replaces: false,
        is_absolute: false,
    };
    let mut at = 4;
    while at < call.args.len() {
        if call.is(at, "replace") {
            options.replaces = true;
        } else if call.is(at, "absttl") {
            options.is_absolute = true;
        } else if call.is(at, "idletime") && at + 1 < call.args.len() {
            at += 1;
            if call.integer(at)? < 0 {
                return Err("ERR Invalid IDLETIME value, must be >= 0".into());
            }
        } else if call.is(at, "freq") && at + 1 < call.args.len() {
            at += 1;
            if !(0..=255).contains(&call.integer(at)?) {
                return Err("ERR Invalid FREQ value, must be >= 0 and <= 255".into());
            }
        } else {
            return Err(SYNTAX.into());
        }
        at += 1;
    }
    Ok(options)
}

pub(super) fn restore(call: &mut Call<'_>) -> CommandResult {
    let options = options(call)?;
    let (key, payload) = (call.key(), call.args[3]);
    let is_taken = call.engine.keys.read(key, call.now, |body| body.is_some());
    if is_taken && !options.replaces {
        return Err("BUSYKEY Target key name already exists.".into());
    }
    let ttl = call.integer(2)?;
    if ttl < 0 {
        return Err("ERR Invalid TTL value, must be >= 0".into());
    }
    let base = if options.is_absolute { 0 } else { call.now };
    let expires = match ttl {
        0 => None,
        ttl => Some(
            super::expiry::parse_expiry(ttl, false, base)
                .ok_or("ERR Invalid TTL value, must be >= 0")?,
        ),
    };
    call.may_change()?;
    call.may_grow()?;
    if call.engine.files.contains(key) {
        return Err(crate::files::READ_ONLY.into());
    }
    if !plain::is_whole(payload) {
        return Err("ERR DUMP payload version or checksum are wrong".into());
    }
    let settings = call.engine.settings.load();
    let limits = Limits {
        max_bytes: settings.filters.max_filter_bytes,
    };
    let text_limits = Limits {
        max_bytes: MAX_BULK,
    };
    let value = if let Some(text) = plain::decode(payload, text_limits) {
        Value::Text(text.map_err(|_| "ERR Bad data format")?.into())
    } else {
        let slot = Slot::restore(payload, limits).map_err(|_| "ERR Bad data format")?;
        Value::Filter(SharedSlot::new(slot))
    };
    call.may_log(value.size_bytes())?;
    let _reserved = call.reserve(value.size_bytes())?;
    let body = KeyEntry::new(value).until(expires);
    let _guard = call.keyspace_guard();
    call.engine.keys.replace(key, |place| {
        call.forget_if_expired(key, place);
        if place.is_some() && !options.replaces {
            call.log_whole()?;
            return Err("BUSYKEY Target key name already exists.".into());
        }
        if body.is_expired(call.now) {
            // It has expired already, so it is not created.
            if place.take().is_some() {
                call.changes.push(&[&b"DEL"[..], key]);
            }
        } else {
            call.push_value(key, &body);
            *place = Some(body);
        }
        call.log_whole()
    })?;
    call.out.ok();
    Ok(())
}
