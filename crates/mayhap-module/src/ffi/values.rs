//! Callbacks of the engine for values: save, load, copy, measure and free.

#![allow(unsafe_code, reason = "the engine's API is C")]

use super::api::{
    DefragCtx, Digest, FLAG_CHILD, FLAG_LOADING, FLAG_REPLICA, FLAG_REPLICATED, Io, RawString,
};
use super::fields::ValueFields;
use super::{
    FILTERS, HOST, Strings, api, bytes_of, c_string, can_allocate, catch_panic, into_value,
    memory_left,
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
    catch_panic(null_mut(), || {
        let (name, _) = TYPES[NUMBER];
        let id = TypeId::new(name, version.try_into().unwrap_or(u16::MAX));
        let max_bytes = max_bytes_to_load(io);
        match Slot::load(
            id,
            &mut ValueFields::new(io, max_bytes),
            Limits { max_bytes },
        ) {
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

/// The memory limit of a value that is loaded. Files and primaries have none; RESTORE of a client has.
pub(super) fn max_bytes_to_load(io: *mut Io) -> u64 {
    // SAFETY: the engine is loading with `io`, and the context is valid meanwhile.
    let flags = unsafe { (api().context_flags)((api().context_of_io)(io)) };
    if flags & (FLAG_LOADING | FLAG_REPLICA | FLAG_REPLICATED) != 0 {
        return u64::MAX;
    }
    let max_bytes = HOST
        .get()
        .map_or(0, |host| host.settings().config.max_filter_bytes);
    max_bytes.min(memory_left())
}

/// # Safety
/// The value must be of one of our types, and not change meanwhile.
unsafe fn slot<'a>(value: *const c_void) -> &'a Slot {
    // SAFETY: values of our types are slots.
    unsafe { &*value.cast() }
}

pub(super) unsafe extern "C" fn on_save(io: *mut Io, value: *mut c_void) {
    let saved = catch_panic(false, || {
        // SAFETY: the value is one of ours.
        unsafe { slot(value) }.save(&mut ValueFields::new(io, 0));
        true
    });
    // An incomplete value makes the whole file unreadable, so a child process that writes one aborts.
    // SAFETY: it accepts a null context.
    if !saved && unsafe { (api().context_flags)(null_mut()) } & FLAG_CHILD != 0 {
        std::process::abort();
    }
}

pub(super) unsafe extern "C" fn on_rewrite(io: *mut Io, key: *mut RawString, value: *mut c_void) {
    catch_panic((), || {
        // SAFETY: the value is one of ours, and the key lives until we return.
        let (slot, key) = unsafe { (slot(value), bytes_of(key)) };
        slot.give_commands(key, &mut |name, args| {
            let strings = Strings::new(args.iter().copied());
            let name = c_string(name.as_bytes());
            let (first, count) = (strings.0.as_ptr(), strings.0.len());
            // SAFETY: "v" takes a vector of strings and its length; both live until the call returns.
            unsafe { (api().emit_aof)(io, name.as_ptr(), c"v".as_ptr(), first, count) };
        });
    });
}

pub(super) unsafe extern "C" fn on_memory(value: *const c_void) -> usize {
    // SAFETY: the value is one of ours.
    catch_panic(0, || unsafe { slot(value) }.size_bytes() as usize)
}

pub(super) unsafe extern "C" fn on_digest(digest: *mut Digest, value: *mut c_void) {
    catch_panic((), || {
        // SAFETY: the value is one of ours.
        let image = unsafe { slot(value) }.encode();
        // SAFETY: the engine is digesting with this; pointer and length are those of the image.
        unsafe {
            (api().digest_bytes)(digest, image.as_ptr().cast(), image.len());
            (api().digest_end)(digest);
        }
    });
}

/// May be called on another thread.
pub(super) unsafe extern "C" fn on_free(value: *mut c_void) {
    catch_panic((), || {
        FILTERS.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: values of our types are boxed slots, and the engine frees each once.
        drop(unsafe { Box::from_raw(value.cast::<Slot>()) });
    });
}

/// The engine frees values with an effort above 64 on another thread: those larger than a megabyte.
pub(super) unsafe extern "C" fn on_effort(_key: *mut RawString, value: *const c_void) -> usize {
    // SAFETY: the value is one of ours.
    let bytes = || unsafe { slot(value) }.size_bytes() as usize;
    catch_panic(1, || 1 + bytes() / (16 << 10))
}

pub(super) unsafe extern "C" fn on_copy(
    _from: *mut RawString,
    _to: *mut RawString,
    value: *const c_void,
) -> *mut c_void {
    catch_panic(null_mut(), || {
        // SAFETY: the value is one of ours.
        let slot = unsafe { slot(value) };
        // SAFETY: it accepts a null context.
        let flags = unsafe { (api().context_flags)(null_mut()) };
        let is_accepted = flags & (FLAG_LOADING | FLAG_REPLICA) != 0;
        let bytes = slot.size_bytes();
        if !is_accepted && bytes > memory_left() || !can_allocate(bytes) {
            return null_mut();
        }
        // Without memory there is no copy, and COPY replies 0.
        slot.try_clone().map_or(null_mut(), into_value)
    })
}

/// Only the first block of a filter may move. Large arrays of bits have pages of their own and do not fragment memory.
pub(super) unsafe extern "C" fn on_defrag(
    ctx: *mut DefragCtx,
    _key: *mut RawString,
    value: *mut *mut c_void,
) -> c_int {
    // SAFETY: the value is a block of the engine, which may move it; there is no other pointer to it.
    unsafe {
        let moved = (api().defrag)(ctx, *value);
        if !moved.is_null() {
            *value = moved;
        }
    }
    0
}
