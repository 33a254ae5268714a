//! How fast files and other systems' filters are read, written and asked.
//!
//! `formats [--quick] [--markdown FILE]`: tables on the terminal, and between the marker comments of FILE.

use mayhap_benchmarks::formats::{Scale, tables};
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::report::place_into;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run --release --bin formats -- [--quick] [--markdown FILE]";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut given: impl Iterator<Item = String>) -> Result<(), String> {
    let mut scale = Scale::FULL;
    let mut markdown = None;
    while let Some(option) = given.next() {
        match option.as_str() {
            "--quick" => scale = Scale::QUICK,
            "--markdown" => {
                let path = given.next().ok_or("--markdown needs a file")?;
                markdown = Some(PathBuf::from(path));
            }
            _ => return Err(format!("{option} is not an option\n{USAGE}")),
        }
    }
    if cfg!(debug_assertions) {
        return Err("a debug build measures nothing: use cargo run --release".to_owned());
    }
    let machine = Machine::look(1, scale.rounds);
    let text = format!(
        "- {}, {}\n- {}, {} cores; caches: {}\n- contenders take turns in {} rounds or more, and the least time of each counts; \
         CPU time of the thread, wall time for files\n{}",
        machine.date,
        machine.rustc,
        machine.cpu,
        machine.cores,
        machine.caches.join(", "),
        machine.rounds,
        tables(&scale)
    );
    println!("{text}");
    if let Some(path) = markdown {
        let document = std::fs::read_to_string(&path).unwrap_or_default();
        let document = place_into(&document, &text)?;
        std::fs::write(&path, document).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
