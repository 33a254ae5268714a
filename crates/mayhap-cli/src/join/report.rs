//! The summary of a join: rows in, rows out, and how many passed the filter without a match.

use super::{JoinArgs, size_of};
use crate::human_format;
use std::io::{self, Write};

/// Below this size, it does not matter which side is larger.
const SMALL_BYTES: u64 = 1 << 20;

#[derive(Default)]
pub(super) struct Report {
    rate: f64,
    rows_in: u64,
    pub(super) rows_out: u64,
    /// Rows that the filter dropped.
    dropped: u64,
    /// False matches, if they are known.
    measured: Option<u64>,
    groups_skipped: usize,
    groups: usize,
}

impl Report {
    pub(super) fn new(rate: f64, is_exact: bool) -> Self {
        Self {
            rate,
            measured: is_exact.then_some(0),
            ..Self::default()
        }
    }

    /// Row groups that were skipped.
    pub(super) fn skipped(&mut self, groups: usize, of: usize, rows: u64) {
        self.groups_skipped = groups;
        self.groups = of;
        self.rows_in += rows;
    }

    pub(super) fn queried(&mut self, rows: u64, passed: u64) {
        self.rows_in += rows;
        self.dropped += rows - passed;
    }

    pub(super) fn corrected(&mut self, false_matches: u64) {
        if let Some(measured) = &mut self.measured {
            *measured += false_matches;
        }
    }

    /// Rows without a match pass with the rate's probability, so the number that were dropped gives the number that passed.
    fn expected(&self) -> f64 {
        self.dropped as f64 * self.rate / (1.0 - self.rate).max(f64::MIN_POSITIVE)
    }

    pub(super) fn print(&self, args: &JoinArgs) {
        let mut said = format!(
            "mayhap: {} in, {} out; false matches: {} expected",
            human_format::with_unit(self.rows_in, "row"),
            human_format::with_thousands_separators(self.rows_out),
            rounded(self.expected())
        );
        if let Some(measured) = self.measured {
            said += ", ";
            said += &human_format::with_thousands_separators(measured);
            said += " measured";
        }
        if self.groups_skipped > 0 {
            said += "; ";
            said += &human_format::with_thousands_separators(self.groups_skipped as u64);
            said += " of ";
            said += &human_format::with_unit(self.groups as u64, "row group");
            said += " skipped";
        }
        // Without stderr, nothing can be reported.
        let _ = writeln!(io::stderr(), "{said}");
        if let (Some(left), Some(right)) = (size_of(&args.left), size_of(&args.right))
            && left > right.max(SMALL_BYTES)
        {
            let _ = writeln!(
                io::stderr(),
                "mayhap: the left side is larger than the right one: swap them for a smaller filter (then the rows of the other side are printed)"
            );
        }
    }
}

fn rounded(count: f64) -> String {
    if count < 9.95 {
        format!("{count:.1}")
    } else {
        human_format::with_thousands_separators(count.round() as u64)
    }
}
