//! The bytes of keys are frozen: files contain their hashes.

use mayhap_core::{AnyFilter, Bloom, Fuse, HashScheme, Key, KeyHash, KeyType, Kind, Mismatch};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

fn bytes(key: impl Key) -> Vec<u8> {
    key.with_bytes(<[u8]>::to_vec)
}

#[test]
#[expect(
    clippy::needless_borrows_for_generic_args,
    reason = "references are keys, too"
)]
fn byte_strings_are_their_bytes() {
    let text = "grün".as_bytes();
    assert_eq!(bytes("grün"), text);
    assert_eq!(bytes("grün".to_owned()), text);
    assert_eq!(bytes(text), text);
    assert_eq!(bytes(text.to_vec()), text);
    assert_eq!(bytes(*b"\0a\xff"), b"\0a\xff");
    assert_eq!(bytes(b"\0a\xff"), b"\0a\xff");
    assert_eq!(bytes(Cow::Borrowed("grün")), text);
    assert_eq!(bytes(Cow::<[u8]>::Owned(text.to_vec())), text);
    assert_eq!(bytes(Box::<str>::from("grün")), text);
    assert_eq!(bytes(Rc::<[u8]>::from(text)), text);
    assert_eq!(bytes(Arc::<str>::from("grün")), text);
    assert_eq!(bytes(&&&"grün"), text);
    assert_eq!(bytes(&mut "grün".to_owned()), text);
    assert_eq!(bytes(c"a"), b"a");
    assert_eq!(bytes(CString::from(c"a")), b"a");
    assert_eq!(<&CStr>::FIXED_LEN, None);
    assert_eq!(bytes(""), b"");
}

#[cfg(unix)]
#[test]
fn paths_are_their_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let name = OsStr::from_bytes(b"/a\xff");
    assert_eq!(bytes(name), b"/a\xff");
    assert_eq!(bytes(OsString::from(name)), b"/a\xff");
    assert_eq!(bytes(Path::new(name)), b"/a\xff");
    assert_eq!(bytes(PathBuf::from(name)), b"/a\xff");
}

