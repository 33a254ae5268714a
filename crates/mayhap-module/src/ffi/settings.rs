//! Callbacks of the engine for settings and `INFO`, and the engine's own memory limit.

#![allow(unsafe_code, reason = "the engine's API is C")]

use super::api::{Ctx, ERR, Event, InfoCtx, OK, RawString};
use super::load::VERSION;
use super::{EVICTS, FILTERS, HOST, MAX_MEMORY, api, bytes_of, c_string, catch_panic, new_string};
use crate::host;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// The name of a setting, by the number that was registered with it.
pub(super) fn setting(number: *mut c_void) -> &'static str {
    host::names().nth(number.addr()).unwrap_or_default()
}

/// Values that were returned to the engine, which stay ours.
pub(super) static RETURNED: Mutex<Vec<ReturnedString>> = Mutex::new(Vec::new());

pub(super) struct ReturnedString(*mut RawString);
// SAFETY: strings of the engine do not belong to a thread; these are accessed under a lock.
unsafe impl Send for ReturnedString {}

pub(super) unsafe extern "C" fn on_get(
    _name: *const c_char,
    number: *mut c_void,
) -> *mut RawString {
    catch_panic(null_mut(), || {
        let value = HOST
            .get()
            .and_then(|host| host.get(setting(number)))
            .unwrap_or_default();
        let string = new_string(value.as_bytes());
        let mut returned = RETURNED.lock().unwrap_or_else(PoisonError::into_inner);
        // The engine copies a value before it requests the next; some are kept nevertheless.
        returned.push(ReturnedString(string));
        if returned.len() > 2 * host::names().count() {
            let ReturnedString(oldest) = returned.remove(0);
            // SAFETY: it was created without a context, and is not used afterwards.
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
    catch_panic(ERR, || {
        // SAFETY: the value lives until we return.
        let value = unsafe { bytes_of(value) };
        let set = HOST
            .get()
            .map_or(Ok(()), |host| host.set(setting(number), value));
        let Err(text) = set else { return OK };
        // SAFETY: the engine provides the pointer, and owns the string afterwards.
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
    catch_panic((), || read_limits(ctx));
}

/// Reads the memory limit of the engine from `INFO`, because `CONFIG` may have been renamed.
pub(super) fn read_limits(ctx: *mut Ctx) {
    // SAFETY: the context is the engine's; texts end with a zero byte, missing fields are null, and fields live until the
    // information is freed.
    unsafe {
        let info = (api().server_info)(ctx, c"memory".as_ptr());
        let field = |name: &CStr| {
            let text = (api().server_info_field)(info, name.as_ptr());
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        };
        let max_memory = field(c"maxmemory").and_then(|text| text.parse().ok());
        let evicts = field(c"maxmemory_policy").is_some_and(|policy| policy != "noeviction");
        MAX_MEMORY.store(max_memory.unwrap_or(0), Ordering::Relaxed);
        EVICTS.store(evicts, Ordering::Relaxed);
        (api().free_server_info)(ctx, info);
    }
}

pub(super) unsafe extern "C" fn on_info(ctx: *mut InfoCtx, _for_crash: c_int) {
    catch_panic((), || {
        let layout = HOST
            .get()
            .and_then(|host| host.get("layout"))
            .unwrap_or_default();
        let layout = c_string(layout.as_bytes());
        // SAFETY: the context is the engine's; texts end with a zero byte and live until the call returns.
        unsafe {
            if (api().info_section)(ctx, c"filters".as_ptr()) == OK {
                (api().info_text)(ctx, c"version".as_ptr(), VERSION.as_ptr());
                (api().info_text)(ctx, c"layout".as_ptr(), layout.as_ptr());
                (api().info_number)(ctx, c"count".as_ptr(), FILTERS.load(Ordering::Relaxed));
            }
        }
    });
}
