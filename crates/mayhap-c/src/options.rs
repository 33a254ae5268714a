//! Options as text, `name=value`. Their names are those of the command line's flags, so that a new one changes no function.

use crate::status::Failure;
use mayhap::formats::{Format, Location, OpenOptions, parse_key};
use mayhap::{HashScheme, KeyType, SipKey};

/// All options that functions take. Each function says which of them it uses, and rejects the others.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) format: Option<Format>,
    pub(crate) rate: Option<f64>,
    pub(crate) probes: Option<u32>,
    pub(crate) bits: Option<u64>,
    pub(crate) columns: Option<usize>,
    pub(crate) wanted: Location,
    pub(crate) secret: Option<SipKey>,
    pub(crate) key_type: Option<KeyType>,
    /// `name=value` of the format.
    pub(crate) parameters: Vec<String>,
}

impl Options {
    pub(crate) fn parse(given: &[&str]) -> Result<Self, Failure> {
        let mut options = Self::default();
        for option in given {
            let Some((name, value)) = option.split_once('=') else {
                return Err(Failure::argument(format!(
                    "option {option} has no value: write {option}=VALUE"
                )));
            };
            let invalid = || {
                Failure::argument(format!(
                    "option {name} cannot be {value}: {}",
                    expected(name)
                ))
            };
            match name {
                "format" => options.format = Some(Format::from_name(value).ok_or_else(invalid)?),
                "fpr" => options.rate = Some(value.parse().map_err(|_| invalid())?),
                "probes" => options.probes = Some(value.parse().map_err(|_| invalid())?),
                "bits" => options.bits = Some(value.parse().map_err(|_| invalid())?),
                "columns" => options.columns = Some(value.parse().map_err(|_| invalid())?),
                "column" => options.wanted.column = Some(value.to_owned()),
                "row-group" => {
                    options.wanted.row_group = Some(value.parse().map_err(|_| invalid())?);
                }
                "key" => options.wanted.key = Some(value.as_bytes().to_vec()),
                "granule" => options.wanted.granule = Some(value.parse().map_err(|_| invalid())?),
                "secret" => {
                    let is_hex = value.len() == 32;
                    let secret = parse_key(value.as_bytes()).filter(|_| is_hex);
                    options.secret = Some(secret.ok_or_else(invalid)?);
                }
                "key-type" => {
                    options.key_type = Some(KeyType::from_name(value).ok_or_else(invalid)?);
                }
                _ => options.parameters.push((*option).to_owned()),
            }
        }
        Ok(options)
    }

    /// The scheme of a new filter.
    pub(crate) fn scheme(&self) -> HashScheme {
        self.secret.map_or(HashScheme::Xxh3, HashScheme::Sip13)
    }

    /// For a new native filter, which has no other options than these two.
    pub(crate) fn check_native(&self) -> Result<(), Failure> {
        if let Some(parameter) = self.parameters.first() {
            return Err(Failure::argument(format!(
                "unknown option {parameter}: a new filter takes secret and key-type"
            )));
        }
        if self.rate.is_some() || self.has_settings_of_files() {
            return Err(Failure::argument(
                "a new filter takes only the options secret and key-type",
            ));
        }
        Ok(())
    }

    /// Settings of files in other formats, without the rate and what is the format's own.
    fn has_settings_of_files(&self) -> bool {
        self.format.is_some()
            || self.probes.is_some()
            || self.bits.is_some()
            || self.columns.is_some()
            || self.wanted != Location::default()
    }

    /// For a policy, which has no other option than this.
    pub(crate) fn only_rate(&self) -> Result<Option<f64>, Failure> {
        let is_native = self.secret.is_some() || self.key_type.is_some();
        if is_native || self.has_settings_of_files() || !self.parameters.is_empty() {
            return Err(Failure::argument("a policy takes only the option fpr"));
        }
        Ok(self.rate)
    }

    /// For bytes that may come from a file of that name.
    pub(crate) fn open_options(&self, file_name: Option<&str>) -> OpenOptions {
        OpenOptions {
            format: self.format,
            parameters: self.parameters.clone(),
            rate: self.rate,
            probes: self.probes,
            columns: self.columns,
            key: self.secret,
            file_name: file_name.map(str::to_owned),
            limits: mayhap::formats::Limits {
                max_bytes: u64::MAX,
            },
        }
    }
}

/// What an option accepts.
fn expected(name: &str) -> String {
    match name {
        "format" => {
            let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
            format!("expected one of {}", names.join(", "))
        }
        "fpr" => "expected a rate between 0 and 1".to_owned(),
        "secret" => "expected 32 hexadecimal digits".to_owned(),
        "key-type" => format!("expected one of {}", KeyType::NAMES),
        _ => "expected a number".to_owned(),
    }
}
