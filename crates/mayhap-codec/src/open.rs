//! From the bytes of a file to the filters in it, whatever system wrote them.

use crate::filter::StoredFilter;
use crate::format::Format;
use crate::parameters::{ParameterError, Parameters};
use crate::sniff::{self, Container, Detected};
use crate::{DecodeError, KeyReader, Limits, Problem};
use mayhap_core::{KeyType, SipKey};
use std::fmt;

/// What a file does not contain itself.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OpenOptions {
    /// The format; detected from the bytes when absent.
    pub format: Option<Format>,
    /// `name=value`, as the format defines them.
    pub parameters: Vec<String>,
    /// The false-positive rate of a ClickHouse index.
    pub rate: Option<f64>,
    /// The number of hashes of a ClickHouse index of terms, or of a chunk of HBase's.
    pub probes: Option<u32>,
    /// The number of columns of a ClickHouse index; 1 when absent.
    pub columns: Option<usize>,
    /// The secret key of a native file that does not contain it.
    pub key: Option<SipKey>,
    /// The name of the file, without its folder: Cassandra's names say what the bytes do not.
    pub file_name: Option<String>,
    /// How much memory decoding may take.
    pub limits: Limits,
}

/// Where in a file a filter was.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Location {
    /// The row group of a Parquet file.
    pub row_group: Option<u64>,
    /// The column of a Parquet file, or its number in a ClickHouse index.
    pub column: Option<String>,
    /// How the column's values are stored.
    pub physical_type: Option<i64>,
    /// The key in an RDB file.
    pub key: Option<Vec<u8>>,
    /// The number of a granule, or of a filter in a LevelDB table.
    pub granule: Option<u64>,
    /// Whether the file is a container, of which the filter is only a part: it cannot be written back.
    pub is_in_container: bool,
}

impl Location {
    /// Whether this place is one of the wanted ones: all that `wanted` gives are equal.
    pub fn is_wanted(&self, wanted: &Self) -> bool {
        fn is_equal<T: PartialEq>(wanted: Option<&T>, found: Option<&T>) -> bool {
            wanted.is_none_or(|wanted| found == Some(wanted))
        }
        is_equal(wanted.column.as_ref(), self.column.as_ref())
            && is_equal(wanted.row_group.as_ref(), self.row_group.as_ref())
            && is_equal(wanted.key.as_ref(), self.key.as_ref())
            && is_equal(wanted.granule.as_ref(), Some(&self.granule.unwrap_or(0)))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.row_group.map(|number| format!("row group {number}")),
            self.column.as_ref().map(|name| format!("column {name}")),
            self.key
                .as_ref()
                .map(|key| format!("key {:?}", String::from_utf8_lossy(key))),
            self.granule.map(|number| format!("granule {number}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

/// A filter and its location.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenedFilter {
    /// Where it was; empty in a file that is one filter.
    pub location: Location,
    /// The filter.
    pub filter: StoredFilter,
}

impl OpenedFilter {
    /// Turns lines into keys of this filter: as the parameters say, and what the file says about its keys.
    ///
    /// # Errors
    /// Only such as [`Parameters::new`] has reported.
    pub fn key_reader(
        &self,
        parameters: &Parameters,
        key_type: KeyType,
    ) -> Result<KeyReader, ParameterError> {
        let reader = parameters.key_reader(key_type)?;
        let reader = match self.location.physical_type {
            Some(number) => reader.physical_type(number),
            None => reader,
        };
        Ok(match &self.filter {
            StoredFilter::Foreign(filter) => filter.key_reader(reader),
            StoredFilter::Native(_) | StoredFilter::Bits { .. } => reader,
        })
    }
}

/// A setting that some formats do not store, so that the caller has to give it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    /// The false-positive rate.
    FalsePositiveRate,
    /// The number of bits.
    Bits,
    /// The number of hashes, or bits per key that are set.
    Probes,
    /// The order of the bytes in a word.
    ByteOrder,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FalsePositiveRate => "the false-positive rate",
            Self::Bits => "the number of bits",
            Self::Probes => "the number of probes",
            Self::ByteOrder => "the byte order",
        })
    }
}