#[test]
fn numbers_have_their_own_width() {
    assert_eq!(bytes(5_u8), [5]);
    assert_eq!(bytes(-2_i8), [0xfe]);
    assert_eq!(bytes(0x0102_u16), [2, 1]);
    assert_eq!(bytes(-2_i16), [0xfe, 0xff]);
    assert_eq!(bytes(0x0102_0304_u32), [4, 3, 2, 1]);
    assert_eq!(bytes(-2_i32), [0xfe, 0xff, 0xff, 0xff]);
    assert_eq!(bytes(0x0102_0304_0506_0708_u64), [8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(bytes(-2_i64), [0xfe, 255, 255, 255, 255, 255, 255, 255]);
    assert_eq!(
        bytes(1_u128 << 120),
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    );
    assert_eq!(bytes(-1_i128), [255; 16]);
    assert_eq!(bytes(7_usize), bytes(7_u64));
    assert_eq!(bytes(-7_isize), bytes(-7_i64));
    assert_eq!(bytes(NonZero::<u32>::new(9).unwrap()), bytes(9_u32));
    assert_eq!(bytes(1.5_f64), 1.5_f64.to_bits().to_le_bytes());
    assert_eq!(bytes(1.5_f32), 1.5_f32.to_bits().to_le_bytes());
    assert_eq!(bytes(true), [1]);
    assert_eq!(bytes(false), [0]);
    assert_eq!(bytes('ü'), [0xfc, 0, 0, 0]);
}

#[test]
fn addresses_are_their_octets_and_little_endian_ports() {
    let v4 = Ipv4Addr::new(10, 0, 0, 1);
    let v6 = Ipv6Addr::LOCALHOST;
    assert_eq!(bytes(v4), [10, 0, 0, 1]);
    assert_eq!(bytes(IpAddr::from(v4)), bytes(v4));
    assert_eq!(bytes(v6), v6.octets());
    assert_eq!(bytes(IpAddr::from(v6)), bytes(v6));
    assert_eq!(bytes(SocketAddr::from((v4, 258))), [10, 0, 0, 1, 2, 1]);
    let mut expected = v6.octets().to_vec();
    expected.extend([2, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes(SocketAddr::from((v6, 258))), expected);
}

#[test]
fn tuples_are_unambiguous() {
    assert_eq!(bytes((1_u8, 2_u16)), [1, 2, 0]);
    assert_eq!(bytes(("ab", 1_u8)), [2, 0, 0, 0, 0, 0, 0, 0, b'a', b'b', 1]);
    assert_ne!(bytes(("ab", "c")), bytes(("a", "bc")));
    assert_ne!(bytes((("a", "b"), "c")), bytes(("a", ("b", "c"))));
    assert_eq!(<(u8, u16, [u8; 3])>::FIXED_LEN, Some(6));
    assert_eq!(<(u8, &str)>::FIXED_LEN, None);
    // A tuple of fixed parts inside another has no length before it.
    assert_eq!(bytes(((1_u8, 2_u8), 3_u8)), [1, 2, 3]);
    // Long tuples leave the stack.
    for lengths in [(0, 200), (100, 100), (119, 1), (120, 0), (112, 0), (500, 0)] {
        let (one, other) = ("x".repeat(lengths.0), "y".repeat(lengths.1));
        let mut expected = (lengths.0 as u64).to_le_bytes().to_vec();
        expected.extend(one.bytes());
        expected.extend((lengths.1 as u64).to_le_bytes());
        expected.extend(other.bytes());
        expected.push(7);
        assert_eq!(bytes((one, other, 7_u8)), expected, "{lengths:?}");
    }
    assert_eq!(
        bytes((1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8, 7_u8, 8_u8)),
        [1, 2, 3, 4, 5, 6, 7, 8]
    );
}

#[cfg(feature = "uuid")]
#[test]
fn uuids_are_their_bytes() {
    assert_eq!(bytes(uuid::Uuid::from_u128(1)), 1_u128.to_be_bytes());
}

/// The same keys in every shape that callers have them in.
#[test]
fn filters_are_built_from_every_collection() {
    let list = vec!["a".to_owned(), "b".to_owned()];
    let set: HashSet<String> = list.iter().cloned().collect();
    let tree: BTreeSet<&str> = ["a", "b"].into();
    let map: HashMap<&str, u8> = [("a", 1), ("b", 2)].into();
    let expected = Bloom::from_keys(["a", "b"], 0.01).unwrap();
    assert_eq!(Bloom::from_keys(&list, 0.01).unwrap(), expected);
    assert_eq!(
        Bloom::from_keys(list.iter().map(String::as_str), 0.01).unwrap(),
        expected
    );
    assert_eq!(Bloom::from_keys(&set, 0.01).unwrap(), expected);
    assert_eq!(Bloom::from_keys(set.clone(), 0.01).unwrap(), expected);
    assert_eq!(Bloom::from_keys(&tree, 0.01).unwrap(), expected);
    assert_eq!(Bloom::from_keys(map.keys(), 0.01).unwrap(), expected);
    let expected = Fuse::build(["a", "b"], 0.01).unwrap();
    assert_eq!(Fuse::build(&list, 0.01).unwrap(), expected);
    assert_eq!(Fuse::build(list.clone(), 0.01).unwrap(), expected);
    assert_eq!(
        Fuse::build(list.iter().map(String::as_str), 0.01).unwrap(),
        expected
    );
    assert_eq!(Fuse::build(&set, 0.01).unwrap(), expected);
    assert_eq!(Fuse::build(set, 0.01).unwrap(), expected);
    assert_eq!(Fuse::build(tree, 0.01).unwrap(), expected);
    let hashes = ["a", "b"].map(|key| KeyHash::from_u64(HashScheme::Xxh3.hash(key).to_u64()));
    assert_eq!(
        Fuse::build(hashes, 0.01).unwrap(),
        Fuse::build(&hashes[..], 0.01).unwrap()
    );
    let numbers = Fuse::build(0..1000_u32, 0.01).unwrap();
    assert!((0..1000_u32).all(|key| numbers.contains(key)));
}

/// Every kind finds integers and tuples, one by one and in batches.
#[test]
fn every_kind_accepts_every_key() {
    let keys: Vec<(u64, String)> = (0..1000).map(|at| (at, at.to_string())).collect();
    for kind in Kind::ALL {
        let mut filter = match kind {
            Kind::Fuse => Fuse::build(&keys, 0.01).unwrap().into(),
            Kind::Ribbon => mayhap_core::Ribbon::build(&keys, 0.01).unwrap().into(),
            Kind::Window => {
                let window = std::time::Duration::from_secs(60);
                mayhap_core::WindowBloom::new(1000, 0.01, window, mayhap_core::Timestamp(0))
                    .unwrap()
                    .into()
            }
            Kind::WindowCuckoo => {
                let window = std::time::Duration::from_secs(60);
                mayhap_core::WindowCuckoo::new(1000, 0.01, window, mayhap_core::Timestamp(0))
                    .unwrap()
                    .into()
            }
            kind => AnyFilter::new(kind, 1000, 0.01).unwrap(),
        };
        assert_eq!(filter.kind(), kind);
        if kind.can(mayhap_core::Operation::Insert) {
            for key in &keys {
                filter.try_insert(key).unwrap();
            }
        }
        let mut found = vec![false; keys.len()];
        filter.contains_each(&keys, &mut found);
        assert!(found.iter().all(|found| *found), "{kind}");
        assert!(keys.iter().all(|key| filter.contains(key)), "{kind}");
    }
}

#[test]
fn mixed_integers_are_good_hashes() {
    let mut filter = Bloom::for_hashes(100_000, 0.01).unwrap();
    for id in 0..100_000 {
        filter.insert_hash(KeyHash::mix(id));
    }
    let wrong = (100_000..1_100_000)
        .filter(|&id| filter.contains_hash(KeyHash::mix(id)))
        .count();
    // 1 % of a million, and five standard deviations (100) on either side.
    assert!((9_500..10_500).contains(&wrong), "{wrong}");
    assert_eq!(KeyHash::mix(0).to_u64(), 0);
    assert_eq!(KeyHash::mix(1).to_u64(), 0xb456_bcfc_34c2_cb2c);
}

#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "use KeyHash::mix")]
fn counters_used_as_hashes_are_detected() {
    let mut filter = Bloom::for_hashes(1000, 0.01).unwrap();
    // Other tests that run at the same time use good hashes, which interrupt a run of bad ones.
    for _ in 0..1_000_000 {
        for id in 0..1000 {
            filter.insert_hash(KeyHash::from_u64(id));
        }
    }
}

#[test]
fn a_key_type_is_kept_and_compared() {
    for key_type in KeyType::ALL {
        assert_eq!(key_type.name().parse(), Ok(key_type));
        assert_eq!(KeyType::from_id(key_type.id()), Some(key_type));
    }
    assert_eq!(KeyType::from_id(0), None);
    assert!("u128".parse::<KeyType>().is_err());
    let plain = Bloom::new(100, 0.01).unwrap();
    let mut numbers = plain.clone().with_key_type(KeyType::U64);
    assert_ne!(plain, numbers);
    // A filter without a key type takes that of the other.
    let mut either = plain.clone();
    either.union_with(&numbers).unwrap();
    assert_eq!(either.key_type(), Some(KeyType::U64));
    numbers.union_with(&plain).unwrap();
    assert_eq!(numbers.key_type(), Some(KeyType::U64));
    let text = plain.with_key_type(KeyType::Text);
    let (ours, theirs) = (KeyType::U64, KeyType::Text);
    assert_eq!(
        numbers.union_with(&text),
        Err(Mismatch::KeyType { ours, theirs })
    );
}

#[test]
fn kinds_convert_to_any_filter_and_back() {
    use mayhap_core::{Cuckoo, Excepting, SharedBloom};
    let any = AnyFilter::new(Kind::Cuckoo, 100, 0.01).unwrap();
    let error = Bloom::try_from(any.clone()).unwrap_err().to_string();
    assert!(
        error.contains("cuckoo filter") && error.contains("Bloom"),
        "{error}"
    );
    assert_eq!(AnyFilter::from(Cuckoo::try_from(any.clone()).unwrap()), any);
    let bloom = AnyFilter::new(Kind::Bloom, 100, 0.01).unwrap();
    let shared = SharedBloom::try_from(bloom.clone()).unwrap();
    assert_eq!(AnyFilter::from(shared), bloom);
    let none: [&str; 0] = [];
    let excepting = AnyFilter::from(Excepting::build(bloom.clone(), none, ["x"]).unwrap());
    let error = Bloom::try_from(excepting.clone()).unwrap_err().to_string();
    assert!(error.contains("with exceptions"), "{error}");
    assert!(Excepting::try_from(excepting).is_ok());
    assert!(Excepting::try_from(bloom).is_err());
    for kind in [Kind::Fuse, Kind::Ribbon, Kind::Window] {
        let error = AnyFilter::new(kind, 100, 0.01).unwrap_err().to_string();
        assert!(error.contains("needs more"), "{error}");
    }
}
