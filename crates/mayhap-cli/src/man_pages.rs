//! `mayhap completions` and `mayhap man`: from the same description as `--help`.

use crate::args::Cli;
use crate::error::CliError;
use crate::output::cannot_write;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::fs;
use std::io::{self, Write};
use std::iter;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  mayhap completions bash > mayhap.bash     source it, or copy it to the folder of bash-completion
  mayhap completions zsh > _mayhap          copy it to a folder in $fpath
  mayhap completions fish > mayhap.fish     copy it to ~/.config/fish/completions";

pub(crate) const MAN_EXAMPLES: &str = "\
Examples:
  mayhap man > mayhap.1
  mayhap man --dir man1                     one page per subcommand";

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
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    match &args.dir {
        None => out.write_all(&page(&program)?)?,
        Some(folder) => {
            let cannot_write = |error: io::Error| cannot_write(folder, &error);
            fs::create_dir_all(folder).map_err(cannot_write)?;
            for command in iter::once(&program).chain(program.get_subcommands()) {
                let name = Man::new(command.clone()).get_filename();
                fs::write(folder.join(name), page(command)?).map_err(cannot_write)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The manual page of a command. The generator would put examples into running text, so they are written here.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut page)?;
    }
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    let help = command.get_after_help().map(ToString::to_string);
    page.extend_from_slice(after_help(&help.unwrap_or_default()).as_bytes());
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

/// The text after the options: examples line by line, and paragraphs.
fn after_help(text: &str) -> String {
    let (examples, notes) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut page = String::new();
    let examples = examples.strip_prefix("Examples:\n").unwrap_or(examples);
    if !examples.is_empty() {
        page += ".SH EXAMPLES\n.nf\n";
        for line in examples.lines() {
            page += &escaped(line.strip_prefix("  ").unwrap_or(line));
            page.push('\n');
        }
        page += ".fi\n";
    }
    if !notes.is_empty() {
        page += ".SH NOTES\n";
        for line in notes.lines() {
            // A new paragraph for an empty line, and for the exit status.
            if line.is_empty() || line.starts_with("Exit status:") {
                page += ".PP\n";
            }
            if !line.is_empty() {
                page += &escaped(line);
                page.push('\n');
            }
        }
    }
    page
}

/// A line of text for roff, in which a dash is not a hyphen and no line is a request.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) {
        format!("\\&{line}")
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines() {
        let page = after_help("Examples:\n  a --b   c\n  .d\n\nText\nthat flows.\nExit status: 0.");
        assert_eq!(
            page,
            ".SH EXAMPLES\n.nf\na \\-\\-b   c\n\\&.d\n.fi\n.SH NOTES\nText\nthat flows.\n.PP\nExit status: 0.\n"
        );
    }
}
