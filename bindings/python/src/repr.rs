//! What `repr` shows of a filter.

use crate::storage::{State, Storage};
use serde_json::Value;

/// `<mayhap.Bloom: capacity 1000000, rate 0.01, about 3 keys, 1.2 MB, text keys>`. Mapped filters are not read.
pub(crate) fn describe(class: &str, state: &State) -> String {
    let count = match &state.storage {
        Storage::Foreign(parts) => parts.len(),
        _ => 1,
    };
    let mut facts = Vec::new();
    if state.format().name() != "mayhap" {
        facts.push(format!("format {}", state.format().name()));
    }
    if let Storage::Mapped(filter, path) = &state.storage {
        facts.push(format!("{} in {}", filter.kind(), path.display()));
    }
    if count > 1 {
        facts.push(format!("{count} filters"));
    }
    if let (false, Some(object)) = (
        matches!(state.storage, Storage::Mapped(..)),
        state.describe().first().filter(|_| count == 1),
    ) {
        push(&mut facts, "capacity", object.get("capacity"));
        push(&mut facts, "rate", object.get("false_positive_rate"));
        push(&mut facts, "about", object.get("estimated_keys"));
        if let Some(last) = facts.last_mut().filter(|last| last.starts_with("about")) {
            last.push_str(" keys");
        }
        let size = object.get("size_bytes").and_then(Value::as_u64);
        facts.push(human_size(size.unwrap_or(0)));
    }
    if let Some(key_type) = state.rules.key_type() {
        facts.push(format!("{} keys", key_type.name()));
    }
    format!("<mayhap.{class}: {}>", facts.join(", "))
}

fn push(facts: &mut Vec<String>, name: &str, value: Option<&Value>) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        facts.push(format!("{name} {value}"));
    }
}

fn human_size(bytes: u64) -> String {
    let units = ["bytes", "KB", "MB", "GB", "TB"];
    let (mut size, mut unit) = (bytes as f64, 0);
    while size >= 1000.0 && unit + 1 < units.len() {
        size /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{bytes} bytes")
    } else {
        format!("{size:.1} {}", units[unit])
    }
}
