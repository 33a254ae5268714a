//! `Key`: values with stable key bytes.
//!
//! The bytes of every type below are frozen: files contain their hashes. They are listed in docs/guide/rust.md, and `tests/it/keys.rs`
//! pins them. Implementations are written type by type, because a blanket implementation over `AsRef<[u8]>` would exclude integers.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::rc::Rc;
use alloc::string::String;
#[cfg(target_has_atomic = "ptr")]
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use core::num::NonZero;

/// A value that can be a key of a filter: a value with bytes that are the same on every machine, in every release and in every
/// interface of mayhap.
///
/// | type | bytes |
/// | --- | --- |
/// | `[u8]`, `[u8; N]`, `Vec<u8>`, `str`, `String`, `CStr`, `CString` | their own, without a terminating NUL |
/// | `Path`, `OsStr` and their owned types, on Unix, with `std` | their own |
/// | `u8` to `u128`, `i8` to `i128`, `NonZero` of them | their own width, little-endian |
/// | `usize`, `isize` | 8 bytes, little-endian, on every machine |
/// | `f32`, `f64` | IEEE 754, little-endian; `0.0` and `-0.0` differ |
/// | `bool`, `char` | one byte, 0 or 1; the code point as a `u32` |
/// | `Ipv4Addr`, `Ipv6Addr`, `IpAddr` | the octets: 4 or 16 |
/// | `SocketAddrV4`, `SocketAddrV6`, `SocketAddr` | octets, port as a `u16`; then, for version 6, flow information and scope id as `u32` |
/// | `uuid::Uuid`, with the feature `uuid` | its 16 bytes |
/// | tuples of keys | the bytes of every part; a part whose type has no fixed length follows its length as a `u64` |
/// | `&K`, `&mut K`, `Box<K>`, `Rc<K>`, `Arc<K>`, `Cow<K>` | those of `K` |
///
/// The width of an integer is part of the key: `5_u32` and `5_u64` are different keys. The command line's `--key-type u64` reads the
/// same eight bytes from the line `5`.
///
/// # Own types
///
/// Implement `Key`, or pass bytes:
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, Key};
///
/// struct Visit { user: u64, page: String }
///
/// impl Key for Visit {
///     fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
///         (self.user, &self.page).with_bytes(use_bytes) // a tuple: unambiguous, whatever the page contains
///     }
/// }
///
/// let mut seen = Bloom::new(1000, 0.01)?;
/// assert!(seen.insert(Visit { user: 7, page: "/".to_owned() }));
/// assert!(seen.contains(&Visit { user: 7, page: "/".to_owned() }));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
///
/// # Why not `Hash`?
///
/// What [`core::hash::Hash`] feeds to a hasher differs between types that compare equal in other languages, between machines, and
/// may differ between releases of Rust. Filters are stored, sent and read by other programs, so their keys need bytes that never change.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no stable key bytes",
    note = "pass bytes or a string, a tuple of keys, or implement `mayhap::Key`"
)]
pub trait Key {
    /// The number of bytes, if all values of the type have the same. Tuples prefix other parts with their length, so never change it.
    const FIXED_LEN: Option<usize> = None;

    /// Calls a function with the bytes of the key, and returns its result.
    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R;
}

/// Implements `Key` by an expression for the bytes.
macro_rules! key {
    ($($type:ty, $len:expr, $value:ident => $bytes:expr;)*) => {
        $(impl Key for $type {
            const FIXED_LEN: Option<usize> = $len;

            #[inline]
            fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
                let $value = self;
                use_bytes($bytes)
            }
        })*
    };
}

key! {
    [u8], None, key => key;
    Vec<u8>, None, key => key;
    str, None, key => key.as_bytes();
    String, None, key => key.as_bytes();
    CStr, None, key => key.to_bytes();
    CString, None, key => key.to_bytes();
    bool, Some(1), key => &[u8::from(*key)];
    char, Some(4), key => &u32::from(*key).to_le_bytes();
    usize, Some(8), key => &(*key as u64).to_le_bytes();
    isize, Some(8), key => &(*key as i64).to_le_bytes();
    f32, Some(4), key => &key.to_le_bytes();
    f64, Some(8), key => &key.to_le_bytes();
    Ipv4Addr, Some(4), key => &key.octets();
    Ipv6Addr, Some(16), key => &key.octets();
}

macro_rules! integers {
    ($($integer:ty),*) => {
        key! { $($integer, Some(size_of::<$integer>()), key => &key.to_le_bytes();)* }
        key! { $(NonZero<$integer>, Some(size_of::<$integer>()), key => &key.get().to_le_bytes();)* }
    };
}

integers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

#[cfg(all(feature = "std", unix))]
mod paths {
    use super::Key;
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    key! {
        OsStr, None, key => key.as_bytes();
        OsString, None, key => key.as_bytes();
        Path, None, key => key.as_os_str().as_bytes();
        PathBuf, None, key => key.as_os_str().as_bytes();
    }
}

