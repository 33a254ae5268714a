//! How much memory decoding an untrusted file may allocate.

/// Limits for decoding. Uncompressed formats never take more than a small multiple of their bytes; compressed ones are checked before
/// anything is allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of memory for what is decoded.
    pub max_bytes: u64,
}

impl Default for Limits {
    /// 4 GiB.
    fn default() -> Self {
        Self { max_bytes: 4 << 30 }
    }
}
