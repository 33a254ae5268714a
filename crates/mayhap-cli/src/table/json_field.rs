//! A field of a JSON object, by name: `id`, or `user.id` for a name inside another object.

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The value as text: strings without quotes and escapes, everything else as it is written. `None` if it is missing or null.
pub(crate) fn json_field(object: &[u8], path: &str) -> serde_json::Result<Option<Vec<u8>>> {
    let mut reader = serde_json::Deserializer::from_slice(object);
    let found = (&mut reader).deserialize_map(FieldVisitor { path })?;
    reader.end()?;
    match (found.exact, found.nested) {
        (Some(value), _) => text(value.get()),
        // What is not an object has no names.
        (None, Some((value, rest))) if value.get().starts_with('{') => {
            json_field(value.get().as_bytes(), rest)
        }
        _ => Ok(None),
    }
}

fn text(value: &str) -> serde_json::Result<Option<Vec<u8>>> {
    Ok(match value.as_bytes().first() {
        Some(b'"') => Some(serde_json::from_str::<String>(value)?.into_bytes()),
        Some(b'n') => None,
        _ => Some(value.as_bytes().to_vec()),
    })
}

/// The member that has the whole path as its name, and the one that has its first part. The last of several counts.
struct Found<'v, 'p> {
    exact: Option<&'v RawValue>,
    nested: Option<(&'v RawValue, &'p str)>,
}

struct FieldVisitor<'p> {
    path: &'p str,
}

impl<'v, 'p> Visitor<'v> for FieldVisitor<'p> {
    type Value = Found<'v, 'p>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'v>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut found = Found {
            exact: None,
            nested: None,
        };
        while let Some(Name(name)) = map.next_key()? {
            match self.path.strip_prefix(&*name) {
                Some("") => found.exact = Some(map.next_value()?),
                Some(rest) if rest.starts_with('.') => {
                    found.nested = Some((map.next_value()?, &rest[1..]));
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

/// A name without escapes is not copied.
#[derive(serde::Deserialize)]
struct Name<'v>(#[serde(borrow)] Cow<'v, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_text() {
        let object = br#" {"id": 7, "name":"a \"b\" \u00e9", "x": 1.50, "no": null, "is": true, "list": [1, 2],
            "user": {"id": "u1", "deep": {"er": 3}}, "user.name": "ann"} "#;
        for (path, value) in [
            ("id", Some("7")),
            ("name", Some("a \"b\" \u{e9}")),
            ("x", Some("1.50")),
            ("no", None),
            ("is", Some("true")),
            ("list", Some("[1, 2]")),
            ("user.id", Some("u1")),
            ("user.deep.er", Some("3")),
            ("user.name", Some("ann")),
            ("missing", None),
            ("id.x", None),
            ("user.missing", None),
            ("use", None),
        ] {
            let found = json_field(object, path).expect("an object");
            assert_eq!(found.as_deref(), value.map(str::as_bytes), "{path}");
        }
        for wrong in ["", "7", "[1]", "{\"a\":1", "{\"a\":1} x", "{a:1}"] {
            assert!(json_field(wrong.as_bytes(), "a").is_err(), "{wrong}");
        }
    }
}
