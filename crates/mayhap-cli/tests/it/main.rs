//! The program as its users meet it: a process with arguments, two streams and an exit code.

mod add_remove;
mod background;
mod bench;
mod cassandra;
mod closing;
mod compressed_input;
mod containers;
mod conventions;
mod dictionary;
mod disk;
mod docs;
mod errors;
mod folder;
mod golden;
mod guide;
mod hbase;
mod help;
mod in_place;
mod index;
mod input;
mod join;
mod key_fields;
mod key_types;
mod keyed;
mod kinds;
mod line_endings;
mod migrate;
mod plan;
mod replaced_files;
mod reports;
mod serve;
mod streams;
mod text_files;
mod uniq_state;
mod uniq_stream;
mod wording;

use std::process::{Command, Output, Stdio};

/// The program, with arguments given as one line of words.
fn mayhap(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayhap"));
    command.args(words.split_whitespace()).stdin(Stdio::null());
    folder::in_plain_surroundings(&mut command);
    command
}

fn run(words: &str) -> Output {
    mayhap(words).output().expect("the program starts")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("stdout is UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("stderr is UTF-8")
}
