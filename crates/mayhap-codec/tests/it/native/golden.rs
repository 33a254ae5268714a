//! The files in `golden/native`, one a kind: they never change, and new kinds join.

use super::filters::{excepting, in_a_sweep, widening, window, window_cuckoo};
use super::{SECRET, decode, filled, key};
use mayhap_codec::native;
use mayhap_core::plan::FusePlan;
use mayhap_core::{
    AnyFilter, Bloom, ClassicBloom, ClearingStrategy, CountingBloom, CountingCuckoo, Cuckoo, Fuse,
    GrowingBloom, GrowingCuckoo, KeyType, Retouched, Ribbon,
};

/// What `golden/native` holds, one a kind: these files were written by the first release of version 1 and never change.
pub(crate) fn golden() -> [(&'static str, AnyFilter); 25] {
    let keys: Vec<_> = (0..100).map(key).collect();
    [
        ("bloom", filled(Bloom::new(100, 0.01).unwrap().into(), 100)),
        (
            "bloom-two-lines",
            filled(Bloom::new(100, 1e-5).unwrap().into(), 100),
        ),
        (
            "bloom-keyed",
            filled(Bloom::keyed(100, 0.01, SECRET).unwrap().into(), 100),
        ),
        (
            "bloom-key-type",
            filled(Bloom::new(100, 0.01).unwrap().into(), 100).with_key_type(KeyType::U64),
        ),
        (
            "classic",
            filled(ClassicBloom::new(100, 0.01).unwrap().into(), 100),
        ),
        (
            "counting",
            filled(CountingBloom::new(100, 0.01).unwrap().into(), 100),
        ),
        (
            "growing",
            filled(GrowingBloom::new(20, 0.01).unwrap().into(), 100),
        ),
        (
            "cuckoo",
            filled(Cuckoo::growing(20, 0.1).unwrap().into(), 100),
        ),
        (
            "growing-cuckoo",
            filled(GrowingCuckoo::new(20, 0.01).unwrap().into(), 100),
        ),
        ("growing-cuckoo-sweep", in_a_sweep().into()),
        ("counting-cuckoo", counting().into()),
        ("counting-cuckoo-widening", widening().into()),
        ("window", window(100).into()),
        ("window-cuckoo", window_cuckoo(100, 100).into()),
        ("window-cuckoo-burst", window_cuckoo(20, 700).into()),
        ("fuse", fuse_of_8_bits(&keys).into()),
        ("fuse-packed", Fuse::build(&keys, 0.01).unwrap().into()),
        ("fuse-wide-packed", Fuse::build(&keys, 1e-8).unwrap().into()),
        ("ribbon", Ribbon::build(&keys, 0.01).unwrap().into()),
        ("fuse-closed", closed(20, 100).to_fuse(0.02).unwrap().into()),
        (
            "ribbon-closed",
            closed(10_000, 20_000).to_ribbon(0.02).unwrap().into(),
        ),
        ("growing-cuckoo-set", set().into()),
        ("retouched", retouched().into()),
        ("bloom-excepting-list", with_exceptions(0.01, 400)),
        ("bloom-excepting-levels", with_exceptions(0.3, 400)),
    ]
}

/// To be closed; with more keys than the guess it has two tables.
pub(crate) fn closed(guess: usize, keys: u64) -> GrowingCuckoo {
    let mut filter = GrowingCuckoo::new(guess, 0.01).unwrap();
    for number in 0..keys {
        filter.try_insert(key(number)).unwrap();
    }
    filter
}

fn set() -> GrowingCuckoo {
    let mut filter = GrowingCuckoo::new(20, 0.01).unwrap();
    filter.set_is_set(true);
    for number in (0..100).chain(0..10) {
        filter.try_insert(key(number)).unwrap();
    }
    assert!(filter.estimated_keys() <= 100);
    filter
}

/// Key `n` of the first ten has n + 1 copies, the others one.
fn counting() -> CountingCuckoo {
    let mut filter = CountingCuckoo::new(20, 0.01).unwrap();
    for number in 0..100 {
        for _ in 0..if number < 10 { number + 1 } else { 1 } {
            filter.try_insert(key(number)).unwrap();
        }
    }
    filter
}

/// Cells once had 8, 16 or 32 bits, so 1 % took 8. The cells are those of a filter that needs 8 bits.
fn fuse_of_8_bits(keys: &[[u8; 8]]) -> Fuse {
    let filter = Fuse::build(keys, 1.0 / 256.0).unwrap();
    let plan = FusePlan::from_shape(filter.len(), 0.01, 8, 1).unwrap();
    Fuse::from_bytes(plan, filter.layout(), filter.scheme(), &filter.bytes()).unwrap()
}

/// With 100 keys more, of which clearings have lost some, and false positives that are listed again.
fn retouched() -> Retouched {
    let mut filter = Retouched::new(200, 0.01).unwrap();
    filter.extend((0..200).map(key));
    let strangers: Vec<_> = (1000..1500).map(key).collect();
    filter.add_false_positives(&strangers).unwrap();
    filter.clear_all(ClearingStrategy::Ratio).unwrap();
    filter.extend((0..100).map(key));
    filter.add_false_positives(&strangers[..3]).unwrap();
    filter
}

fn with_exceptions(rate: f64, exceptions: u64) -> AnyFilter {
    let base = filled(Bloom::new(100, rate).unwrap().into(), 100);
    let mut filter = excepting(base, 100, exceptions);
    for number in 5000..5020 {
        filter.try_insert(key(number)).unwrap();
    }
    filter
}

fn golden_file(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/native");
    folder.join(name).with_extension("mayhap")
}

#[test]
fn files_of_version_1_are_read_and_written_as_ever() {
    for (name, filter) in golden() {
        let bytes = native::encode(&filter).unwrap();
        let path = golden_file(name);
        // A kind that is new gets its file so; the others stay as they are.
        if !path.exists() && std::env::var_os("MAYHAP_WRITE_GOLDEN").is_some() {
            std::fs::write(&path, &bytes).unwrap();
        }
        let golden = std::fs::read(path).unwrap();
        assert!(bytes == golden, "{name} is written in another way");
        let back = decode(&golden).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(back == filter, "{name} is read in another way");
        assert!((0..100).all(|number| back.contains(key(number))));
    }
}

/// Readers of version 1 ignore optional features, so a file with a key type differs only there and in the checksums over it.
#[test]
fn a_key_type_changes_an_optional_feature_and_nothing_else() {
    let plain = filled(Bloom::new(100, 0.01).unwrap().into(), 100);
    let without = native::encode(&plain).unwrap();
    let with = native::encode(&plain.clone().with_key_type(KeyType::U64)).unwrap();
    assert_eq!(with.len(), without.len());
    let header = u32::from_le_bytes(with[12..16].try_into().unwrap()) as usize;
    let differing: Vec<usize> = (0..with.len())
        .filter(|&at| with[at] != without[at])
        .collect();
    let is_expected =
        |&at: &usize| at == 32 || (header - 8..header).contains(&at) || at >= with.len() - 8;
    assert!(differing.iter().all(is_expected), "{differing:?}");
    assert_eq!((with[32], without[32]), (KeyType::U64.id(), 0));
    assert_eq!(decode(&with).unwrap().key_type(), Some(KeyType::U64));
    assert_eq!(decode(&without).unwrap().key_type(), None);
}
