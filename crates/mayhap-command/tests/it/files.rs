//! Filters move from files into keys and back, and give the same answers.

use crate::host::Host;
use mayhap_codec::native::{self, HashKey};
use mayhap_command::{Config, Limits, Reply, Slot};
use mayhap_core::{
    AnyFilter, Bloom, BurstPolicy, CountingBloom, CountingCuckoo, Cuckoo, Fuse, GrowingBloom,
    GrowingCuckoo, SipKey, Timestamp, WindowBloom, WindowCuckoo,
};
use std::time::Duration;

const LIMITS: Limits = Limits { max_bytes: 1 << 30 };
const A_MINUTE: Duration = Duration::from_secs(60);

fn key(number: u32) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

/// The reply of `MAYHAP.FILE`.
fn file(host: &mut Host, name: &str) -> Vec<u8> {
    match host.run_line(&format!("MAYHAP.FILE {name}")) {
        Reply::Bulk(bytes) => bytes,
        reply => panic!("{name}: {reply:?}"),
    }
}

/// Filters of every kind that a key can hold, with and without a secret, empty, filled and grown, and their families.
fn filters(secret: SipKey, now: Timestamp) -> Vec<(&'static str, u32, AnyFilter)> {
    let keyed = |capacity, rate| Bloom::keyed(capacity, rate, secret);
    let mut all = Vec::new();
    for count in [0, 50, 2000] {
        let mut window = WindowBloom::keyed(3000, 0.01, A_MINUTE, now, secret).expect("a filter");
        for number in 0..count {
            window.insert(key(number), now);
        }
        all.push(("BF", count, window.into()));
        let window = WindowCuckoo::keyed(300, 0.01, A_MINUTE, now, secret);
        let mut window = window.expect("a filter");
        for number in 0..count {
            window.try_insert(key(number), now).expect("memory");
        }
        all.push(("BF", count, window.into()));
        let some: [(&str, AnyFilter); 11] = [
            ("BF", Bloom::new(3000, 0.01).expect("a filter").into()),
            ("BF", keyed(3000, 0.0001).expect("a filter").into()),
            (
                "BF",
                GrowingBloom::new(100, 0.001).expect("a filter").into(),
            ),
            (
                "BF",
                GrowingBloom::keyed(3000, 0.01, secret)
                    .expect("a filter")
                    .into(),
            ),
            ("CF", Cuckoo::new(3000, 0.01).expect("a filter").into()),
            ("CF", Cuckoo::growing(100, 0.01).expect("a filter").into()),
            (
                "CF",
                GrowingCuckoo::new(100, 0.01).expect("a filter").into(),
            ),
            (
                "CBF",
                CountingBloom::new(3000, 0.01).expect("a filter").into(),
            ),
            (
                "CBF",
                CountingBloom::keyed(3000, 0.01, secret)
                    .expect("a filter")
                    .into(),
            ),
            (
                "CBF",
                CountingCuckoo::new(100, 0.01).expect("a filter").into(),
            ),
            (
                "CBF",
                CountingCuckoo::keyed(3000, 0.01, secret)
                    .expect("a filter")
                    .into(),
            ),
        ];
        for (family, mut filter) in some {
            for number in 0..count {
                filter.try_insert(key(number)).expect("room");
            }
            all.push((family, count, filter));
        }
    }
    all
}

