//! Arguments that are one of a list of names. Help, completions and errors list them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use mayhap_codec::{Format, KeyType};
use mayhap_core::Kind;
use std::ffi::OsStr;

/// A parser of the names of a type.
#[derive(Clone)]
pub(crate) struct NamedValue<T> {
    names: Vec<&'static str>,
    parse: fn(&str) -> Option<T>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for NamedValue<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        // A list may have spaces after its commas.
        let text = value.to_string_lossy();
        if let Some(parsed) = (self.parse)(text.trim()) {
            return Ok(parsed);
        }
        let refused = PossibleValuesParser::new(self.names.clone()).parse_ref(command, arg, value);
        // A name that is listed and not parsed would be a mistake here.
        Err(refused.err().unwrap_or_else(|| {
            clap::Error::new(clap::error::ErrorKind::InvalidValue).with_cmd(command)
        }))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

/// A kind of filter.
pub(crate) fn kind() -> NamedValue<Kind> {
    NamedValue {
        names: Kind::ALL.map(Kind::name).to_vec(),
        parse: Kind::from_name,
    }
}

/// A kind of filter that is built once, from all keys.
pub(crate) fn static_kind() -> NamedValue<Kind> {
    NamedValue {
        names: vec![Kind::Ribbon.name(), Kind::Fuse.name()],
        parse: |name| {
            Kind::from_name(name).filter(|kind| matches!(kind, Kind::Ribbon | Kind::Fuse))
        },
    }
}

/// A format.
pub(crate) fn format() -> NamedValue<Format> {
    NamedValue {
        names: Format::ALL.iter().map(|format| format.name()).collect(),
        parse: Format::from_name,
    }
}

/// The type of the keys.
pub(crate) fn key_type() -> NamedValue<KeyType> {
    NamedValue {
        names: KeyType::ALL.map(KeyType::name).to_vec(),
        parse: KeyType::from_name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_all_parsed<T>(values: &NamedValue<T>, count: usize) {
        assert_eq!(values.names.len(), count);
        for name in &values.names {
            assert!((values.parse)(name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_name_is_parsed() {
        assert_all_parsed(&kind(), Kind::ALL.len());
        assert_all_parsed(&static_kind(), 2);
        assert_all_parsed(&format(), Format::ALL.len());
        assert_all_parsed(&key_type(), KeyType::ALL.len());
    }
}
