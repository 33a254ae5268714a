//! Converts between the bit layouts of other systems and the words of a `ClassicBloom`.

use crate::cursor::Cursor;
use crate::{DecodeError, Problem};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, Scheme};

/// Words from big-endian longs, as Java writes them.
pub(crate) fn from_longs(bytes: &[u8]) -> Vec<u64> {
    let longs = bytes.as_chunks().0.iter();
    let mut words = reserve(longs.len());
    words.extend(longs.map(|long| u64::from_be_bytes(*long)));
    words
}

/// A vector with that capacity. If reserving fails, pushing to the empty vector reports it.
fn reserve(words: usize) -> Vec<u64> {
    ClassicBloom::reserve_words(words as u64).unwrap_or_default()
}

pub(crate) fn to_longs(words: impl Iterator<Item = u64>, out: &mut Vec<u8>) {
    for word in words {
        out.extend_from_slice(&word.to_be_bytes());
    }
}

/// Words from bytes, the lowest bit first.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<u64> {
    let (words, rest) = bytes.as_chunks();
    let mut all = reserve(bytes.len().div_ceil(8));
    all.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        all.push(u64::from_le_bytes(last));
    }
    all
}

/// The first `count` bytes of the words.
pub(crate) fn to_bytes(words: impl Iterator<Item = u64>, count: u64, out: &mut Vec<u8>) {
    let end = out.len() + count as usize;
    for word in words {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.truncate(end);
}

/// A filter of another system, whose file contains neither its capacity nor its rate: the plan is the one for which its number of probes
/// is optimal.
pub(crate) fn filter(
    at: &Cursor<'_>,
    bits: u64,
    probes: u32,
    scheme: Scheme,
    words: Vec<u64>,
) -> Result<ClassicBloom, DecodeError> {
    ClassicPlan::with_bits_and_probes(bits, probes)
        .and_then(|plan| ClassicBloom::from_words(plan, scheme, HashScheme::Caller, words))
        .map_err(|error| at.error(Problem::Plan(error)))
}
