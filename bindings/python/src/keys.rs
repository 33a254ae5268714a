//! From a Python object to the bytes of a key.
//!
//! `str` is UTF-8, bytes-like objects are their bytes, and integers have the width of the filter's key type. A new filter has none until
//! it is filled: it infers one from its keys, so that its file says what they are. Python's `hash` is never used.

use crate::errors::{MismatchError, ResultExt};
use mayhap::KeyType;
use mayhap::formats::{Format, KeyReader};
use pyo3::PyTypeInfo;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyFloat, PyInt, PyMemoryView, PyString};
use std::ffi::CStr;

/// Which keys a filter was given, as bits. It decides the key type of a filter that was created without one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Seen(pub(crate) u8);

impl Seen {
    /// Text and bytes.
    pub(crate) const TEXT: Self = Self(1);
    /// Integers that both 64-bit types have.
    pub(crate) const INTEGER: Self = Self(2);
    /// Integers below zero.
    pub(crate) const NEGATIVE: Self = Self(2 | 4);
    /// Integers from 2^63 on.
    pub(crate) const LARGE: Self = Self(2 | 8);

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The type that has all keys, if one does. What the command line stores for the same keys.
    pub(crate) fn key_type(self) -> Option<KeyType> {
        let is_integers = !self.contains(Self::TEXT) && self.contains(Self::INTEGER);
        let (negative, large) = (self.contains(Self::NEGATIVE), self.contains(Self::LARGE));
        match self {
            Self::TEXT => Some(KeyType::Text),
            _ if is_integers && large && !negative => Some(KeyType::U64),
            _ if is_integers && !large => Some(KeyType::I64),
            _ => None,
        }
    }

    /// The keys that a type stands for, if filters without a type have them too, as the same bytes.
    fn of_type(key_type: KeyType) -> Option<Self> {
        match key_type {
            KeyType::Text | KeyType::Hex | KeyType::Base64 => Some(Self::TEXT),
            KeyType::I64 => Some(Self::NEGATIVE),
            KeyType::U64 => Some(Self::LARGE),
            _ => None,
        }
    }

    /// The bits of a 64-bit integer.
    pub(crate) fn of_signed(value: i64) -> Self {
        if value < 0 {
            Self::NEGATIVE
        } else {
            Self::INTEGER
        }
    }
}

/// What is known about the keys of a filter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum KeyRules {
    /// It was created here without a key type.
    Inferred(Seen),
    /// The filter says it.
    Declared(KeyType),
    /// It was loaded and does not say it; the caller may have.
    Undeclared(Option<KeyType>),
}

impl KeyRules {
    /// For a new filter.
    pub(crate) fn new(key_type: Option<KeyType>) -> Self {
        key_type.map_or(Self::Inferred(Seen::default()), Self::Declared)
    }

    /// For a filter that was loaded, and what the caller says about it.
    pub(crate) fn loaded(stored: Option<KeyType>, given: Option<KeyType>) -> PyResult<Self> {
        match (stored, given) {
            (Some(stored), Some(given)) if !stored.has_keys_of(given) => {
                Err(PyValueError::new_err(format!(
                    "the filter has keys of type {stored}, not {given}: omit key_type="
                )))
            }
            (Some(stored), given) => Ok(Self::Declared(given.unwrap_or(stored))),
            (None, given) => Ok(Self::Undeclared(given)),
        }
    }

    /// The key type that is saved with the filter.
    pub(crate) fn key_type(self) -> Option<KeyType> {
        match self {
            Self::Inferred(seen) => seen.key_type(),
            Self::Declared(key_type) => Some(key_type),
            Self::Undeclared(_) => None,
        }
    }

    /// A type whose keys are other bytes than those of filters without a type.
    fn special_type(self) -> Option<KeyType> {
        match self {
            Self::Declared(key_type) | Self::Undeclared(Some(key_type)) => {
                Seen::of_type(key_type).is_none().then_some(key_type)
            }
            Self::Inferred(_) | Self::Undeclared(None) => None,
        }
    }

