//! Large files of ours are asked where they lie: the same answers, and damage is noticed by those who touch it.

use super::folder::feed;
use super::{mayhap, run, stderr, stdout};
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};

/// Large enough not to be read: `check` reads what is below 32 MiB.
const CAPACITY: u64 = 40_000_000;

fn lines_of(name: &str, count: u32) -> String {
    let lines: Vec<String> = (0..count).map(|i| format!("{name}-{i}\n")).collect();
    lines.concat()
}

#[test]
fn large_filters_are_queried_in_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let (keys, filter) = (
        folder.path().join("keys"),
        folder.path().join("large.mayhap"),
    );
    let lines = lines_of("key", 1000);
    fs::write(&keys, &lines).expect("room");
    let (keys, filter) = (keys.display(), filter.display().to_string());
    let output = run(&format!("build -o {filter} --capacity {CAPACITY} {keys}"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(fs::metadata(&filter).expect("a file").len() > 32 << 20);

    let asked = format!("{lines}stranger\n");
    let output = feed(mayhap(&format!("check {filter}")), &asked);
    assert_eq!(stdout(&output), lines);

    let mut file = OpenOptions::new()
        .write(true)
        .open(&filter)
        .expect("the file");
    // Where a thousand keys hardly have a bit, so that one page in hundreds is damaged.
    file.seek(SeekFrom::Start(30 << 20)).expect("a place");
    file.write_all(&[0xff; 16]).expect("room");
    drop(file);
    let many = lines_of("other", 20_000);
    let output = feed(mayhap(&format!("check -c {filter}")), &many);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("mayhap verify"),
        "{}",
        stderr(&output)
    );
}