#[test]
fn files_become_keys_and_keys_become_files() {
    let mut host = Host::new(Config::default());
    let (secret, now) = (host.secret, host.now);
    for (at, (family, count, filter)) in filters(secret, now).into_iter().enumerate() {
        for place in [HashKey::Inside, HashKey::Outside] {
            let name = format!("{family}-{at}");
            let bytes = native::encode_with(&filter, place).expect("a file");
            let loaded = host.run(&[b"MAYHAP.LOAD", name.as_bytes(), &bytes, b"REPLACE"]);
            assert_eq!(loaded, Reply::OK, "{name}");
            let slot = &host.keys[name.as_bytes()];
            // It survives the log, and is exported as it was imported.
            let image = Slot::decode(&slot.encode(), LIMITS);
            assert!(image.as_ref() == Ok(slot), "{name}");
            let again = native::encode_with(&filter, HashKey::Outside).expect("a file");
            assert!(file(&mut host, &name) == again, "{name}");
            for number in 0..count {
                let exists = format!("{family}.EXISTS");
                let found = host.run(&[exists.as_bytes(), name.as_bytes(), &key(number)]);
                assert_eq!(found, Reply::Boolean(true), "{name} {number}");
            }
            // It can be used like any other key.
            let added = host.run_line(&format!("{family}.ADD {name} another"));
            assert!(!matches!(added, Reply::Error(_)), "{name}: {added:?}");
        }
    }
    let mut replica = Host::new(Config::for_replay());
    replica.secret = SipKey::new([99; 16]);
    replica.replay(&host.log, false);
    assert_eq!(host.images(), replica.images());
}

#[test]
fn keys_of_both_layouts_become_files_that_open() {
    let mut host = Host::new(Config::default());
    for layout in ["native", "redisbloom"] {
        host.config
            .set("layout", layout.as_bytes())
            .expect("a layout");
        host.run_line("DEL b c d");
        host.run_line("BF.MADD b x y");
        host.run_line("CF.ADD c x");
        host.run_line("CBF.RESERVE d 0.01 100");
        host.run_line("CBF.ADD d x");
        for name in ["b", "c", "d"] {
            let bytes = file(&mut host, name);
            let options = mayhap_codec::OpenOptions {
                key: Some(host.secret),
                ..mayhap_codec::OpenOptions::default()
            };
            let opened = mayhap_codec::open(&bytes, &options).expect("it opens");
            let filter = &opened[0].filter;
            assert!(filter.contains(b"x") && !filter.contains(b"z"), "{name}");
        }
    }
    assert_eq!(
        host.run_line("MAYHAP.FILE none"),
        Reply::error("ERR not found")
    );
    host.run_line("SET text x");
    assert!(
        matches!(host.run_line("MAYHAP.FILE text"), Reply::Error(text) if text.starts_with("WRONGTYPE"))
    );
}

#[test]
fn the_file_of_a_key_that_grows_becomes_a_key_of_the_same_family() {
    let mut host = Host::new(Config::default());
    for number in 0..2000 {
        host.run_line(&format!("BF.ADD b {number}"));
        host.run_line(&format!("CF.ADD c {}", number / 3));
    }
    for name in ["b", "c"] {
        let bytes = file(&mut host, name);
        host.run(&[b"MAYHAP.LOAD", b"again", &bytes, b"REPLACE"]);
        assert!(host.keys[b"again".as_slice()] == host.keys[name.as_bytes()]);
    }
}

#[test]
fn unsupported_filters_are_rejected_and_change_nothing() {
    let mut host = Host::new(Config::default());
    host.run_line("BF.ADD there x");
    let before = host.images();
    let other = SipKey::new([1; 16]);
    let early = WindowBloom::new(100, 0.01, A_MINUTE, Timestamp(0)).expect("a filter");
    let files = [
        native::encode(&Bloom::for_hashes(100, 0.01).expect("a filter")),
        native::encode(&early.with_burst_policy(BurstPolicy::RotateEarly)),
        native::encode(&Fuse::build(&["x"], 0.01).expect("a filter")),
        native::encode_with(
            &Bloom::keyed(100, 0.01, other).expect("a filter"),
            HashKey::Outside,
        ),
        Ok(native::MAGIC.to_vec()),
    ];
    for (at, bytes) in files.into_iter().enumerate() {
        for name in ["there", "new"] {
            let bytes = bytes.as_ref().expect("a file");
            let reply = host.run(&[b"MAYHAP.LOAD", name.as_bytes(), bytes, b"REPLACE"]);
            assert!(matches!(reply, Reply::Error(_)), "{at}: {reply:?}");
            let names_cause = format!("{reply:?}").contains("for_hashes");
            assert_eq!(names_cause, at == 0, "{at}: {reply:?}");
        }
    }
    assert_eq!(host.images(), before);
}
