//! Errors, as the page shows them.

use serde_json::{Map, Value, json};
use std::fmt;

/// A request that has no answer: one sentence, and what the page can offer to solve it.
#[derive(Clone, PartialEq, Debug)]
pub struct PageError {
    message: String,
    details: Map<String, Value>,
}

impl PageError {
    /// An error without an offer.
    pub fn new(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            details: Map::new(),
        }
    }

    /// Adds something that the page can offer.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// `{"error": "..."}`, and the offers.
    pub fn to_json(&self) -> Value {
        let mut object = self.details.clone();
        object.insert("error".to_owned(), json!(self.message));
        Value::Object(object)
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PageError {}
