//! Filters as fields of structs that are serialised, with serde.
//!
//! Every kind, [`AnyFilter`](crate::AnyFilter) included. A filter is its native bytes, as [`to_bytes`] returns them, with
//! checksums: bytes in binary formats, base 64 in formats that are text, such as JSON. Secret keys are included.
//!
//! ```
//! use mayhap::{Bloom, serde::Saved};
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Crawl {
//!     site: String,
//!     #[serde(with = "mayhap::serde")]
//!     seen: Bloom,
//!     blocked: Option<Saved<Bloom>>,
//! }
//!
//! let crawl = Crawl {
//!     site: "a.example".to_owned(),
//!     seen: Bloom::from_keys(["/", "/about"], 0.01)?,
//!     blocked: None,
//! };
//! let text = serde_json::to_string(&crawl)?;
//! let crawl: Crawl = serde_json::from_str(&text)?;
//! assert!(crawl.seen.contains("/about"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{NativeFilter, from_bytes, to_bytes};
use ::serde::de::{Deserializer, Error as _, Visitor};
use ::serde::ser::{Error as _, Serializer};
use ::serde::{Deserialize, Serialize};
use core::fmt;
use core::marker::PhantomData;
use data_encoding::BASE64;

/// Serialises a filter: for `#[serde(with = "mayhap::serde")]`.
///
/// # Errors
/// When there is no memory for the bytes, or those of the serialiser.
pub fn serialize<F: NativeFilter, S: Serializer>(
    filter: &F,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let bytes = to_bytes(filter).map_err(S::Error::custom)?;
    if serializer.is_human_readable() {
        serializer.serialize_str(&BASE64.encode(&bytes))
    } else {
        serializer.serialize_bytes(&bytes)
    }
}

/// Deserialises a filter: for `#[serde(with = "mayhap::serde")]`.
///
/// # Errors
/// When the bytes are damaged or of another kind, or those of the deserialiser.
pub fn deserialize<'de, F: NativeFilter, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<F, D::Error> {
    let visitor = FilterVisitor(PhantomData);
    if deserializer.is_human_readable() {
        deserializer.deserialize_str(visitor)
    } else {
        deserializer.deserialize_bytes(visitor)
    }
}

/// A filter in places where `with` cannot be written: in an `Option`, a `Vec` or a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Saved<F>(pub F);

impl<F: NativeFilter> Serialize for Saved<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

impl<'de, F: NativeFilter> Deserialize<'de> for Saved<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Self)
    }
}

struct FilterVisitor<F>(PhantomData<F>);

impl<'de, F: NativeFilter> Visitor<'de> for FilterVisitor<F> {
    type Value = F;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the native bytes of a filter, in base 64 if the format is text")
    }

    fn visit_str<E: ::serde::de::Error>(self, text: &str) -> Result<F, E> {
        let bytes = BASE64.decode(text.as_bytes()).map_err(E::custom)?;
        self.visit_bytes(&bytes)
    }

    fn visit_bytes<E: ::serde::de::Error>(self, bytes: &[u8]) -> Result<F, E> {
        from_bytes(bytes).map_err(E::custom)
    }

    /// Formats without a type for bytes have a sequence of numbers.
    fn visit_seq<A: ::serde::de::SeqAccess<'de>>(self, mut numbers: A) -> Result<F, A::Error> {
        // The sequence may claim any length, so nothing is reserved.
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        from_bytes(&bytes).map_err(A::Error::custom)
    }
}
