//! Our own files: what is written is read, every damage is found, and nothing that strangers write does harm.

use mayhap::{
    AnyFilter, Bloom, Burst, ClassicBloom, Clearing, CountingBloom, Cuckoo, Excepting,
    ExceptionLayer, Fuse, GrowingBloom, HashScheme, KeyHash, Kind, Retouched, Ribbon, Scheme,
    SipKey, Timestamp, WindowBloom,
};
use mayhap_codec::{DecodeError, Limits, Problem, native};
use std::time::Duration;

const SECRET: SipKey = SipKey::new(*b"sixteen secrets.");

fn key(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

fn filled(mut filter: AnyFilter, keys: u64) -> AnyFilter {
    for number in 0..keys {
        filter.try_insert(key(number)).expect("room");
    }
    filter
}

fn decode(bytes: &[u8]) -> Result<AnyFilter, DecodeError> {
    native::decode(bytes, Limits::default())
}

/// One of every kind and most of their forms, none larger than a few pages.
fn filters() -> Vec<AnyFilter> {
    let mut all = Vec::new();
    for (capacity, rate) in [(1, 0.5), (300, 0.01), (2000, 1e-6)] {
        for keys in [0, capacity] {
            all.extend([
                filled(Bloom::new(capacity, rate).unwrap().into(), keys),
                filled(Bloom::keyed(capacity, rate, SECRET).unwrap().into(), keys),
                filled(ClassicBloom::new(capacity, rate).unwrap().into(), keys),
                filled(CountingBloom::new(capacity, rate).unwrap().into(), keys),
                filled(Cuckoo::new(capacity, rate).unwrap().into(), keys),
                filled(GrowingBloom::new(capacity, rate).unwrap().into(), 5 * keys),
                filled(Cuckoo::growing(capacity, rate).unwrap().into(), 5 * keys),
            ]);
        }
    }
    for bits in 3..=8 {
        let counting = CountingBloom::with_counter_bits(77, 0.1, bits).unwrap();
        all.push(filled(counting.into(), 50));
    }
    let maximum = GrowingBloom::with_maximum(10, 500, 0.05).unwrap();
    all.push(filled(maximum.into(), 300));
    all.push(folded().into());
    all.push(united().into());
    all.push(with_twins().into());
    let mut hashes = Bloom::for_hashes(100, 0.01).unwrap();
    hashes.insert_hash(KeyHash::from_u64(0x1234_5678_9abc_def0));
    all.push(hashes.into());
    for (keys, rate) in [(0, 0.01), (1, 0.01), (500, 0.01), (3000, 1e-4), (100, 1e-9)] {
        let keys: Vec<_> = (0..keys).map(key).collect();
        all.push(Fuse::build(&keys, rate).unwrap().into());
    }
    for burst in [Burst::Overflow, Burst::RotateEarly] {
        all.push(window(0).on_burst(burst).into());
        let mut filter = window(0).on_burst(burst);
        for number in 0..900 {
            filter.insert(key(number), Timestamp(1000 + 17 * number));
        }
        all.push(filter.into());
    }
    for (keys, rate) in [(0, 0.01), (1, 0.9), (500, 0.01), (5000, 1e-4), (100, 1e-9)] {
        let keys: Vec<_> = (0..keys).map(key).collect();
        all.push(Ribbon::build(&keys, rate).unwrap().into());
    }
    all.extend(walks_of_others().map(AnyFilter::from));
    all.extend(retouched().map(AnyFilter::from));
    all.extend(with_exceptions());
    all
}

/// Empty, with false positives that are only listed, and with some that were cleared.
fn retouched() -> impl Iterator<Item = Retouched> {
    let clearings = [
        None,
        Some(Clearing::Ratio),
        Some(Clearing::MinimumFalseNegatives),
    ];
    let cleared = clearings.into_iter().map(|clearing| {
        let mut filter = Retouched::new(300, 0.2).unwrap();
        filter.extend((0..300).map(key));
        let strangers: Vec<_> = (1000..1300).map(key).collect();
        filter.add_false_positives(&strangers).unwrap();
        if let Some(clearing) = clearing {
            filter.clear_false_positive(key(5), clearing).unwrap();
            filter.clear_all(clearing).unwrap();
            filter.add_false_positives(&strangers[..7]).unwrap();
        }
        filter
    });
    cleared.chain([Retouched::keyed(10, 0.1, SECRET).unwrap()])
}

/// On every kind that can have them, and all forms of the layer: a list, one level, and two of either side.
fn with_exceptions() -> Vec<AnyFilter> {
    let keys: Vec<_> = (0..1000).map(key).collect();
    let bases: [AnyFilter; 7] = [
        Bloom::from_keys(&keys, 0.1).unwrap().into(),
        ClassicBloom::from_keys(&keys, 0.1).unwrap().into(),
        CountingBloom::from_keys(&keys, 0.1).unwrap().into(),
        filled(GrowingBloom::new(20, 0.1).unwrap().into(), 1000),
        filled(Cuckoo::new(2000, 0.1).unwrap().into(), 1000),
        Fuse::build(&keys, 0.1).unwrap().into(),
        Ribbon::build(&keys, 0.1).unwrap().into(),
    ];
    let mut all: Vec<_> = bases.map(|base| excepting(base, 1000, 100)).into();
    let forms = [
        (3000, 0.05, 10),
        (3000, 0.1, 6000),
        (1000, 0.4, 3000),
        (200, 0.5, 9000),
    ];
    for (keys, rate, exceptions) in forms {
        let base = filled(Bloom::keyed(keys, rate, SECRET).unwrap().into(), keys);
        let mut filter = excepting(base, keys, exceptions);
        all.push(filter.clone());
        for number in 0..200 {
            filter.try_insert(key(1_000_000 + number)).unwrap();
        }
        all.push(filter);
    }
    all
}

fn excepting(base: AnyFilter, keys: u64, exceptions: u64) -> AnyFilter {
    let positives: Vec<_> = (0..keys).map(key).collect();
    let exceptions: Vec<_> = (keys..keys + exceptions).map(key).collect();
    Excepting::build(base, &positives, &exceptions)
        .unwrap()
        .into()
}

#[test]
fn all_kinds_and_all_forms_of_exceptions_are_among_the_filters() {
    let filters = filters();
    for kind in Kind::ALL {
        let is_there = |filter: &AnyFilter| filter.kind() == kind && filter.excepting().is_none();
        assert!(filters.iter().any(is_there), "{kind}");
    }
    let parts = filters.iter().filter_map(AnyFilter::excepting);
    let parts: Vec<_> = parts.map(Excepting::parts).collect();
    let forms: [fn(&ExceptionLayer) -> bool; 4] = [
        |layer| matches!(layer, ExceptionLayer::List(_)),
        |layer| matches!(layer, ExceptionLayer::OneLevel(_)),
        |layer| matches!(layer, ExceptionLayer::OfExceptions(..)),
        |layer| matches!(layer, ExceptionLayer::OfPositives(..)),
    ];
    for (number, form) in forms.iter().enumerate() {
        let mut of_form = parts.iter().filter(|parts| form(&parts.layer));
        assert!(of_form.next().is_some(), "form {number}");
    }
    assert!(parts.iter().any(|parts| !parts.overrides.is_empty()));
}

fn window(keys: u64) -> WindowBloom {
    let length = Duration::from_millis(12_345);
    let mut filter = WindowBloom::new(200, 0.01, length, Timestamp(1000)).unwrap();
    for number in 0..keys {
        filter.insert(key(number), Timestamp(1000 + 17 * number));
    }
    filter
}

fn folded() -> Bloom {
    let mut folded = Bloom::new(10_000, 1e-5).unwrap();
    folded.insert("a");
    folded.fold().unwrap();
    folded
}

fn united() -> GrowingBloom {
    let (mut one, mut other) = (
        GrowingBloom::new(50, 0.01).unwrap(),
        GrowingBloom::new(50, 0.01).unwrap(),
    );
    one.extend((0..100).map(key));
    other.extend((1000..1300).map(key));
    one.union_with(&other).unwrap();
    one
}

/// Loose enough that keys look alike, with tables that have been emptied.
fn with_twins() -> Cuckoo {
    let mut cuckoo = Cuckoo::growing(8, 0.3).unwrap();
    for number in 0..400 {
        cuckoo.try_insert(key(number)).unwrap();
    }
    for number in 0..150 {
        assert!(cuckoo.remove(key(number)));
    }
    for number in 0..9 {
        cuckoo.try_insert(key(200 + number % 2)).unwrap();
    }
    assert!(cuckoo.twins().any(|(_, twins)| !twins.is_empty()));
    cuckoo
}

/// Every walk in the frozen list.
fn walks_of_others() -> impl Iterator<Item = ClassicBloom> {
    let walks = (0..100).filter_map(|id| Scheme::from_id(id, 0));
    walks.filter(|walk| !walk.is_native()).map(|walk| {
        let plan = mayhap::plan::classic::ClassicPlan::with_bits_and_probes(1024, 6).unwrap();
        let mut filter = ClassicBloom::from_plan(plan, walk, HashScheme::Caller).unwrap();
        filter.extend((0..20).map(key));
        filter
    })
}

#[test]
fn a_filter_comes_back_as_it_was_and_is_written_again_to_the_same_bytes() {
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        let back = decode(&bytes).unwrap_or_else(|error| panic!("{filter:?}: {error}"));
        assert!(back == filter, "{filter:?} became {back:?}");
        assert_eq!(native::encode(&back).unwrap(), bytes, "{filter:?}");
        let mut streamed = Vec::new();
        native::write(&filter, &mut streamed).unwrap();
        assert_eq!(streamed, bytes);
        if filter.scheme() != HashScheme::Caller {
            let same = |number| filter.contains(key(number)) == back.contains(key(number));
            assert!((0..20_000).all(same), "{filter:?} answers in another way");
        }
    }
}

