//! Tells the program which compiler it was built with: figures without that are worth little.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").expect("cargo sets RUSTC for build scripts");
    let output = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("rustc runs");
    let version = String::from_utf8_lossy(&output.stdout);
    println!("cargo::rustc-env=RUSTC_VERSION={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
