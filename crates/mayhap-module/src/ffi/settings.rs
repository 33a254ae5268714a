//! Settings of ours that the engine keeps, settings of its own that we follow, and what we say in `INFO`.

#![allow(unsafe_code, reason = "the engine speaks C")]

use super::api::{Ctx, ERR, Event, InfoCtx, OK, RawString};
use super::load::VERSION;
use super::{EVICTS, FILTERS, HOST, MAX_MEMORY, api, bytes_of, c_string, caught, new_string};
use crate::host;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// The number of a setting is what the engine has for us.
pub(super) fn setting(number: *mut c_void) -> &'static str {
    host::names().nth(number.addr()).unwrap_or_default()
}

/// Values that the engine has been given, which stay ours.
pub(super) static TOLD: Mutex<Vec<TextOfEngine>> = Mutex::new(Vec::new());

pub(super) struct TextOfEngine(*mut RawString);
// SAFETY: strings of the engine's have no thread; these are touched under a lock.
unsafe impl Send for TextOfEngine {}

pub(super) unsafe extern "C" fn on_get(
    _name: *const c_char,
    number: *mut c_void,
) -> *mut RawString {
    caught(null_mut(), || {
        let value = HOST
            .get()
            .and_then(|host| host.get(setting(number)))
            .unwrap_or_default();
        let string = new_string(value.as_bytes());
        let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
        // The engine copies it before it asks for the next; a few are kept all the same.
        told.push(TextOfEngine(string));
        if told.len() > 2 * host::names().count() {
            let TextOfEngine(oldest) = told.remove(0);
            // SAFETY: it was made without a context, and is not used after.
            unsafe { (api().free_string)(null_mut(), oldest) };
        }
        string
    })
}

pub(super) unsafe extern "C" fn on_set(
    _name: *const c_char,
    value: *mut RawString,
    number: *mut c_void,
    error: *mut *mut RawString,
) -> c_int {
    caught(ERR, || {
        // SAFETY: the value lives until we return.
        let value = unsafe { bytes_of(value) };
        let set = HOST
            .get()
            .map_or(Ok(()), |host| host.set(setting(number), value));
        let Err(text) = set else { return OK };
        // SAFETY: the engine has room for a string there, which becomes its own.
        unsafe { *error = new_string(text.as_bytes()) };
        ERR
    })
}

pub(super) unsafe extern "C" fn on_settings(
    ctx: *mut Ctx,
    _event: Event,
    _which: u64,
    _data: *mut c_void,
) {
    caught((), || read_limits(ctx));
}

/// Asks the engine what memory it may take: by `INFO`, since `CONFIG` may have been renamed.
pub(super) fn read_limits(ctx: *mut Ctx) {
    // SAFETY: the context is what the engine calls us with; texts end with a zero byte, and fields that are not there are null. The
    // fields live until the information is freed.
    unsafe {
        let info = (api().server_info)(ctx, c"memory".as_ptr());
        let field = |name: &CStr| {
            let text = (api().server_info_field)(info, name.as_ptr());
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        };
        let most = field(c"maxmemory").and_then(|most| most.parse().ok());
        let evicts = field(c"maxmemory_policy").is_some_and(|policy| policy != "noeviction");
        MAX_MEMORY.store(most.unwrap_or(0), Ordering::Relaxed);
        EVICTS.store(evicts, Ordering::Relaxed);
        (api().free_server_info)(ctx, info);
    }
}

pub(super) unsafe extern "C" fn on_info(ctx: *mut InfoCtx, _for_crash: c_int) {
    caught((), || {
        let layout = HOST
            .get()
            .and_then(|host| host.get("layout"))
            .unwrap_or_default();
        let layout = c_string(layout.as_bytes());
        // SAFETY: the engine is asking with this; texts end with a zero byte and live until the call is over.
        unsafe {
            if (api().info_section)(ctx, c"filters".as_ptr()) == OK {
                (api().info_text)(ctx, c"version".as_ptr(), VERSION.as_ptr());
                (api().info_text)(ctx, c"layout".as_ptr(), layout.as_ptr());
                (api().info_number)(ctx, c"count".as_ptr(), FILTERS.load(Ordering::Relaxed));
            }
        }
    });
}