    /// Whether a key is the same bytes in both filters. Otherwise their keys would not be found in a filter that is made of both.
    fn agrees_with(self, other: Self) -> bool {
        // Nothing is known about its keys, or it has none, or text only.
        let is_open = |rules, other| match rules {
            Self::Inferred(seen) if seen == Seen::default() => true,
            Self::Inferred(Seen::TEXT) | Self::Declared(KeyType::Text) => {
                matches!(other, Self::Undeclared(_))
            }
            Self::Undeclared(given) => given.is_none(),
            Self::Inferred(_) | Self::Declared(_) => false,
        };
        match (self.special_type(), other.special_type()) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => ours == theirs,
            (Some(_), None) => is_open(other, self),
            (None, Some(_)) => is_open(self, other),
        }
    }

    /// Checks that the filters can be combined, and returns what is known about their keys together.
    pub(crate) fn with(self, other: Self) -> PyResult<Self> {
        if !self.agrees_with(other) {
            let name = |rules| {
                let key_type = match rules {
                    Self::Undeclared(given) => given,
                    rules => rules.key_type(),
                };
                key_type.map_or("several types".to_owned(), |name| format!("type {name}"))
            };
            return Err(MismatchError::new_err(format!(
                "one filter has keys of {}, the other of {}: create both with the same key_type",
                name(self),
                name(other)
            )));
        }
        Ok(match (self, other) {
            (Self::Inferred(ours), theirs) if ours == Seen::default() => theirs,
            (Self::Inferred(ours), Self::Inferred(theirs)) => Self::Inferred(ours.with(theirs)),
            (Self::Inferred(ours), Self::Declared(theirs)) => {
                Self::Inferred(ours.with(Seen::of_type(theirs).unwrap_or_default()))
            }
            // It may have any keys.
            (Self::Inferred(ours), Self::Undeclared(_)) => {
                Self::Inferred(ours.with(Seen::TEXT).with(Seen::INTEGER))
            }
            (ours, _) => ours,
        })
    }

    /// Whether keys of this kind change what is known.
    #[inline]
    pub(crate) fn is_news(self, seen: Seen) -> bool {
        matches!(self, Self::Inferred(before) if !before.contains(seen))
    }

    pub(crate) fn encoder(self) -> Encoder {
        match self {
            Self::Inferred(_) => Encoder::native(None),
            Self::Declared(key_type) => Encoder::native(Some(key_type)),
            Self::Undeclared(given) => Encoder::undeclared(given),
        }
    }
}

/// Parses the name of a key type.
pub(crate) fn key_type(name: Option<&str>) -> PyResult<Option<KeyType>> {
    let parse = |name| {
        KeyType::from_name(name).ok_or_else(|| {
            PyValueError::new_err(format!("unknown key_type {name:?}: use {}", KeyType::NAMES))
        })
    };
    name.map(parse).transpose()
}

/// The integers that a filter takes, and their width in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Width {
    pub(crate) bytes: u8,
    pub(crate) min: i128,
    pub(crate) max: i128,
}

impl Width {
    /// 8 bytes, signed or unsigned.
    const DEFAULT: Self = Self {
        bytes: 8,
        min: i64::MIN as i128,
        max: u64::MAX as i128,
    };

    fn for_type(bytes: u8, is_signed: bool) -> Self {
        let bits = 8 * u32::from(bytes);
        let (min, max) = if is_signed {
            (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
        } else {
            (0, (1_i128 << bits) - 1)
        };
        Self { bytes, min, max }
    }

    #[inline]
    fn contains(self, value: i64) -> bool {
        (self.min..=self.max).contains(&value.into())
    }

    #[cold]
    pub(crate) fn overflow(self, value: impl std::fmt::Display) -> PyErr {
        PyOverflowError::new_err(format!(
            "{value} is out of range: this filter takes integers from {} to {}",
            self.min, self.max
        ))
    }
}

/// How integers are encoded.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Integers {
    /// Little-endian.
    Width(Width),
    /// As another system does.
    Read,
    /// The filter does not say, and neither did the caller.
    Unknown,
    /// It has other keys.
    Refused,
}

/// How text is encoded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Text {
    /// As UTF-8.
    Verbatim,
    /// As the command line reads a line.
    Read,
    /// It has other keys.
    Refused,
}

/// Turns Python objects into key bytes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Encoder {
    pub(crate) integers: Integers,
    pub(crate) text: Text,
    /// What the keys are, for messages.
    key_type: Option<KeyType>,
    reader: KeyReader,
    /// For bytes of a system that does not hash them as they are.
    reader_of_bytes: Option<KeyReader>,
}

impl Encoder {
    fn native(key_type: Option<KeyType>) -> Self {
        let reader = KeyReader::new(Format::Mayhap, key_type.unwrap_or_default());
        let Some(key_type) = key_type else {
            return Self::with(
                Integers::Width(Width::DEFAULT),
                Text::Verbatim,
                None,
                reader,
            );
        };
        let integers = match key_type.integer() {
            Some((bytes, is_signed)) => Integers::Width(Width::for_type(bytes, is_signed)),
            None => Integers::Refused,
        };
        let text = match key_type {
            KeyType::Text => Text::Verbatim,
            KeyType::Hex | KeyType::Base64 | KeyType::Uuid => Text::Read,
            _ => Text::Refused,
        };
        Self::with(integers, text, Some(key_type), reader)
    }

