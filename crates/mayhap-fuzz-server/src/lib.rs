//! The bodies of the fuzz targets for what a server receives: images, DUMP payloads, chunks and requests. Those of the decoders are in
//! `mayhap-fuzz`.

mod command;
mod requests;

use mayhap_fuzz::{Target, target};

/// All targets of this crate.
pub const TARGETS: &[Target] = &[
    target(
        "command_chunks",
        command::chunks,
        &[("slots", ".load"), ("redisbloom", ".chunks.bin")],
    ),
    target("command_image", command::image, &[("slots", ".slot")]),
    target(
        "command_restore",
        command::restore,
        &[("slots", ".dump"), ("redisbloom", ".dump.bin")],
    ),
    target(
        "requests",
        requests::requests,
        &[("../crates/mayhap-server/tests/it/requests", ".resp")],
    ),
];

/// Runs the body of a target of either crate.
///
/// # Panics
/// When the body does, or there is no such target.
pub fn run(name: &str, bytes: &[u8]) {
    mayhap_fuzz::run(&all_targets(), name, bytes);
}

/// The targets of both crates, by name.
pub fn all_targets() -> Vec<Target> {
    let mut targets = [mayhap_fuzz::TARGETS, TARGETS].concat();
    targets.sort_by_key(|target| target.name);
    targets
}
