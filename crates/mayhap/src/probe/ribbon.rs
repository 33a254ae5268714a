//! Where a hash goes in a `Ribbon`: its shard, and in every layer a start, 64 coefficients and a fingerprint. Frozen.
//!
//! A key's equation: the xor of those of the 64 slots from `start` on whose coefficient is 1 is its fingerprint, in every
//! column. Keys whose start lies below the threshold of their bucket are not in this layer but in the next.

use super::blocked::mul_high;
use super::fuse::mix;
use crate::plan::BUCKET;

const COEFFICIENTS: u64 = 0xD6E8_FEB8_6659_FD93;
const FINGERPRINT: u64 = 0xA24B_AED4_963E_E407;

/// What a threshold of two bits means: starts in a bucket below this are bumped.
pub(crate) const THRESHOLDS: [u64; 4] = [0, 20, 48, BUCKET];

/// One layer of one shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Layer {
    pub(crate) seed: u64,
    /// Starts; 0 when the layer has no keys.
    pub(crate) starts: u64,
    /// The first word of the columns, and the first threshold, in the filter.
    pub(crate) word: u64,
    pub(crate) bucket: u64,
}

/// A key in a layer.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) start: u64,
    pub(crate) coefficients: u64,
    pub(crate) fingerprint: u32,
}

impl Layer {
    #[inline(always)]
    pub(crate) fn row(&self, hash: u64) -> Row {
        self.row_of_mixed(mix(hash, self.seed))
    }

    #[inline(always)]
    pub(crate) fn row_of_mixed(&self, mixed: u64) -> Row {
        let product = mixed.wrapping_mul(COEFFICIENTS);
        Row {
            start: mul_high(mixed, self.starts),
            coefficients: (product ^ product.rotate_left(32)) | 1,
            fingerprint: (mixed.rotate_left(32).wrapping_mul(FINGERPRINT) >> 32) as u32,
        }
    }

    /// Blocks of 64 slots.
    pub(crate) fn blocks(&self) -> u64 {
        if self.starts == 0 {
            0
        } else {
            self.starts / 64 + 1
        }
    }
}