    fn undeclared(given: Option<KeyType>) -> Self {
        match given {
            None => {
                let reader = KeyReader::new(Format::Mayhap, KeyType::Text);
                Self::with(Integers::Unknown, Text::Verbatim, None, reader)
            }
            Some(given) => {
                let encoder = Self::native(Some(given));
                // It may have other keys besides integers.
                let text = match encoder.text {
                    Text::Refused => Text::Verbatim,
                    text => text,
                };
                Self { text, ..encoder }
            }
        }
    }

    /// For a filter of another system.
    pub(crate) fn foreign(reader: KeyReader) -> Self {
        let bytes = reader.with_key_type(KeyType::Text);
        let key_type = reader.key_type();
        let integers = if reader.reads_numbers() && key_type != KeyType::F64 {
            Integers::Read
        } else if key_type == KeyType::Text {
            Integers::Unknown
        } else {
            Integers::Refused
        };
        let text = if reader.is_verbatim() {
            Text::Verbatim
        } else if key_type.integer().is_some() || key_type == KeyType::F64 {
            Text::Refused
        } else {
            Text::Read
        };
        Self {
            reader_of_bytes: (!bytes.is_verbatim()).then_some(bytes),
            ..Self::with(integers, text, Some(key_type), reader)
        }
    }

    fn with(integers: Integers, text: Text, key_type: Option<KeyType>, reader: KeyReader) -> Self {
        Self {
            integers,
            text,
            key_type,
            reader,
            reader_of_bytes: None,
        }
    }

