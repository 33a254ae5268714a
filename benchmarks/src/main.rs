//! The comparison: starts itself several times, gathers what the children measured, and shows it.

use mayhap_benchmarks::args::Args;
use mayhap_benchmarks::figure::{Figure, Run};
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::{chart, child, report};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let args = Args::parse(std::env::args().skip(1))?;
    if let Some(number) = args.child {
        child::run(&args, number);
        return Ok(());
    }
    if cfg!(debug_assertions) && args.from.is_none() {
        return Err("a debug build measures nothing: use cargo run --release".to_owned());
    }
    let run = match &args.from {
        Some(path) => serde_json::from_str(&read(path)?).map_err(|error| at(path, error))?,
        None => gather(&args)?,
    };
    let tables = report::tables(&run);
    println!("{tables}");
    if let Some(path) = &args.json {
        let json = serde_json::to_string_pretty(&run).map_err(|error| at(path, error))?;
        write(path, &json)?;
    }
    if let Some(path) = &args.markdown {
        let document = if path.exists() {
            read(path)?
        } else {
            String::new()
        };
        write(path, &report::place_into(&document, &tables)?)?;
    }
    if let Some(path) = &args.chart {
        write(path, &chart::svg(&run))?;
    }
    Ok(())
}

fn gather(args: &Args) -> Result<Run, String> {
    let children = (1..=args.children as u64)
        .map(|number| start_child(args, number))
        .collect::<Result<_, _>>()?;
    Ok(Run {
        machine: Machine::look(args.children, args.rounds),
        children,
    })
}

/// One child at a time: two would measure one another.
fn start_child(args: &Args, number: u64) -> Result<Vec<Figure>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let keys: Vec<_> = args.keys.iter().map(u64::to_string).collect();
    let mut child = Command::new(program)
        .args(["--child", &number.to_string()])
        .args(["--keys", &keys.join(",")])
        .args(["--rounds", &args.rounds.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let output = child.stdout.take().ok_or("the child has no output")?;
    let mut figures = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|error| error.to_string())?;
        figures.push(serde_json::from_str(&line).map_err(|error| error.to_string())?);
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        Ok(figures)
    } else {
        Err(format!(
            "process {number} stopped: {status}; its message is above"
        ))
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| at(path, error))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| at(path, error))
}

fn at(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}
