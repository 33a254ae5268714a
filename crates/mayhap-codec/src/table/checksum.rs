//! The checksums of a table's blocks, over the data and the compression type.

use crate::DecodeError;
use crate::crc_table::CrcTable;
use crate::cursor::Cursor;
use crc::{CRC_32_ISCSI, Crc};
use twox_hash::{XxHash3_64, XxHash32, XxHash64};

const CRC_32C: Crc<u32, CrcTable> = Crc::<u32, CrcTable>::new(&CRC_32_ISCSI);

/// The checksum function of a table: CRC-32C in LevelDB; RocksDB's tables name theirs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Checksum {
    None,
    Crc32c,
    Xxh32,
    Xxh64,
    Xxh3,
}

impl Checksum {
    pub(super) fn read(at: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        Ok(match at.u8("kind of checksum")? {
            0 => Self::None,
            1 => Self::Crc32c,
            2 => Self::Xxh32,
            3 => Self::Xxh64,
            4 => Self::Xxh3,
            other => {
                let accepted = "0 (none), 1 (CRC-32C), 2 (XXH32), 3 (XXH64) or 4 (XXH3)";
                return Err(at.value("kind of checksum", i128::from(other), accepted));
            }
        })
    }

    /// Whether a block's data and the byte after it have this checksum.
    pub(super) fn fits(self, block: &[u8], sum: u32) -> bool {
        match self {
            Self::None => true,
            Self::Crc32c => sum == masked(CRC_32C.checksum(block)),
            Self::Xxh32 => sum == XxHash32::oneshot(0, block),
            Self::Xxh64 => sum == XxHash64::oneshot(0, block) as u32,
            Self::Xxh3 => sum == xxh3(block),
        }
    }
}

/// The stored form of a CRC: the CRC of bytes that contain their own CRC would be a constant, so it is masked.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// RocksDB hashes all bytes but the last, and adds that one separately.
fn xxh3(block: &[u8]) -> u32 {
    block.split_last().map_or(0, |(&last, data)| {
        XxHash3_64::oneshot(data) as u32 ^ u32::from(last).wrapping_mul(0x6b90_83d9)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "123456789", by the published check values of each function.
    #[test]
    fn sums_are_those_of_the_functions() {
        let nine = b"123456789";
        let known = [
            // 0xe3069283, masked.
            (Checksum::Crc32c, 0xc78a_b0e5),
            (Checksum::Xxh32, 0x937b_ad67),
            (Checksum::Xxh64, 0x8cb8_41db_40e6_ae83_u64 as u32),
        ];
        for (checksum, sum) in known {
            assert!(checksum.fits(nine, sum), "{checksum:?}");
            assert!(!checksum.fits(nine, sum ^ 1) && !checksum.fits(b"12345678", sum));
        }
        // No bytes and a zero: XXH3 of nothing, as published.
        assert!(Checksum::Xxh3.fits(&[0], 0x2d06_8005_38d3_94c2_u64 as u32));
        assert!(!Checksum::Xxh3.fits(&[1], 0x2d06_8005_38d3_94c2_u64 as u32));
        assert!(Checksum::None.fits(nine, 7));
    }
}
