//! Saves and loads the fields of a value through the engine.

#![allow(unsafe_code, reason = "the engine's API is C")]

use super::api::Io;
use super::{api, slice_of};
use mayhap_codec::redis::fields::{DecodePosition, Sink, Source};
use mayhap_codec::{DecodeError, Format, Problem};
use std::ops::Deref;

/// The fields of a value that the engine is saving or loading.
pub(super) struct ValueFields {
    io: *mut Io,
    /// The memory that strings may still take.
    left: u64,
    max_bytes: u64,
}

impl ValueFields {
    /// `max_bytes` limits the total length of the strings that are loaded.
    pub(super) fn new(io: *mut Io, max_bytes: u64) -> Self {
        Self {
            io,
            left: max_bytes,
            max_bytes,
        }
    }
}

impl Sink for ValueFields {
    fn unsigned(&mut self, number: u64) {
        // SAFETY: the engine is saving with this.
        unsafe { (api().save_unsigned)(self.io, number) }
    }

    fn double(&mut self, number: f64) {
        // SAFETY: as above.
        unsafe { (api().save_double)(self.io, number) }
    }

    fn string(&mut self, bytes: &[u8]) {
        // SAFETY: as above; pointer and length are those of the bytes.
        unsafe { (api().save_string)(self.io, bytes.as_ptr().cast(), bytes.len()) }
    }
}

/// A string that the engine has loaded.
pub(super) struct LoadedString(&'static [u8]);

impl Deref for LoadedString {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0
    }
}

impl From<LoadedString> for Vec<u8> {
    fn from(loaded: LoadedString) -> Self {
        loaded.to_vec()
    }
}

impl Drop for LoadedString {
    fn drop(&mut self) {
        // SAFETY: the engine allocated it for us, and it is not used afterwards.
        unsafe { (api().free)(self.0.as_ptr().cast_mut().cast()) }
    }
}

impl ValueFields {
    /// Returns the loaded value, or an error if loading failed.
    fn checked<T>(&self, what: &'static str, loaded: T) -> Result<T, DecodeError> {
        // SAFETY: the engine is loading with this.
        if unsafe { (api().has_io_failed)(self.io) } == 0 {
            return Ok(loaded);
        }
        let (needed, left) = (1, 0);
        Err(self.error(Problem::Cut { what, needed, left }))
    }
}

impl DecodePosition for ValueFields {
    fn error(&self, problem: Problem) -> DecodeError {
        DecodeError {
            format: Format::RedisBloomDump,
            offset: 0,
            problem,
        }
    }
}

impl Source for ValueFields {
    type Bytes = LoadedString;

    fn unsigned(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        // SAFETY: the engine is loading with this.
        let number = unsafe { (api().load_unsigned)(self.io) };
        self.checked(what, number)
    }

    fn double(&mut self, what: &'static str) -> Result<f64, DecodeError> {
        // SAFETY: as above.
        let number = unsafe { (api().load_double)(self.io) };
        self.checked(what, number)
    }

    fn string(&mut self, what: &'static str) -> Result<LoadedString, DecodeError> {
        let mut length = 0;
        // SAFETY: as above; the loaded string is ours, and null if loading failed.
        let loaded = unsafe {
            let start = (api().load_string)(self.io, &raw mut length);
            (!start.is_null()).then(|| LoadedString(slice_of(start, length)))
        };
        let loaded = self.checked(what, loaded)?;
        let (needed, left) = (1, 0);
        let loaded = loaded.ok_or_else(|| self.error(Problem::Cut { what, needed, left }))?;
        // The decoded filter takes memory besides, and the engine's files are compressed, so their size is no limit.
        self.left = self.left.checked_sub(loaded.len() as u64).ok_or_else(|| {
            self.error(Problem::TooLarge {
                bytes: loaded.len() as u64,
                limit: self.max_bytes,
            })
        })?;
        Ok(loaded)
    }
}
