//! Helpers that the tests of several crates share. It depends on no other crate of the workspace, so that the tests of a small
//! crate do not build a large one.
//!
//! | place | what it provides |
//! | --- | --- |
//! | [`random`] | random numbers that are the same in every run |
//! | [`random_commands`] | random and systematic filter commands for any host |
//! | [`transcripts`] | the 27,579 recorded replies of RedisBloom |
//! | [`raw_client`] | a Redis client that returns the bytes of each reply |
//! | [`client`] | a Redis client that parses each reply and rejects malformed ones |
//! | [`peak_memory`] | an allocator that measures the peak memory of one thread |

#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "a helper that fails is a test that fails"
)]

pub mod client;
pub mod peak_memory;
pub mod random;
pub mod random_commands;
pub mod raw_client;
pub mod transcripts;

pub use random::Random;

/// Whether the long versions of the tests should run: `make soak` sets `MAYHAP_SOAK`.
pub fn is_soak() -> bool {
    std::env::var_os("MAYHAP_SOAK").is_some()
}
