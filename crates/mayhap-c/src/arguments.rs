//! The pointers of the caller. Null pointers are errors; what else they point to is the caller's promise, as the header says.

use crate::filter::Filter;
use crate::status::{Failure, MAYHAP_OK};
use mayhap::{HashScheme, KeyHash};
use std::ffi::{CStr, c_char, c_int};
use std::path::PathBuf;
use std::slice;

/// Keys that are handled at once: as many as the batches of the core.
pub(crate) const BATCH: usize = 512;

#[cold]
fn null(name: &str) -> Failure {
    Failure::argument(format!("{name} is a null pointer"))
}

/// # Safety
/// A pointer that is not null must point to a filter that no other thread changes during the call.
pub(crate) unsafe fn filter<'f>(filter: *const Filter) -> Result<&'f Filter, Failure> {
    // SAFETY: the caller's promise.
    unsafe { filter.as_ref() }.ok_or_else(|| null("filter"))
}

/// # Safety
/// A pointer that is not null must point to a filter that no other thread uses during the call.
pub(crate) unsafe fn filter_mut<'f>(filter: *mut Filter) -> Result<&'f mut Filter, Failure> {
    // SAFETY: the caller's promise.
    unsafe { filter.as_mut() }.ok_or_else(|| null("filter"))
}

/// Text that ends with a zero byte.
///
/// # Safety
/// A pointer that is not null must point to such text.
pub(crate) unsafe fn text<'t>(text: *const c_char, name: &str) -> Result<&'t str, Failure> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str()
        .map_err(|_| Failure::argument(format!("{name} is not UTF-8")))
}

/// # Safety
/// As for [`text`].
pub(crate) unsafe fn path(path: *const c_char) -> Result<PathBuf, Failure> {
    // On Unix paths are bytes.
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        if path.is_null() {
            return Err(null("path"));
        }
        // SAFETY: the caller's promise.
        let path = unsafe { CStr::from_ptr(path) };
        Ok(std::ffi::OsStr::from_bytes(path.to_bytes()).into())
    }
    #[cfg(not(unix))]
    // SAFETY: the caller's promise.
    unsafe {
        text(path, "path").map(PathBuf::from)
    }
}

/// Options: pointers to text, and a null pointer at the end. A null pointer instead of all stands for no options.
///
/// # Safety
/// A pointer that is not null must point to such an array.
pub(crate) unsafe fn options<'t>(options: *const *const c_char) -> Result<Vec<&'t str>, Failure> {
    let mut all = Vec::new();
    if options.is_null() {
        return Ok(all);
    }
    for at in 0.. {
        // SAFETY: the caller's promise: there is a null pointer at the end.
        let option = unsafe { *options.add(at) };
        if option.is_null() {
            break;
        }
        // SAFETY: the caller's promise.
        all.push(unsafe { text(option, "an option") }?);
    }
    Ok(all)
}

/// `count` values. A null pointer is accepted if there are none.
///
/// # Safety
/// A pointer that is not null must point to so many values, which nobody changes during the call.
#[inline(always)]
pub(crate) unsafe fn values<'v, T>(
    values: *const T,
    count: usize,
    name: &str,
) -> Result<&'v [T], Failure> {
    check_count::<T>(values, count, name)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller's promise; the pointer is aligned and the length was checked.
    Ok(unsafe { slice::from_raw_parts(values, count) })
}

/// # Safety
/// As for [`values`], and nobody else may use the values during the call. They must be initialised, or of a type for which any bits are
/// valid and that is only written.
pub(crate) unsafe fn values_mut<'v, T>(
    values: *mut T,
    count: usize,
    name: &str,
) -> Result<&'v mut [T], Failure> {
    check_count::<T>(values, count, name)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: the caller's promise; the pointer is aligned and the length was checked.
    Ok(unsafe { slice::from_raw_parts_mut(values, count) })
}

#[inline(always)]
fn check_count<T>(values: *const T, count: usize, name: &str) -> Result<(), Failure> {
    if count == 0 {
        return Ok(());
    }
    if values.is_null() {
        return Err(null(name));
    }
    if !values.is_aligned() {
        return Err(Failure::argument(format!("{name} is not aligned")));
    }
    // Slices have at most so many bytes.
    if count > isize::MAX as usize / size_of::<T>() {
        return Err(Failure::argument(format!(
            "there cannot be {count} of {name}"
        )));
    }
    Ok(())
}

/// Where a result is written.
///
/// # Safety
/// A pointer that is not null must point to memory for a `T`.
pub(crate) unsafe fn write<T>(to: *mut T, value: T, name: &str) -> Result<(), Failure> {
    if to.is_null() {
        return Err(null(name));
    }
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}

/// Passes a new filter to the caller.
///
/// # Safety
/// As for [`write`].
pub(crate) unsafe fn pass_filter(
    filter: impl Into<Filter>,
    out: *mut *mut Filter,
) -> Result<c_int, Failure> {
    let filter = Box::into_raw(Box::new(filter.into()));
    // SAFETY: the caller's promise.
    let written = unsafe { write(out, filter, "out") };
    if let Err(failure) = written {
        // SAFETY: it was made above, and nobody else has it.
        drop(unsafe { Box::from_raw(filter) });
        return Err(failure);
    }
    Ok(MAYHAP_OK)
}

