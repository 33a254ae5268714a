//! Runs targets over golden files as they are and with seeded mutations: a little fuzzing in ordinary tests.

use crate::{Target, golden};
use mayhap_testkit::Random;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// Files of a target that are mutated, of all lengths, and how often each.
const FILES: usize = 12;
const MUTATIONS: u64 = 400;

/// Larger files are run only as they are.
const SMALL_BYTES: usize = 16 << 10;

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs each target over its golden files.
///
/// # Panics
/// When a target does.
pub fn run_golden_files(targets: &[Target]) {
    for target in targets {
        for path in golden(target) {
            check(target, &read(&path), &path, 0);
        }
    }
}

/// Runs each target over mutated golden files.
///
/// # Panics
/// When a target does.
pub fn run_mutated_files(targets: &[Target]) {
    for target in targets {
        let files = golden(target).into_iter().map(|path| {
            let bytes = read(&path);
            (path, bytes)
        });
        let is_small = |(_, bytes): &(PathBuf, Vec<u8>)| bytes.len() <= SMALL_BYTES;
        let small: Vec<(PathBuf, Vec<u8>)> = files.filter(is_small).collect();
        let step = small.len().div_ceil(FILES).max(1);
        for (path, bytes) in small.iter().step_by(step) {
            for seed in 1..=MUTATIONS {
                check(target, &mutated(bytes, seed), path, seed);
            }
        }
    }
}

/// Runs the body, and names the input if it panics.
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
pub fn mutated(bytes: &[u8], seed: u64) -> Vec<u8> {
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
