//! Links in the documentation lead to a file and a heading that exist, and the book has every page of `docs/`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

/// All Markdown files under `folder`.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if !path.ends_with("target") {
                pages.extend(pages_below(&path));
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages
}

fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let hidden = folder
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('.'));
    if hidden { Vec::new() } else { pages(folder) }
}

/// Text without fenced code, in which brackets are not links.
fn prose(text: &str) -> String {
    let parts = text.split("\n```").step_by(2);
    parts.collect::<Vec<_>>().join("\n")
}

/// The targets of `[text](target)`, without those on other hosts.
fn links(text: &str) -> Vec<String> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| !target.contains("://"));
    local.map(str::to_owned).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook form them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c })
            .collect::<String>()
    };
    headings.map(anchor).collect()
}

/// The links of `text` that lead nowhere; `page` is where it is.
fn broken_links(page: &Path, text: &str) -> Vec<String> {
    let is_broken = |link: &String| {
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if path.is_empty() {
            page.to_owned()
        } else {
            page.with_file_name("").join(path)
        };
        if !target.exists() {
            return true;
        }
        !anchor.is_empty() && {
            let target = fs::read_to_string(&target).expect("a page");
            !anchors(&prose(&target)).contains(anchor)
        }
    };
    links(&prose(text)).into_iter().filter(is_broken).collect()
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let root = root();
    let mut folders = Vec::new();
    for folder in ["docs", "examples", "benchmarks", "golden"] {
        folders.extend(pages(&root.join(folder)));
    }
    for page in [
        "README.md",
        "README.zh-CN.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ] {
        folders.push(root.join(page));
    }
    for page in folders {
        let text = fs::read_to_string(&page).expect("a page");
        let broken = broken_links(&page, &text);
        assert!(broken.is_empty(), "{}: {broken:?}", page.display());
    }
}

#[test]
fn a_broken_link_is_found() {
    let page = root().join("README.md");
    for link in ["missing.md", "docs/guide/server.md#missing", "#missing"] {
        assert_eq!(broken_links(&page, &format!("[x]({link})")), [link]);
    }
    assert!(broken_links(&page, "[x](docs/guide/server.md#start)").is_empty());
}

#[test]
fn the_book_has_every_page() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("the summary");
    let listed: BTreeSet<PathBuf> = links(&summary).iter().map(|link| docs.join(link)).collect();
    let mut there: BTreeSet<PathBuf> = pages(&docs).into_iter().collect();
    there.remove(&docs.join("SUMMARY.md"));
    assert_eq!(listed, there);
}
