//! Scheme 2: SipHash-1-3, 64-bit output, 128-bit key. A keyed function: without the key nobody can aim at a line.

use super::SipKey;
use siphasher::sip::SipHasher13;

#[inline]
pub(super) fn hash(secret: &SipKey, key: &[u8]) -> u64 {
    SipHasher13::new_with_key(&secret.0).hash(key)
}
