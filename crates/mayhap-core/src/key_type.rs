//! `KeyType`: what the keys of a filter are, for programs that read keys as text or as objects of another language.

use crate::Mismatch;
use core::fmt;
use core::str::FromStr;

/// What the keys of a filter are.
///
/// A filter can have a key type, which is saved with it. The filter itself does not use it, because a key is bytes; it says how
/// the command line, the server and Python convert lines, items and integers to these bytes. Each name is also a value of the
/// command line's `--key-type`, and a value of the Rust type of that name is the same [`Key`](crate::Key).
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, KeyType};
/// let mut ids = Bloom::new(1000, 0.01)?.with_key_type(KeyType::U64);
/// ids.insert(42_u64);
/// assert_eq!(ids.key_type(), Some(KeyType::U64));
/// assert_eq!("u64".parse(), Ok(KeyType::U64));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum KeyType {
    /// Text, or any bytes: a line as it is.
    #[default]
    Text,
    /// Bytes, which text shows as two hexadecimal digits each.
    Hex,
    /// Bytes, which text shows in base 64, with or without the padding.
    Base64,
    /// `i8`.
    I8,
    /// `i16`.
    I16,
    /// `i32`.
    I32,
    /// `i64`.
    I64,
    /// `u8`.
    U8,
    /// `u16`.
    U16,
    /// `u32`.
    U32,
    /// `u64`.
    U64,
    /// `f64`.
    F64,
    /// The 16 bytes of a UUID, which text shows as 32 hexadecimal digits with or without hyphens.
    Uuid,
}

impl KeyType {
    /// All key types.
    pub const ALL: [Self; 13] = [
        Self::Text,
        Self::Hex,
        Self::Base64,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F64,
        Self::Uuid,
    ];

    /// The names, for messages.
    pub const NAMES: &str = "text, hex, base64, i8, i16, i32, i64, u8, u16, u32, u64, f64 or uuid";

    /// `text`, `hex`, `base64`, `i8` to `i64`, `u8` to `u64`, `f64`, `uuid`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Hex => "hex",
            Self::Base64 => "base64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F64 => "f64",
            Self::Uuid => "uuid",
        }
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The number that files store for this type, frozen; 0 stands for none.
    pub const fn id(self) -> u8 {
        match self {
            Self::Text => 1,
            Self::Hex => 2,
            Self::Base64 => 3,
            Self::I8 => 4,
            Self::I16 => 5,
            Self::I32 => 6,
            Self::I64 => 7,
            Self::U8 => 8,
            Self::U16 => 9,
            Self::U32 => 10,
            Self::U64 => 11,
            Self::F64 => 12,
            Self::Uuid => 13,
        }
    }

    /// The type with this number.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.id() == id)
    }

    /// The key type of two filters that are to be merged: that of either, if the other has none.
    pub(crate) fn common(
        ours: Option<Self>,
        theirs: Option<Self>,
    ) -> Result<Option<Self>, Mismatch> {
        match (ours, theirs) {
            (Some(ours), Some(theirs)) if !ours.has_keys_of(theirs) => {
                Err(Mismatch::KeyType { ours, theirs })
            }
            _ => Ok(ours.or(theirs)),
        }
    }

    /// Whether keys of the other type can be keys of this one: the same type, or another spelling of bytes.
    pub const fn has_keys_of(self, other: Self) -> bool {
        self.id() == other.id() || (self.is_bytes() && other.is_bytes())
    }

    /// Whether keys are any bytes, which text, hexadecimal digits and base 64 only spell differently.
    const fn is_bytes(self) -> bool {
        matches!(self, Self::Text | Self::Hex | Self::Base64)
    }

    /// For integers, the width in bytes and whether they are signed.
    pub const fn integer(self) -> Option<(u8, bool)> {
        match self {
            Self::I8 => Some((1, true)),
            Self::I16 => Some((2, true)),
            Self::I32 => Some((4, true)),
            Self::I64 => Some((8, true)),
            Self::U8 => Some((1, false)),
            Self::U16 => Some((2, false)),
            Self::U32 => Some((4, false)),
            Self::U64 => Some((8, false)),
            Self::Text | Self::Hex | Self::Base64 | Self::F64 | Self::Uuid => None,
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KeyType {
    type Err = UnknownKeyType;

    fn from_str(name: &str) -> Result<Self, UnknownKeyType> {
        Self::from_name(name).ok_or(UnknownKeyType)
    }
}

/// The text is not the name of a [`KeyType`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnknownKeyType;

impl fmt::Display for UnknownKeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown key type: use {}", KeyType::NAMES)
    }
}

impl core::error::Error for UnknownKeyType {}

/// The key type of a filter that has a field `key_type`.
macro_rules! key_type_methods {
    () => {
        /// What the keys are, if that was set.
        pub fn key_type(&self) -> Option<crate::KeyType> {
            self.key_type
        }

        /// Sets what the keys are. It is saved with the filter; lookups do not depend on it.
        pub fn set_key_type(&mut self, key_type: Option<crate::KeyType>) {
            self.key_type = key_type;
        }

        /// The same filter, with this key type.
        #[must_use]
        pub fn with_key_type(mut self, key_type: crate::KeyType) -> Self {
            self.key_type = Some(key_type);
            self
        }
    };
}
pub(crate) use key_type_methods;
