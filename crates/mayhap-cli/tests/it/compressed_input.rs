//! Compressed inputs: detected by their magic numbers, read to the end or rejected.

use super::folder::{Folder, assert_refused, code, lines, numbered, stderr_text};
use std::io::Write;

/// What packs; each has its own first bytes.
const PACKERS: [&str; 5] = ["gzip", "bzip2", "xz", "zstd", "lz4"];

fn keys(range: std::ops::Range<u32>) -> String {
    numbered("https://example.org/", range)
}

/// Packs by the system's own tool, or says that it is not there.
fn packed(folder: &Folder, tool: &str, text: &str) -> Option<Vec<u8>> {
    folder.write("plain", text);
    let output = folder.shell(&format!("{tool} -c < plain"));
    if output.status.success() {
        return Some(output.stdout);
    }
    eprintln!("not run, {tool} is not installed");
    None
}

#[test]
fn every_compression_is_detected_by_content() {
    let folder = Folder::with(&[("all", &keys(0..5000))]);
    folder.done("build -o f.mayhap --fpr 1e-6 all");
    for tool in PACKERS {
        let Some(bytes) = packed(&folder, tool, &keys(0..3000)) else {
            continue;
        };
        folder.write("input", &bytes);
        for output in [
            folder.run("check -c f.mayhap input"),
            folder.feed("check -c f.mayhap", &bytes),
            folder.run("uniq -q -c input"),
            folder.run("uniq -q -c -j 2 input"),
        ] {
            assert_eq!(lines(&output), ["3000"], "{tool}: {}", stderr_text(&output));
        }
        let output = folder.done("build -o packed.mayhap --fpr 1e-6 input");
        assert_eq!(stderr_text(&output), "", "{tool}");
        folder.done("build -o plain.mayhap --fpr 1e-6 plain");
        assert!(
            folder.read("packed.mayhap") == folder.read("plain.mayhap"),
            "{tool}"
        );
    }
}

#[test]
fn concatenated_compressed_files_are_one_input() {
    let folder = Folder::new();
    for tool in PACKERS {
        let (Some(mut one), Some(two)) = (
            packed(&folder, tool, &keys(0..1000)),
            packed(&folder, tool, &keys(1000..1500)),
        ) else {
            continue;
        };
        one.extend(two);
        let output = folder.feed("uniq -q -c", &one);
        assert_eq!(lines(&output), ["1500"], "{tool}: {}", stderr_text(&output));
    }
}

#[test]
fn a_truncated_compressed_file_is_an_error() {
    let folder = Folder::new();
    let text = keys(0..20_000);
    for tool in PACKERS {
        let Some(bytes) = packed(&folder, tool, &text) else {
            continue;
        };
        // In the header, in the middle, and where only the check sum is missing.
        for length in [
            7,
            12,
            bytes.len() / 2,
            bytes.len() - 9,
            bytes.len() - 4,
            bytes.len() - 1,
        ] {
            folder.write("cut", &bytes[..length]);
            for words in [
                "uniq -q -c cut",
                "build -o f.mayhap cut",
                "build -o f.mayhap --capacity 9 cut",
            ] {
                let output = folder.run(words);
                assert_refused(
                    &format!("{tool} of {length} bytes, {words}"),
                    &output,
                    &["cut cannot be read", "cut off"],
                );
            }
            assert!(!folder.join("f.mayhap").exists(), "{tool}");
        }
    }
}

#[test]
fn a_damaged_compressed_file_is_an_error() {
    let folder = Folder::new();
    for tool in PACKERS {
        let Some(mut bytes) = packed(&folder, tool, &keys(0..20_000)) else {
            continue;
        };
        let middle = bytes.len() / 2;
        for byte in &mut bytes[middle..middle + 8] {
            *byte ^= 0x55;
        }
        folder.write("damaged", &bytes);
        assert_refused(
            tool,
            &folder.run("uniq -q -c damaged"),
            &["damaged cannot be read", "by hand"],
        );
    }
}

#[test]
fn text_that_starts_like_a_compressed_file_is_text() {
    let folder = Folder::new();
    for text in ["B\n", "BZ\n", "\u{1f}\n", "(\n", "", "\n"] {
        let output = folder.feed("uniq -q", text);
        assert_eq!(
            output.stdout,
            text.as_bytes(),
            "{text:?}: {}",
            stderr_text(&output)
        );
    }
}

#[test]
fn a_long_compressed_file_takes_little_memory() {
    // 200 MB of one line, packed to almost nothing, under a limit of 100 MB of address space for the data.
    let folder = Folder::new();
    let mut packer = zstd::Encoder::new(Vec::new(), 1).expect("a packer");
    let chunk = "the same line again and again\n".repeat(10_000);
    for _ in 0..667 {
        packer.write_all(chunk.as_bytes()).expect("memory");
    }
    folder.write("long.zst", packer.finish().expect("memory"));
    let output = folder.shell("ulimit -d 100000; mayhap uniq -q -j 1 long.zst");
    assert_eq!(code(&output), 0, "{}", stderr_text(&output));
    assert_eq!(lines(&output), ["the same line again and again"]);
}
