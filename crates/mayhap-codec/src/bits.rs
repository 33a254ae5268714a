//! Bits as other systems write them, from and to the words of a `ClassicBloom`.

use crate::cursor::Cursor;
use crate::{DecodeError, Problem};
use mayhap::plan::classic::ClassicPlan;
use mayhap::{ClassicBloom, HashScheme, Scheme};

/// Big-endian longs, as Java writes them.
pub(crate) fn from_longs(bytes: &[u8]) -> Vec<u64> {
    let longs = bytes.chunks_exact(8);
    longs
        .map(|long| u64::from_be_bytes(long.try_into().expect("eight bytes")))
        .collect()
}

pub(crate) fn to_longs(words: impl Iterator<Item = u64>, out: &mut Vec<u8>) {
    for word in words {
        out.extend_from_slice(&word.to_be_bytes());
    }
}

/// Bytes, the lowest bit first.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.chunks_exact(8);
    let rest = words.remainder();
    let mut all = Vec::with_capacity(bytes.len().div_ceil(8));
    all.extend(words.map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))));
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

/// A filter of another system's, whose file does not say for how many keys and at which rate it was made: it is taken for one
/// whose number of probes was the best for its bits.
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
