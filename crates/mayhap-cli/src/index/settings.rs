//! How an index was made: stored in it as JSON, so that an update needs no options.

use super::{Granularity, IndexArgs, IndexKind, RATE};
use crate::error::CliError;
use mayhap_codec::KeyType;
use mayhap_codec::index::Directory;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) column: Option<String>,
    pub(crate) fpr: f64,
    pub(crate) kind: IndexKind,
    pub(crate) granularity: Granularity,
    key_type: String,
    pub(crate) delimiter: Option<u8>,
    pub(crate) header: bool,
}

impl Settings {
    /// Those of the command line, or of the index that is updated; they must agree.
    pub(super) fn merge(args: &IndexArgs, stored: Option<&Directory>) -> Result<Self, CliError> {
        let Some(stored) = stored else {
            return Ok(Self {
                column: args.column.clone(),
                fpr: args.fpr.unwrap_or(RATE),
                kind: args.kind.unwrap_or(IndexKind::Ribbon),
                granularity: args.granularity.unwrap_or(Granularity::File),
                key_type: args.key_type.unwrap_or_default().name().to_owned(),
                delimiter: args.delimiter,
                header: args.header,
            });
        };
        let stored = Self::from_bytes(&stored.settings).ok_or_else(|| {
            CliError::message(format!(
                "{} was made by another program or a newer mayhap: build a new index without --update",
                args.output.display()
            ))
        })?;
        let differs = [
            (
                args.column.is_some() && args.column != stored.column,
                "--column",
            ),
            (
                args.fpr
                    .is_some_and(|fpr| fpr.to_bits() != stored.fpr.to_bits()),
                "--fpr",
            ),
            (args.kind.is_some_and(|kind| kind != stored.kind), "--kind"),
            (
                args.granularity
                    .is_some_and(|given| given != stored.granularity),
                "--granularity",
            ),
            (
                args.key_type
                    .is_some_and(|given| given.name() != stored.key_type),
                "--key-type",
            ),
            (
                args.delimiter.is_some() && args.delimiter != stored.delimiter,
                "--delimiter",
            ),
            (args.header && !stored.header, "--header"),
        ];
        match differs.into_iter().find(|(differs, _)| *differs) {
            None => Ok(stored),
            Some((_, flag)) => Err(CliError::message(format!(
                "{} was built with another {flag}: omit {flag}, or build a new index without --update",
                args.output.display()
            ))),
        }
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let settings: Self = serde_json::from_slice(bytes).ok()?;
        KeyType::from_name(&settings.key_type)?;
        Some(settings)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(crate) fn key_type(&self) -> KeyType {
        KeyType::from_name(&self.key_type).unwrap_or_default()
    }
}
