//! The pages of docs/formats: what the tables say to write is in a program that `cargo test --doc` runs, and links lead somewhere.

use std::path::Path;

const PAGE: &str = include_str!("../../../../docs/formats/coming-from.md");

#[test]
fn every_snippet_of_the_tables_is_in_a_program_that_runs() {
    let mut told = 0;
    for section in PAGE.split("\n## ").skip(1) {
        let (tables, program) = section.split_once("```rust").expect("a program");
        let program: String = program.split_whitespace().collect();
        let rows = tables.lines().filter(|line| line.starts_with("| "));
        for row in rows.skip(1).filter(|row| !row.starts_with("| ---")) {
            let cell = row.trim_end_matches(" |").rsplit(" | ").next();
            let snippets = cell.unwrap_or_default().split('`').skip(1).step_by(2);
            for snippet in snippets {
                let words: String = snippet.split_whitespace().collect();
                assert!(program.contains(&words), "{snippet} is in no program");
                told += 1;
            }
        }
    }
    assert!(told > 50, "{told} snippets");
}

#[test]
fn links_lead_somewhere() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = docs.join("formats").read_dir().unwrap();
    let pages = pages.map(|page| page.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|end| end == "md"));
    for page in pages.chain([docs.join("SUMMARY.md")]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1) {
            let link = link.split([')', '#']).next().unwrap_or_default();
            let target = page.with_file_name("").join(link);
            assert!(target.exists(), "{}: {link}", page.display());
        }
    }
}
