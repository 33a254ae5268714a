//! Keys from columns: `--field N|NAME`.

use crate::table::{Dialect, RowFormat, TableField};
use clap::Args;

/// The key column, and how rows have fields.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct FieldArgs {
    /// Rows are CSV, TSV, words, JSON lines or Parquet, and the key is this field, by number from 1 or by name
    #[arg(long, value_name = "N|NAME", conflicts_with = "null")]
    field: Option<String>,
    /// What separates the fields: a character, tab, whitespace, or json for JSON lines [default: by the file name: .csv, .tsv, .jsonl]
    #[arg(long, value_name = "D", value_parser = separator, requires = "field")]
    delimiter: Option<Separator>,
    /// The first row contains column names, although --field is a number
    #[arg(long, requires = "field")]
    header: bool,
    /// Treat quotes as ordinary characters
    #[arg(long, requires = "field")]
    no_quotes: bool,
}

/// The value of `--delimiter`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Separator {
    Byte(u8),
    Whitespace,
    Json,
}

fn separator(text: &str) -> Result<Separator, &'static str> {
    match text {
        "whitespace" => Ok(Separator::Whitespace),
        "json" => Ok(Separator::Json),
        text => crate::args::delimiter(text).map(Separator::Byte),
    }
}

impl FieldArgs {
    pub(super) fn is_given(&self) -> bool {
        self.field.is_some()
    }

    pub(super) fn table_field(&self) -> TableField<'_> {
        let format = self.delimiter.map(|separator| match separator {
            Separator::Byte(delimiter) => RowFormat::Delimited(Dialect {
                delimiter,
                // Rows with single spaces are logs rather than CSV.
                has_quotes: !self.no_quotes && delimiter != b' ',
            }),
            Separator::Whitespace => RowFormat::Words,
            Separator::Json => RowFormat::Json,
        });
        TableField {
            column: self.field.as_deref().unwrap_or_default(),
            format,
            has_quotes: !self.no_quotes,
            has_names: self.header,
            flag: "--field",
            is_keys_only: false,
        }
    }
}
