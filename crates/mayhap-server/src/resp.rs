//! Requests as Redis reads them: arrays of bulk strings, or a line of words for people with telnet.
//!
//! A [`Parser`] is shown the bytes that have arrived since the request began, again whenever there are more of them, and goes on
//! where it stopped: a request that comes byte by byte costs no more than one that comes at once. Words are places in those bytes;
//! only the words of a line are copied, because of their quotes. A length that a client declares is compared with the limits and
//! is never a reason to allocate.
//!
//! ```
//! use mayhap_server::resp::{Parsed, Parser, RequestLimits};
//! let mut parser = Parser::default();
//! let limits = RequestLimits::default();
//! let input = b"*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\nPING\r\n";
//! assert_eq!(parser.parse(&input[..9], &limits), Ok(Parsed::Incomplete { at_least: 5 }));
//! assert_eq!(parser.parse(input, &limits), Ok(Parsed::Complete { consumed: 22 }));
//! let words: Vec<&[u8]> = parser.words(input).collect();
//! assert_eq!(words, [&b"ECHO"[..], b"hi"]);
//! ```

mod inline;

use memchr::memchr;
use std::fmt;

/// How large a request may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestLimits {
    /// Words of an array.
    pub most_words: usize,
    /// Bytes of a word of an array.
    pub most_bulk: usize,
    /// Bytes of a line: of words, or of a number.
    pub most_inline: usize,
    /// Bytes of all. More than 4 GiB are 4 GiB.
    pub most_request: usize,
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
        most_words: 1 << 20,
        most_bulk: 512 << 20,
        most_inline: 64 << 10,
        most_request: 1 << 30,
        is_before_auth: false,
    };

    /// Enough for `HELLO 3 AUTH name password SETNAME name`, and little for strangers.
    pub const BEFORE_AUTH: Self = Self {
        most_words: 10,
        most_bulk: 16 << 10,
        most_inline: 16 << 10,
        most_request: 64 << 10,
        is_before_auth: true,
    };
}

/// Why a connection cannot go on: what follows in it makes no sense any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The number of words is none, or too large.
    WordCount,
    /// It is too large for somebody without a password.
    WordCountBeforeAuth,
    /// The length of a word is none, or too large.
    WordLength,
    /// It is too large for somebody without a password.
    WordLengthBeforeAuth,
    /// Something else where a word of an array begins.
    NoWord(u8),
    /// The line with the number of words does not end.
    LongCount,
    /// The line with the length of a word does not end.
    LongLength,
    /// A line of words does not end.
    LongLine,
    /// A quote was not closed, or something follows the closing one.
    Quotes,
    /// All words together are too long.
    LongRequest,
}

impl ProtocolError {
    /// Appends it as a reply.
    pub fn write(self, out: &mut Vec<u8>) {
        out.push(b'-');
        match self {
            // The byte as it came, but no end of the line.
            Self::NoWord(byte) => {
                let byte = if matches!(byte, b'\r' | b'\n') {
                    b' '
                } else {
                    byte
                };
                out.extend_from_slice(b"ERR Protocol error: expected '$', got '");
                out.extend_from_slice(&[byte, b'\'']);
            }
            _ => out.extend_from_slice(self.to_string().as_bytes()),
        }
        out.extend_from_slice(b"\r\n");
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ERR Protocol error: ")?;
        formatter.write_str(match self {
            Self::WordCount => "invalid multibulk length",
            Self::WordCountBeforeAuth => "unauthenticated multibulk length",
            Self::WordLength => "invalid bulk length",
            Self::WordLengthBeforeAuth => "unauthenticated bulk length",
            Self::NoWord(byte) => {
                return write!(formatter, "expected '$', got '{}'", byte.escape_ascii());
            }
            Self::LongCount => "too big mbulk count string",
            Self::LongLength => "too big bulk count string",
            Self::LongLine => "too big inline request",
            Self::Quotes => "unbalanced quotes in request",
            Self::LongRequest => "too big request",
        })
    }
}

