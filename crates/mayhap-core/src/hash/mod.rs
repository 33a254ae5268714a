//! Bytes -> `KeyHash`. One hash function per file; this file has the frozen list of native schemes.
//!
//! A scheme's number and outputs never change once released: files store the number, and the published test vectors in `sip13.rs`
//! and `xxh3.rs` pin the outputs. New schemes get new numbers.

mod batch;
pub mod foreign;
mod hashed;
mod key_hash;
mod sip13;
mod xxh3;

pub use hashed::Hashed;
pub use key_hash::KeyHash;

use crate::Key;
use core::fmt;

pub(crate) const CALLER_ORIGIN: u64 = 0;

/// The secret key of scheme 2. Anyone who knows it can craft colliding keys, so `Debug` does not show it.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, SipKey};
/// let mut seen = Bloom::keyed(1000, 0.01, SipKey::random())?;
/// seen.insert("a name that a stranger chose");
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SipKey([u8; 16]);

impl SipKey {
    /// A key from 16 bytes that nobody else can guess.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// A new random key, from the operating system's generator. Only callers use it: no filter chooses a key by itself.
    ///
    /// # Panics
    /// If the operating system has no random bytes, which does not happen on a running system.
    #[cfg(all(
        feature = "std",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    pub fn random() -> Self {
        let mut bytes = [0; 16];
        match getrandom::fill(&mut bytes) {
            Ok(()) => Self(bytes),
            Err(error) => panic!("the operating system has no random bytes: {error}"),
        }
    }

    /// The 16 bytes, for storing the key.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl From<[u8; 16]> for SipKey {
    fn from(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for SipKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SipKey(..)")
    }
}

/// How keys are hashed: a numbered, frozen function together with its secret key. Filters with the same scheme can share
/// `KeyHash`es.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{HashScheme, Ribbon, SipKey};
/// // A static filter of keys that strangers choose.
/// let scheme = HashScheme::Sip13(SipKey::new(*b"16 secret bytes."));
/// let blocked = Ribbon::build_with(["a", "b"], 0.01, scheme)?;
/// assert!(blocked.contains("a"));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HashScheme {
    /// 0: the caller's hashes, see [`KeyHash::from_u64`]. Methods that take key bytes panic on such a filter.
    Caller,
    /// 1: XXH3, 64 bits, seed 0. For trusted keys.
    #[default]
    Xxh3,
    /// 2: SipHash-1-3 with a secret key. For untrusted keys.
    Sip13(SipKey),
}

impl HashScheme {
    /// The number that files store for this scheme.
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
    /// On [`HashScheme::Caller`], which has no hash function: use `KeyHash::from_u64` with your own hash instead.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        let bits = key.with_bytes(|key| match self {
            Self::Caller => no_hash_function(),
            Self::Xxh3 => xxh3::hash(key),
            Self::Sip13(secret) => sip13::hash(secret, key),
        });
        KeyHash::new(bits, self.origin())
    }

    /// A hash that this scheme returned earlier, as stored by `KeyHash::to_u64`.
    #[inline]
    pub fn stored_hash(&self, bits: u64) -> KeyHash {
        KeyHash::new(bits, self.origin())
    }

    /// What debug builds compare: differs between schemes and, with overwhelming probability, between secret keys.
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
fn no_hash_function() -> ! {
    panic!(
        "a filter created by `for_hashes` has no hash function: use its *_hash methods with KeyHash::from_u64"
    )
}
