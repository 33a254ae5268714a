//! `mayhap completions` and `mayhap man`: from the same description as `--help`.

use crate::args::Cli;
use crate::error::CliError;
use crate::output::cannot_write;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  mayhap completions bash > mayhap.bash     to be sourced, or put into bash-completion's folder
  mayhap completions zsh > _mayhap          into a folder of zsh's $fpath
  mayhap completions fish > mayhap.fish     into fish's folder of completions";

pub(crate) const MAN_EXAMPLES: &str = "\
Examples:
  mayhap man > mayhap.1
  mayhap man --dir man1                     a page for every subcommand";

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write one page per subcommand into this folder
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

pub(crate) fn completions(
    args: &CompletionsArgs,
    out: &mut impl Write,
) -> Result<ExitCode, CliError> {
    // Into memory first: the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mayhap", &mut script);
    out.write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &ManArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
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
