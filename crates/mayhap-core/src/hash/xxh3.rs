//! Scheme 1: XXH3, 64-bit output, seed 0, default secret. Identical across versions and machines since xxHash 0.8.0.

use twox_hash::XxHash3_64;

#[inline]
pub(super) fn hash(key: &[u8]) -> u64 {
    XxHash3_64::oneshot(key)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    /// The sanity buffer of xxHash's own test program: the top bytes of a sequence of products.
    fn sanity_buffer(len: usize) -> Vec<u8> {
        let mut state = 2_654_435_761_u64;
        (0..len)
            .map(|_| {
                let byte = (state >> 56) as u8;
                state = state.wrapping_mul(0x9E37_79B1_85EB_CA8D);
                byte
            })
            .collect()
    }

    #[test]
    fn outputs_are_the_published_ones_of_xxh3() {
        // Length and XXH3_64bits with seed 0 from xxHash's sanity-check table: every length class of the algorithm.
        let published = [
            (0, 0x2D06_8005_38D3_94C2_u64),
            (1, 0xC44B_DFF4_074E_ECDB),
            (6, 0x27B5_6A84_CD2D_7325),
            (12, 0xA713_DAF0_DFBB_77E7),
            (24, 0xA3FE_70BF_9D35_10EB),
            (48, 0x397D_A259_ECBA_1F11),
            (80, 0xBCDE_FBBB_2C47_C90A),
            (195, 0xCD94_217E_E362_EC3A),
            (403, 0xCDEB_804D_65C6_DEA4),
            (512, 0x617E_4959_9013_CB6B),
            (2048, 0xDD59_E2C3_A5F0_38E0),
            (2240, 0x6E73_A905_39CF_2948),
            (2367, 0xCB37_AEB9_E5D3_61ED),
        ];
        let buffer = sanity_buffer(2367);
        for (len, expected) in published {
            assert_eq!(super::hash(&buffer[..len]), expected, "length {len}");
        }
    }
}