#[cfg(feature = "uuid")]
key! { uuid::Uuid, Some(16), key => key.as_bytes(); }

impl<const N: usize> Key for [u8; N] {
    const FIXED_LEN: Option<usize> = Some(N);

    #[inline]
    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        use_bytes(self)
    }
}

/// Implements `Key` for something that refers to a key.
macro_rules! pointer {
    ($($pointer:ty),*) => {
        $(impl<K: Key + ?Sized> Key for $pointer {
            const FIXED_LEN: Option<usize> = K::FIXED_LEN;

            #[inline]
            fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
                K::with_bytes(self, use_bytes)
            }
        })*
    };
}

pointer!(&K, &mut K, Box<K>, Rc<K>);
#[cfg(target_has_atomic = "ptr")]
pointer!(Arc<K>);

impl<K: Key + ToOwned + ?Sized> Key for Cow<'_, K> {
    const FIXED_LEN: Option<usize> = K::FIXED_LEN;

    #[inline]
    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        K::with_bytes(self, use_bytes)
    }
}

impl Key for IpAddr {
    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Self::V4(address) => address.with_bytes(use_bytes),
            Self::V6(address) => address.with_bytes(use_bytes),
        }
    }
}

impl Key for SocketAddrV4 {
    const FIXED_LEN: Option<usize> = Some(6);

    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        (self.ip(), self.port()).with_bytes(use_bytes)
    }
}

impl Key for SocketAddrV6 {
    const FIXED_LEN: Option<usize> = Some(26);

    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        (self.ip(), self.port(), self.flowinfo(), self.scope_id()).with_bytes(use_bytes)
    }
}

impl Key for SocketAddr {
    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Self::V4(address) => address.with_bytes(use_bytes),
            Self::V6(address) => address.with_bytes(use_bytes),
        }
    }
}

/// The bytes of a tuple: on the stack if they are few, so that most tuples allocate nothing.
struct TupleBytes {
    stack: [u8; Self::STACK],
    len: usize,
    heap: Vec<u8>,
}

impl TupleBytes {
    const STACK: usize = 128;

    #[inline]
    fn new() -> Self {
        Self {
            stack: [0; Self::STACK],
            len: 0,
            heap: Vec::new(),
        }
    }

    #[inline]
    fn push_part<K: Key + ?Sized>(&mut self, part: &K) {
        part.with_bytes(|bytes| {
            if K::FIXED_LEN.is_none() {
                self.push(&(bytes.len() as u64).to_le_bytes());
            }
            self.push(bytes);
        });
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if let Some(place) = self.stack.get_mut(self.len..end) {
            place.copy_from_slice(bytes);
            self.len = end;
        } else {
            if self.heap.is_empty() {
                self.heap.extend_from_slice(&self.stack[..self.len]);
            }
            self.heap.extend_from_slice(bytes);
            // From now on, nothing fits the stack.
            self.len = Self::STACK + 1;
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.stack.get(..self.len).unwrap_or(&self.heap)
    }
}

macro_rules! tuple {
    ($($part:ident $at:tt),*) => {
        impl<$($part: Key),*> Key for ($($part,)*) {
            const FIXED_LEN: Option<usize> = sum(&[$($part::FIXED_LEN),*]);

            #[inline]
            fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
                let mut bytes = TupleBytes::new();
                $(bytes.push_part(&self.$at);)*
                use_bytes(bytes.bytes())
            }
        }
    };
}

/// The length of all parts, if each has a fixed one.
const fn sum(lengths: &[Option<usize>]) -> Option<usize> {
    let (mut sum, mut at) = (0, 0);
    while at < lengths.len() {
        match lengths[at] {
            Some(length) => sum += length,
            None => return None,
        }
        at += 1;
    }
    Some(sum)
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

/// Keys whose bytes are in memory at the same time.
const CHUNK: usize = 64;

/// Passes the bytes of all keys to a function, a few keys at a time, with their range: for batches that need the bytes of several
/// keys at once. Copies them, which costs little next to the hash functions of other systems.
pub(crate) fn for_each_chunk<K: Key>(
    keys: &[K],
    mut use_chunk: impl FnMut(core::ops::Range<usize>, &[&[u8]]),
) {
    let mut bytes = Vec::new();
    for (number, keys) in keys.chunks(CHUNK).enumerate() {
        bytes.clear();
        let mut ends = [0; CHUNK];
        for (end, key) in ends.iter_mut().zip(keys) {
            key.with_bytes(|key| bytes.extend_from_slice(key));
            *end = bytes.len();
        }
        let mut chunk: [&[u8]; CHUNK] = [&[]; CHUNK];
        let mut rest = bytes.as_slice();
        let mut begin = 0;
        for (place, end) in chunk.iter_mut().zip(ends).take(keys.len()) {
            (*place, rest) = rest.split_at(end - begin);
            begin = end;
        }
        let first = number * CHUNK;
        use_chunk(first..first + keys.len(), &chunk[..keys.len()]);
    }
}
