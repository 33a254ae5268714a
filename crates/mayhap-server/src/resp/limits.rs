//! The limits of a request.

/// The limits of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestLimits {
    /// The maximum number of words in an array.
    pub max_words: usize,
    /// The maximum length of a word.
    pub max_bulk: usize,
    /// The maximum length of a line.
    pub max_inline: usize,
    /// The maximum length of a request, capped at 4 GiB.
    pub max_request: usize,
    /// Whether these limits are for an unauthenticated client, for the error messages.
    pub is_before_auth: bool,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self::AFTER_AUTH
    }
}

impl RequestLimits {
    /// The limits of Redis.
    pub const AFTER_AUTH: Self = Self {
        max_words: 1 << 20,
        max_bulk: 512 << 20,
        max_inline: 64 << 10,
        max_request: 1 << 30,
        is_before_auth: false,
    };

    /// Enough for `HELLO 3 AUTH name password SETNAME name`, and little more.
    pub const BEFORE_AUTH: Self = Self {
        max_words: 10,
        max_bulk: 16 << 10,
        max_inline: 16 << 10,
        max_request: 64 << 10,
        is_before_auth: true,
    };
}
