//! How much a stranger's file may make us allocate.

/// What decoding may take. Plain formats never take more than a small multiple of their bytes; compressed ones are held to this
/// before memory is asked for.
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
