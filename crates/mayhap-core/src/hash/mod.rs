//! Bytes -> `KeyHash`. One hash function a file; this one holds the frozen list of native schemes.
//!
//! A scheme's number and outputs never change once released: files carry the number, and the published test vectors in
//! `sip13.rs` and `xxh3.rs` pin the outputs. Schemes only gain company.

mod batch;
pub mod foreign;
mod hashed;
mod sip13;
mod xxh3;

pub use hashed::Hashed;

use crate::KeyHash;
use core::fmt;

pub(crate) const CALLER_ORIGIN: u64 = 0;

/// The secret key of scheme 2. Whoever knows it can choose keys that collide, so `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SipKey([u8; 16]);

impl SipKey {
    /// A key from 16 bytes that nobody else can guess (this crate has no randomness of its own).
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes, for storing the key.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Debug for SipKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SipKey(..)")
    }
}

/// How keys become hashes: a numbered, frozen function together with its key. Filters of one scheme may share `KeyHash`es.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashScheme {
    /// 0: the caller hashes, see [`KeyHash::from_u64`]. Byte methods on such a filter panic.
    Caller,
    /// 1: XXH3, 64 bits, seed 0. For keys that nobody chooses against you.
    Xxh3,
    /// 2: SipHash-1-3 with a secret key. For untrusted keys.
    Sip13(SipKey),
}

impl HashScheme {
    /// The number under which files know this scheme.
    pub const fn id(self) -> u16 {
        match self {
            Self::Caller => 0,
            Self::Xxh3 => 1,
            Self::Sip13(_) => 2,
        }
    }

    /// The hash of a key.
    ///
    /// # Panics
    /// On [`HashScheme::Caller`], which has no function: give `KeyHash::from_u64` of your own hash instead.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> KeyHash {
        let bits = match self {
            Self::Caller => no_hash_function(),
            Self::Xxh3 => xxh3::hash(key),
            Self::Sip13(secret) => sip13::hash(secret, key),
        };
        KeyHash::new(bits, self.origin())
    }

    /// A hash that this scheme gave earlier, as `KeyHash::to_u64` told it: for those who keep hashes in files.
    #[inline]
    pub fn stored_hash(&self, bits: u64) -> KeyHash {
        KeyHash::new(bits, self.origin())
    }

    /// What debug builds compare: differs between schemes and, but for a freak chance, between keys.
    #[inline]
    pub(crate) fn origin(&self) -> u64 {
        match self {
            Self::Caller => CALLER_ORIGIN,
            Self::Xxh3 => 1,
            Self::Sip13(SipKey(bytes)) => bytes.iter().fold(2, |sum: u64, &byte| {
                (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            }),
        }
    }
}

#[cold]
#[inline(never)]
fn no_hash_function() -> u64 {
    panic!(
        "a filter made by `for_hashes` does not hash keys: use its *_hash methods with KeyHash::from_u64"
    )
}
