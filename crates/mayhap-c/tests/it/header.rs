//! The header.

use crate::{crate_folder, library_folder, run};
use std::process::Command;

/// `cbindgen`, which `tools/install-cbindgen.sh` installs. It is no dependency, so that its own stay out of the build.
fn generated() -> String {
    let folder = crate_folder();
    let installed = library_folder().join("../../tools/bin/cbindgen");
    run(Command::new(installed)
        .arg("--config")
        .arg(folder.join("cbindgen.toml"))
        .arg(&folder))
}

#[test]
fn the_header_is_that_of_the_sources() {
    let path = crate_folder().join("include/mayhap.h");
    let header = generated();
    if std::env::var_os("MAYHAP_WRITE_HEADER").is_some() {
        std::fs::write(&path, &header).expect("the header is written");
    }
    let present = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        present == header,
        "include/mayhap.h is stale: run `MAYHAP_WRITE_HEADER=1 cargo test -p mayhap-c header`"
    );
}

#[test]
fn there_are_at_most_forty_functions_and_each_is_documented() {
    let path = crate_folder().join("include/mayhap.h");
    let header = std::fs::read_to_string(path).expect("the header");
    let lines: Vec<&str> = header.lines().collect();
    let mut functions = 0;
    for (at, line) in lines.iter().enumerate() {
        let is_function = line.contains("mayhap_") && line.contains('(') && !line.starts_with("//");
        let is_declaration = is_function && !line.starts_with([' ', '*', '/']);
        if is_declaration && at > 20 {
            assert!(lines[at - 1].starts_with("//"), "undocumented: {line}");
            functions += 1;
        }
    }
    assert!((25..=40).contains(&functions), "{functions} functions");
}

#[test]
fn the_header_compiles_as_c_and_as_cpp() {
    let folder = tempfile::tempdir().expect("a folder");
    for (compiler, standard, name) in [
        ("cc", "-std=c99", "header.c"),
        ("cc", "-std=c17", "header.c"),
        ("c++", "-std=c++11", "header.cpp"),
        ("c++", "-std=c++20", "header.cpp"),
    ] {
        let source = folder.path().join(name);
        let program =
            "#include <mayhap.h>\n#include <mayhap.h>\nint main(void) { return MAYHAP_OK; }\n";
        std::fs::write(&source, program).expect("a file");
        let mut command = Command::new(compiler);
        command
            .args([
                standard,
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pedantic",
                "-fsyntax-only",
                "-I",
            ])
            .arg(crate_folder().join("include"))
            .arg(&source);
        run(&mut command);
    }
}
