//! The fields of a module's value, wherever they are kept: in the bytes of a DUMP, or with an engine that hands them over one by
//! one. What is read of them, in which order and with which checks, is written once, for both.

use super::value::{self, Budget};
use crate::cursor::Cursor;
use crate::{DecodeError, Problem};
use std::borrow::Cow;
use std::ops::Deref;

/// Where something is read, to say so when it is wrong.
pub trait Place {
    /// That there is a problem here.
    fn error(&self, problem: Problem) -> DecodeError;

    /// That a field cannot have this value.
    fn value(&self, field: &'static str, value: i128, accepted: &'static str) -> DecodeError {
        self.error(Problem::Value {
            field,
            value,
            accepted,
        })
    }
}

/// Gives the fields of a value, in their order. `what` names them in errors.
pub trait Source: Place {
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

/// Takes the fields of a value, in their order.
pub trait Sink {
    /// The next field is a whole number.
    fn unsigned(&mut self, number: u64);

    /// The next field is a number with a fraction.
    fn double(&mut self, number: f64);

    /// The next field is a string.
    fn string(&mut self, bytes: &[u8]);
}

impl Place for Cursor<'_> {
    fn error(&self, problem: Problem) -> DecodeError {
        Cursor::error(self, problem)
    }
}

/// The fields in the bytes of a DUMP.
pub struct Payload<'a, 'c> {
    pub(super) at: &'c mut Cursor<'a>,
    pub(super) budget: &'c mut Budget,
}

impl Place for Payload<'_, '_> {
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
