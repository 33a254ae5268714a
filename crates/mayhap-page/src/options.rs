//! The options of a request: names and texts, as in a URL.

use crate::PageError;
use std::str::FromStr;

/// Names and values; the names are those of the command line's options.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options(Vec<(String, String)>);

impl Options {
    /// From pairs. Of an option that occurs twice the first counts, except for parameters (`P`).
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(pairs.into_iter().collect())
    }

    /// The value; `None` if it is absent or empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All values.
    pub(crate) fn all<'o>(&'o self, name: &str) -> impl Iterator<Item = &'o str> {
        let named = self.0.iter().filter(move |(found, _)| found == name);
        named
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    /// The value, parsed.
    pub(crate) fn get<T, E: std::fmt::Display>(
        &self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, PageError> {
        let parsed = self.text(name).map(parse).transpose();
        parsed.map_err(|error| PageError::new(format!("{name}: {error}")).with("field", name))
    }

    /// A number.
    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, PageError> {
        self.get(name, |text| {
            text.parse().map_err(|_| "give a number, such as 3 or 0.5")
        })
    }

    /// Whether it is on: `1`, `true` or `yes`.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, PageError> {
        let flag = self.get(name, |text| match text {
            "1" | "true" | "yes" => Ok(true),
            "0" | "false" | "no" => Ok(false),
            _ => Err("give 1 or 0"),
        })?;
        Ok(flag.unwrap_or(false))
    }

    /// Refuses options that nobody reads: a misspelt one would change nothing.
    pub(crate) fn check_names(&self, known: &[&str]) -> Result<(), PageError> {
        match self.0.iter().find(|(name, _)| !known.contains(&&**name)) {
            Some((name, _)) => Err(PageError::new(format!(
                "there is no option {name:?}: use {}",
                known.join(", ")
            ))),
            None => Ok(()),
        }
    }
}

impl Options {
    /// With `_` in place of `-` in the names.
    pub(crate) fn with_underscores(&self) -> Self {
        let pairs = self.0.iter();
        Self::new(pairs.map(|(name, value)| (name.replace('-', "_"), value.clone())))
    }
}