impl std::error::Error for ProtocolError {}

/// What there is of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parsed {
    /// All of it, in so many bytes. It may have no words at all, and then asks for nothing.
    Complete {
        /// Where the next one begins.
        consumed: usize,
    },
    /// It goes on.
    Incomplete {
        /// How many bytes are missing, or more.
        at_least: usize,
    },
}

/// Places of words that stay allocated from one request to the next.
const KEPT_WORDS: usize = 16 << 10;

/// Where a word is. Half the size of a range, since there may be a million of them.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Stage {
    /// Nothing was seen, or a request was completed.
    #[default]
    Start,
    /// In a line of words.
    Line,
    /// In the number of words.
    Count,
    /// In the length of a word.
    Length,
    /// In a word of so many bytes.
    Word(usize),
}

/// Reads one request after the other, and remembers how far it came.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    stage: Stage,
    /// Where the stage begins.
    at: usize,
    /// The end of the line is not before this.
    searched: usize,
    words_left: usize,
    spans: Vec<Span>,
    /// What the words of a line are without their quotes.
    unquoted: Vec<u8>,
    is_line: bool,
}

impl Parser {
    /// Goes on with a request. The input begins where the request does, and has at least the bytes that it had the last time. After
    /// a complete one, the next call begins a new one.
    ///
    /// # Errors
    /// When it is no request, or too large. There is no way to go on then.
    pub fn parse(&mut self, input: &[u8], limits: &RequestLimits) -> Result<Parsed, ProtocolError> {
        if self.stage == Stage::Start {
            let Some(&first) = input.first() else {
                return Ok(Parsed::Incomplete { at_least: 1 });
            };
            self.begin(first);
        }
        loop {
            let step = match self.stage {
                Stage::Start => {
                    return Ok(Parsed::Complete { consumed: self.at });
                }
                Stage::Line => self.line(input, limits)?,
                Stage::Count => self.count(input, limits)?,
                Stage::Length => self.length(input, limits)?,
                Stage::Word(length) => self.word(input, length),
            };
            if let Some(at_least) = step {
                return Ok(Parsed::Incomplete { at_least });
            }
        }
    }

    /// The words of the request that was just completed, in the same input.
    pub fn words<'a>(&'a self, input: &'a [u8]) -> impl ExactSizeIterator<Item = &'a [u8]> {
        let bytes = if self.is_line { &self.unquoted } else { input };
        let place = |span: &Span| span.start as usize..span.end as usize;
        self.spans
            .iter()
            .map(move |span| bytes.get(place(span)).unwrap_or_default())
    }

    /// Whether a request was begun and not completed.
    pub fn is_amid(&self) -> bool {
        self.stage != Stage::Start
    }

    /// What it holds on to.
    pub fn size_bytes(&self) -> usize {
        self.spans.capacity() * size_of::<Span>() + self.unquoted.capacity()
    }

    fn begin(&mut self, first: u8) {
        self.is_line = first != b'*';
        self.stage = if self.is_line {
            Stage::Line
        } else {
            Stage::Count
        };
        self.at = 0;
        self.searched = 0;
        self.spans.clear();
        self.spans.shrink_to(KEPT_WORDS);
        self.unquoted.clear();
    }

    /// Where the line that begins at `self.at` ends, if that is known.
    fn line_end(
        &mut self,
        input: &[u8],
        end: u8,
        most: usize,
        error: ProtocolError,
    ) -> Result<Option<usize>, ProtocolError> {
        let most = self.at.saturating_add(most).saturating_add(1);
        let last = most.min(input.len());
        let from = self.searched.max(self.at);
        let found = memchr(end, input.get(from..last).unwrap_or_default());
        if found.is_none() {
            if input.len() >= most {
                return Err(error);
            }
            self.searched = last;
        }
        Ok(found.map(|length| from + length))
    }

