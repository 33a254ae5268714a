//! Every kind is saved by reference and loaded as its own type, with its key type.

use mayhap::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, Cuckoo, Excepting, Fuse, GrowingBloom, KeyType,
    NativeFilter, Retouched, Ribbon, SharedBloom, SipKey, Timestamp, WindowBloom, native,
};
use std::fmt::Debug;
use std::time::Duration;

fn assert_saved<F: NativeFilter + PartialEq + Debug>(filter: &F) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.mayhap");
    mayhap::save(&path, filter).unwrap();
    assert_eq!(&mayhap::load::<F>(&path).unwrap(), filter);
    let bytes = mayhap::to_bytes(filter).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(&mayhap::from_bytes::<F>(&bytes).unwrap(), filter);
    let mut stream = Vec::new();
    mayhap::write_to(&mut stream, filter).unwrap();
    assert_eq!(stream, bytes);
    assert_eq!(&mayhap::read_from::<F>(bytes.as_slice()).unwrap(), filter);
    // As another kind it is an error.
    let any: AnyFilter = mayhap::load(&path).unwrap();
    assert_eq!(any.key_type(), Some(KeyType::U64));
    if any.kind() != mayhap::Kind::Ribbon {
        assert!(mayhap::load::<Ribbon>(&path).is_err());
    }
    // Bytes that were cut off are, too.
    for length in [0, 7, 8, 100, bytes.len() - 1] {
        assert!(mayhap::from_bytes::<F>(&bytes[..length]).is_err());
        assert!(mayhap::read_from::<F>(&bytes[..length]).is_err());
    }
}

#[test]
fn every_kind_is_saved_and_loaded() {
    let keys: Vec<u64> = (0..1000).collect();
    let typed = KeyType::U64;
    assert_saved(&Bloom::from_keys(&keys, 0.01).unwrap().with_key_type(typed));
    assert_saved(
        &ClassicBloom::from_keys(&keys, 0.01)
            .unwrap()
            .with_key_type(typed),
    );
    assert_saved(
        &CountingBloom::from_keys(&keys, 0.01)
            .unwrap()
            .with_key_type(typed),
    );
    let mut growing = GrowingBloom::new(100, 0.01).unwrap().with_key_type(typed);
    growing.extend(&keys);
    assert_saved(&growing);
    let mut window = WindowBloom::new(1000, 0.01, Duration::from_secs(60), Timestamp(0)).unwrap();
    window.set_key_type(Some(typed));
    let mut cuckoo = Cuckoo::new(1000, 0.01).unwrap().with_key_type(typed);
    for key in &keys {
        window.insert(key, Timestamp(5));
        cuckoo.try_insert(key).unwrap();
    }
    assert_saved(&window);
    assert_saved(&cuckoo);
    assert_saved(&Fuse::build(&keys, 0.01).unwrap().with_key_type(typed));
    assert_saved(&Ribbon::build(&keys, 0.01).unwrap().with_key_type(typed));
    let mut retouched = Retouched::new(1000, 0.01).unwrap().with_key_type(typed);
    retouched.extend(&keys);
    assert_saved(&retouched);
    let base = AnyFilter::from(Bloom::from_keys(&keys, 0.01).unwrap());
    let excepting = Excepting::build(base, &keys, 1000..3000_u16).unwrap();
    assert_saved(&excepting.with_key_type(typed));
}

#[test]
fn errors_name_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no such.mayhap");
    let error = mayhap::load::<Bloom>(&path).unwrap_err().to_string();
    assert!(error.contains("no such.mayhap"), "{error}");
    let error = mayhap::save(folder.path().join("no/such"), &Bloom::new(10, 0.1).unwrap());
    assert!(error.unwrap_err().to_string().contains("no/such"));
    std::fs::write(&path, "some text").unwrap();
    let error = mayhap::load::<Bloom>(&path).unwrap_err().to_string();
    assert!(error.contains("no such.mayhap"), "{error}");
}

#[test]
fn a_secret_key_that_is_kept_outside_must_be_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.mayhap");
    let key = SipKey::random();
    assert_ne!(key, SipKey::random());
    let mut names = Bloom::keyed(100, 0.01, key).unwrap();
    names.insert("a");
    mayhap::save_with(&path, &names, native::HashKey::Outside).unwrap();
    assert!(mayhap::load::<Bloom>(&path).is_err());
    let load = |key| {
        let options = mayhap::LoadOptions {
            key: Some(key),
            ..Default::default()
        };
        mayhap::load_with::<Bloom>(&path, &options)
    };
    assert!(load(SipKey::from([0; 16])).is_err());
    assert_eq!(load(key).unwrap(), names);
}

/// The file has every key whose insert was done when saving began, and is a valid file.
#[test]
fn a_shared_filter_is_saved_while_threads_insert() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.mayhap");
    let shared = SharedBloom::new(200_000, 0.001).unwrap();
    let inserted = AtomicU64::new(0);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for key in 0..200_000_u64 {
                shared.insert(key);
                inserted.store(key + 1, Ordering::Release);
            }
        });
        loop {
            let before = inserted.load(Ordering::Acquire);
            mayhap::save(&path, &shared).unwrap();
            let saved: Bloom = mayhap::load(&path).unwrap();
            assert!((0..before).all(|key| saved.contains(key)));
            if before == 200_000 {
                break;
            }
        }
    });
    let loaded: SharedBloom = mayhap::load(&path).unwrap();
    assert_eq!(loaded.freeze(), shared.freeze());
}
