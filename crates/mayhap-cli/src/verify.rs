//! `mayhap verify`: verifies every checksum of a file, and repairs damaged files.

use crate::error::CliError;
use crate::filter_files::{OpenArgs, SelectArgs, read};
use crate::human_format;
use crate::index;
use crate::input::check_input_is_not_output;
use crate::output::Output;
use clap::Args;
use mayhap_codec::native;
use mayhap_codec::{Format, Limits, Location, StoredFilter};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap verify seen.mayhap                                verify every checksum
  mayhap verify seen.mayhap --repair ones -o whole.mayhap  set all bits in damaged pages

With all bits of a damaged page set, no key is lost, but the false-positive rate rises; it is reported.
Exit status: 0 if the file is intact (or was repaired), 2 if it is damaged.";

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Filter of any format
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Repair damaged pages by setting all their bits
    #[arg(long, value_name = "ones", value_parser = ["ones"], requires = "output")]
    repair: Option<String>,
    /// Output file for the repaired filter
    #[arg(short = 'o', long, value_name = "FILE", requires = "repair")]
    output: Option<PathBuf>,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    choose: SelectArgs,
    /// Overwrite a file that is not a filter
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &VerifyArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    if let Some(output) = &args.output {
        check_input_is_not_output(std::slice::from_ref(&args.file), output)?;
    }
    if index::is_index_file(&args.file) {
        if args.repair.is_some() {
            return Err(CliError::message(
                "an index cannot be repaired: build it again from its files",
            ));
        }
        index::verify(&args.file, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let bytes = read(&args.file)?;
    if args.repair.is_some() {
        return repair(args, &bytes, out);
    }
    let all = args.open.open_bytes(&args.file, &bytes)?;
    let is_container = all
        .iter()
        .any(|found| found.location != Location::default());
    let found = args.choose.select(&args.file, all)?;
    let name = args.file.display();
    let size = human_format::size(bytes.len() as u64);
    if is_container {
        // Its filters were decoded, and the checksums of the container around them verified where it has some.
        for found in &found {
            let size = human_format::size(found.filter.describe().stats.size_bytes);
            writeln!(out, "{name}: {}: well-formed, {size}", found.location)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    match found.first().map(|found| found.filter.format()) {
        Some(Format::Mayhap) => writeln!(out, "{name}: intact, {size}, all checksums match")?,
        Some(format) if format.has_checksum() => {
            writeln!(out, "{name}: intact, {size}, its checksum matches")?;
        }
        Some(format) => writeln!(
            out,
            "{name}: well-formed, {size}; {format} filters have no checksum, so changed bits cannot be detected"
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
        "{}: {} of {} damaged and filled with ones; no key is lost, and the false-positive rate is now {}",
        args.file.display(),
        repaired.damaged_pages.len(),
        human_format::with_unit(repaired.pages, "page"),
        human_format::rate(repaired.estimated_rate, 3)
    )?;
    Ok(ExitCode::SUCCESS)
}
