//! `mayhap verify`: verifies every checksum of a file, and repairs damaged files.

use crate::error::CliError;
use crate::filter_files::{OpenArgs, read};
use crate::human_format;
use crate::input::check_input_is_not_output;
use crate::output::Output;
use clap::Args;
use mayhap_codec::native;
use mayhap_codec::{Format, Limits, StoredFilter};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap verify seen.mayhap                                every checksum
  mayhap verify seen.mayhap --repair ones -o whole.mayhap  damaged pages become ones

A page of ones says yes to every key that it is asked about: no key is lost, and the rate is higher, which is
told. Exit status: 0 whole (or repaired), 2 damaged.";

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Filter of any format
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace damaged pages: by ones
    #[arg(long, value_name = "ones", value_parser = ["ones"], requires = "output")]
    repair: Option<String>,
    /// Output file for the repaired filter
    #[arg(short = 'o', long, value_name = "FILE", requires = "repair")]
    output: Option<PathBuf>,
    #[command(flatten)]
    open: OpenArgs,
    /// Overwrite a file that is not a filter
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &VerifyArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    if let Some(output) = &args.output {
        check_input_is_not_output(std::slice::from_ref(&args.file), output)?;
    }
    let bytes = read(&args.file)?;
    if args.repair.is_some() {
        return repair(args, &bytes, out);
    }
    let found = args.open.open_bytes(&args.file, &bytes)?;
    let name = args.file.display();
    let size = human_format::size(bytes.len() as u64);
    match found.first().map(|found| found.filter.format()) {
        Some(Format::Mayhap) => writeln!(out, "{name}: whole, {size}, every checksum is right")?,
        Some(format) if format.has_checksum() => {
            writeln!(out, "{name}: whole, {size}, its checksum is right")?;
        }
        Some(format) => writeln!(
            out,
            "{name}: well formed, {size}; {format} keeps no checksum of its filters, so that changed bits do not show"
        )?,
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn repair(args: &VerifyArgs, bytes: &[u8], out: &mut impl Write) -> Result<ExitCode, CliError> {
    let limits = Limits {
        max_bytes: u64::MAX,
    };
    let repaired = native::repair_with_ones(bytes, limits, args.open.key()?)
        .map_err(|error| CliError::message(format!("{}: {error}", args.file.display())))?;
    let output = Output::new(
        args.output.as_deref(),
        Format::Mayhap,
        args.open.hash_key(),
        args.force,
    )?;
    output.write(&StoredFilter::Native(repaired.filter), out)?;
    writeln!(
        out,
        "{}: {} of {} damaged, now all ones; no key is lost, and the rate is {}",
        args.file.display(),
        repaired.damaged_pages.len(),
        human_format::with_unit(repaired.pages, "page"),
        human_format::rate(repaired.estimated_rate, 3)
    )?;
    Ok(ExitCode::SUCCESS)
}
