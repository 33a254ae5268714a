//! Files and the answers to them, for readers in other languages: `tools/test-python-reader.sh` compares.

use super::filters::{excepting, retouched, window, window_cuckoo, window_with_stash};
use super::golden::golden;
use super::{SECRET, decode, filled, key};
use mayhap_codec::native;
use mayhap_core::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, CountingCuckoo, Cuckoo, Fuse, GrowingBloom,
    GrowingCuckoo, HashScheme, Ribbon, Scheme,
};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const KEYS: u64 = 1000;
const STRANGERS: std::ops::Range<u64> = 1_000_000..1_010_000;

/// Into the folder `MAYHAP_ANSWERS`, or one that goes away, for every filter: NAME.mayhap, the keys to ask for in NAME.keys, and in NAME.found those of
/// them that may be in; a key a line, in hexadecimal.
#[test]
fn a_file_of_every_form_answers_as_its_filter() {
    let passing = tempfile::tempdir().unwrap();
    let asked = std::env::var_os("MAYHAP_ANSWERS");
    let folder = asked.as_ref().map_or(passing.path(), Path::new);
    fs::create_dir_all(folder).unwrap();
    let golden = golden().map(|(name, filter)| (format!("golden-{name}"), filter));
    for (name, filter) in fresh().into_iter().chain(golden) {
        let (mut keys, mut found) = (String::new(), String::new());
        let bytes = native::encode(&filter).unwrap();
        let back = decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        for number in (0..KEYS).chain(STRANGERS) {
            let is_in = filter.contains(key(number));
            assert_eq!(back.contains(key(number)), is_in, "{name}: {number}");
            let hex = format!("{:016x}\n", number.swap_bytes());
            keys += &hex;
            if is_in {
                found += &hex;
            }
        }
        let save = |extension, bytes: &[u8]| {
            fs::write(folder.join(format!("{name}.{extension}")), bytes).unwrap();
        };
        save("mayhap", &bytes);
        save("keys", keys.as_bytes());
        save("found", found.as_bytes());
    }
    write_words(folder);
}

/// The same with lines of text.
fn write_words(folder: &Path) {
    let mut filter = Bloom::keyed(KEYS as usize, 0.01, SECRET).unwrap();
    let (mut words, mut found) = (String::new(), String::new());
    for number in 0..KEYS {
        filter.insert(format!("word {number}"));
    }
    for number in 0..11 * KEYS {
        let word = format!("word {number}");
        writeln!(words, "{word}").unwrap();
        if filter.contains(&word) {
            writeln!(found, "{word}").unwrap();
        }
    }
    let file = native::encode_with(&filter, native::HashKey::Outside).unwrap();
    fs::write(folder.join("words"), file).unwrap();
    fs::write(folder.join("words.txt"), words).unwrap();
    fs::write(folder.join("words.expected"), found).unwrap();
}

/// Filters of every kind and form.
fn fresh() -> Vec<(String, AnyFilter)> {
    let mut all: Vec<(String, AnyFilter)> = Vec::new();
    let keys: Vec<_> = (0..KEYS).map(key).collect();
    for rate in [0.5, 0.2, 0.1, 0.05, 0.01, 1e-3, 1e-5] {
        let bloom = Bloom::from_keys(&keys, rate).unwrap();
        let growing = GrowingBloom::new(50, rate).unwrap();
        all.push((format!("bloom-{rate}"), bloom.into()));
        all.push((format!("growing-{rate}"), filled(growing.into(), KEYS)));
    }
    for walk in [Scheme::DoubleHashing, Scheme::EnhancedDoubleHashing] {
        let plan = *ClassicBloom::new(KEYS as usize, 0.01).unwrap().plan();
        let filter = ClassicBloom::from_plan(plan, walk, HashScheme::Sip13(SECRET)).unwrap();
        all.push((
            format!("classic-{}", walk.id()),
            filled(filter.into(), KEYS),
        ));
    }
    for bits in [3, 4, 7, 8] {
        let filter = CountingBloom::with_counter_bits(KEYS as usize, 0.05, bits).unwrap();
        all.push((format!("counting-{bits}"), filled(filter.into(), KEYS)));
    }
    for (number, filter) in retouched().enumerate() {
        all.push((format!("retouched-{number}"), filter.into()));
    }
    for rate in [0.1, 1e-3] {
        let one = Cuckoo::new(KEYS as usize, rate).unwrap();
        let chain = Cuckoo::growing(50, rate).unwrap();
        all.push((format!("cuckoo-{rate}"), filled(one.into(), KEYS)));
        all.push((format!("cuckoo-growing-{rate}"), filled(chain.into(), KEYS)));
        let growing = GrowingCuckoo::new(50, rate).unwrap();
        all.push((
            format!("growing-cuckoo-{rate}"),
            filled(growing.into(), KEYS),
        ));
        let counting = CountingCuckoo::new(50, rate).unwrap();
        all.push((
            format!("counting-cuckoo-{rate}"),
            filled(counting.into(), KEYS),
        ));
    }
    // Several groups, and several tables; strict enough for wide cells.
    for (rate, keys) in [(0.3, 500_000), (0.01, 100_000), (1e-9, KEYS)] {
        let growing = GrowingCuckoo::new(50, rate).unwrap();
        all.push((
            format!("growing-cuckoo-{keys}"),
            filled(growing.into(), keys),
        ));
        let counting = CountingCuckoo::new(50, rate).unwrap();
        all.push((
            format!("counting-cuckoo-{keys}"),
            filled(counting.into(), keys),
        ));
    }
    // The first keys have expired.
    all.push(("window".into(), window(KEYS).into()));
    for planned in [50, KEYS as usize] {
        let name = format!("window-cuckoo-{planned}");
        all.push((name, window_cuckoo(planned, KEYS).into()));
    }
    all.push(("window-cuckoo-stash".into(), window_with_stash().into()));
    for (count, rate) in [(0, 0.1), (1, 0.3), (1000, 0.01), (1000, 1e-4), (5000, 1e-9)] {
        let keys: Vec<_> = (0..count).map(key).collect();
        let fuse = Fuse::build(&keys, rate).unwrap();
        let ribbon = Ribbon::build(&keys, rate).unwrap();
        all.push((format!("fuse-{count}-{rate}"), fuse.into()));
        all.push((format!("ribbon-{count}-{rate}"), ribbon.into()));
    }
    // Cells of every width.
    for bits in 4..=32 {
        let rate = 1.01 * 0.5_f64.powi(bits);
        let fuse = Fuse::build(&keys, rate).unwrap();
        assert_eq!(i32::from(fuse.plan().cell_bits()), bits);
        all.push((format!("fuse-of-{bits}-bits"), fuse.into()));
    }
    // So many that there are several shards and parts.
    let many: Vec<_> = (0..760_000).map(key).collect();
    all.push(("fuse-many".into(), Fuse::build(&many, 0.01).unwrap().into()));
    let ribbon = Ribbon::build(&many, 0.01).unwrap();
    all.push(("ribbon-many".into(), ribbon.into()));
    for (rate, exceptions) in [(0.01, 200), (0.1, 2000), (0.4, 3000), (0.5, 60_000)] {
        let base = Bloom::from_keys(&keys, rate).unwrap();
        let mut filter = excepting(base.into(), KEYS, exceptions);
        for number in STRANGERS.take(100) {
            filter.try_insert(key(number)).unwrap();
        }
        all.push((format!("excepting-{exceptions}"), filter));
    }
    all
}
