//! The report: a table for people, or one JSON object per line.

use super::filter_type::Stays;
use super::info::Description;
use super::listing::{Content, Listed};
use super::transfer::MoveError;
use super::verify::Agreement;
use crate::error::CliError;
use crate::human_format;
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;

/// What became of a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Complete at the target.
    Moved,
    /// It was at the target already, to the byte.
    Same,
    /// It would be moved without `--dry-run`.
    WouldMove,
    /// It expired.
    Expired,
    /// It expired or was removed at the source meanwhile.
    Gone,
    /// It cannot be moved there.
    Refused,
    /// Something went wrong: it may work when it is repeated.
    Failed,
    /// A type that is no filter.
    NotAFilter,
}

impl Verdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Moved => "moved",
            Self::Same => "same",
            Self::WouldMove => "would move",
            Self::Expired => "expired",
            Self::Gone => "gone",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::NotAFilter => "not a filter",
        }
    }

    pub(super) fn is_error(self) -> bool {
        match self {
            Self::Refused | Self::Failed => true,
            Self::Moved
            | Self::Same
            | Self::WouldMove
            | Self::Expired
            | Self::Gone
            | Self::NotAFilter => false,
        }
    }
}

/// A line of the report.
pub(super) struct Row {
    pub(super) key: Vec<u8>,
    pub(super) database: u64,
    pub(super) type_name: &'static str,
    pub(super) layout: Option<String>,
    pub(super) description: Description,
    pub(super) expires: Option<i64>,
    pub(super) passes: Option<u32>,
    pub(super) agreement: Option<Agreement>,
    pub(super) verdict: Verdict,
    /// Why, and what to do.
    pub(super) reason: Option<String>,
}

impl Row {
    /// Before anything is known but the type.
    pub(super) fn new(one: &Listed) -> Self {
        let (type_name, layout, verdict, reason) = match one.content {
            Content::Filter(kind) => (
                kind.family.name(),
                Some(kind.layout.to_string()),
                Verdict::Failed,
                None,
            ),
            Content::Other(name, Stays::NotAFilter) => (name, None, Verdict::NotAFilter, None),
            Content::Other(name, Stays::Filter(reason)) => {
                (name, None, Verdict::Refused, Some(reason.to_owned()))
            }
        };
        Self {
            key: one.key.clone(),
            database: one.database,
            type_name,
            layout,
            description: Description::default(),
            expires: None,
            passes: None,
            agreement: None,
            verdict,
            reason,
        }
    }

    pub(super) fn settle(&mut self, moved: Result<Verdict, MoveError>) {
        (self.verdict, self.reason) = match moved {
            // A note of the comparison is kept.
            Ok(verdict) => (verdict, self.reason.take()),
            Err(MoveError::Verdict(verdict, reason)) => (verdict, Some(reason)),
            Err(MoveError::Command(error)) => (Verdict::Failed, Some(error.text())),
        };
    }
}

