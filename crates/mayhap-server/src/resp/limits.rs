//! Bounds of a request, each with its name.

/// How large a request may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestLimits {
    /// Words of an array.
    pub max_words: usize,
    /// Bytes of a word of an array.
    pub max_bulk: usize,
    /// Bytes of a line: of words, or of a number.
    pub max_inline: usize,
    /// Bytes of all. More than 4 GiB are 4 GiB.
    pub max_request: usize,
    /// Whether these are for somebody who has yet to say a password; the errors tell.
    pub is_before_auth: bool,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self::AFTER_AUTH
    }
}

impl RequestLimits {
    /// As Redis has them.
    pub const AFTER_AUTH: Self = Self {
        max_words: 1 << 20,
        max_bulk: 512 << 20,
        max_inline: 64 << 10,
        max_request: 1 << 30,
        is_before_auth: false,
    };

    /// Enough for `HELLO 3 AUTH name password SETNAME name`, and little for strangers.
    pub const BEFORE_AUTH: Self = Self {
        max_words: 10,
        max_bulk: 16 << 10,
        max_inline: 16 << 10,
        max_request: 64 << 10,
        is_before_auth: true,
    };
}