#[test]
fn every_bit_that_is_flipped_is_found() {
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        let header = header_bytes(&bytes);
        let everywhere = bytes.len() * 8;
        let some =
            (0..2000).map(|step: usize| step.wrapping_mul(0x9E37_79B9_7F4A_7C15) % everywhere);
        for bit in (0..header * 8).chain(some) {
            assert_found(&bytes, bit);
        }
    }
}

#[test]
fn a_hundred_thousand_flipped_bits_of_a_body_are_found() {
    let filter = filled(Bloom::new(10_000, 0.01).unwrap().into(), 10_000);
    let bytes = native::encode(&filter).unwrap();
    let begin = header_bytes(&bytes) * 8;
    let mut random = 1_u64;
    for _ in 0..100_000 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let bit = begin + (random >> 16) as usize % (bytes.len() * 8 - begin);
        assert_found(&bytes, bit);
    }
}

fn header_bytes(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize
}

fn assert_found(bytes: &[u8], bit: usize) {
    let mut flipped = bytes.to_vec();
    flipped[bit / 8] ^= 1 << (bit % 8);
    assert!(decode(&flipped).is_err(), "bit {bit} of {}", bytes.len());
}

#[test]
fn a_file_that_is_cut_or_longer_is_refused() {
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        let step = 1 + bytes.len() / 3000;
        for length in (0..bytes.len()).step_by(step) {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
        let longer = [&bytes[..], &[0]].concat();
        let problem = decode(&longer).unwrap_err().problem;
        assert_eq!(problem, Problem::Trailing { bytes: 1 });
    }
}

