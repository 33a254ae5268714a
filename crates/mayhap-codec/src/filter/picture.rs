//! A picture of what a filter stores: how full each part of it is, front to back, for programs that draw it.

use super::StoredFilter;
use super::describe::native_words;
use mayhap_core::AnyFilter;
use mayhap_core::plan::CuckooPlan;

/// What the shares of a [`Picture`] count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureUnit {
    /// Bits that are set.
    Bits,
    /// Counters above zero.
    Counters,
    /// Cells with a fingerprint.
    Cells,
    /// Set bits of what is stored, whose meaning is not visible: about half of them in a filter that was built once.
    Stored,
}

impl PictureUnit {
    /// `bits`, `counters`, `cells` or `stored`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Counters => "counters",
            Self::Cells => "cells",
            Self::Stored => "stored",
        }
    }
}

/// How full each part of a filter is.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    /// What is counted.
    pub unit: PictureUnit,
    /// How many bits, counters or cells a part has; the last one may have fewer.
    pub per_part: u64,
    /// The share of these that are set, from 0 to 1.
    pub shares: Vec<f64>,
}

impl StoredFilter {
    /// How full the filter is in at most `parts` parts; small filters get a part for each bit. Reads all of it. `None` for an empty
    /// filter, or one that cannot be stored.
    ///
    /// ```
    /// use mayhap_codec::{PictureUnit, StoredFilter};
    /// let filter = mayhap_core::Bloom::from_keys(0..1000_u32, 0.01)?;
    /// let picture = StoredFilter::Native(filter.into()).picture(100).expect("it has bits");
    /// assert_eq!(picture.unit, PictureUnit::Bits);
    /// assert!(picture.shares.iter().all(|share| (0.3..0.7).contains(share)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn picture(&self, parts: usize) -> Option<Picture> {
        if let Some(words) = self.bit_words() {
            return of_words(PictureUnit::Bits, &words, parts);
        }
        match self {
            Self::Native(AnyFilter::Counting(filter)) => {
                let counters = filter.counters().map(|counter| counter > 0);
                of_flags(
                    PictureUnit::Counters,
                    filter.plan().counters(),
                    counters,
                    parts,
                )
            }
            Self::Native(AnyFilter::Cuckoo(filter)) => {
                let count = filter.tables().map(|(plan, _)| plan.cells()).sum();
                let cells = filter
                    .tables()
                    .flat_map(|(plan, bytes)| used_cells(plan, bytes));
                of_flags(PictureUnit::Cells, count, cells, parts)
            }
            Self::Native(AnyFilter::Fuse(filter)) => stored(&filter.bytes(), parts),
            Self::Native(AnyFilter::Ribbon(filter)) => {
                of_words(PictureUnit::Stored, filter.parts().words, parts)
            }
            Self::Native(_) | Self::Bits { .. } | Self::Foreign(_) => {
                stored(&self.encode().ok()?, parts)
            }
        }
    }

    /// The words of a filter that consists of bits.
    pub(super) fn bit_words(&self) -> Option<Vec<u64>> {
        Some(match self {
            Self::Native(filter) => native_words(filter)?,
            Self::Bits { filter, .. } => filter.words().collect(),
            Self::Foreign(filter) => filter.bits()?.words().collect(),
        })
    }
}

fn stored(bytes: &[u8], parts: usize) -> Option<Picture> {
    let words: Vec<u64> = bytes
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        })
        .collect();
    of_words(PictureUnit::Stored, &words, parts)
}

/// Which cells of a cuckoo table hold a fingerprint: cell `i` is the bits `i * cell_bits ..`, and 0 is empty.
fn used_cells<'t>(plan: &CuckooPlan, bytes: &'t [u8]) -> impl Iterator<Item = bool> + use<'t> {
    let width = u64::from(plan.cell_bits());
    (0..plan.cells()).map(move |cell| {
        let begin = cell * width;
        // A cell has at most 28 bits, so it is within five bytes.
        let first = (begin / 8) as usize;
        let bytes = bytes.get(first..).unwrap_or_default();
        let mut word = [0; 8];
        let length = bytes.len().min(8);
        word[..length].copy_from_slice(&bytes[..length]);
        (u64::from_le_bytes(word) >> (begin % 8)) & ((1 << width) - 1) != 0
    })
}

