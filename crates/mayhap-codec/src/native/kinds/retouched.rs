//! `Retouched`: the fields of classic and three counts; a section of words, and the lists: hashes of keys, hashes of false
//! positives, and bits with their ratios.

use super::{classic, refused};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::parts::{Parts, Section, Sections, words};
use mayhap_core::{HashScheme, Retouched, RetouchedLists};

pub(super) fn write<'f>(filter: &'f Retouched, parts: &mut Parts<'f>) {
    classic::write(filter.as_classic(), parts);
    parts.number(filter.keys_lost());
    parts.number(filter.bits_cleared());
    parts.number(filter.unlisted_keys());
    let ratios = filter.ratios();
    let pairs = ratios
        .iter()
        .flat_map(|&(bit, ratio)| [bit, ratio.to_bits()]);
    parts.sections.extend([
        Section::words(filter.key_hashes()),
        Section::words(filter.false_positive_hashes()),
        Section::Words(2 * ratios.len() as u64, Box::new(pairs)),
    ]);
}

pub(super) fn read(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    hash_scheme: HashScheme,
) -> Result<Retouched, DecodeError> {
    let filter = classic::read(at, sections, hash_scheme)?;
    let keys_lost = at.u64_le("keys lost")?;
    let bits_cleared = at.u64_le("bits cleared")?;
    let unlisted_keys = at.u64_le("keys that are not listed")?;
    let keys = words(sections.whole(at, 8)?).collect();
    let false_positives = words(sections.whole(at, 8)?).collect();
    let ratios = sections.whole(at, 16)?;
    let bits = words(ratios).step_by(2);
    let ratios = words(ratios).skip(1).step_by(2).map(f64::from_bits);
    let lists = RetouchedLists {
        keys,
        false_positives,
        ratios: bits.zip(ratios).collect(),
        keys_lost,
        bits_cleared,
        unlisted_keys,
    };
    Retouched::from_parts(filter, lists).map_err(refused(at))
}
