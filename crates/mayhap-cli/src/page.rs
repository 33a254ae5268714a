//! `mayhap page`: writes the web page as one file, with the planner and the inspector as WebAssembly inside.

mod document;
mod modules;

use crate::error::CliError;
use crate::input::is_standard;
use crate::output::{Document, write_document};
use clap::Args;
use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap page -o mayhap.html      then open mayhap.html in a browser: nothing leaves it
  mayhap page > mayhap.html
  mayhap serve --http 127.0.0.1:8080    the same page with the figures of a server, at http://127.0.0.1:8080/

The file plans filters and looks into files of every format without a server. Its WebAssembly is part of
programs that `make page` built; others read it from --wasm.";

/// The module, packed with gzip, if the program was built with it.
const EMBEDDED: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/page_wasm.rs"));

#[derive(Args, Debug)]
pub(crate) struct PageArgs {
    /// Write the page to this file [default: standard output]
    #[arg(short = 'o', long = "output", value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// WebAssembly module of the page, if this program was built without it
    #[arg(long, value_name = "FILE.wasm")]
    wasm: Option<PathBuf>,
}

pub(crate) fn run(args: &PageArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let packed = match (&args.wasm, EMBEDDED) {
        (Some(path), _) => read_module(path)?,
        (None, Some(embedded)) => embedded.to_vec(),
        (None, None) => {
            return Err(CliError::message(
                "this program was built without the page's WebAssembly: run `make page` in mayhap's source folder, which writes target/mayhap-page.html",
            ));
        }
    };
    let page = document::page(&packed).map_err(CliError::message)?;
    match &args.output {
        Some(path) if !is_standard(path) => write_document(path, &page, &PAGE)?,
        _ => out.write_all(page.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

const PAGE: Document = Document {
    start: "<!doctype html>",
    name: "a web page",
    option: "-o",
};

/// Packs a module that is not packed yet.
fn read_module(path: &Path) -> Result<Vec<u8>, CliError> {
    let bytes = fs::read(path).map_err(|error| {
        CliError::message(format!(
            "{} cannot be read ({error}): give --wasm the module that `make page` builds",
            path.display()
        ))
    })?;
    if bytes.starts_with(b"\x1f\x8b") {
        return Ok(bytes);
    }
    if !bytes.starts_with(b"\0asm") {
        return Err(CliError::message(format!(
            "{} is not a WebAssembly module: give --wasm the module that `make page` builds",
            path.display()
        )));
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
    packed.map_err(|error| CliError::message(format!("the module cannot be packed: {error}")))
}
