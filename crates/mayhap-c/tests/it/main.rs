//! The C interface, used from C: the header is up to date and compiles as C and C++, and the samples run against the shared and the
//! static library, under valgrind and with the address sanitizer.

mod header;
mod samples;

use std::path::PathBuf;
use std::process::Command;

/// The folder of this crate.
fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the libraries: that of the tests, whose dependency they are.
fn library_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a program");
    program.parent().expect("a folder").to_owned()
}

/// Runs a command, which must succeed, and returns what it printed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?} does not start ({error}): tools/install-c-tools.sh and tools/install-cbindgen.sh install it")
    });
    let [out, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{out}\n{errors}",
        output.status
    );
    out.into_owned()
}