    /// The bytes of a key that need no copy; `None` for others, and for integers out of range.
    #[inline]
    pub(crate) fn simple<'k>(&self, key: &RawKey<'k>) -> Option<SimpleKey<'k>> {
        match *key {
            RawKey::Text(text) if self.text == Text::Verbatim => Some(SimpleKey::Bytes(text)),
            RawKey::Bytes(bytes) if self.reader_of_bytes.is_none() => Some(SimpleKey::Bytes(bytes)),
            RawKey::Integer(value) => match self.integers {
                Integers::Width(width) if width.contains(value) => {
                    let seen = Seen::of_signed(value);
                    Some(SimpleKey::Integer(value.to_le_bytes(), width.bytes, seen))
                }
                _ => None,
            },
            RawKey::Text(_) | RawKey::Bytes(_) => None,
        }
    }

    /// Calls a function with the bytes of a key.
    #[inline]
    pub(crate) fn with_key<R>(
        &self,
        key: &Bound<'_, PyAny>,
        call: impl FnOnce(&[u8], Seen) -> R,
    ) -> PyResult<R> {
        if let Some(raw) = RawKey::of(key)?
            && let Some(simple) = self.simple(&raw)
        {
            return Ok(call(simple.bytes(), simple.seen()));
        }
        if let Ok(text) = key.cast::<PyString>() {
            let bytes = self.read_text(text.to_str()?.as_bytes())?;
            return Ok(call(&bytes, Seen::TEXT));
        }
        if let Ok(bytes) = key.cast::<PyBytes>() {
            return self.with_bytes(bytes.as_bytes(), call);
        }
        self.with_other_key(key, call)
    }

    #[inline(never)]
    fn with_other_key<R>(
        &self,
        key: &Bound<'_, PyAny>,
        call: impl FnOnce(&[u8], Seen) -> R,
    ) -> PyResult<R> {
        // NumPy's integers, which are also buffers.
        if key.is_instance_of::<PyInt>()
            || key.hasattr(intern!(key.py(), "__index__"))? && !has_dimensions(key)?
        {
            let index = key.call_method0(intern!(key.py(), "__index__"))?;
            return match &self.integers {
                Integers::Width(width) => {
                    let (bytes, seen) = integer_bytes(*width, index.cast::<PyInt>()?)?;
                    Ok(call(&bytes[..width.bytes.into()], seen))
                }
                Integers::Read => {
                    let text = index.str()?;
                    Ok(call(&self.read_integer(text.to_str()?)?, Seen::INTEGER))
                }
                Integers::Unknown | Integers::Refused => Err(self.no_integers()),
            };
        }
        if let Ok(float) = key.cast::<PyFloat>()
            && self.key_type == Some(KeyType::F64)
        {
            let text = float.value().to_string();
            return Ok(call(&self.reader.read(text.as_bytes()).py()?, Seen::TEXT));
        }
        if self.key_type == Some(KeyType::Uuid) && is_uuid(key)? {
            let text = key.str()?;
            return Ok(call(
                &self.read_text(text.to_str()?.as_bytes())?,
                Seen::TEXT,
            ));
        }
        if let Some(bytes) = bytes_like(key)? {
            return self.with_bytes(&bytes, call);
        }
        Err(wrong_type(key))
    }

    fn with_bytes<R>(&self, bytes: &[u8], call: impl FnOnce(&[u8], Seen) -> R) -> PyResult<R> {
        match &self.reader_of_bytes {
            None => Ok(call(bytes, Seen::TEXT)),
            Some(reader) => Ok(call(&reader.read(bytes).py()?, Seen::TEXT)),
        }
    }

    /// The bytes of text that are not those of the key.
    pub(crate) fn read_text(&self, text: &[u8]) -> PyResult<Vec<u8>> {
        match self.text {
            Text::Verbatim => Ok(text.to_vec()),
            Text::Read => self.reader.read(text).py(),
            Text::Refused => Err(self.no_text()),
        }
    }

    /// The bytes of an integer in decimal digits, of another system.
    pub(crate) fn read_integer(&self, digits: &str) -> PyResult<Vec<u8>> {
        self.reader.read(digits.as_bytes()).map_err(|error| {
            if self
                .key_type
                .is_some_and(|key_type| key_type.integer().is_some())
            {
                PyOverflowError::new_err(error.to_string())
            } else {
                PyValueError::new_err(error.to_string())
            }
        })
    }

    /// The bytes of a key that a column of binary values has.
    pub(crate) fn read_bytes(&self, bytes: &[u8]) -> PyResult<Vec<u8>> {
        self.with_bytes(bytes, |bytes, _| bytes.to_vec())
    }

    /// The width of integers in a prepared column.
    pub(crate) fn width(&self) -> u8 {
        match self.integers {
            Integers::Width(width) => width.bytes,
            Integers::Read | Integers::Unknown | Integers::Refused => 8,
        }
    }

    /// Whether binary values are keys as they are.
    pub(crate) fn has_verbatim_bytes(&self) -> bool {
        self.reader_of_bytes.is_none()
    }

    #[cold]
    pub(crate) fn no_text(&self) -> PyErr {
        let key_type = self.key_type.unwrap_or_default();
        let instead = match key_type {
            KeyType::F64 => "float",
            _ => "int",
        };
        PyTypeError::new_err(format!(
            "the filter has keys of type {key_type}: pass {instead}, not text"
        ))
    }

    #[cold]
    pub(crate) fn no_integers(&self) -> PyErr {
        let message = if self.integers == Integers::Unknown {
            "the filter does not say how integers are encoded: pass key_type=\"i64\" or another type when you open or load it".to_owned()
        } else {
            let key_type = self.key_type.unwrap_or_default();
            let instead = match key_type {
                KeyType::F64 => "float",
                KeyType::Uuid => "uuid.UUID or str",
                _ => "str or bytes",
            };
            format!("the filter has keys of type {key_type}, not integers: pass {instead}")
        };
        PyTypeError::new_err(message)
    }
}

/// What a Python object of a usual type has: read before a lock is taken, because reading it may raise an exception.
pub(crate) enum RawKey<'k> {
    Text(&'k [u8]),
    Bytes(&'k [u8]),
    /// An integer of 64 bits.
    Integer(i64),
}

impl<'k> RawKey<'k> {
    #[inline]
    pub(crate) fn of(key: &'k Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(text) = key.cast::<PyString>() {
            return Ok(Some(Self::Text(text.to_str()?.as_bytes())));
        }
        if let Ok(bytes) = key.cast::<PyBytes>() {
            return Ok(Some(Self::Bytes(bytes.as_bytes())));
        }
        if let Ok(integer) = key.cast::<PyInt>() {
            return Ok(integer.extract().ok().map(Self::Integer));
        }
        Ok(None)
    }
}

/// The bytes of a usual key.
pub(crate) enum SimpleKey<'k> {
    Bytes(&'k [u8]),
    /// So many of the eight bytes.
    Integer([u8; 8], u8, Seen),
}

impl SimpleKey<'_> {
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Integer(bytes, width, _) => &bytes[..usize::from(*width)],
        }
    }

    #[inline]
    pub(crate) fn seen(&self) -> Seen {
        match self {
            Self::Bytes(_) => Seen::TEXT,
            Self::Integer(_, _, seen) => *seen,
        }
    }
}

