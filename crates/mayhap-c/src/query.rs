//! Queries.

use crate::arguments::{self, Keys};
use crate::filter::Filter;
use crate::status::{MAYHAP_OK, run};
use mayhap::Timestamp;
use std::ffi::{c_char, c_int, c_void};

/// 0: the key is definitely not in the set. 1: it may be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_contains(
    filter: *const Filter,
    key: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: the caller's promises, which the header states.
    run(|| unsafe {
        let filter = arguments::filter(filter)?;
        let key = arguments::values(key.cast(), length, "key")?;
        filter.check_keys()?;
        Ok(filter.contains(key).into())
    })
}

/// The same for an integer: its 8 bytes, little-endian, as the command line has them with `--key-type u64` or `i64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_contains_u64(filter: *const Filter, key: u64) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter(filter)?;
        filter.check_keys()?;
        Ok(filter.contains(&key.to_le_bytes()).into())
    })
}

/// `mayhap_contains` for many keys; faster, because their memory accesses overlap. Key number i has `lengths[i]` bytes at `keys[i]`,
/// and its answer is `found[i]`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_contains_each(
    filter: *const Filter,
    keys: *const *const c_char,
    lengths: *const usize,
    count: usize,
    found: *mut bool,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter(filter)?;
        let keys = Keys::from_pointers(keys.cast(), lengths, count)?;
        contains_each(filter, keys, found)
    })
}

/// The same for keys that lie one behind the other: key number i is `bytes[offsets[i]]` to `bytes[offsets[i + 1] - 1]`. There are
/// `count + 1` offsets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_contains_packed(
    filter: *const Filter,
    bytes: *const c_void,
    offsets: *const u64,
    count: usize,
    found: *mut bool,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter(filter)?;
        let keys = Keys::from_packed(bytes.cast(), offsets, count)?;
        contains_each(filter, keys, found)
    })
}

unsafe fn contains_each(
    filter: &Filter,
    keys: Keys<'_>,
    found: *mut bool,
) -> Result<c_int, crate::status::Failure> {
    filter.check_keys()?;
    // SAFETY: the caller's promise; answers are written before they are read.
    let found = unsafe { answers(found, keys.len())? };
    filter.contains_each(keys, found);
    Ok(MAYHAP_OK)
}

/// The caller's places for answers, which may be uninitialised.
///
/// # Safety
/// As for [`arguments::values_mut`].
pub(crate) unsafe fn answers<'a>(
    places: *mut bool,
    count: usize,
) -> Result<&'a mut [bool], crate::status::Failure> {
    // SAFETY: the caller's promise; bytes have no invalid values.
    unsafe {
        let bytes = arguments::values_mut(places.cast::<u8>(), count, "found")?;
        bytes.fill(0);
        arguments::values_mut(places, count, "found")
    }
}

/// The same for integers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_contains_each_u64(
    filter: *const Filter,
    keys: *const u64,
    count: usize,
    found: *mut bool,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter(filter)?;
        filter.check_keys()?;
        let keys = arguments::values(keys, count, "keys")?;
        filter.contains_integers(keys, answers(found, count)?);
        Ok(MAYHAP_OK)
    })
}

/// `mayhap_contains` at a time, for filters of `mayhap_new_window`. An earlier time than the newest that the filter has seen is taken
/// for that one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_contains_at(
    filter: *const Filter,
    key: *const c_void,
    length: usize,
    now_ms: u64,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter(filter)?;
        let key = arguments::values(key.cast(), length, "key")?;
        Ok(filter.contains_at(key, Timestamp(now_ms))?.into())
    })
}

/// How often a key was inserted and not removed: never too low, and too high if other keys look the same. For counting and cuckoo
/// filters. One of kind "counting" counts to 15.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_count(
    filter: *const Filter,
    key: *const c_void,
    length: usize,
    count: *mut u64,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter(filter)?;
        let key = arguments::values(key.cast(), length, "key")?;
        filter.check_keys()?;
        arguments::write(count, filter.count(key)?, "count")?;
        Ok(MAYHAP_OK)
    })
}
