//! Filters of an RDB file. One filter is decoded at a time.

use super::filter_type::FilterType;
use super::listing::{Content, Listed, content};
use super::node::CommandError;
use super::transfer::Temporary;
use crate::error::CliError;
use mayhap_codec::redis::rdb::{self, Place, RdbFile};
use mayhap_codec::{DecodeError, Limits};
use mayhap_command::Slot;
use std::path::{Path, PathBuf};

pub(super) struct RdbSource {
    path: PathBuf,
    file: RdbFile,
    /// Only this database.
    database: Option<u64>,
}

const LIMITS: Limits = Limits {
    max_bytes: u64::MAX,
};

impl RdbSource {
    pub(super) fn open(path: &Path, database: Option<u64>) -> Result<Self, CliError> {
        let file = RdbFile::open(path).map_err(|error| crate::input::cannot_read(path, &error))?;
        if !file.bytes().starts_with(b"REDIS") && !file.bytes().starts_with(b"VALKEY") {
            return Err(CliError::message(format!(
                "{} is no RDB file: give one that Redis or Valkey saved, or the URL of a server as redis://HOST:PORT",
                path.display()
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            database,
        })
    }

    /// Passes every filter to `each`, decoded, and every other key of the report with its type. The checksum of the file is verified at the
    /// end.
    pub(super) fn each(
        &self,
        mut each: impl FnMut(Listed, Option<i64>, Option<Slot>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let mut failure = None;
        let read = rdb::each_module_value(self.file.bytes(), LIMITS, |place, id, fields| {
            let is_wanted = self
                .database
                .is_none_or(|database| database == place.database);
            let Some(content) =
                content(id.name().as_bytes()).filter(|_| is_wanted && failure.is_none())
            else {
                return Ok(false);
            };
            let slot = match content {
                Content::Filter(_) => Some(Slot::load(id, fields, LIMITS)?),
                Content::Other(..) => None,
            };
            let is_read = slot.is_some();
            let Place {
                database,
                key,
                expires,
            } = place;
            let listed = Listed {
                database,
                key,
                content,
            };
            failure = each(listed, expires, slot).err();
            Ok(is_read)
        });
        match failure {
            Some(failure) => Err(failure),
            None => read.map_err(|error| self.damaged(&error)),
        }
    }

    fn damaged(&self, error: &DecodeError) -> CliError {
        CliError::message(format!("{}: {error}", self.path.display()))
    }
}

/// Loads a filter into the temporary key.
pub(super) fn load(slot: &Slot, temporary: &mut Temporary<'_>) -> Result<(), CommandError> {
    let mut result = Ok(());
    let kind = FilterType::from_name(slot.type_name().as_bytes());
    slot.give_commands(&[], &mut |name, words| {
        if result.is_err() {
            return;
        }
        result = match (kind, words) {
            // A chunk behind the header.
            (Some(kind), [_, iterator, chunk]) if *iterator != b"1" => {
                let iterator = std::str::from_utf8(iterator)
                    .ok()
                    .and_then(|text| text.parse().ok());
                temporary.load(kind.family, iterator.unwrap_or(0), chunk)
            }
            (_, [_, rest @ ..]) => temporary.create(name.as_bytes(), rest),
            (_, []) => Ok(()),
        };
    });
    result
}
