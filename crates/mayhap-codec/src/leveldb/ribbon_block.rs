//! The bytes of mayhap's ribbon policy for LevelDB. Frozen: databases contain them.
//!
//! ```text
//! slots of the columns   any number of bytes; the unused bits at the end are 0
//! header                 1 byte: 4 * number of the precision + seed
//! ```
//!
//! The number of slots follows from the length, which LevelDB stores. Precision 0 is special: a block of the byte 0 matches every key, one of
//! the byte 1 matches none. Everything else that no writer makes matches every key, as LevelDB's own policy does with what it does not know.

use mayhap_core::plan::RibbonBlockPrecision;
use mayhap_core::{PlanError, RibbonBlock};

/// The name that databases store.
pub const NAME: &str = "mayhap.RibbonBlock1";

/// A block that matches every key.
pub(crate) const EVERYTHING: u8 = 0;
/// A block of no keys.
const NOTHING: u8 = 1;

/// The bytes of a block with these keys, in the precision that their number needs. The same set of keys gives the same bytes.
///
/// # Errors
/// When there is not enough memory.
pub fn build<'k>(
    keys: impl ExactSizeIterator<Item = &'k [u8]>,
    precision: impl FnOnce(u64) -> RibbonBlockPrecision,
) -> Result<Vec<u8>, PlanError> {
    if keys.len() == 0 {
        return Ok(vec![NOTHING]);
    }
    let Some(parts) = RibbonBlock::build(keys, precision)? else {
        return Ok(vec![EVERYTHING]);
    };
    let mut out = parts.bits;
    out.push(parts.precision.number() << 2 | parts.seed);
    Ok(out)
}

/// Whether a block may contain a key: `false` is certain. All bytes are valid blocks.
#[inline]
pub fn may_match(block: &[u8], key: &[u8]) -> bool {
    let Some((&header, bits)) = block.split_last() else {
        return true;
    };
    match RibbonBlockPrecision::from_number(header >> 2) {
        Some(precision) => RibbonBlock::from_parts(precision, header & 3, bits)
            .is_none_or(|block| block.contains(key)),
        None => header != NOTHING || !bits.is_empty(),
    }
}
