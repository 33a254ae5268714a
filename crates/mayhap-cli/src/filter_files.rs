//! Filter files: opens any format, selects filters of a container, and parses keys.

use crate::args;
use crate::codec_errors;
use crate::error::CliError;
use crate::input::{Block, is_standard, open_file};
use crate::named_values;
use clap::Args;
use mayhap_codec::native::HashKey;
use mayhap_codec::{
    Format, KeyError, KeyReader, KeyType, Limits, Location, OpenError, OpenOptions, OpenedFilter,
    Parameters, StoredFilter,
};
use mayhap_core::SipKey;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What the file itself does not say.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct OpenArgs {
    /// Format of the filter, if it cannot be detected
    #[arg(
        long,
        visible_alias = "format",
        value_name = "FORMAT",
        value_parser = named_values::format()
    )]
    pub(crate) from: Option<Format>,
    /// False-positive rate of a ClickHouse index, which its file does not store
    #[arg(long, value_name = "P", value_parser = args::rate, allow_negative_numbers = true)]
    pub(crate) fpr: Option<f64>,
    /// Number of hashes of a ClickHouse index of tokens or n-grams, or of a chunk of HBase's
    #[arg(long, value_name = "K")]
    pub(crate) probes: Option<u32>,
    /// Parameter of the format, such as -P type=UInt64 or -P funnel=long
    #[arg(short = 'P', value_name = "NAME=VALUE")]
    pub(crate) parameters: Vec<String>,
    /// Number of columns of a ClickHouse index
    #[arg(long, value_name = "N")]
    pub(crate) columns: Option<usize>,
    /// File with the secret key of a filter that was built with --key-file
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

impl OpenArgs {
    /// Opens all filters of a file.
    pub(crate) fn open(&self, path: &Path) -> Result<Vec<OpenedFilter>, CliError> {
        self.open_bytes(path, &read(path)?)
    }

    pub(crate) fn open_bytes(
        &self,
        path: &Path,
        bytes: &[u8],
    ) -> Result<Vec<OpenedFilter>, CliError> {
        let opening = OpenOptions {
            format: self.from,
            parameters: self.parameters.clone(),
            rate: self.fpr,
            probes: self.probes,
            columns: self.columns,
            key: self.key()?,
            file_name: file_name(path).map(str::to_owned),
            limits: Limits {
                max_bytes: u64::MAX,
            },
        };
        let found = mayhap_codec::open(bytes, &opening)
            .map_err(|error| self.explain_open_error(path, &error))?;
        if found.is_empty() {
            return Err(CliError::message(format!(
                "{} contains no filter: use a file that was written with filters enabled",
                path.display()
            )));
        }
        Ok(found)
    }

    /// Opens a file and the one filter in it that is selected.
    pub(crate) fn open_one(
        &self,
        path: &Path,
        choose: &SelectArgs,
    ) -> Result<StoredFilter, CliError> {
        let mut found = choose.select(path, self.open(path)?)?;
        one_of(path, &found)?;
        Ok(found.remove(0).filter)
    }

    /// Adds the flags that solve the problem.
    pub(crate) fn explain_open_error(&self, path: &Path, error: &OpenError) -> CliError {
        codec_errors::open(path, error, self.key_file.as_deref())
    }

    /// Where to store the secret key when the filter is written again: outside if it was outside.
    pub(crate) fn hash_key(&self) -> HashKey {
        match self.key_file {
            Some(_) => HashKey::Outside,
            None => HashKey::Inside,
        }
    }

    pub(crate) fn key(&self) -> Result<Option<SipKey>, CliError> {
        self.key_file.as_deref().map(read_key).transpose()
    }

    /// The key parser of a filter; `given` is the value of `--key-type`.
    pub(crate) fn key_reader(
        &self,
        path: &Path,
        found: &OpenedFilter,
        given: Option<KeyType>,
    ) -> Result<KeyReader, CliError> {
        let key_type = key_type(path, found.filter.key_type(), given)?;
        Parameters::new(found.filter.format(), &self.parameters)
            .and_then(|parameters| found.key_reader(&parameters, key_type))
            .map_err(|error| codec_errors::parameter(&error))
    }
}

/// The name of a file without its folder: Cassandra's names say what the bytes do not.
pub(crate) fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The only one of the selected filters.
pub(crate) fn one_of<'f>(
    path: &Path,
    found: &'f [OpenedFilter],
) -> Result<&'f OpenedFilter, CliError> {
    match found {
        [only] => Ok(only),
        found => Err(CliError::message(format!(
            "{} has {} filters ({}): select one with {}",
            path.display(),
            found.len(),
            names_of(found),
            flags_for(found)
        ))),
    }
}

/// The first few locations.
fn names_of(found: &[OpenedFilter]) -> String {
    let shown = found.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(|found| found.location.to_string()).collect();
    let more = if found.len() > SHOWN { "; ..." } else { "" };
    shown.join("; ") + more
}

/// How many filters of a container an error lists.
const SHOWN: usize = 5;

