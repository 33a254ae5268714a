//! From bytes to the format that wrote them, or the list of formats that could have.

use crate::format::Detection;
use crate::{DecodeError, Limits, Problem, StoredFilter};
use std::borrow::Cow;

pub use crate::format::{Container, Format};

/// What bytes are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sniffed {
    /// A filter of this format: its parts fit together in a way that other bytes hardly do.
    Filter(Format),
    /// A file that holds filters.
    Container(Container),
    /// Printable text. Some formats are so simple that text fits them, but no real filter consists of printable characters.
    Text,
    /// They could be a filter of any of these, and only the caller can know which. Empty: no known format fits.
    Candidates(Vec<Format>),
}

type Contents<'a> = Result<Cow<'a, [u8]>, DecodeError>;

/// What was found, with what had to be decoded or decompressed to find it.
pub(crate) enum Detected<'a> {
    /// It begins with the format's magic number, and is not decoded yet.
    Magic(Format),
    /// Its header and lengths are the format's; decoding it needs more than the bytes.
    Shape(Format),
    /// A filter; the error is that it exceeds the limits.
    Filter(Format, Box<Result<StoredFilter, DecodeError>>),
    /// A container and its contents; the error is that they exceed the limits.
    Container(Container, Contents<'a>),
    Text,
    Candidates(Vec<Format>),
}

/// Identifies the bytes of a whole file.
pub fn sniff(bytes: &[u8]) -> Sniffed {
    match detect(bytes, Limits::default(), None) {
        Detected::Magic(format) | Detected::Shape(format) | Detected::Filter(format, _) => {
            Sniffed::Filter(format)
        }
        Detected::Container(container, _) => Sniffed::Container(container),
        Detected::Text => Sniffed::Text,
        Detected::Candidates(formats) => Sniffed::Candidates(formats),
    }
}

/// Identifies bytes, by the name of their file if that is known, and keeps what was decoded on the way, so that nothing is decoded
/// twice.
pub(crate) fn detect<'a>(bytes: &'a [u8], limits: Limits, name: Option<&str>) -> Detected<'a> {
    let is_named = |format: &&Format| match format.row().detection {
        Detection::Shape { is_named, .. } => name.is_some_and(is_named),
        Detection::Magic(_) | Detection::Structure(_) | Detection::Candidate(_) => false,
    };
    if let Some(format) = Format::ALL.iter().find(is_named) {
        return Detected::Shape(*format);
    }
    if is_text(bytes) {
        return Detected::Text;
    }
    let has_magic = |format: &&Format| match format.row().detection {
        Detection::Magic(magic) => bytes.starts_with(magic),
        Detection::Structure(_) | Detection::Shape { .. } | Detection::Candidate(_) => false,
    };
    if let Some(format) = Format::ALL.iter().find(has_magic) {
        return Detected::Magic(*format);
    }
    if let Some((container, contents)) = container(bytes, limits, None) {
        return Detected::Container(container, contents);
    }
    let mut decoded = Format::ALL.iter().filter_map(|format| {
        let decode = match format.row().detection {
            Detection::Structure(decode) => decode,
            Detection::Shape { fits, .. } => return fits(bytes).then_some((*format, None)),
            Detection::Magic(_) | Detection::Candidate(_) => return None,
        };
        match decode(bytes, limits) {
            // Everything before the size was right.
            Err(error) if !matches!(error.problem, Problem::TooLarge { .. }) => None,
            result => Some((*format, Some(result))),
        }
    });
    match (decoded.next(), decoded.next()) {
        (Some((format, Some(filter))), None) => Detected::Filter(format, Box::new(filter)),
        (Some((format, None)), None) => Detected::Shape(format),
        (Some((first, _)), Some((second, _))) => {
            let others = decoded.map(|(format, _)| format);
            Detected::Candidates([first, second].into_iter().chain(others).collect())
        }
        (None, _) => Detected::Candidates(candidates(bytes)),
    }
}

/// The bytes that are inspected for text.
const INSPECTED_BYTES: usize = 64 << 10;
/// Text that is not UTF-8 must be at least this long, and mostly ASCII: a few random bytes, or ones, may all be printable in Latin-1.
const LONG_TEXT_BYTES: usize = 256;

/// Whether the bytes begin as a text file: no control characters but tabs and line ends.
fn is_text(bytes: &[u8]) -> bool {
    let begin = &bytes[..bytes.len().min(INSPECTED_BYTES)];
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    if begin.is_empty() || begin.iter().any(is_control) {
        return false;
    }
    match std::str::from_utf8(begin) {
        Ok(_) => true,
        // The last character was cut.
        Err(error) if error.error_len().is_none() && begin.len() < bytes.len() => true,
        Err(_) => {
            let ascii = begin.iter().filter(|byte| byte.is_ascii()).count();
            begin.len() >= LONG_TEXT_BYTES && ascii >= begin.len() / 4 * 3
        }
    }
}

/// The container that the bytes are, and its contents, or the error that these exceed the limits; only containers that hold a
/// format, if one is given.
pub(crate) fn container(
    bytes: &[u8],
    limits: Limits,
    format: Option<Format>,
) -> Option<(Container, Contents<'_>)> {
    Container::ALL.iter().find_map(|container| {
        let row = container.row();
        if format.is_some_and(|format| !row.formats.contains(&format)) {
            return None;
        }
        let contents = (row.contents)(bytes, limits).transpose()?;
        Some((*container, contents))
    })
}

/// Formats without a header that the bytes could be of.
fn candidates(bytes: &[u8]) -> Vec<Format> {
    let could_be = |format: &Format| match format.row().detection {
        Detection::Candidate(could_be) => could_be(bytes),
        Detection::Magic(_) | Detection::Structure(_) | Detection::Shape { .. } => false,
    };
    Format::ALL.iter().copied().filter(could_be).collect()
}
