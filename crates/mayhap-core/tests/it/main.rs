//! What the core guarantees, by behaviour. `MAYHAP_SOAK=1` (that is `make soak`) runs the long versions.

#![expect(clippy::print_stdout, reason = "tests print what they measured")]

mod adversary;
mod bad_input;
mod classic;
mod classic_cuckoo;
mod closed_set;
mod counting;
mod counting_cuckoo;
mod cuckoo;
mod cuckoo_chain;
mod docs;
mod excepting;
mod growing;
mod growing_cuckoo;
mod kernels;
mod keys;
mod kinds;
mod laws;
mod memory_limits;
mod model;
mod rates;
mod retouched;
mod sampled_stats;
mod shared;
mod static_filters;
mod union_and_fold;
mod window;
mod window_cuckoo;

use mayhap_core::KeyHash;

/// Whether to run the long versions of the tests.
fn soak() -> bool {
    std::env::var_os("MAYHAP_SOAK").is_some()
}

/// A well-mixed number for each counter: arbitrary keys.
fn mixed(counter: u64) -> u64 {
    let mut x = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Hashes `from..to` of a stream; streams of different seeds are disjoint.
fn hashes(seed: u64, from: u64, to: u64) -> impl Iterator<Item = KeyHash> {
    (from..to).map(move |at| {
        KeyHash::from_u64(mixed(mixed(seed) ^ at.wrapping_mul(0xA24B_AED4_963E_E407)))
    })
}