#[test]
fn a_key_that_is_kept_outside_must_be_given() {
    let filter = filled(Bloom::keyed(100, 0.01, SECRET).unwrap().into(), 100);
    let bytes = native::encode_with(&filter, native::HashKey::Outside).unwrap();
    let secret = SECRET.to_bytes();
    assert!(!bytes.windows(16).any(|window| window == secret));
    let id = native::key_id(SECRET);
    assert_eq!(
        decode(&bytes).unwrap_err().problem,
        Problem::KeyOutside { id }
    );
    let limits = Limits::default();
    let other = SipKey::new([7; 16]);
    assert!(native::decode_with_key(&bytes, limits, other).is_err());
    assert!(native::decode_with_key(&bytes, limits, SECRET).unwrap() == filter);
}

#[test]
fn a_file_that_is_larger_than_allowed_is_refused() {
    let filter = AnyFilter::from(Bloom::new(10_000, 0.01).unwrap());
    let bytes = native::encode(&filter).unwrap();
    let limits = Limits { most_bytes: 1000 };
    let problem = native::decode(&bytes, limits).unwrap_err().problem;
    assert!(matches!(problem, Problem::TooLarge { limit: 1000, .. }));
}

/// What `golden/native` holds, one a kind: these files were written by the first release of version 1 and never change.
fn golden() -> [(&'static str, AnyFilter); 9] {
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
        ("window", window(100).into()),
        ("fuse", Fuse::build(&keys, 0.01).unwrap().into()),
    ]
}

