//! The bodies of the fuzz targets over golden files with seeded mutations: a little fuzzing on every run. `make fuzz-smoke` is the
//! longer way.

use mayhap_fuzz::{TARGETS, Target, golden};
use mayhap_testkit::Random;
use std::panic::catch_unwind;
use std::path::Path;

/// Files of a target that are mutated, of all lengths, and how often each.
const FILES: usize = 12;
const MUTATIONS: u64 = 400;

/// Larger ones are run as they are.
const SMALL_BYTES: usize = 16 << 10;

#[test]
fn golden_files_hold_the_law() {
    for target in TARGETS {
        for path in golden(target) {
            let bytes = std::fs::read(&path).unwrap();
            check(target, &bytes, &path, 0);
        }
    }
}

#[test]
fn mutated_golden_files_do_no_harm() {
    for target in TARGETS {
        let small = golden(target).into_iter().map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            (path, bytes)
        });
        let small: Vec<_> = small
            .filter(|(_, bytes)| bytes.len() <= SMALL_BYTES)
            .collect();
        let step = small.len().div_ceil(FILES).max(1);
        for (path, bytes) in small.iter().step_by(step) {
            for seed in 1..=MUTATIONS {
                check(target, &mutated(bytes, seed), path, seed);
            }
        }
    }
}

#[test]
fn every_target_has_its_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let entries = folder.read_dir().unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let expected: Vec<String> = TARGETS
        .iter()
        .map(|target| format!("{}.rs", target.name))
        .collect();
    assert_eq!(names, expected);
    let manifest = std::fs::read_to_string(folder.join("../Cargo.toml")).unwrap();
    for target in TARGETS {
        let line = format!("name = \"{}\"", target.name);
        assert!(manifest.contains(&line), "{line}");
    }
}

/// A decoder that believes what it reads fails here, so that the others pass for a reason.
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
    let path = &golden(&credulous)[0];
    let bytes = std::fs::read(path).unwrap();
    check(&credulous, &bytes, path, 0);
    for seed in 1..=MUTATIONS {
        check(&credulous, &mutated(&bytes, seed), path, seed);
    }
}

fn check(target: &Target, bytes: &[u8], path: &Path, seed: u64) {
    let body = target.body;
    if catch_unwind(|| body(bytes)).is_err() {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let name = Path::new(folder).join(path.file_name().unwrap_or_default());
        let name = name.display();
        let length = bytes.len();
        panic!("{}: {name}, mutation {seed}, {length} bytes", target.name);
    }
}

/// Up to four changes, mostly near the ends, where formats keep their numbers.
fn mutated(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let at = position(&mut random, bytes.len());
        let kind = random.below(7);
        match (kind, bytes.get_mut(at)) {
            (0, Some(byte)) => *byte ^= 1 << random.below(8),
            (1, Some(byte)) => *byte = random.next_u64() as u8,
            (2, _) => bytes.truncate(at),
            (3, _) => {
                let end = bytes.len().min(at + random.index(40));
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            (4, Some(_)) => _ = bytes.remove(at),
            _ => put_number(&mut bytes, at, &mut random),
        }
    }
    bytes
}

fn put_number(bytes: &mut [u8], at: usize, random: &mut Random) {
    let power = 1_u64 << random.below(64);
    let number = [0, power, power - 1, !power, random.next_u64()][random.index(5)];
    let (little, big) = (number.to_le_bytes(), number.to_be_bytes());
    let size = [1, 2, 4, 8][random.index(4)];
    let number = if random.below(2) == 0 {
        &little[..size]
    } else {
        &big[8 - size..]
    };
    if let Some(place) = bytes.get_mut(at..at + size) {
        place.copy_from_slice(number);
    }
}

/// A position, often near the beginning or the end, where headers and footers are.
fn position(random: &mut Random, length: usize) -> usize {
    let near = 1 + random.index(64);
    match random.below(4) {
        _ if length == 0 => 0,
        0 | 1 => near.min(length) - 1,
        2 => length - near.min(length),
        _ => random.index(length),
    }
}
