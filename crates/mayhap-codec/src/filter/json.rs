//! What is known about a filter, as JSON: the same object in `mayhap info --json`, the C interface and others.

use super::{Description, Detail};
use crate::{Location, OpenedFilter};
use serde_json::{Map, Value, json};

impl OpenedFilter {
    /// What is known about the filter, and where it was. Reads all of it.
    pub fn to_json(&self) -> Map<String, Value> {
        self.filter.describe().to_json(&self.location)
    }
}

impl Description {
    /// The same for a description that exists already.
    pub fn to_json(&self, location: &Location) -> Map<String, Value> {
        let (stats, mut object) = (&self.stats, Map::new());
        let mut put = |name: &str, value: Value| drop(object.insert(name.to_owned(), value));
        put("format", json!(self.format.name()));
        put("kind", json!(stats.kind.name()));
        put("capacity", json!(stats.capacity));
        put("bits", json!(stats.bits));
        put("probes", json!(stats.probes));
        put("size_bytes", json!(stats.size_bytes));
        put("fill", json!(stats.fill));
        put("estimated_keys", json!(stats.estimated_keys));
        put("false_positive_rate", json!(stats.false_positive_rate));
        put("estimated_rate", json!(stats.estimated_rate));
        if let Some(number) = location.row_group {
            put("row_group", json!(number));
        }
        if let Some(name) = &location.column {
            put("column", json!(name));
        }
        if let Some(key) = &location.key {
            put("key", json!(String::from_utf8_lossy(key)));
        }
        if let Some(number) = location.granule {
            put("granule", json!(number));
        }
        for (name, detail) in &self.details {
            let value = match detail {
                Detail::Number(number) => json!(number),
                Detail::Text(text) => json!(text),
                Detail::Flag(flag) => json!(flag),
            };
            put(name, value);
        }
        object
    }
}
