//! The fields of a module's value, from the bytes of a DUMP or one by one from an engine. Their order and checks are written once, for
//! both.

use super::value::{self, Budget};
use crate::cursor::Cursor;
use crate::{DecodeError, Problem};
use std::borrow::Cow;
use std::ops::Deref;

/// The position of a reader, for errors.
pub trait DecodePosition {
    /// The error for a problem here.
    fn error(&self, problem: Problem) -> DecodeError;

    /// The error for a field that cannot have this value.
    fn value(&self, field: &'static str, value: i128, accepted: &'static str) -> DecodeError {
        self.error(Problem::Value {
            field,
            value,
            accepted,
        })
    }
}

/// Reads the fields of a value, in their order. `what` names them in errors.
pub trait Source: DecodePosition {
    /// A string, owned or not.
    type Bytes: Deref<Target = [u8]> + Into<Vec<u8>>;

    /// The next field, a whole number.
    ///
    /// # Errors
    /// When there is none.
    fn unsigned(&mut self, what: &'static str) -> Result<u64, DecodeError>;

    /// The next field, a number with a fraction.
    ///
    /// # Errors
    /// When there is none.
    fn double(&mut self, what: &'static str) -> Result<f64, DecodeError>;

    /// The next field, a string.
    ///
    /// # Errors
    /// When there is none, or it takes more memory than allowed.
    fn string(&mut self, what: &'static str) -> Result<Self::Bytes, DecodeError>;
}

/// Writes the fields of a value, in their order.
pub trait Sink {
    /// The next field is a whole number.
    fn unsigned(&mut self, number: u64);

    /// The next field is a number with a fraction.
    fn double(&mut self, number: f64);

    /// The next field is a string.
    fn string(&mut self, bytes: &[u8]);
}

impl DecodePosition for Cursor<'_> {
    fn error(&self, problem: Problem) -> DecodeError {
        Cursor::error(self, problem)
    }
}

/// The fields in the bytes of a DUMP.
pub struct Payload<'a, 'c> {
    pub(super) at: &'c mut Cursor<'a>,
    pub(super) budget: &'c mut Budget,
}

impl DecodePosition for Payload<'_, '_> {
    fn error(&self, problem: Problem) -> DecodeError {
        self.at.error(problem)
    }
}

impl<'a> Source for Payload<'a, '_> {
    type Bytes = Cow<'a, [u8]>;

    fn unsigned(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        value::unsigned(self.at, what)
    }

    fn double(&mut self, what: &'static str) -> Result<f64, DecodeError> {
        value::double(self.at, what)
    }

    fn string(&mut self, what: &'static str) -> Result<Self::Bytes, DecodeError> {
        value::string(self.at, what, self.budget)
    }
}

impl Sink for Vec<u8> {
    fn unsigned(&mut self, number: u64) {
        value::put_unsigned(self, number);
    }

    fn double(&mut self, number: f64) {
        value::put_double(self, number);
    }

    fn string(&mut self, bytes: &[u8]) {
        value::put_string(self, bytes);
    }
}