/// The flags that tell these filters apart.
fn flags_for(found: &[OpenedFilter]) -> String {
    let differ = |value: &dyn Fn(&Location) -> Option<String>| {
        let mut values = found.iter().map(|found| value(&found.location));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let flags = [
        (differ(&|place| place.column.clone()), "--column"),
        (
            differ(&|place| place.row_group.map(|number| number.to_string())),
            "--row-group",
        ),
        (
            differ(&|place| place.key.as_ref().map(|key| format!("{key:?}"))),
            "--key",
        ),
        (
            differ(&|place| place.granule.map(|number| number.to_string())),
            "--granule",
        ),
    ];
    let flags = flags.into_iter().filter(|(differs, _)| *differs);
    flags
        .map(|(_, flag)| flag)
        .collect::<Vec<_>>()
        .join(" and ")
}

/// What the lines are: what the filter says, or what the user gives, or text.
pub(crate) fn key_type(
    path: &Path,
    stored: Option<KeyType>,
    given: Option<KeyType>,
) -> Result<KeyType, CliError> {
    match (stored, given) {
        // Bytes may be spelt in another way than when the filter was built.
        (Some(stored), Some(given)) if !stored.has_keys_of(given) => {
            Err(CliError::message(format!(
                "{} has keys of type {stored}, not {given}: omit --key-type",
                path.display()
            )))
        }
        _ => Ok(given.or(stored).unwrap_or_default()),
    }
}

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = if is_standard(path) {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        let mut file = open_file(path)?;
        if let Ok(metadata) = file.metadata() {
            // Only a hint to the system.
            let _ = bytes.try_reserve_exact(usize::try_from(metadata.len()).unwrap_or(0));
        }
        file.read_to_end(&mut bytes)
    };
    read.map_err(|error| crate::input::cannot_read(path, &error))?;
    Ok(bytes)
}

/// A changed filter replaces its file, which a pipe does not allow.
pub(crate) fn check_not_stdin(path: &Path) -> Result<(), CliError> {
    if is_standard(path) {
        return Err(CliError::message(
            "standard input cannot be changed: give the path of a filter file",
        ));
    }
    Ok(())
}

/// Sixteen bytes, raw or as 32 hexadecimal digits.
pub(crate) fn read_key(path: &Path) -> Result<SipKey, CliError> {
    mayhap_codec::parse_key(&read(path)?).ok_or_else(|| {
        CliError::message(format!(
            "{} is not a key file: it must have 32 hexadecimal digits, or 16 bytes",
            path.display()
        ))
    })
}

/// The selected filters of a container.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct SelectArgs {
    /// Column of a Parquet file, by name, or of a ClickHouse index, by number from 1
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
    /// Row group of a Parquet file, from 0
    #[arg(long, value_name = "N")]
    pub(crate) row_group: Option<u64>,
    /// Key of a Redis dump
    #[arg(long, value_name = "NAME")]
    pub(crate) key: Option<String>,
    /// Granule of a ClickHouse index, or filter of a LevelDB table, from 0
    #[arg(long, value_name = "N")]
    pub(crate) granule: Option<u64>,
}

impl SelectArgs {
    pub(crate) fn select(
        &self,
        path: &Path,
        all: Vec<OpenedFilter>,
    ) -> Result<Vec<OpenedFilter>, CliError> {
        let names = names_of(&all);
        let wanted = Location {
            row_group: self.row_group,
            column: self.column.clone(),
            key: self.key.clone().map(String::into_bytes),
            granule: self.granule,
            ..Location::default()
        };
        let is_chosen = |found: &OpenedFilter| found.location.is_wanted(&wanted);
        let chosen: Vec<OpenedFilter> = all.into_iter().filter(is_chosen).collect();
        if chosen.is_empty() {
            let has = if names.is_empty() {
                "it has a single filter, so omit the selection".to_owned()
            } else {
                format!("it has {names}")
            };
            return Err(CliError::message(format!(
                "{} has no such filter: {has}",
                path.display()
            )));
        }
        Ok(chosen)
    }
}

/// The keys of a block's lines, in order. Nulls are left out, and their places returned.
pub(crate) fn keys<'b>(
    block: &'b Block,
    reader: &KeyReader,
    keys: &mut KeyBatch<'b>,
) -> Result<Vec<usize>, CliError> {
    let (mut place, mut nulls) = (0, Vec::new());
    if reader.is_verbatim() {
        let mut read = Vec::new();
        block.for_each_key(|key| {
            match key {
                Some(key) => read.push(key),
                None => nulls.push(place),
            }
            place += 1;
        });
        *keys = KeyBatch::Verbatim(read);
        return Ok(nulls);
    }
    let (mut read, mut failure) = (Vec::new(), None);
    block.for_each_key(|key| {
        match key.map(|key| reader.read(key)) {
            Some(Ok(key)) => read.push(key),
            Some(Err(error)) => {
                let number = block.first_line + place as u64;
                failure.get_or_insert_with(|| invalid_key(number, &error));
            }
            None => nulls.push(place),
        }
        place += 1;
    });
    *keys = KeyBatch::Read(read);
    failure.map_or(Ok(nulls), Err)
}

pub(crate) fn invalid_key(line: u64, error: &KeyError) -> CliError {
    CliError::message(format!(
        "line {line}: {error}: keys have the type that the filter stores, or that --key-type gives: {}",
        KeyType::NAMES
    ))
}

/// Keys that are the lines themselves, or were parsed from them.
pub(crate) enum KeyBatch<'b> {
    Verbatim(Vec<&'b [u8]>),
    Read(Vec<Vec<u8>>),
}

impl KeyBatch<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Verbatim(keys) => keys.len(),
            Self::Read(keys) => keys.len(),
        }
    }

    pub(crate) fn ask(&self, filter: &StoredFilter, found: &mut [bool]) {
        match self {
            Self::Verbatim(keys) => filter.contains_each(keys, found),
            Self::Read(keys) => filter.contains_each(keys, found),
        }
    }

    pub(crate) fn for_each(
        &self,
        each: impl FnMut(&[u8]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.try_for_each(each)
    }

    pub(crate) fn try_for_each<E>(
        &self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Verbatim(keys) => keys.iter().try_for_each(|key| each(key)),
            Self::Read(keys) => keys.iter().try_for_each(|key| each(key)),
        }
    }
}