fn golden_file(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/native");
    folder.join(name).with_extension("mayhap")
}

#[test]
fn files_of_version_1_are_read_and_written_as_ever() {
    for (name, filter) in golden() {
        let bytes = native::encode(&filter).unwrap();
        let golden = std::fs::read(golden_file(name)).unwrap();
        assert!(bytes == golden, "{name} is written in another way");
        let back = decode(&golden).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(back == filter, "{name} is read in another way");
        assert!((0..100).all(|number| back.contains(key(number))));
    }
}

#[test]
#[ignore = "writes the files of a kind that is new; the others stay as they are"]
fn write_golden_files() {
    for (name, filter) in golden() {
        let path = golden_file(name);
        if !path.exists() {
            std::fs::write(path, native::encode(&filter).unwrap()).unwrap();
        }
    }
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("mayhap-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_saved_file_is_opened_and_replaced_as_a_whole() {
    let folder = folder("save");
    let path = folder.join("keys.mayhap");
    let small = filled(Bloom::new(100, 0.01).unwrap().into(), 100);
    let large = filled(GrowingBloom::new(100, 0.01).unwrap().into(), 5000);
    for filter in [&small, &large, &small] {
        native::save(filter, native::HashKey::Inside, &path).unwrap();
        let opened = native::open(&path, Limits::default(), None).unwrap();
        assert!(opened == *filter);
        assert_eq!(
            std::fs::read(&path).unwrap(),
            native::encode(filter).unwrap()
        );
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_cannot_be_saved_leaves_the_old_file_and_nothing_else() {
    let folder = folder("refused");
    let path = folder.join("keys.mayhap");
    let old = filled(Bloom::new(100, 0.01).unwrap().into(), 100);
    native::save(&old, native::HashKey::Inside, &path).unwrap();
    // A folder in the place of the file cannot be replaced by one.
    let taken = folder.join("taken");
    std::fs::create_dir_all(taken.join("inside")).unwrap();
    assert!(native::save(&old, native::HashKey::Inside, &taken).is_err());
    assert!(native::save(&old, native::HashKey::Inside, folder.join("no/such")).is_err());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    assert!(native::open(&path, Limits::default(), None).unwrap() == old);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn permissions_of_a_replaced_file_and_links_to_it_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("kept");
    let (path, link) = (folder.join("keys.mayhap"), folder.join("link"));
    let filter = filled(Bloom::new(100, 0.01).unwrap().into(), 100);
    native::save(&filter, native::HashKey::Inside, &path).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("keys.mayhap", &link).unwrap();
    native::save(&filter, native::HashKey::Inside, &link).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn damaged_pages_become_ones_and_no_key_is_lost() {
    let keys = 500_000;
    let bloom = Bloom::new(keys, 0.01).unwrap().into();
    let growing = GrowingBloom::new(50_000, 0.01).unwrap().into();
    for filter in [filled(bloom, keys), filled(growing, keys)] {
        let bytes = native::encode(&filter).unwrap();
        let begin = header_bytes(&bytes);
        let whole = native::repair_with_ones(&bytes, Limits::default(), None).unwrap();
        assert!(whole.filter == filter && whole.damaged_pages.is_empty());

        let mut damaged = bytes.clone();
        for page in [0, 3] {
            damaged[begin + page * (1 << 16) + 77..][..1000].fill(0);
        }
        assert_eq!(decode(&damaged).unwrap_err().problem, Problem::Checksum);
        let repaired = native::repair_with_ones(&damaged, Limits::default(), None).unwrap();
        assert_eq!(repaired.damaged_pages, [0, 3]);
        assert!((0..keys).all(|number| repaired.filter.contains(key(number))));
        let strangers =
            (keys..keys + 100_000).filter(|&number| repaired.filter.contains(key(number)));
        let measured = strangers.count() as f64 / 100_000.0;
        let told = repaired.estimated_rate;
        assert!(
            (measured / told - 1.0).abs() < 0.05,
            "{measured} measured, {told} told"
        );
        assert!(told > 0.02 && told < 1.0, "{told}");
    }
}

#[test]
fn what_ones_would_harm_is_not_repaired() {
    let filter = filled(Cuckoo::new(100, 0.01).unwrap().into(), 100);
    let bytes = native::encode(&filter).unwrap();
    assert!(native::repair_with_ones(&bytes, Limits::default(), None).is_err());
}

/// Forgers fix the checksums: whatever they write into a header, it is refused, or a filter that answers and takes keys.
#[test]
fn forged_headers_do_no_harm() {
    let numbers = [
        0,
        1,
        2,
        127,
        (1 << 31) - 1,
        1 << 31,
        (1 << 32) - 1,
        (1 << 63) - 1,
        1 << 63,
        u64::MAX,
    ];
    for filter in filters().into_iter().step_by(3) {
        let bytes = native::encode(&filter).unwrap();
        let header = header_bytes(&bytes);
        for at in (8..header - 8).step_by(2) {
            for number in numbers {
                for length in [2, 8] {
                    let mut forged = bytes.clone();
                    let end = (at + length).min(header - 8);
                    forged[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
                    seal(&mut forged, header);
                    ask(&forged);
                }
            }
        }
    }
}

/// Bodies, too.
#[test]
fn forged_bodies_do_no_harm() {
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        let header = header_bytes(&bytes);
        let body = bytes.len().saturating_sub(header + 16);
        for step in 0..300_usize {
            let mut forged = bytes.clone();
            if body > 0 {
                let at = header + step.wrapping_mul(7_368_787) % body;
                forged[at] = [0xff, 0, 1, 3, 0x80][step % 5];
            }
            seal(&mut forged, header);
            ask(&forged);
        }
    }
}

fn seal(bytes: &mut [u8], header: usize) {
    use twox_hash::XxHash3_64;
    let sum = XxHash3_64::oneshot(&bytes[..header - 8]);
    bytes[header - 8..header].copy_from_slice(&sum.to_le_bytes());
    let mut pages = 0;
    while bytes.len() - header > pages * ((1 << 16) + 8) + 8 {
        pages += 1;
    }
    let table = bytes.len() - 8 * (pages + 1);
    let sums: Vec<u8> = (0..)
        .zip(bytes[header..table].chunks(1 << 16))
        .flat_map(|(page, bytes)| XxHash3_64::oneshot_with_seed(page, bytes).to_le_bytes())
        .collect();
    bytes[table..table + sums.len()].copy_from_slice(&sums);
    let last = XxHash3_64::oneshot_with_seed(sum, &sums).to_le_bytes();
    let end = bytes.len() - 8;
    bytes[end..].copy_from_slice(&last);
}

fn ask(bytes: &[u8]) {
    let Ok(mut filter) = decode(bytes) else {
        return;
    };
    let _ = filter.stats();
    if filter.scheme() == HashScheme::Caller {
        return;
    }
    // One that grows asks for as much memory as its plan says, forged or not.
    let grows = match &filter {
        AnyFilter::Growing(_) | AnyFilter::Window(_) => true,
        AnyFilter::Cuckoo(cuckoo) => cuckoo.growth().is_some(),
        _ => false,
    };
    for number in 0..60 {
        let _ = filter.contains(key(number));
        if !grows {
            let _ = filter.try_insert(key(number));
        }
        let _ = filter.remove(key(number / 2));
    }
}
