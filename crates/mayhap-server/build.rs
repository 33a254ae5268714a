//! Writes the table of the page's files, so that adding a file needs no change elsewhere.

use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("page");
    // A change of any file in the folder, too.
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("the folder page")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    let rows = names.iter().map(|name| {
        let path = folder.join(name).display().to_string();
        format!("PageFile {{ name: {name:?}, text: include_str!({path:?}) }},\n")
    });
    let table = format!("&[\n{}]", rows.collect::<String>());
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("page_files.rs");
    fs::write(out, table).expect("the output folder can be written");
}