    fn line(
        &mut self,
        input: &[u8],
        limits: &RequestLimits,
    ) -> Result<Option<usize>, ProtocolError> {
        let most = limits.most_inline.min(limits.most_request);
        let Some(end) = self.line_end(input, b'\n', most, ProtocolError::LongLine)? else {
            return Ok(Some(1));
        };
        let line = input.get(..end).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (spans, unquoted) = (&mut self.spans, &mut self.unquoted);
        inline::split(line, unquoted, |start, end| {
            spans.push(Span {
                start: start as u32,
                end: end as u32,
            });
        })?;
        self.at = end + 1;
        self.stage = Stage::Start;
        Ok(None)
    }

    /// The number of the line that begins at `self.at` with a letter, which is stepped over when it is complete. As in Redis, the byte
    /// after the carriage return has to be there, whatever it is.
    fn number(
        &mut self,
        input: &[u8],
        limits: &RequestLimits,
        error: ProtocolError,
    ) -> Result<Option<(u8, Option<i64>)>, ProtocolError> {
        let start = self.at;
        let most = limits.most_inline;
        let Some(end) = self.line_end(input, b'\r', most, error)? else {
            return Ok(None);
        };
        if end + 1 >= input.len() {
            self.searched = end;
            return Ok(None);
        }
        self.at = end + 2;
        let letter = input.get(start).copied().unwrap_or_default();
        Ok(Some((
            letter,
            integer(input.get(start + 1..end).unwrap_or_default()),
        )))
    }

    fn count(
        &mut self,
        input: &[u8],
        limits: &RequestLimits,
    ) -> Result<Option<usize>, ProtocolError> {
        let Some((_, count)) = self.number(input, limits, ProtocolError::LongCount)? else {
            return Ok(Some(1));
        };
        let count = count.ok_or(ProtocolError::WordCount)?;
        // None and less than none ask for nothing.
        let count = usize::try_from(count).unwrap_or_default();
        if count > limits.most_words {
            return Err(if limits.is_before_auth {
                ProtocolError::WordCountBeforeAuth
            } else {
                ProtocolError::WordCount
            });
        }
        self.words_left = count;
        self.next_word();
        Ok(None)
    }

    fn next_word(&mut self) {
        self.stage = if self.words_left == 0 {
            Stage::Start
        } else {
            Stage::Length
        };
    }

    fn length(
        &mut self,
        input: &[u8],
        limits: &RequestLimits,
    ) -> Result<Option<usize>, ProtocolError> {
        let Some((letter, length)) = self.number(input, limits, ProtocolError::LongLength)? else {
            // This word, and what the others cannot do without.
            return Ok(Some(1));
        };
        if letter != b'$' {
            return Err(ProtocolError::NoWord(letter));
        }
        let length = length.and_then(|length| usize::try_from(length).ok());
        let length = length.ok_or(ProtocolError::WordLength)?;
        if length > limits.most_bulk {
            return Err(if limits.is_before_auth {
                ProtocolError::WordLengthBeforeAuth
            } else {
                ProtocolError::WordLength
            });
        }
        let most = limits.most_request.min(u32::MAX as usize);
        let end = self
            .at
            .checked_add(length)
            .and_then(|end| end.checked_add(2));
        if end.is_none_or(|end| end > most) {
            return Err(ProtocolError::LongRequest);
        }
        self.stage = Stage::Word(length);
        Ok(None)
    }

    fn word(&mut self, input: &[u8], length: usize) -> Option<usize> {
        let end = self.at + length;
        if input.len() < end + 2 {
            return Some(end + 2 - input.len());
        }
        self.spans.push(Span {
            start: self.at as u32,
            end: end as u32,
        });
        self.at = end + 2;
        self.words_left -= 1;
        self.next_word();
        None
    }
}

/// A whole number without blanks, plus sign or leading zeros.
fn integer(digits: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match digits {
        [b'-', digits @ ..] => (true, digits),
        _ => (false, digits),
    };
    match digits {
        [b'0'] if !is_negative => return Some(0),
        [b'1'..=b'9', ..] => {}
        _ => return None,
    }
    let number = digits.iter().try_fold(0_i64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })?;
    Some(if is_negative { -number } else { number })
}