fn of_words(unit: PictureUnit, words: &[u64], parts: usize) -> Option<Picture> {
    let parts = parts.max(1);
    if words.is_empty() {
        return None;
    }
    if words.len() >= parts {
        let per_part = words.len().div_ceil(parts);
        let share = |words: &[u64]| {
            let set: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
            set as f64 / (64 * words.len()) as f64
        };
        return Some(Picture {
            unit,
            per_part: 64 * per_part as u64,
            shares: words.chunks(per_part).map(share).collect(),
        });
    }
    // A part of a word, whose length is a power of two.
    let per_part = (64 * words.len()).div_ceil(parts).next_power_of_two();
    let mask = u64::MAX >> (64 - per_part);
    let share = |word: u64| f64::from((word & mask).count_ones()) / per_part as f64;
    let shares = words
        .iter()
        .flat_map(|word| (0..64).step_by(per_part).map(move |at| share(word >> at)));
    Some(Picture {
        unit,
        per_part: per_part as u64,
        shares: shares.collect(),
    })
}

fn of_flags(
    unit: PictureUnit,
    count: u64,
    flags: impl Iterator<Item = bool>,
    parts: usize,
) -> Option<Picture> {
    let per_part = count.div_ceil(parts.max(1) as u64).max(1);
    let mut shares = Vec::new();
    let (mut set, mut seen) = (0_u64, 0_u64);
    for flag in flags {
        set += u64::from(flag);
        seen += 1;
        if seen == per_part {
            shares.push(set as f64 / seen as f64);
            (set, seen) = (0, 0);
        }
    }
    if seen > 0 {
        shares.push(set as f64 / seen as f64);
    }
    (!shares.is_empty()).then_some(Picture {
        unit,
        per_part,
        shares,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mayhap_core::{Bloom, ClassicBloom, CountingBloom, Cuckoo, Fuse, Ribbon};

    fn picture(filter: impl Into<AnyFilter>, parts: usize) -> Picture {
        StoredFilter::Native(filter.into()).picture(parts).unwrap()
    }

    #[test]
    fn a_small_filter_gets_a_part_for_each_bit() {
        let mut filter = ClassicBloom::new(20, 0.1).unwrap();
        filter.insert("a");
        let picture = picture(filter.clone(), 4096);
        assert_eq!(picture.per_part, 1);
        let set: Vec<usize> = (0..picture.shares.len())
            .filter(|&at| picture.shares[at] > 0.0)
            .collect();
        let words: Vec<u64> = filter.words().collect();
        assert_eq!(set.len(), filter.set_bits() as usize);
        assert!(set.iter().all(|at| words[at / 64] >> (at % 64) & 1 == 1));
    }

    #[test]
    fn the_parts_of_a_picture_average_to_the_fill() {
        let keys = 0..5000_u32;
        let mut cuckoo = Cuckoo::new(6000, 0.01).unwrap();
        let mut counting = CountingBloom::new(5000, 0.01).unwrap();
        for key in keys.clone() {
            cuckoo.try_insert(key).unwrap();
            counting.insert(key);
        }
        let bloom = Bloom::from_keys(keys, 0.01).unwrap();
        let filters: [AnyFilter; 3] = [bloom.into(), cuckoo.into(), counting.into()];
        let units = [PictureUnit::Bits, PictureUnit::Cells, PictureUnit::Counters];
        for (filter, unit) in filters.into_iter().zip(units) {
            let fill = filter.stats().fill.unwrap();
            for parts in [1, 7, 64, 300, 4096] {
                let picture = picture(filter.clone(), parts);
                assert_eq!(picture.unit, unit);
                assert!(picture.shares.len() <= parts);
                let mean = picture.shares.iter().sum::<f64>() / picture.shares.len() as f64;
                assert!(
                    (mean - fill).abs() < 0.02,
                    "{unit:?} {parts}: {mean} {fill}"
                );
            }
        }
    }

    #[test]
    fn filters_that_are_built_once_show_what_they_store() {
        let keys: Vec<u32> = (0..5000).collect();
        let fuse = Fuse::build(&keys, 0.01).unwrap();
        let ribbon = Ribbon::build(&keys, 0.01).unwrap();
        for picture in [picture(fuse, 100), picture(ribbon, 100)] {
            assert_eq!(picture.unit, PictureUnit::Stored);
            assert!(!picture.shares.is_empty() && picture.shares.len() <= 100);
        }
    }
}
