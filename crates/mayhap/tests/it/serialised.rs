//! Filters in serialised structs.

use mayhap::serde::Saved;
use mayhap::{AnyFilter, Bloom, Fuse, Kind};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct State {
    #[serde(with = "mayhap::serde")]
    seen: Bloom,
    more: Vec<Saved<AnyFilter>>,
    words: Option<Saved<Fuse>>,
}

#[test]
fn filters_survive_text_and_damage_is_an_error() {
    let state = State {
        seen: Bloom::from_keys(["a", "b"], 0.01).unwrap(),
        more: vec![Saved(AnyFilter::new(Kind::Cuckoo, 10, 0.01).unwrap())],
        words: Some(Saved(Fuse::build(["x"], 0.01).unwrap())),
    };
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
    let damaged = text.replacen("AAAA", "AAAB", 1);
    assert_ne!(damaged, text);
    assert!(serde_json::from_str::<State>(&damaged).is_err());
    // A cuckoo filter is not a Bloom filter.
    let wrong = serde_json::to_string(&state.more[0]).unwrap();
    let error = serde_json::from_str::<Saved<Bloom>>(&wrong).unwrap_err();
    assert!(error.to_string().contains("cuckoo"), "{error}");
    // Numbers instead of base 64 are accepted from formats without bytes.
    let numbers = serde::de::value::SeqDeserializer::<_, serde::de::value::Error>::new(
        mayhap::to_bytes(&state.seen).unwrap().into_iter(),
    );
    let seen: Bloom = mayhap::serde::deserialize(Binary(numbers)).unwrap();
    assert_eq!(seen, state.seen);
}

/// A binary format: not human-readable, bytes as a sequence of numbers.
struct Binary<D>(D);

impl<'de, D: serde::Deserializer<'de>> serde::Deserializer<'de> for Binary<D> {
    type Error = D::Error;

    fn deserialize_any<V: serde::de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
