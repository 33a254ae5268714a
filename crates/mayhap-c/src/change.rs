//! Changes.

use crate::arguments::{self, Keys};
use crate::filter::Filter;
use crate::query::answers;
use crate::status::{Failure, MAYHAP_OK, run};
use mayhap::Timestamp;
use std::ffi::{c_char, c_int, c_void};

/// Inserts one key, also into a shared filter.
///
/// # Safety
/// As for [`arguments::filter_mut`], and for a shared filter as for [`arguments::filter`].
unsafe fn insert(filter: *mut Filter, key: &[u8]) -> Result<c_int, Failure> {
    // SAFETY: the caller's promise. Nothing refers to the filter exclusively if it is shared.
    unsafe {
        if let Some(shared) = arguments::filter(filter)?.shared() {
            return Ok(shared.insert(key).into());
        }
        Ok(arguments::filter_mut(filter)?.insert(key)?.into())
    }
}

/// Inserts a key. 1: it was definitely new. 0: it, or one that the filter cannot distinguish from it, was inserted before; filters
/// that count or remove keys count it once more. An error leaves the filter unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_insert(
    filter: *mut Filter,
    key: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: the caller's promises, which the header states.
    run(|| unsafe { insert(filter, arguments::values(key.cast(), length, "key")?) })
}

/// The same for an integer: its 8 bytes, little-endian.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_insert_u64(filter: *mut Filter, key: u64) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe { insert(filter, &key.to_le_bytes()) })
}

/// `mayhap_insert` at a time, for filters of `mayhap_new_window`. An earlier time than the newest that the filter has seen is taken for
/// that one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_insert_at(
    filter: *mut Filter,
    key: *const c_void,
    length: usize,
    now_ms: u64,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter_mut(filter)?;
        let key = arguments::values(key.cast(), length, "key")?;
        Ok(filter.insert_at(key, Timestamp(now_ms))?.into())
    })
}

/// Places for as many answers as keys, or none if the pointer is null.
unsafe fn optional<'a>(is_new: *mut bool, count: usize) -> Result<&'a mut [bool], Failure> {
    if is_new.is_null() {
        return Ok(&mut []);
    }
    // SAFETY: the caller's promise.
    unsafe { answers(is_new, count) }
}

/// `mayhap_insert` for many keys; faster. Key number i has `lengths[i]` bytes at `keys[i]`. Unless `is_new` is a null pointer,
/// `is_new[i]` is what `mayhap_insert` would have returned. After an error, the keys before the one that was rejected are inserted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_insert_each(
    filter: *mut Filter,
    keys: *const *const c_char,
    lengths: *const usize,
    count: usize,
    is_new: *mut bool,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let keys = Keys::from_pointers(keys.cast(), lengths, count)?;
        insert_each(filter, keys, optional(is_new, count)?)
    })
}

/// The same for keys that lie one behind the other, as for `mayhap_contains_packed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_insert_packed(
    filter: *mut Filter,
    bytes: *const c_void,
    offsets: *const u64,
    count: usize,
    is_new: *mut bool,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let keys = Keys::from_packed(bytes.cast(), offsets, count)?;
        insert_each(filter, keys, optional(is_new, count)?)
    })
}

/// # Safety
/// As for [`insert`].
unsafe fn insert_each(
    filter: *mut Filter,
    keys: Keys<'_>,
    is_new: &mut [bool],
) -> Result<c_int, Failure> {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(shared) = arguments::filter(filter)?.shared() {
            for (at, key) in keys.iter().enumerate() {
                let new = shared.insert(key);
                if let Some(place) = is_new.get_mut(at) {
                    *place = new;
                }
            }
        } else {
            arguments::filter_mut(filter)?.insert_each(keys, is_new)?;
        }
    }
    Ok(MAYHAP_OK)
}

/// The same for integers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_insert_each_u64(
    filter: *mut Filter,
    keys: *const u64,
    count: usize,
    is_new: *mut bool,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let keys = arguments::values(keys, count, "keys")?;
        let is_new = optional(is_new, count)?;
        if let Some(shared) = arguments::filter(filter)?.shared() {
            for (at, key) in keys.iter().enumerate() {
                let new = shared.insert(key);
                if let Some(place) = is_new.get_mut(at) {
                    *place = new;
                }
            }
        } else {
            arguments::filter_mut(filter)?.insert_integers(keys, is_new)?;
        }
        Ok(MAYHAP_OK)
    })
}

/// Removes a key that was inserted. 1: one insert of it is undone. 0: it was definitely absent, and nothing changed. Removing a key
/// that was not inserted may remove another one that looks the same; no filter can detect that. For counting and cuckoo filters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_remove(
    filter: *mut Filter,
    key: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter_mut(filter)?;
        let key = arguments::values(key.cast(), length, "key")?;
        Ok(filter.stored_mut()?.remove(key)?.into())
    })
}

/// The same for an integer: its 8 bytes, little-endian.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_remove_u64(filter: *mut Filter, key: u64) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter_mut(filter)?;
        Ok(filter.stored_mut()?.remove(&key.to_le_bytes())?.into())
    })
}

/// Merges another filter of the same kind, format and shape into this one. An error leaves it unchanged, and says what differs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_merge(filter: *mut Filter, other: *const Filter) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        if filter.cast_const() == other {
            return Err(Failure::argument("a filter is not merged with itself"));
        }
        let other = arguments::filter(other)?;
        arguments::filter_mut(filter)?.merge(other)?;
        Ok(MAYHAP_OK)
    })
}

/// Removes all keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_clear(filter: *mut Filter) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        arguments::filter_mut(filter)?.clear()?;
        Ok(MAYHAP_OK)
    })
}
