//! A run of `uniq`: which lines are printed, and when the state is saved.
//!
//! Output is always flushed before a save, so the state never contains a line that was not printed; and a line is inserted before
//! it is printed, so a save contains every line that was printed before it.

use super::UniqArgs;
use super::seen_keys::SeenKeys;
use crate::check::print_runs;
use crate::error::CliError;
use crate::human_format;
use crate::input::Block;
use crate::output;
use mayhap_codec::native::HashKey;
use mayhap_core::KeyHash;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::path::PathBuf;

#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
pub(super) struct Session<'a, W> {
    args: &'a UniqArgs,
    seen: SeenKeys,
    out: &'a mut W,
    /// Flush whenever the input pauses.
    is_pipe: bool,
    is_line_buffered: bool,
    lines: u64,
    new: u64,
    printed: u64,
    /// Whether the state differs from the saved one.
    is_changed: bool,
    /// Whether the last save failed; repeated failures are reported once.
    has_failed: bool,
    is_new: Vec<bool>,
    runs: Vec<Range<usize>>,
}

impl<'a, W: Write> Session<'a, W> {
    pub(super) fn new(args: &'a UniqArgs, seen: SeenKeys, out: &'a mut W) -> Self {
        Self {
            args,
            seen,
            out,
            is_pipe: !args.input.are_regular_files(),
            is_line_buffered: args.line_buffered || io::stdout().is_terminal(),
            lines: 0,
            new: 0,
            printed: 0,
            is_changed: false,
            has_failed: false,
            is_new: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Inserts the lines of a block and prints those that are wanted.
    pub(super) fn take(&mut self, block: &Block, hashes: &[KeyHash]) -> Result<(), CliError> {
        self.is_changed |= self.seen.insert(hashes, &mut self.is_new);
        let lines = hashes.len() as u64;
        let new = self.is_new.iter().filter(|&&is_new| is_new).count() as u64;
        self.lines += lines;
        self.new += new;
        self.printed += if self.args.repeated { lines - new } else { new };
        if self.args.count {
            return Ok(());
        }
        let wanted = !self.args.repeated;
        select(block.lines(), &self.is_new, wanted, &mut self.runs);
        print_runs(block, &self.runs, self.out)?;
        if self.is_line_buffered {
            self.out.flush()?;
        }
        Ok(())
    }

    /// Nothing waits in the buffer while a pipe is idle.
    pub(super) fn flush_if_pipe(&mut self) -> Result<(), CliError> {
        if self.is_pipe {
            self.out.flush()?;
        }
        Ok(())
    }

    /// Saves the state if it has changed. A failure is only reported: the next interval tries again.
    pub(super) fn save_at_interval(&mut self) -> Result<(), CliError> {
        match self.save() {
            Err(CliError::Message(failure)) => {
                if !self.has_failed {
                    // Without stderr, nothing can be reported.
                    let _ = writeln!(io::stderr(), "mayhap: {failure}; uniq tries again");
                }
                self.has_failed = true;
                Ok(())
            }
            saved => {
                self.has_failed = false;
                saved
            }
        }
    }

    /// Flushes the output and saves the state if it has changed.
    pub(super) fn save(&mut self) -> Result<(), CliError> {
        // Lines that could not be printed must not count as seen.
        self.out.flush()?;
        let Some(path) = self.args.state.as_deref().filter(|_| self.is_changed) else {
            return Ok(());
        };
        output::save(path, self.seen.filter(), HashKey::Inside)?;
        self.is_changed = false;
        Ok(())
    }

    /// All lines were read. A state exists from now on, even if there were none.
    pub(super) fn end(&mut self) -> Result<(), CliError> {
        let is_missing = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len()) == 0;
        self.is_changed |= self.args.state.as_ref().is_some_and(is_missing);
        self.finish()
    }

    /// Prints what is left, saves the state and reports.
    pub(super) fn finish(&mut self) -> Result<(), CliError> {
        if self.args.count {
            writeln!(self.out, "{}", self.printed)?;
        }
        self.save()?;
        if self.args.verbose || !self.args.quiet && io::stderr().is_terminal() {
            self.report();
        }
        Ok(())
    }

    pub(super) fn has_printed_nothing(&self) -> bool {
        self.printed == 0
    }

    /// Reports how many lines may have been dropped by mistake.
    fn report(&self) {
        let repeated = self.lines - self.new;
        let rate = self.seen.rate();
        // Each new line was dropped with at most the current rate of the filter.
        let expected =
            (self.new as f64 * rate / (1.0 - rate).max(f64::MIN_POSITIVE)).min(repeated as f64);
        // Without stderr, nothing can be reported.
        let _ = writeln!(
            io::stderr(),
            "mayhap: {} new, {} repeated; wrongly dropped: about {}, at most {} (99.9 %)",
            human_format::with_thousands_separators(self.new),
            human_format::with_thousands_separators(repeated),
            if expected < 0.95 {
                format!("{expected:.1}")
            } else {
                human_format::with_thousands_separators(expected.round() as u64)
            },
            human_format::with_thousands_separators(at_most(expected).min(repeated))
        );
    }
}

/// The lines to print, as runs of neighbours.
fn select(
    lines: impl Iterator<Item = Range<usize>>,
    is_new: &[bool],
    wanted: bool,
    runs: &mut Vec<Range<usize>>,
) {
    runs.clear();
    for (line, _) in lines.zip(is_new).filter(|(_, is_new)| **is_new == wanted) {
        match runs.last_mut() {
            Some(last) if last.end == line.start => last.end = line.end,
            _ => runs.push(line),
        }
    }
}

/// The 99.9% upper bound of a Poisson distribution with this mean.
fn at_most(expected: f64) -> u64 {
    if expected > 1000.0 {
        return (expected + 3.1 * expected.sqrt()).ceil() as u64;
    }
    let (mut count, mut term) = (0, (-expected).exp());
    let mut sum = term;
    while sum < 0.999 {
        count += 1;
        term *= expected / count as f64;
        sum += term;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_poisson() {
        assert_eq!(at_most(0.0), 0);
        assert_eq!(at_most(0.0005), 0);
        assert_eq!(at_most(0.01), 1);
        assert_eq!(at_most(1.0), 5);
        assert_eq!(at_most(10.0), 21);
        assert!((2100..2200).contains(&at_most(2000.0)));
    }

    #[test]
    fn neighbours_are_printed_at_once() {
        let lines = [0..2, 2..5, 5..7, 7..9];
        let is_new = [true, true, false, true];
        let mut runs = Vec::new();
        select(lines.iter().cloned(), &is_new, true, &mut runs);
        assert_eq!(runs, [0..5, 7..9]);
        select(lines.iter().cloned(), &is_new, false, &mut runs);
        assert_eq!((runs.len(), &runs[0]), (1, &(5..7)));
    }
}