/// A function of the caller that maps any object to an integer of up to 128 bits, as rbloom's `hash_func`. Its 16 bytes are the key.
pub(crate) fn hashed_key(
    function: &Bound<'_, PyAny>,
    key: &Bound<'_, PyAny>,
) -> PyResult<[u8; 16]> {
    let hash = function.call1((key,))?;
    let Ok(hash) = hash.cast::<PyInt>() else {
        return Err(PyTypeError::new_err(format!(
            "hash_func must return an int, not {}",
            hash.get_type().name()?
        )));
    };
    let bytes = hash.call_method(
        intern!(hash.py(), "to_bytes"),
        (16, "little"),
        Some(&signed(hash.py())?),
    );
    let bytes = bytes.map_err(|_| {
        PyOverflowError::new_err("hash_func must return an int from -2**127 to 2**127 - 1")
    })?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes();
    Ok(bytes.try_into().unwrap_or_default())
}

fn signed(py: Python<'_>) -> PyResult<Bound<'_, pyo3::types::PyDict>> {
    let arguments = pyo3::types::PyDict::new(py);
    arguments.set_item("signed", true)?;
    Ok(arguments)
}

#[inline]
fn integer_bytes(width: Width, integer: &Bound<'_, PyInt>) -> PyResult<([u8; 8], Seen)> {
    if let Ok(value) = integer.extract::<i64>() {
        if !width.contains(value) {
            return Err(width.overflow(value));
        }
        return Ok((value.to_le_bytes(), Seen::of_signed(value)));
    }
    match integer.extract::<u64>() {
        Ok(value) if i128::from(value) <= width.max => Ok((value.to_le_bytes(), Seen::LARGE)),
        // The decimal digits of a huge one are not shown: Python refuses to compute them.
        Ok(value) => Err(width.overflow(value)),
        Err(_) => Err(width.overflow("an integer of more than 64 bits")),
    }
}

/// Whether it is an array with several values.
fn has_dimensions(key: &Bound<'_, PyAny>) -> PyResult<bool> {
    match key.getattr_opt(intern!(key.py(), "ndim"))? {
        Some(dimensions) => Ok(dimensions.extract::<usize>().unwrap_or(1) > 0),
        None => Ok(false),
    }
}

fn is_uuid(key: &Bound<'_, PyAny>) -> PyResult<bool> {
    key.is_instance(&key.py().import("uuid")?.getattr("UUID")?)
}

/// The bytes of a bytearray, a memoryview or another buffer of bytes.
fn bytes_like(key: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if let Ok(bytes) = key.cast::<PyByteArray>() {
        return Ok(Some(bytes.to_vec()));
    }
    let Ok(buffer) = PyUntypedBuffer::get(key) else {
        return Ok(None);
    };
    let is_view = key.is_instance_of::<PyMemoryView>();
    let is_bytes = is_byte_format(buffer.format()) && (is_view || buffer.dimensions() == 1);
    let is_array = key.hasattr(intern!(key.py(), "dtype"))?;
    if !is_bytes || is_array {
        return Ok(None);
    }
    drop(buffer);
    let bytes = PyBytes::type_object(key.py()).call1((key,))?;
    Ok(Some(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
}

pub(crate) fn is_byte_format(format: &CStr) -> bool {
    matches!(
        format.to_bytes(),
        b"B" | b"b" | b"c" | b"<B" | b"=B" | b"@B"
    )
}

#[cold]
pub(crate) fn wrong_type(key: &Bound<'_, PyAny>) -> PyErr {
    let name = key.get_type().name();
    let name = name.map_or_else(|_| "this object".to_owned(), |name| name.to_string());
    let advice = match name.as_str() {
        "float" => "use struct.pack(\"<d\", key), or create the filter with key_type=\"f64\"",
        "UUID" => "use key.bytes, or create the filter with key_type=\"uuid\"",
        "tuple" => "encode it as bytes or str, for example with repr or json.dumps",
        "datetime" | "date" | "Timestamp" => "use key.isoformat()",
        "NoneType" => "None is not a key",
        "ndarray" | "Series" | "ChunkedArray" | "list" | "set" | "dict" => {
            "for many keys use contains_many, add_many or update"
        }
        _ => "encode it as str, bytes or int",
    };
    PyTypeError::new_err(format!(
        "a key is a str, a bytes-like object or an int, not {name}: {advice}"
    ))
}
