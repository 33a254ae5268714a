//! `name=value` pairs: settings that a format does not keep in its files, or that choose a variant when one is written. Each format
//! lists its own in its row of the table and parses them in its module.

use crate::format::Format;
use crate::hadoop::{self, Clearing};
use crate::keys::KeyReader;
use mayhap_core::KeyType;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Parameters of a format; those that are not given have the system's own default.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// The format that they are for.
    pub format: Format,
    given: Vec<(String, String)>,
    file_name: Option<String>,
}

/// A parameter that a format does not have, or not with this value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParameterError {
    /// The format has no parameter with this name.
    Unknown {
        /// The format.
        format: Format,
        /// The name.
        name: String,
    },
    /// A parameter cannot have this value.
    Value {
        /// The parameter.
        name: String,
        /// The value; empty if there was none.
        value: String,
        /// What is accepted.
        expected: String,
    },
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { format, name } => {
                let known: Vec<&str> = format.parameters().iter().map(|one| one.name).collect();
                match known.as_slice() {
                    [] => write!(f, "unknown parameter {name}; {format} has no parameters"),
                    known => write!(
                        f,
                        "unknown parameter {name}; {format} takes {}",
                        known.join(", ")
                    ),
                }
            }
            Self::Value {
                name,
                value,
                expected,
            } if value.is_empty() => {
                write!(
                    f,
                    "parameter {name} has no value: write {name}=VALUE, with {expected}"
                )
            }
            Self::Value {
                name,
                value,
                expected,
            } => write!(f, "parameter {name}={value}: expected {expected}"),
        }
    }
}

impl std::error::Error for ParameterError {}

impl Parameters {
    /// Reads `name=value` for a format; every value is checked.
    ///
    /// # Errors
    /// When the format has no such parameter, or it cannot have this value.
    pub fn new(
        format: Format,
        given: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, ParameterError> {
        let mut parameters = Self::defaults(format);
        for text in given {
            let text = text.as_ref();
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let known = format.parameters().iter().find(|known| known.name == name);
            let (name, value) = (name.to_owned(), value.to_owned());
            let Some(known) = known else {
                return Err(ParameterError::Unknown { format, name });
            };
            if value.is_empty() {
                return Err(ParameterError::Value {
                    name,
                    value,
                    expected: known.values.to_owned(),
                });
            }
            parameters.given.push((name, value));
        }
        (format.row().check_parameters)(&parameters)?;
        Ok(parameters)
    }

    /// None: all have their defaults.
    pub fn defaults(format: Format) -> Self {
        Self {
            format,
            given: Vec::new(),
            file_name: None,
        }
    }

    /// The same for a file of that name, without its folder: Cassandra's names say what the bytes do not.
    #[must_use]
    pub fn for_file(self, name: Option<&str>) -> Self {
        Self {
            file_name: name.map(str::to_owned),
            ..self
        }
    }

    pub(crate) fn file_name(&self) -> Option<&str> {
        self.file_name.as_deref()
    }

    fn get(&self, name: &str) -> Option<&str> {
        // The last one counts, as with flags.
        let given = self.given.iter().rev().find(|given| given.0 == name);
        given.map(|(_, value)| value.as_str())
    }

    /// A parsed value. The error names the values that the format's row has for it.
    pub(crate) fn parse<T>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ParameterError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        if let Some(parsed) = parse(value) {
            return Ok(Some(parsed));
        }
        let row = self.format.parameters().iter();
        let values = row.filter(|parameter| parameter.name == name);
        Err(ParameterError::Value {
            name: name.to_owned(),
            value: value.to_owned(),
            expected: values.map(|parameter| parameter.values).collect(),
        })
    }

    /// One of a few words.
    pub(crate) fn choose<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, ParameterError> {
        self.parse(name, |value| {
            let chosen = words.iter().find(|(word, _)| *word == value);
            chosen.map(|(_, choice)| *choice)
        })
    }

    /// A number within some bounds.
    pub(crate) fn number<T: FromStr>(
        &self,
        name: &'static str,
        accept: impl FnOnce(&T) -> bool,
    ) -> Result<Option<T>, ParameterError> {
        self.parse(name, |value| value.parse().ok().filter(accept))
    }

    /// Bits per key, which LevelDB and RocksDB have.
    pub(crate) fn bits_per_key(&self) -> Result<Option<f64>, ParameterError> {
        self.number("bits_per_key", |bits| (1.0..=100.0).contains(bits))
    }

    /// Which bit is cleared for each false positive of a retouched filter; `None` if the parameters name no scheme.
    ///
    /// # Errors
    /// Only such as [`Parameters::new`] has reported.
    pub fn clearing(&self) -> Result<Option<Clearing>, ParameterError> {
        hadoop::retouched::clearing(self)
    }

    /// The file that lists the false positives to be cleared.
    pub fn false_positives(&self) -> Option<PathBuf> {
        self.get("false_positives").map(PathBuf::from)
    }

    /// Turns lines into keys of this format.
    ///
    /// # Errors
    /// Only such as [`Parameters::new`] has reported.
    pub fn key_reader(&self, key_type: KeyType) -> Result<KeyReader, ParameterError> {
        (self.format.row().key_reader)(key_type, self)
    }
}
