//! `tokenbf_v1` and `ngrambf_v1`: a granule is so many bytes of bits, and the terms of its texts are in it.

use crate::bits;
use crate::cursor::Cursor;
use crate::{DecodeError, EncodeError, Format};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};

/// ClickHouse's own limit.
const MAX_BYTES: u64 = 1 << 30;

/// An empty granule as `tokenbf_v1(bytes, hashes, seed)` defines it.
///
/// # Errors
/// When there are no bytes or more than 2^30, or no hashes or more than 4096.
pub fn create(bytes: u64, hashes: u32, seed: u64) -> Result<ClassicBloom, PlanError> {
    check_bytes(bytes)?;
    let plan = ClassicPlan::with_bits_and_probes(8 * bytes, hashes)?;
    ClassicBloom::from_plan(plan, Scheme::ClickHouseTerms { seed }, HashScheme::Caller)
}

fn check_bytes(bytes: u64) -> Result<(), PlanError> {
    if (1..=MAX_BYTES).contains(&bytes) {
        return Ok(());
    }
    Err(PlanError::InvalidInteger {
        field: "size_bytes",
        value: bytes,
        accepted: "1 to 2^30: the size of a filter is neither zero nor more than ClickHouse takes",
    })
}

/// Reads one granule.
///
/// # Errors
/// When there are no bytes or more than 2^30, or no hashes or more than 4096.
pub fn decode(bytes: &[u8], hashes: u32, seed: u64) -> Result<ClassicBloom, DecodeError> {
    let at = Cursor::new(bytes, Format::ClickHouseTokenbf);
    let length = bytes.len() as u64;
    check_bytes(length).map_err(|error| at.error(crate::Problem::Plan(error)))?;
    let scheme = Scheme::ClickHouseTerms { seed };
    bits::filter(&at, 8 * length, hashes, scheme, bits::from_bytes(bytes))
}

/// The granule.
///
/// # Errors
/// When the filter's terms are not hashed as ClickHouse's are.
pub fn encode(filter: &ClassicBloom) -> Result<Vec<u8>, EncodeError> {
    if !matches!(filter.scheme(), Scheme::ClickHouseTerms { .. }) {
        return Err(EncodeError {
            format: Format::ClickHouseTokenbf,
            reason: crate::OTHER_HASH,
        });
    }
    let mut out = Vec::with_capacity(filter.size_bytes() as usize);
    bits::to_bytes(filter.words(), filter.plan().bits / 8, &mut out);
    Ok(out)
}

/// The tokens of a text: runs of letters and digits of ASCII, and of all bytes past it.
pub fn tokens(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_in_token = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    text.split(move |byte| !is_in_token(byte))
        .filter(|token| !token.is_empty())
}

/// The n-grams of a text: every `n` code points in a row. What is no UTF-8 counts as ClickHouse counts it, by its first bytes.
pub fn ngrams(text: &[u8], n: usize) -> impl Iterator<Item = &[u8]> {
    let mut ends = vec![0];
    let mut at = 0;
    while at < text.len() {
        at = (at + sequence_length(text[at])).min(text.len());
        ends.push(at);
    }
    let last = ends.len().saturating_sub(n.max(1));
    (0..last).map(move |first| &text[ends[first]..ends[first + n.max(1)]])
}

/// The bytes of a code point, by its first.
fn sequence_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0..0xf0 => 3,
        0xc0..0xe0 => 2,
        _ => 1,
    }
}

/// Whether every n-gram of a text may be in a granule. A text that is too short for one may always be.
pub fn contains_ngrams(filter: &ClassicBloom, text: &[u8], n: usize) -> bool {
    ngrams(text, n).all(|ngram| filter.contains(ngram))
}

/// Whether every token of a text may be in a granule.
pub fn contains_tokens(filter: &ClassicBloom, text: &[u8]) -> bool {
    tokens(text).all(|token| filter.contains(token))
}
