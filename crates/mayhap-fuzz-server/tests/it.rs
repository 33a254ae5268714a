//! The targets over golden files with seeded mutations, and the files that libFuzzer needs for each.

use mayhap_fuzz::mutations;
use mayhap_fuzz_server::{TARGETS, all_targets};
use std::path::Path;

#[test]
fn golden_files_survive_a_round_trip() {
    mutations::run_golden_files(TARGETS);
}

#[test]
fn mutated_golden_files_do_no_harm() {
    mutations::run_mutated_files(TARGETS);
}

#[test]
fn every_target_has_its_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let entries = folder.read_dir().unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let targets = all_targets();
    let expected: Vec<String> = targets
        .iter()
        .map(|target| format!("{}.rs", target.name))
        .collect();
    assert_eq!(names, expected);
    let manifest = std::fs::read_to_string(folder.join("../Cargo.toml")).unwrap();
    for target in targets {
        let line = format!("name = \"{}\"", target.name);
        assert!(manifest.contains(&line), "{line}");
    }
}