/// Keys are bytes: what is no printable text is escaped, and what changes the direction of text.
pub(super) fn printable(key: &[u8]) -> String {
    let mut text = String::new();
    for part in key.utf8_chunks() {
        for letter in part.valid().chars() {
            let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if letter.is_control() || turns {
                text.extend(letter.escape_default());
            } else {
                text.push(letter);
            }
        }
        for byte in part.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

pub(super) fn write_json(row: &Row, out: &mut impl Write) -> Result<(), CliError> {
    let description = &row.description;
    let mut object = json!({
        "key": String::from_utf8_lossy(&row.key),
        "database": row.database,
        "type": row.type_name,
        "layout": row.layout,
        "capacity": description.capacity,
        "items": description.items,
        "requested_rate": description.requested_rate,
        "current_rate": description.current_rate,
        "bytes": description.size_bytes,
        "expires_ms": row.expires,
        "passes": row.passes,
        "verdict": row.verdict.name(),
        "reason": row.reason,
        "verified": row.agreement.map(|agreement| json!({
            "keys": agreement.queried,
            "found_at_source": agreement.found_at_source,
            "found_at_target": agreement.found_at_target,
            "lost": agreement.lost,
            "added": agreement.added,
        })),
    });
    if std::str::from_utf8(&row.key).is_err() {
        object["key_hex"] = json!(hex(&row.key));
    }
    writeln!(out, "{object}")?;
    Ok(())
}

const HEADS: [&str; 9] = [
    "key",
    "type",
    "layout",
    "capacity",
    "items",
    "requested rate",
    "current rate",
    "bytes",
    "verdict",
];

/// Names up to this length are filled up to the longest.
const MAX_KEY_WIDTH: usize = 64;

pub(super) fn write_table(rows: &[Row], out: &mut impl Write) -> Result<(), CliError> {
    let count = |number: Option<u64>| {
        number.map_or("-".to_owned(), human_format::with_thousands_separators)
    };
    let has_databases = rows.iter().any(|row| row.database != 0);
    let mut lines = vec![HEADS.map(str::to_owned)];
    for row in rows {
        let description = &row.description;
        let key = printable(&row.key);
        lines.push([
            if has_databases {
                format!("{}/{key}", row.database)
            } else {
                key
            },
            row.type_name.to_owned(),
            row.layout.clone().unwrap_or_else(|| "-".to_owned()),
            count(description.capacity),
            count(description.items),
            description
                .requested_rate
                .map_or("-".to_owned(), human_format::requested_rate),
            description
                .current_rate
                .map_or("-".to_owned(), |rate| human_format::rate(rate, 3)),
            count(description.size_bytes),
            row.verdict.name().to_owned(),
        ]);
    }
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let mut widths: [usize; HEADS.len()] = std::array::from_fn(width);
    // A name may have any length, and the other lines need not be as long.
    widths[0] = widths[0].min(MAX_KEY_WIDTH);
    for line in &lines {
        let mut text = String::new();
        for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
            let fill = " ".repeat(width.saturating_sub(cell.chars().count()));
            let is_number = (3..8).contains(&column);
            let (before, behind) = if is_number {
                (fill.as_str(), "")
            } else {
                ("", fill.as_str())
            };
            text.push_str(before);
            text.push_str(cell);
            text.push_str(behind);
            text.push_str("  ");
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    let reasons = rows
        .iter()
        .filter_map(|row| row.reason.as_ref().map(|reason| (row, reason)));
    for (number, (row, reason)) in reasons.enumerate() {
        if number == 0 {
            writeln!(out)?;
        }
        writeln!(
            out,
            "{}: {}: {}",
            printable(&row.key),
            row.verdict.name(),
            // With what a server replied.
            printable(reason.as_bytes())
        )?;
    }
    write_agreements(rows, out)
}

fn write_agreements(rows: &[Row], out: &mut impl Write) -> Result<(), CliError> {
    let share = |found: u64, of: u64| human_format::rate(found as f64 / of.max(1) as f64, 3);
    for row in rows {
        if let Some(agreement) = row.agreement {
            let queried = agreement.queried;
            writeln!(
                out,
                "{}: of {}, {} found at the source and {} at the target ({} and {}), {} answers differ",
                printable(&row.key),
                human_format::with_unit(queried, "key"),
                agreement.found_at_source,
                agreement.found_at_target,
                share(agreement.found_at_source, queried),
                share(agreement.found_at_target, queried),
                agreement.lost + agreement.added,
            )?;
        }
    }
    Ok(())
}

/// How to switch to the target without losing writes.
pub(super) fn write_procedure(is_file: bool, out: &mut impl Write) -> Result<(), CliError> {
    let text = if is_file {
        "
To switch over:
  1. Stop writes at the server that wrote the file, and save a new one (SAVE) if it has changed since.
  2. Repeat this command with that file and --replace. Filters that did not change are reported as same.
  3. Point all clients to the target. The file is not changed."
    } else {
        "
To switch over:
  1. Pause writes to these filters at the source: writes that arrive after a filter was read are not in the target.
  2. Repeat this command with --replace and --verify 10000. Filters that did not change are reported as same.
  3. When every verdict is moved or same, point all clients to the target, and let writes continue there.
  4. Keep the source until you trust the target. This command never deletes anything there."
    };
    writeln!(out, "{text}")?;
    Ok(())
}
