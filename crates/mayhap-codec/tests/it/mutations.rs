//! The bodies of the decoders' fuzz targets over golden files with seeded mutations. `make fuzz-smoke` runs them for longer.

use mayhap_fuzz::{TARGETS, Target, mutations};

#[test]
fn golden_files_survive_a_round_trip() {
    mutations::run_golden_files(TARGETS);
}

#[test]
fn mutated_golden_files_do_no_harm() {
    mutations::run_mutated_files(TARGETS);
}

/// A decoder that trusts a length in its input fails here, so the others pass for a reason.
#[test]
#[should_panic(expected = "credulous: guava")]
fn a_body_that_panics_is_caught() {
    let credulous = Target {
        name: "credulous",
        body: |bytes| {
            if let Some((&[_, _, a, b, c, d], longs)) = bytes.split_first_chunk() {
                let count = u64::from(u32::from_be_bytes([a, b, c, d]));
                assert_eq!(longs.len() as u64, 8 * count, "as many as announced");
            }
        },
        ..*TARGETS
            .iter()
            .find(|target| target.name == "guava")
            .unwrap()
    };
    mutations::run_mutated_files(&[credulous]);
}
