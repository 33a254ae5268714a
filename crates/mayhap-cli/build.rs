//! Embeds the WebAssembly of the page if `MAYHAP_PAGE_WASM` names its file. Without it, building needs no toolchain for WebAssembly.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-env-changed=MAYHAP_PAGE_WASM");
    println!("cargo::rerun-if-changed=build.rs");
    let path = env::var_os("MAYHAP_PAGE_WASM").filter(|path| !path.is_empty());
    let expression = match path {
        None => "None".to_owned(),
        Some(path) => {
            let path = fs::canonicalize(&path).expect("MAYHAP_PAGE_WASM names a file");
            println!("cargo::rerun-if-changed={}", path.display());
            format!("Some(include_bytes!({:?}))", path.display().to_string())
        }
    };
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("page_wasm.rs");
    fs::write(out, expression).expect("the output folder can be written");
}
