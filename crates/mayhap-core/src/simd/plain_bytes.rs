//! Views of bytes as items of a store and back, without copying.

use crate::PlanError;
use crate::store::Line;

/// A type without padding and without invalid values.
///
/// # Safety
/// Every bit pattern must be a valid value, and there must be no padding.
pub unsafe trait Plain: Copy {}

// SAFETY: numbers, and an array of eight that fills its alignment.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for u128 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}
// SAFETY: as above; two words fill the pair, in any order.
unsafe impl Plain for (u64, u64) {}
// SAFETY: as above.
unsafe impl Plain for Line {}

const _: () = assert!(size_of::<(u64, u64)>() == 16);

/// Views bytes as `count` items in little-endian order.
pub(crate) fn from_bytes<T: Plain>(bytes: &[u8], count: u64) -> Result<&[T], PlanError> {
    let invalid = |field, value, accepted| {
        Err(PlanError::InvalidInteger {
            field,
            value,
            accepted,
        })
    };
    if u128::from(count) * size_of::<T>() as u128 != bytes.len() as u128 {
        let accepted = "as many as the plan needs";
        return invalid("bytes", bytes.len() as u64, accepted);
    }
    if cfg!(target_endian = "big") && size_of::<T>() > 1 {
        let accepted = "none on a big-endian machine: decode a copy instead";
        return invalid("borrowed bytes", bytes.len() as u64, accepted);
    }
    // SAFETY: every bit pattern is a valid value of a plain type.
    let (before, items, _) = unsafe { bytes.align_to::<T>() };
    if items.len() as u64 != count {
        let accepted = "0: an aligned address (at most 64 bytes)";
        return invalid("bytes before the first item", before.len() as u64, accepted);
    }
    Ok(items)
}

/// The bytes of items in little-endian order; `None` on big-endian machines.
pub(crate) fn as_bytes<T: Plain>(items: &[T]) -> Option<&[u8]> {
    // SAFETY: every bit pattern is a valid `u8`, and plain types have no padding.
    let (_, bytes, _) = unsafe { items.align_to::<u8>() };
    (cfg!(target_endian = "little") || size_of::<T>() == 1).then_some(bytes)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn bytes_can_be_viewed_if_aligned_and_of_the_right_length() {
        let lines = [Line([0x0807_0605_0403_0201; 8]); 3];
        let Some(bytes) = as_bytes(&lines) else {
            return;
        };
        assert_eq!(from_bytes::<Line>(bytes, 3).unwrap(), lines);
        assert_eq!(
            from_bytes::<u16>(&bytes[2..8], 3).unwrap(),
            [0x0403, 0x0605, 0x0807]
        );
        assert!(from_bytes::<Line>(&bytes[8..72], 1).is_err());
        assert!(
            from_bytes::<Line>(bytes, 2).is_err() && from_bytes::<Line>(bytes, u64::MAX).is_err()
        );
        assert!(from_bytes::<u8>(&[], 0).unwrap().is_empty());
    }
}
