//! Repairs damaged files. Extra ones in a Bloom filter raise its false-positive rate, and lost ones cause false negatives. So all bits
//! of damaged pages are set, and no key is lost.

use super::header::FileHeader;
use super::kinds;
use super::pages::{PAGE_BYTES, Pages};
use super::parts::Sections;
use crate::{DecodeError, Limits, Problem};
use mayhap_core::{AnyFilter, SipKey};
use std::ops::Range;

/// A filter in whose damaged pages all bits are set.
///
/// ```
/// # use mayhap_codec::native;
/// let filter = mayhap_core::Bloom::from_keys(0..1000_u32, 0.01)?;
/// let mut bytes = native::to_bytes(&filter)?;
/// bytes[400] ^= 1;
/// let repaired = native::repair_with_ones(&bytes, Default::default(), None)?;
/// assert_eq!(repaired.damaged_pages, [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Repaired {
    /// The filter: all its keys, and more false positives.
    pub filter: AnyFilter,
    /// The pages that were damaged, counted from the beginning of the body.
    pub damaged_pages: Vec<u64>,
    /// Pages in all.
    pub pages: u64,
    /// The false-positive rate now; 1 if all pages were damaged, and the filter is useless.
    pub estimated_rate: f64,
}

/// Reads a file of a bloom, classic, counting, growing or window filter with damaged pages, setting all bits in these; counters
/// become saturated and stay so. A file without damage is read normally. If the table of checksums is damaged, pages that do not
/// match their entries count as damaged.
///
/// # Errors
/// When the header is damaged or the file truncated, because the meaning of the bits is lost; for other kinds, and for exceptions in a
/// damaged page, where setting bits would lose keys; otherwise as [`decode`](super::decode).
pub fn repair_with_ones(
    bytes: &[u8],
    limits: Limits,
    key: Option<SipKey>,
) -> Result<Repaired, DecodeError> {
    let header = FileHeader::read(bytes)?;
    let scheme = header.scheme(key)?;
    let ones = kinds::sections_of_ones(&header, scheme)?;
    if header.body_bytes > limits.max_bytes {
        return Err(header.at.error(Problem::TooLarge {
            bytes: header.body_bytes,
            limit: limits.max_bytes,
        }));
    }
    let pages = Pages::new(bytes, &header)?;
    let damaged_pages: Vec<u64> = pages.damaged().collect();
    let mut body = pages.body().to_vec();
    for &number in &damaged_pages {
        let page = number * PAGE_BYTES..((number + 1) * PAGE_BYTES).min(header.body_bytes);
        let mut sections = header.sections.iter().skip(ones.len());
        if sections.any(|&(begin, length)| begin < page.end && begin + length > page.start) {
            // Ones in the place of exceptions would lose keys.
            let what = "damaged exceptions";
            return Err(header.at.error(Problem::Irreparable { what }));
        }
        body[as_indices(&page)].fill(0);
        for (&(begin, _), &bits) in header.sections.iter().zip(&ones) {
            set_bits(&mut body, &page, begin, bits);
        }
    }
    let mut sections = Sections::new(&body, &header);
    let filter = kinds::from_parts(&header, scheme, &mut sections)?;
    Ok(Repaired {
        estimated_rate: filter.stats().estimated_rate.unwrap_or(1.0),
        filter,
        damaged_pages,
        pages: header.body_bytes.div_ceil(PAGE_BYTES),
    })
}

/// The bytes of a file that [`can_repair`] needs.
pub const REPAIR_HEADER_BYTES: usize = 42;

/// Whether [`repair_with_ones`] can repair damage at this offset, from the first bytes of the file: the header is intact, and filters
/// of its kind only gain false positives.
pub fn can_repair(begin: &[u8; REPAIR_HEADER_BYTES], offset: u64) -> bool {
    let header_bytes = u32::from_le_bytes([begin[12], begin[13], begin[14], begin[15]]);
    let kind = u16::from_le_bytes([begin[40], begin[41]]);
    begin.starts_with(&super::MAGIC)
        && offset >= u64::from(header_bytes)
        && kinds::is_repairable(kind)
}

/// Sets those of the first `bits` bits of a section that are in a page.
fn set_bits(body: &mut [u8], page: &Range<u64>, begin: u64, bits: u64) {
    let end = begin + bits / 8;
    let whole = begin.clamp(page.start, page.end)..end.clamp(page.start, page.end);
    body[as_indices(&whole)].fill(0xff);
    if !bits.is_multiple_of(8) && page.contains(&end) {
        body[end as usize] |= (1 << (bits % 8)) - 1;
    }
}

/// The body is in memory.
fn as_indices(bytes: &Range<u64>) -> Range<usize> {
    bytes.start as usize..bytes.end as usize
}
