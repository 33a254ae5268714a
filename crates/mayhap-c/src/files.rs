//! Filters from files and bytes, and back.

use crate::arguments::{self, pass_filter};
use crate::filter::Filter;
use crate::options::Options;
use crate::status::{Failure, MAYHAP_ERROR_FORMAT, MAYHAP_ERROR_IO, MAYHAP_OK, run};
use mayhap::formats::{self, Format, StoredFilter, write_atomically};
use mayhap::native::{self, Verify};
use std::ffi::{CString, c_char, c_int};
use std::io::{self, Write};
use std::path::Path;

fn open(bytes: &[u8], options: &Options, file_name: Option<&str>) -> Result<StoredFilter, Failure> {
    let mut found = formats::open(bytes, &options.open_options(file_name))?;
    found.retain(|found| found.location.is_wanted(&options.wanted));
    if found.len() == 1 {
        return Ok(found.remove(0).filter);
    }
    let message = match found.first().map(|found| found.location.to_string()) {
        None => "there is no such filter in it".to_owned(),
        Some(first) => format!(
            "it has {} filters, the first of them at {first}: select one with the options column, row-group, key or granule",
            found.len()
        ),
    };
    Err(Failure::new(MAYHAP_ERROR_FORMAT, message))
}

fn io_failure(path: &Path, error: &io::Error) -> Failure {
    Failure::new(MAYHAP_ERROR_IO, format!("{}: {error}", path.display()))
}

/// Opens the filter in a file, in mayhap's own or any other known format. What it does not need is not kept: the file can be removed
/// afterwards.
///
/// Options: "format=guava" if the bytes do not say; "fpr=", "probes=" and "columns=" for ClickHouse's files, which do not store
/// them; "column=", "row-group=", "key=" or "granule=" to select one of several filters; "secret=" for a filter whose key is not in the
/// file; and the parameters of the format, such as "funnel=long".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_open(
    path: *const c_char,
    options: *const *const c_char,
    out: *mut *mut Filter,
) -> c_int {
    // SAFETY: the caller's promises, which the header states.
    run(|| unsafe {
        let options = Options::parse(&arguments::options(options)?)?;
        let path = arguments::path(path)?;
        let bytes = std::fs::read(&path).map_err(|error| io_failure(&path, &error))?;
        let name = path.file_name().and_then(|name| name.to_str());
        let filter = open(&bytes, &options, name);
        let filter = filter.map_err(|failure| failure.in_file(&path))?;
        pass_filter(filter, out)
    })
}

/// The same for bytes in memory, which are not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_open_bytes(
    bytes: *const u8,
    length: usize,
    options: *const *const c_char,
    out: *mut *mut Filter,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let options = Options::parse(&arguments::options(options)?)?;
        let bytes = arguments::values(bytes, length, "bytes")?;
        pass_filter(open(bytes, &options, None)?, out)
    })
}

/// Maps a native file: processes share its memory, and only the parts that are queried are read. The filter is read-only. Kinds that
/// cannot be used in place are read. `verify` is true to verify all checksums first. The option "secret=" is as for `mayhap_open`.
///
/// The file must not be written in place while it is mapped: replace it, as `mayhap_save` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_map(
    path: *const c_char,
    verify: bool,
    options: *const *const c_char,
    out: *mut *mut Filter,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let options = Options::parse(&arguments::options(options)?)?;
        options.check_native()?;
        let path = arguments::path(path)?;
        let verify = if verify { Verify::Full } else { Verify::Header };
        pass_filter(native::map(path, verify, options.secret)?, out)
    })
}

/// Writes a filter to a file, in its format, atomically: readers see the old file or the new one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_save(filter: *const Filter, path: *const c_char) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter(filter)?;
        let path = arguments::path(path)?;
        filter.with_stored(|filter| {
            let bytes = filter.encode()?;
            let written = write_atomically(&path, |mut file| file.write_all(&bytes));
            written.map_err(|error| io_failure(&path, &error))
        })?;
        Ok(MAYHAP_OK)
    })
}

/// The bytes that `mayhap_save` writes. Free them with `mayhap_free_bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_to_bytes(
    filter: *const Filter,
    bytes: *mut *mut u8,
    length: *mut usize,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        if bytes.is_null() {
            return Err(Failure::argument("bytes is a null pointer"));
        }
        let filter = arguments::filter(filter)?;
        let encoded = filter.with_stored(|filter| Ok(filter.encode()?))?;
        arguments::write(length, encoded.len(), "length")?;
        let encoded = Box::into_raw(encoded.into_boxed_slice());
        arguments::write(bytes, encoded.cast(), "bytes")?;
        Ok(MAYHAP_OK)
    })
}

/// Frees the result of `mayhap_to_bytes`. A null pointer is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_free_bytes(bytes: *mut u8, length: usize) {
    run(|| {
        if !bytes.is_null() {
            let bytes = std::ptr::slice_from_raw_parts_mut(bytes, length);
            // SAFETY: the caller's promise: both came from `mayhap_to_bytes`, and the bytes are not used any more.
            drop(unsafe { Box::from_raw(bytes) });
        }
        Ok(MAYHAP_OK)
    });
}

/// The same set in another format, where the bits allow it: `format` is "mayhap", "guava" and others. The error says why not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_convert(
    filter: *const Filter,
    format: *const c_char,
    out: *mut *mut Filter,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let filter = arguments::filter(filter)?;
        let name = arguments::text(format, "format")?;
        let format = Format::from_name(name)
            .ok_or_else(|| Failure::argument(format!("there is no format {name}")))?;
        pass_filter(filter.to_stored()?.convert(format)?, out)
    })
}

/// What the filter is, how full it is and which rate it has now: the object of `mayhap info --json`. Reads the whole filter. Free
/// the text with `mayhap_free_text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_stats_json(filter: *const Filter, json: *mut *mut c_char) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        if json.is_null() {
            return Err(Failure::argument("json is a null pointer"));
        }
        let text = arguments::filter(filter)?.to_json()?;
        // JSON has no zero bytes.
        let text = CString::new(text).unwrap_or_default();
        arguments::write(json, text.into_raw(), "json")?;
        Ok(MAYHAP_OK)
    })
}

/// Frees the result of `mayhap_stats_json`. A null pointer is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_free_text(text: *mut c_char) {
    run(|| {
        if !text.is_null() {
            // SAFETY: the caller's promise: it came from `mayhap_stats_json`, and is not used any more.
            drop(unsafe { CString::from_raw(text) });
        }
        Ok(MAYHAP_OK)
    });
}