/// Keys, as pointers and lengths, or one behind the other. All were checked.
#[derive(Clone, Copy)]
pub(crate) enum Keys<'k> {
    Pointers(&'k [*const u8], &'k [usize]),
    Packed(&'k [u8], &'k [u64]),
}

impl<'k> Keys<'k> {
    /// # Safety
    /// As for [`values`], for both arrays and for every key.
    pub(crate) unsafe fn from_pointers(
        keys: *const *const u8,
        lengths: *const usize,
        count: usize,
    ) -> Result<Self, Failure> {
        // SAFETY: the caller's promise.
        let (keys, lengths) = unsafe {
            let keys = values(keys, count, "keys")?;
            (keys, values(lengths, count, "lengths")?)
        };
        let is_wrong = |(key, &length): (&*const u8, &usize)| {
            key.is_null() && length != 0 || length > isize::MAX as usize
        };
        let pairs = keys.iter().zip(lengths);
        if pairs.fold(false, |any, pair| any | is_wrong(pair)) {
            return Err(Failure::argument(
                "a key is a null pointer, or has a length that no memory has",
            ));
        }
        Ok(Self::Pointers(keys, lengths))
    }

    /// # Safety
    /// As for [`values`]: there are `count + 1` offsets, and as many bytes as the last of them.
    pub(crate) unsafe fn from_packed(
        bytes: *const u8,
        offsets: *const u64,
        count: usize,
    ) -> Result<Self, Failure> {
        if count == 0 {
            return Ok(Self::Packed(&[], &[0]));
        }
        // SAFETY: the caller's promise.
        unsafe {
            let offsets = values(offsets, count.saturating_add(1), "offsets")?;
            if !offsets.is_sorted() {
                return Err(Failure::argument("an offset is below the one before"));
            }
            let end = usize::try_from(offsets[count])
                .map_err(|_| Failure::argument("the last offset is too large"))?;
            Ok(Self::Packed(values(bytes, end, "bytes")?, offsets))
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Pointers(keys, _) => keys.len(),
            Self::Packed(_, offsets) => offsets.len() - 1,
        }
    }

    /// Some keys from number `first` on.
    fn part(&self, first: usize, count: usize) -> Self {
        match self {
            Self::Pointers(keys, lengths) => {
                Self::Pointers(&keys[first..first + count], &lengths[first..first + count])
            }
            Self::Packed(bytes, offsets) => Self::Packed(bytes, &offsets[first..=first + count]),
        }
    }

    /// All keys, some hundred at a time, with the number of the first.
    pub(crate) fn batches(self) -> impl Iterator<Item = (usize, Self)> {
        let firsts = (0..self.len()).step_by(BATCH);
        firsts.map(move |first| (first, self.part(first, BATCH.min(self.len() - first))))
    }

    /// The hashes of a batch. One loop for each layout: through slices in between, a text of 36 bytes took 1.3 times as long.
    pub(crate) fn hash_each(&self, scheme: HashScheme, hashes: &mut [KeyHash]) -> usize {
        match self {
            Self::Pointers(keys, lengths) => {
                let keys = keys.iter().zip(*lengths);
                scheme.hash_each(keys.map(|(&key, &length)| key_at(key, length)), hashes)
            }
            Self::Packed(bytes, offsets) => {
                let keys = offsets.windows(2);
                let key = |offsets: &[u64]| &bytes[offsets[0] as usize..offsets[1] as usize];
                scheme.hash_each(keys.map(key), hashes)
            }
        }
    }

    fn get(&self, at: usize) -> &'k [u8] {
        match self {
            Self::Pointers(keys, lengths) => key_at(keys[at], lengths[at]),
            Self::Packed(bytes, offsets) => &bytes[offsets[at] as usize..offsets[at + 1] as usize],
        }
    }

    /// All keys, in order.
    pub(crate) fn iter(self) -> KeyIter<'k> {
        KeyIter {
            numbers: 0..self.len(),
            keys: self,
        }
    }
}

/// A key that `from_pointers` has checked.
#[inline(always)]
fn key_at<'k>(key: *const u8, length: usize) -> &'k [u8] {
    let key = if length == 0 {
        std::ptr::NonNull::dangling().as_ptr()
    } else {
        key
    };
    // SAFETY: the promise of the caller of `from_pointers`, which has checked the pointer.
    unsafe { slice::from_raw_parts(key, length) }
}

/// All keys, in order.
#[derive(Clone)]
pub(crate) struct KeyIter<'k> {
    keys: Keys<'k>,
    numbers: std::ops::Range<usize>,
}

impl<'k> Iterator for KeyIter<'k> {
    type Item = &'k [u8];

    fn next(&mut self) -> Option<&'k [u8]> {
        self.numbers.next().map(|at| self.keys.get(at))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl ExactSizeIterator for KeyIter<'_> {}
