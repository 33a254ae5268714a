//! What the engine does with a value: it saves, loads, copies, weighs and frees it.

#![allow(unsafe_code, reason = "the engine speaks C")]

use super::api::{
    DefragCtx, Digest, FLAG_CHILD, FLAG_LOADING, FLAG_REPLICA, FLAG_REPLICATED, Io, RawString,
};
use super::fields::Fields;
use super::{
    FILTERS, HOST, Strings, api, bytes_of, c_string, can_take, caught, into_value, memory_left,
};
use mayhap_codec::redis::dump::TypeId;
use mayhap_command::{Limits, Slot, TYPES};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

pub(super) unsafe extern "C" fn on_load_value<const NUMBER: usize>(
    io: *mut Io,
    version: c_int,
) -> *mut c_void {
    caught(null_mut(), || {
        let (name, _) = TYPES[NUMBER];
        let id = TypeId::new(name, version.try_into().unwrap_or(u16::MAX));
        let max_bytes = max_bytes_to_load(io);
        match Slot::load(id, &mut Fields::new(io, max_bytes), Limits { max_bytes }) {
            Ok(slot) => into_value(slot),
            Err(error) => {
                let text = c_string(error.to_string().as_bytes());
                // SAFETY: the engine is loading with this, and the text ends with a zero byte.
                unsafe { (api().log_io)(io, c"warning".as_ptr(), c"%s".as_ptr(), text.as_ptr()) };
                null_mut()
            }
        }
    })
}

/// What a file or a primary has is loaded; what a client restores is held to the limits.
pub(super) fn max_bytes_to_load(io: *mut Io) -> u64 {
    // SAFETY: the engine is loading with this, and the context it gives is good for that long.
    let flags = unsafe { (api().context_flags)((api().context_of_io)(io)) };
    if flags & (FLAG_LOADING | FLAG_REPLICA | FLAG_REPLICATED) != 0 {
        return u64::MAX;
    }
    let most = HOST
        .get()
        .map_or(0, |host| host.settings().config.max_filter_bytes);
    most.min(memory_left())
}

/// # Safety
/// The value must be of one of our types, and not change while it is looked at.
unsafe fn slot<'a>(value: *const c_void) -> &'a Slot {
    // SAFETY: values of our types are slots.
    unsafe { &*value.cast() }
}

pub(super) unsafe extern "C" fn on_save(io: *mut Io, value: *mut c_void) {
    let saved = caught(false, || {
        // SAFETY: the value is one of ours.
        unsafe { slot(value) }.save(&mut Fields::new(io, 0));
        true
    });
    // A value that is cut short makes the whole file unreadable: a child that writes one had better fail.
    // SAFETY: it takes no context, too.
    if !saved && unsafe { (api().context_flags)(null_mut()) } & FLAG_CHILD != 0 {
        std::process::abort();
    }
}

pub(super) unsafe extern "C" fn on_rewrite(io: *mut Io, key: *mut RawString, value: *mut c_void) {
    caught((), || {
        // SAFETY: the value is one of ours, and the key lives until we return.
        let (slot, key) = unsafe { (slot(value), bytes_of(key)) };
        slot.give_commands(key, &mut |name, words| {
            let strings = Strings::new(words.iter().copied());
            let name = c_string(name.as_bytes());
            let (first, count) = (strings.0.as_ptr(), strings.0.len());
            // SAFETY: "v" takes a vector of strings and its length; both live until the call is over.
            unsafe { (api().emit_aof)(io, name.as_ptr(), c"v".as_ptr(), first, count) };
        });
    });
}

pub(super) unsafe extern "C" fn on_memory(value: *const c_void) -> usize {
    // SAFETY: the value is one of ours.
    caught(0, || unsafe { slot(value) }.size_bytes() as usize)
}

pub(super) unsafe extern "C" fn on_digest(digest: *mut Digest, value: *mut c_void) {
    caught((), || {
        // SAFETY: the value is one of ours.
        let image = unsafe { slot(value) }.encode();
        // SAFETY: the engine is digesting with this; pointer and length are those of the image.
        unsafe {
            (api().digest_bytes)(digest, image.as_ptr().cast(), image.len());
            (api().digest_end)(digest);
        }
    });
}

/// Perhaps on another thread.
pub(super) unsafe extern "C" fn on_free(value: *mut c_void) {
    caught((), || {
        FILTERS.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: values of our types are boxed slots, and the engine gives each back once.
        drop(unsafe { Box::from_raw(value.cast::<Slot>()) });
    });
}

/// From 64 on the engine frees on another thread: more than a megabyte.
pub(super) unsafe extern "C" fn on_effort(_key: *mut RawString, value: *const c_void) -> usize {
    // SAFETY: the value is one of ours.
    let bytes = || unsafe { slot(value) }.size_bytes() as usize;
    caught(1, || 1 + bytes() / (16 << 10))
}

pub(super) unsafe extern "C" fn on_copy(
    _from: *mut RawString,
    _to: *mut RawString,
    value: *const c_void,
) -> *mut c_void {
    caught(null_mut(), || {
        // SAFETY: the value is one of ours.
        let slot = unsafe { slot(value) };
        // SAFETY: it takes no context, too.
        let flags = unsafe { (api().context_flags)(null_mut()) };
        let is_accepted = flags & (FLAG_LOADING | FLAG_REPLICA) != 0;
        let bytes = slot.size_bytes();
        if !is_accepted && bytes > memory_left() || !can_take(bytes) {
            return null_mut();
        }
        // Without memory for it there is no copy: COPY answers 0.
        slot.try_clone().map_or(null_mut(), into_value)
    })
}

/// The first of the blocks of a filter may move; the others stay. Bits that are worth moving have pages of their own.
pub(super) unsafe extern "C" fn on_defrag(
    ctx: *mut DefragCtx,
    _key: *mut RawString,
    value: *mut *mut c_void,
) -> c_int {
    // SAFETY: the value is one block of the engine's, which it moves or not; nobody else has a pointer to it.
    unsafe {
        let moved = (api().defrag)(ctx, *value);
        if !moved.is_null() {
            *value = moved;
        }
    }
    0
}
