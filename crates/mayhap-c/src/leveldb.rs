//! The filter policies for LevelDB. The functions have the types of the callbacks of LevelDB's own C interface, `leveldb/c.h`.

use crate::arguments::{self, Keys};
use crate::options::Options;
use crate::status::{Failure, MAYHAP_OK, run};
use mayhap::formats::leveldb::Policy;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A filter policy for LevelDB. Any number of threads may use it at the same time. Free it with `free`, as LevelDB frees filters.
pub struct LevelDbPolicy(Policy);

/// Creates a filter policy for LevelDB. `kind` is "bloom", with the name and the bytes of LevelDB's built-in policy, so that databases can
/// be written with one and opened with the other; or "ribbon", with a name of its own, which has the rate of the built-in policy with so
/// many bits per key in three quarters of its bytes. `bits_per_key` is 1 to 100; 10 is usual.
///
/// Options: "fpr=" for a ribbon policy with that false-positive rate; `bits_per_key` is then ignored.
///
/// The policy and the following three functions are the arguments of `leveldb_filterpolicy_create`:
///
/// `leveldb_filterpolicy_create(policy, free, mayhap_leveldb_create_filter, mayhap_leveldb_key_may_match, mayhap_leveldb_policy_name)`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_leveldb_policy_new(
    kind: *const c_char,
    bits_per_key: c_int,
    options: *const *const c_char,
    out: *mut *mut LevelDbPolicy,
) -> c_int {
    // SAFETY: the caller's promises, which the header states.
    run(|| unsafe {
        let kind = arguments::text(kind, "kind")?;
        let rate = Options::parse(&arguments::options(options)?)?.only_rate()?;
        let bits = u32::try_from(bits_per_key).unwrap_or(0);
        let policy = match (kind, rate) {
            ("bloom", None) => Policy::bloom(bits)?,
            ("bloom", Some(_)) => {
                return Err(Failure::argument("a bloom policy has no option fpr"));
            }
            ("ribbon", None) => Policy::ribbon(bits)?,
            ("ribbon", Some(rate)) => Policy::ribbon_with_rate(rate)?,
            _ => {
                return Err(Failure::argument(format!(
                    "there is no policy {kind}: use bloom or ribbon"
                )));
            }
        };
        let place: *mut LevelDbPolicy = allocated(size_of::<LevelDbPolicy>()).cast();
        place.write(LevelDbPolicy(policy));
        arguments::write(out, place, "out").inspect_err(|_| libc::free(place.cast()))?;
        Ok(MAYHAP_OK)
    })
}

/// Memory that C programs free. As everywhere in Rust, the program ends if there is none: these are the bytes of one block's filter.
fn allocated(bytes: usize) -> *mut c_void {
    // SAFETY: the size is not 0.
    let place = unsafe { libc::malloc(bytes.max(1)) };
    if place.is_null() {
        std::process::abort();
    }
    place
}

/// The name of a policy, which databases store. It is valid as long as the library is loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_leveldb_policy_name(policy: *mut c_void) -> *const c_char {
    const BLOOM: &CStr = c"leveldb.BuiltinBloomFilter2";
    const RIBBON: &CStr = c"mayhap.RibbonBlock1";
    // SAFETY: the caller's promise.
    let name = unsafe { given(policy) }.map_or("", Policy::name);
    let names = [BLOOM, RIBBON].into_iter();
    let known = names
        .into_iter()
        .find(|known| known.to_bytes() == name.as_bytes());
    known.unwrap_or(c"").as_ptr()
}

/// # Safety
/// A pointer that is not null must point to a policy.
unsafe fn given<'p>(policy: *mut c_void) -> Option<&'p Policy> {
    // SAFETY: the caller's promise.
    unsafe { policy.cast::<LevelDbPolicy>().as_ref() }.map(|policy| &policy.0)
}

/// Creates the filter of a block's keys, which may repeat: key number i has `lengths[i]` bytes at `keys[i]`. Free it with `free`. If an
/// argument is wrong, the filter matches every key. Only without a policy, or without a place for the length, there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_leveldb_create_filter(
    policy: *mut c_void,
    keys: *const *const c_char,
    lengths: *const usize,
    count: c_int,
    filter_length: *mut usize,
) -> *mut c_char {
    // SAFETY: the caller's promises.
    unsafe {
        let Some(policy) = given(policy).filter(|_| !filter_length.is_null()) else {
            return std::ptr::null_mut();
        };
        let filter = catch_unwind(AssertUnwindSafe(|| {
            let count = usize::try_from(count).ok()?;
            let keys = Keys::from_pointers(keys.cast(), lengths, count).ok()?;
            Some(policy.create_filter(keys.iter()))
        }));
        let filter = filter.ok().flatten();
        let bytes = filter.as_deref().unwrap_or_else(|| policy.match_all());
        let place = allocated(bytes.len()).cast::<u8>();
        place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        filter_length.write(bytes.len());
        place.cast()
    }
}

/// 0: the key is definitely not among those of the filter. 1: it may be; that is also the answer if the filter is damaged or an argument is
/// wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_leveldb_key_may_match(
    policy: *mut c_void,
    key: *const c_char,
    length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> c_uchar {
    // SAFETY: the caller's promises.
    let answer = catch_unwind(AssertUnwindSafe(|| unsafe {
        let policy = given(policy)?;
        let key = arguments::values(key.cast(), length, "key").ok()?;
        let filter = arguments::values(filter.cast(), filter_length, "filter").ok()?;
        Some(policy.key_may_match(key, filter))
    }));
    answer.ok().flatten().unwrap_or(true).into()
}
