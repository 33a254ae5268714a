//! What can be saved of a damaged file. A Bloom filter errs to one side only: bits that are set too many cost rate, and bits that
//! are lost cost keys. So pages that are not what was written become all ones, and no key is lost.

use super::header::Header;
use super::kinds;
use super::pages::{PAGE_BYTES, Pages};
use super::parts::Sections;
use crate::{DecodeError, Limits, Problem};
use mayhap::{AnyFilter, Kind, SipKey};

/// A filter whose damaged pages have become all ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Repaired {
    /// The filter: all its keys, and more strangers than before.
    pub filter: AnyFilter,
    /// The pages that were damaged, counted from the beginning of the body.
    pub damaged_pages: Vec<u64>,
    /// Pages in all.
    pub pages: u64,
    /// The false-positive rate now; 1 and a filter that is of no use when all pages were damaged.
    pub estimated_rate: f64,
}

/// Reads a file of a bloom or growing filter with damaged pages, setting all bits in these. A file without damage is read as it
/// is. When the table of checksums is damaged, pages that do not fit their entries count as damaged.
///
/// # Errors
/// When the header is damaged or the file cut, since then nobody knows what the bits mean; for other kinds, where ones in the place
/// of what was lost would lose keys; otherwise as [`decode`](super::decode).
pub fn repair_with_ones(
    bytes: &[u8],
    limits: Limits,
    key: Option<SipKey>,
) -> Result<Repaired, DecodeError> {
    let header = Header::read(bytes)?;
    let scheme = header.scheme(key)?;
    let kind = kinds::kind_of(&header);
    if !matches!(kind, Some(Kind::Bloom | Kind::Growing)) {
        let kind = i128::from(header.kind);
        let accepted = "1 or 4 (bloom, growing): ones would lose keys of the others";
        return Err(header.at.value("kind to be repaired", kind, accepted));
    }
    if header.body_bytes > limits.most_bytes {
        return Err(header.at.error(Problem::TooLarge {
            bytes: header.body_bytes,
            limit: limits.most_bytes,
        }));
    }
    let pages = Pages::of(bytes, &header)?;
    let damaged_pages: Vec<u64> = pages.damaged().collect();
    let mut body = pages.body().to_vec();
    for (number, page) in (0..).zip(body.chunks_mut(PAGE_BYTES as usize)) {
        if damaged_pages.binary_search(&number).is_ok() {
            page.fill(0xff);
        }
    }
    // Lines are whole multiples of the alignment, so that there is nothing between the sections to be zero.
    let mut sections = Sections::new(&body, &header);
    let filter = kinds::put_together(&header, scheme, &mut sections)?;
    Ok(Repaired {
        estimated_rate: filter.stats().estimated_rate,
        filter,
        damaged_pages,
        pages: header.body_bytes.div_ceil(PAGE_BYTES),
    })
}
