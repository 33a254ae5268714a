//! Mapped files: they answer as the filters that were saved, and damage is found when it was promised to be.

use mayhap_codec::native::{self, FileError, HashKey, LoadError, Mapped, Verify};
use mayhap_codec::{Limits, Problem};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, Cuckoo, Excepting, Fuse, GrowingBloom,
    HashScheme, KeyHash, Ribbon, Scheme, SipKey, Timestamp, WindowBloom,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SECRET: SipKey = SipKey::new(*b"sixteen secrets.");
const PAGE: usize = 1 << 16;
const ALL: [Verify; 3] = [Verify::Full, Verify::Lazy, Verify::Header];

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("mayhap-mapped-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("filter.mayhap")
    }

    fn save(&self, filter: &AnyFilter) -> PathBuf {
        let path = self.file();
        native::save(&path, filter).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn key(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

fn keys(count: u64) -> Vec<[u8; 8]> {
    (0..count).map(key).collect()
}

fn filled(mut filter: AnyFilter, keys: u64) -> AnyFilter {
    for number in 0..keys {
        filter.try_insert(key(number)).expect("room");
    }
    filter
}

/// Filters that are asked in place, of several pages and of less than one.
fn in_place() -> Vec<AnyFilter> {
    let mut all = Vec::new();
    for (capacity, rate) in [(1, 0.5), (500, 0.01), (200_000, 0.01), (100_000, 1e-6)] {
        all.extend([
            filled(Bloom::new(capacity, rate).unwrap().into(), capacity as u64),
            filled(
                Bloom::keyed(capacity, rate, SECRET).unwrap().into(),
                capacity as u64,
            ),
            filled(
                ClassicBloom::new(capacity, rate).unwrap().into(),
                capacity as u64,
            ),
            filled(
                GrowingBloom::new(capacity / 9 + 1, rate).unwrap().into(),
                capacity as u64,
            ),
            Fuse::build(&keys(capacity as u64), rate).unwrap().into(),
        ]);
    }
    all.push(Fuse::build(&keys(0), 0.01).unwrap().into());
    // Cells across the ends of pages, in every width.
    for bits in 4..=32 {
        let rate = 1.01 * 0.5_f64.powi(bits);
        all.push(Fuse::build(&keys(60_000), rate).unwrap().into());
    }
    for id in 0..100 {
        let Some(walk) = Scheme::from_id(id, 0).filter(|walk| !walk.is_native()) else {
            continue;
        };
        let plan = ClassicPlan::with_bits_and_probes(1 << 20, 8).unwrap();
        let empty = ClassicBloom::from_plan(plan, walk, HashScheme::Caller).unwrap();
        all.push(filled(empty.into(), 80_000));
    }
    all
}

fn to_be_read() -> Vec<AnyFilter> {
    let length = Duration::from_secs(100);
    let window = WindowBloom::new(1000, 0.01, length, Timestamp(0)).unwrap();
    let base = AnyFilter::from(Bloom::from_keys(keys(1000), 0.01).unwrap());
    let strangers: Vec<_> = (1000..5000).map(key).collect();
    let excepting = Excepting::build(base, &keys(1000), &strangers).unwrap();
    vec![
        filled(CountingBloom::new(1000, 0.01).unwrap().into(), 1000),
        filled(Cuckoo::new(1000, 0.01).unwrap().into(), 1000),
        filled(window.into(), 500),
        Ribbon::build(&keys(1000), 0.01).unwrap().into(),
        excepting.into(),
    ]
}

/// Every way to ask, about keys and strangers.
fn assert_agree(mapped: &Mapped, filter: &AnyFilter) {
    assert_eq!(mapped.kind(), filter.kind());
    assert_eq!(mapped.scheme(), filter.scheme());
    assert_eq!(mapped.stats(), filter.stats());
    let asked: Vec<_> = (0..3000).map(|at| key(at * at * 7)).collect();
    let expected: Vec<_> = asked.iter().map(|key| filter.contains(key)).collect();
    for (key, &expected) in asked.iter().zip(&expected) {
        assert_eq!(mapped.contains(key), expected, "{mapped:?}");
        assert_eq!(mapped.try_contains(key), Ok(expected));
    }
    let mut found = vec![false; asked.len()];
    mapped.contains_each(&asked, &mut found);
    assert_eq!(found, expected, "{mapped:?}");
    if mapped.scheme() == HashScheme::Caller {
        return;
    }
    let hashes: Vec<_> = asked.iter().map(|key| mapped.hash(key)).collect();
    for (&hash, &expected) in hashes.iter().zip(&expected) {
        assert_eq!(mapped.contains_hash(hash), expected);
        assert_eq!(mapped.try_contains_hash(hash), Ok(expected));
    }
    found.fill(false);
    mapped.contains_hashes(&hashes, &mut found);
    assert_eq!(found, expected);
}

#[test]
fn a_mapped_file_answers_as_the_filter_that_was_saved() {
    let folder = Folder::new("answers");
    for (filters, place) in [(in_place(), true), (to_be_read(), false)] {
        for filter in filters {
            let path = folder.save(&filter);
            for verify in ALL {
                let mapped = native::map(&path, verify, None).unwrap();
                assert_eq!(mapped.is_in_place(), place, "{mapped:?}");
                let pages_left = verify == Verify::Lazy && filter.stats().size_bytes > 0;
                assert_eq!(mapped.view().is_some(), place && !pages_left);
                assert_agree(&mapped, &filter);
                mapped.verify().unwrap();
                assert_eq!(mapped.view().is_some(), place);
                assert_agree(&mapped, &filter);
                assert!(mapped.read(Limits::default()).unwrap() == filter);
            }
        }
    }
}

#[test]
fn a_filter_for_the_callers_hashes_is_asked_by_them() {
    let folder = Folder::new("hashes");
    let mut bloom = Bloom::for_hashes(1000, 0.01).unwrap();
    let hash = |at: u64| KeyHash::from_u64(at.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    for at in 0..1000 {
        bloom.insert_hash(hash(at));
    }
    let path = folder.save(&bloom.clone().into());
    for verify in ALL {
        let mapped = native::map(&path, verify, None).unwrap();
        for at in 0..5000 {
            assert_eq!(
                mapped.contains_hash(hash(at)),
                bloom.contains_hash(hash(at))
            );
        }
    }
}

#[test]
fn a_key_that_is_kept_outside_must_be_given() {
    let folder = Folder::new("key");
    let filter = filled(Bloom::keyed(100, 0.01, SECRET).unwrap().into(), 100);
    native::save_with(folder.file(), &filter, HashKey::Outside).unwrap();
    for verify in ALL {
        let id = native::key_id(SECRET);
        let problem = problem_of(&folder.file(), verify);
        assert_eq!(problem, Problem::KeyOutside { id });
        let mapped = native::map(folder.file(), verify, Some(SECRET)).unwrap();
        assert_agree(&mapped, &filter);
        assert!(mapped.read(Limits::default()).unwrap() == filter);
    }
}

/// Why a file is not mapped.
fn problem_of(path: &Path, verify: Verify) -> Problem {
    match native::map(path, verify, None) {
        Err(FileError {
            error: LoadError::Decode(error),
            ..
        }) => error.problem,
        other => panic!("{verify:?}: {other:?}"),
    }
}

fn header_bytes(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize
}

#[test]
fn a_damaged_page_is_found_at_once_or_when_it_is_touched() {
    let folder = Folder::new("damage");
    let several_pages = |filter: &AnyFilter| filter.stats().size_bytes > 3 * PAGE as u64;
    for filter in in_place().into_iter().filter(several_pages) {
        let path = folder.save(&filter);
        let mut bytes = fs::read(&path).unwrap();
        // The last whole page: of a chain, one of the newest layer.
        let pages = (bytes.len() - header_bytes(&bytes)) / (PAGE + 8);
        let begin = header_bytes(&bytes) + (pages - 1) * PAGE;
        // Zeros where ones are wanted: a question that believed them would lose keys.
        bytes[begin..][..PAGE].fill(0);
        fs::write(&path, &bytes).unwrap();

        assert_eq!(problem_of(&path, Verify::Full), Problem::Checksum);
        let unverified = native::map(&path, Verify::Header, None).unwrap();
        assert_eq!(unverified.verify().unwrap_err().offset, begin as u64);
        let mapped = native::map(&path, Verify::Lazy, None).unwrap();
        let (mut refused, mut answered) = (0, 0);
        let asked = keys(10_000);
        let mut found = vec![false; asked.len()];
        mapped.contains_each(&asked, &mut found);
        for (key, &found) in asked.iter().zip(&found) {
            assert_eq!(mapped.contains(key), found);
            match mapped.try_contains(key) {
                Err(error) => {
                    assert_eq!(
                        (error.offset, error.problem),
                        (begin as u64, Problem::Checksum)
                    );
                    assert!(found, "a key of a damaged page is mayhap");
                    refused += 1;
                }
                Ok(answer) => {
                    assert_eq!((answer, found), (filter.contains(key), answer));
                    answered += 1;
                }
            }
        }
        assert!(
            refused > 100 && answered > 100,
            "{refused} {answered} {mapped:?}"
        );
        assert!(mapped.verify().is_err() && mapped.read(Limits::default()).is_err());
    }
}

#[test]
fn what_is_no_file_of_ours_is_refused_in_every_way() {
    let folder = Folder::new("refused");
    let path = folder.save(&filled(Bloom::new(1000, 0.01).unwrap().into(), 1000));
    let whole = fs::read(&path).unwrap();
    let header = header_bytes(&whole);
    for verify in ALL {
        for length in [0, 1, header - 1, header, header + 64, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            let problem = problem_of(&path, verify);
            assert!(
                matches!(problem, Problem::Cut { .. }),
                "{length}: {problem:?}"
            );
        }
        fs::write(&path, [&whole[..], &[0]].concat()).unwrap();
        assert_eq!(problem_of(&path, verify), Problem::Trailing { bytes: 1 });
        // The header, and the table of checksums.
        for at in [20, header - 1, whole.len() - 9, whole.len() - 1] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(problem_of(&path, verify), Problem::Checksum, "byte {at}");
        }
        for path in [folder.0.clone(), folder.0.join("nothing")] {
            let error = native::map(path, verify, None).unwrap_err();
            assert!(matches!(error.error, LoadError::Io(_)), "{error}");
        }
    }
}

#[test]
fn who_has_mapped_a_file_keeps_it_when_another_is_saved_in_its_place() {
    let folder = Folder::new("replaced");
    let old = filled(Bloom::new(50_000, 0.01).unwrap().into(), 50_000);
    let path = folder.save(&old);
    let mapped = native::map(&path, Verify::Lazy, None).unwrap();
    folder.save(&filled(Cuckoo::new(10, 0.01).unwrap().into(), 1));
    assert_agree(&mapped, &old);
}

#[test]
fn many_threads_verify_and_ask_at_once() {
    fn assert_shared<T: Send + Sync>(_: &T) {}
    let folder = Folder::new("threads");
    let filter = filled(Bloom::new(200_000, 0.001).unwrap().into(), 200_000);
    let mapped = native::map(folder.save(&filter), Verify::Lazy, None).unwrap();
    assert_shared(&mapped);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_agree(&mapped, &filter));
        }
    });
}
