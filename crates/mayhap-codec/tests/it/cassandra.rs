//! Cassandra's files are read as their names say; without a name or a parameter, they are not read at all.

use mayhap_codec::cassandra::{self, Filter, Layout};
use mayhap_codec::{
    Detail, Format, OpenError, OpenOptions, OpenedFilter, Setting, StoredFilter, open,
};

const LAYOUTS: [(Layout, &str); 3] = [
    (Layout::Cassandra4, "nb-1-big-Filter.db"),
    (Layout::Cassandra3, "me-1-big-Filter.db"),
    (Layout::Cassandra1, "shop-users-ka-1-Filter.db"),
];

fn key(number: u32) -> String {
    format!("key-{number}")
}

fn bytes(layout: Layout) -> Vec<u8> {
    let mut filter = cassandra::create(500, 0.01, layout).unwrap();
    for number in 0..500 {
        filter.insert(key(number));
    }
    cassandra::encode(&filter, layout).unwrap()
}

fn options(name: Option<&str>, given: &[&str]) -> OpenOptions {
    OpenOptions {
        file_name: name.map(str::to_owned),
        parameters: given.iter().map(|&text| text.to_owned()).collect(),
        ..OpenOptions::default()
    }
}

fn one(found: Result<Vec<OpenedFilter>, OpenError>) -> StoredFilter {
    found.unwrap().remove(0).filter
}

fn missing(filter: &StoredFilter) -> usize {
    let is_missing = |number: &u32| !filter.contains(key(*number).as_bytes());
    (0..500).filter(is_missing).count()
}

#[test]
fn the_name_of_a_file_decides() {
    for (layout, name) in LAYOUTS {
        let filter = one(open(&bytes(layout), &options(Some(name), &[])));
        assert_eq!(missing(&filter), 0, "{name}");
        assert_eq!(filter.encode().unwrap(), bytes(layout));
        let absent = (1000..2000).filter(|&number| filter.contains(key(number).as_bytes()));
        assert!(absent.count() < 40, "{name}");
        // A wrong name is what must not happen.
        for (other, name) in LAYOUTS {
            let wrong = one(open(&bytes(layout), &options(Some(name), &[])));
            assert_eq!(
                missing(&wrong) == 0,
                other == layout,
                "{layout:?} as {name}"
            );
        }
    }
}

#[test]
fn an_unknown_order_is_asked_for() {
    for name in [None, Some("filter.bin"), Some("nb-1-big-Data.db")] {
        let error = open(&bytes(Layout::Cassandra4), &options(name, &[])).unwrap_err();
        let OpenError::Missing { format, any_of, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(
            (format, any_of),
            (Format::Cassandra, &[Setting::ByteOrder][..])
        );
    }
    let contradiction = options(Some("me-1-big-Filter.db"), &["order=new"]);
    let error = open(&bytes(Layout::Cassandra3), &contradiction).unwrap_err();
    assert!(error.to_string().contains("expected old"), "{error}");
    let too_old = open(
        &bytes(Layout::Cassandra1),
        &options(Some("a-b-hf-1-Filter.db"), &[]),
    );
    assert!(too_old.unwrap_err().to_string().contains("another hash"));
}

/// `order=old` fits two layouts. No key of either may be denied.
#[test]
fn old_bytes_of_either_hash_order_lose_no_key() {
    for layout in [Layout::Cassandra3, Layout::Cassandra1] {
        let mut filter = one(open(&bytes(layout), &options(None, &["order=old"])));
        assert_eq!(missing(&filter), 0, "{layout:?}");
        let keys: Vec<String> = (0..2000).map(key).collect();
        let mut found = vec![false; keys.len()];
        filter.contains_each(&keys, &mut found);
        let one_by_one: Vec<bool> = keys
            .iter()
            .map(|key| filter.contains(key.as_bytes()))
            .collect();
        assert_eq!(found, one_by_one);
        let description = filter.describe();
        let hash_order = (
            "hash_order",
            Detail::Text("unknown, both are queried".into()),
        );
        assert!(description.details.contains(&hash_order));
        assert!(description.stats.estimated_rate > Some(0.01));
        // What would need the order is refused.
        assert!(filter.insert(b"new").is_err());
        assert!(filter.clone().convert(Format::Mayhap).is_err());
        assert!(filter.encode_for_file(Some("me-1-big-Filter.db")).is_err());
        assert_eq!(filter.encode().unwrap(), bytes(layout));
        assert_eq!(filter.encode_for_file(None).unwrap(), bytes(layout));
    }
}

#[test]
fn a_filter_is_written_as_the_name_of_its_file_says() {
    let [(_, new), (_, three), (_, one_name)] = LAYOUTS;
    let filter = one(open(&bytes(Layout::Cassandra3), &options(Some(three), &[])));
    for (layout, name) in [(Layout::Cassandra4, new), (Layout::Cassandra3, three)] {
        assert_eq!(filter.encode_for_file(Some(name)).unwrap(), bytes(layout));
    }
    let error = filter.encode_for_file(Some(one_name)).unwrap_err();
    assert!(error.to_string().contains("another hash order"), "{error}");
    assert!(filter.encode_for_file(Some("a-b-hf-1-Filter.db")).is_err());
    // Through our own format and back.
    for (layout, name) in LAYOUTS {
        let filter = one(open(&bytes(layout), &options(Some(name), &[])));
        let native = filter.convert(Format::Mayhap).unwrap();
        assert_eq!(missing(&native), 0);
        let back = native.convert(Format::Cassandra).unwrap();
        assert_eq!(back.encode_for_file(Some(name)).unwrap(), bytes(layout));
    }
}

#[test]
fn files_without_bits_hold_every_key() {
    let no_probes = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    for bytes in [&[][..], &no_probes] {
        let filter = one(open(bytes, &options(Some("nb-1-big-Filter.db"), &[])));
        assert!(filter.contains(b"anything"));
        assert_eq!(filter.encode(), Ok(Vec::new()));
        assert!(filter.convert(Format::Mayhap).is_err());
    }
    let always = cassandra::create(10, 1.0, Layout::Cassandra4);
    assert_eq!(always, Ok(Filter::AlwaysPresent));
}

#[test]
fn filters_of_one_layout_are_merged() {
    for (layout, name) in LAYOUTS {
        let mut ours = one(open(&bytes(layout), &options(Some(name), &[])));
        let mut theirs = ours.clone();
        theirs.insert(b"another").unwrap();
        ours.union_with(&theirs).unwrap();
        assert!(ours.contains(b"another"));
        for (other, name) in LAYOUTS {
            let other_filter = one(open(&bytes(other), &options(Some(name), &[])));
            let is_merged = ours.clone().union_with(&other_filter).is_ok();
            assert_eq!(is_merged, layout.scheme() == other.scheme(), "{other:?}");
        }
    }
}