/// `a, b or c`.
pub(crate) fn joined(settings: &[Setting], conjunction: &str) -> String {
    let names: Vec<String> = settings.iter().map(ToString::to_string).collect();
    names.join(conjunction)
}

/// Why a file was not opened.
#[derive(Clone, PartialEq, Debug)]
pub enum OpenError {
    /// It could be of several formats, and the options name none.
    Ambiguous(Vec<Format>),
    /// It is of no known format.
    Unknown,
    /// It is a text file.
    Text,
    /// The file does not contain a setting, and the options have none of these.
    Missing {
        /// The format.
        format: Format,
        /// The settings, of which one is needed.
        any_of: &'static [Setting],
        /// Where their values are found.
        definition: &'static str,
    },
    /// A parameter is wrong.
    Parameter(ParameterError),
    /// It is damaged, or of another format than the options say.
    Decode(DecodeError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ambiguous(formats) => {
                let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
                write!(f, "it could have these formats: {}", names.join(", "))
            }
            Self::Unknown => f.write_str("it is not a filter of a known format"),
            Self::Text => f.write_str("it is text, not a filter"),
            Self::Missing {
                format,
                any_of,
                definition,
            } => write!(
                f,
                "a {format} file does not store {}: set it as in {definition}",
                joined(any_of, " or ")
            ),
            Self::Parameter(error) => error.fmt(f),
            Self::Decode(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<DecodeError> for OpenError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<ParameterError> for OpenError {
    fn from(error: ParameterError) -> Self {
        Self::Parameter(error)
    }
}

/// Opens the bytes of a file: a filter, or a container of filters.
///
/// # Errors
/// When the format is unknown or ambiguous, a setting that the file does not contain is missing, or the file is damaged.
pub fn open(bytes: &[u8], options: &OpenOptions) -> Result<Vec<OpenedFilter>, OpenError> {
    if let Some(format) = options.format {
        // The name of a format also stands for its containers: `leveldb` for a table as well as for a filter.
        return match sniff::container(bytes, options.limits, Some(format)) {
            Some((container, contents)) => open_container(container, &contents?, options),
            None => decode(bytes, format, options),
        };
    }
    match sniff::detect(bytes, options.limits, options.file_name.as_deref()) {
        Detected::Magic(format) | Detected::Shape(format) => decode(bytes, format, options),
        Detected::Filter(format, filter) => {
            Parameters::new(format, &options.parameters)?;
            Ok(single((*filter)?))
        }
        Detected::Container(container, contents) => open_container(container, &contents?, options),
        Detected::Text => Err(OpenError::Text),
        Detected::Candidates(formats) if formats.is_empty() => Err(OpenError::Unknown),
        Detected::Candidates(formats) => Err(OpenError::Ambiguous(formats)),
    }
}

fn open_container(
    container: Container,
    contents: &[u8],
    options: &OpenOptions,
) -> Result<Vec<OpenedFilter>, OpenError> {
    let mut found = (container.row().open)(contents, options)?;
    for found in &mut found {
        found.location.is_in_container = true;
    }
    Ok(found)
}

/// Reads bytes of a known format.
pub(crate) fn decode(
    bytes: &[u8],
    format: Format,
    options: &OpenOptions,
) -> Result<Vec<OpenedFilter>, OpenError> {
    let parameters = Parameters::new(format, &options.parameters)?;
    let parameters = parameters.for_file(options.file_name.as_deref());
    (format.row().decode)(bytes, options, &parameters)
}

/// The only filter of a file.
pub(crate) fn single(filter: StoredFilter) -> Vec<OpenedFilter> {
    vec![OpenedFilter {
        location: Location::default(),
        filter,
    }]
}

/// Memory that a filter takes besides its bits.
const FILTER_BYTES: u64 = 256;

/// Refuses more filters than the limits allow: many tiny ones take more memory than their bytes.
pub(crate) fn check_count(
    format: Format,
    filters: usize,
    bytes: &[u8],
    limits: Limits,
) -> Result<(), DecodeError> {
    let needed = FILTER_BYTES * filters as u64 + bytes.len() as u64;
    if needed <= limits.max_bytes {
        return Ok(());
    }
    Err(DecodeError {
        format,
        offset: 0,
        problem: Problem::TooLarge {
            bytes: needed,
            limit: limits.max_bytes,
        },
    })
}
