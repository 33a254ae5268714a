//! `mayhap completions` and `mayhap man`: from the same description as `--help`.

use crate::args::Cli;
use crate::failure::Failure;
use crate::output::cannot_write;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write a page for every verb into this folder
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

pub(crate) fn completions(
    args: &CompletionsArgs,
    out: &mut impl Write,
) -> Result<ExitCode, Failure> {
    // Into memory first: the generator takes a closed pipe for a bug.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mayhap", &mut script);
    out.write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &ManArgs, out: &mut impl Write) -> Result<ExitCode, Failure> {
    match &args.dir {
        None => clap_mangen::Man::new(Cli::command()).render(out)?,
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
                .map_err(|error| cannot_write(folder, &error))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
