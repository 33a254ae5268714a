//! Indexes of files: what is written is found, damage is noticed, and an update that was interrupted changes nothing.

use mayhap_codec::index::{
    Directory, FilterEntry, Index, IndexFilter, IndexWriter, IndexedFile, KeyForm, Root, SCHEME,
    StoredPath,
};
use mayhap_core::{Fuse, KeyHash, KeyType, Ribbon};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::LazyLock;
use twox_hash::XxHash3_64;

const HEADER_BYTES: usize = 4096;

/// The keys of six files, hashed once.
static HASHES: LazyLock<Vec<Vec<KeyHash>>> = LazyLock::new(|| {
    let files = (0..6).map(|file: u64| {
        let keys = 0..50 + 1000 * (file % 2);
        keys.map(|key| SCHEME.hash(format!("{file} {key}").as_bytes()))
            .collect()
    });
    files.collect()
});

fn hashes(file: u64) -> &'static [KeyHash] {
    HASHES.get(file as usize).map_or(&[], Vec::as_slice)
}

fn path(name: &str) -> StoredPath {
    StoredPath {
        is_relative: true,
        bytes: name.as_bytes().to_vec(),
    }
}

fn entry(name: &str, filter: FilterEntry) -> IndexedFile {
    IndexedFile {
        path: path(name),
        size: 7,
        modified_ns: -1,
        column: b"id".to_vec(),
        is_covered: true,
        filters: vec![filter],
    }
}

/// Ribbon filters at a strict and a loose rate, and a fuse filter.
fn write_filters(writer: &mut IndexWriter<'_>, first: u64, directory: &mut Directory) {
    for (number, rate) in (first..).zip([0.001, 0.2]) {
        let filter = Ribbon::build_with(hashes(number), rate, SCHEME).unwrap();
        let filter = IndexFilter::Ribbon(&filter);
        let filter = writer.append(&filter, Some(3), KeyForm::Integer, KeyType::Text);
        let file = entry(&number.to_string(), filter.unwrap());
        directory.files.push(file);
    }
    let filter = Fuse::build_with(hashes(first + 2), 0.001, SCHEME).unwrap();
    let filter = IndexFilter::Fuse(&filter);
    let filter = writer.append(&filter, None, KeyForm::Text, KeyType::U64);
    let file = entry(&(first + 2).to_string(), filter.unwrap());
    directory.files.push(file);
}

fn bytes_of(mut file: &File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

/// An index of three files, and the same with three files more.
fn before_and_after() -> (Vec<u8>, Vec<u8>) {
    let file = tempfile::tempfile().unwrap();
    let mut directory = Directory {
        settings: b"{}".to_vec(),
        roots: vec![Root {
            path: path("data"),
            is_folder: true,
        }],
        files: Vec::new(),
    };
    let mut writer = IndexWriter::create(&file).unwrap();
    write_filters(&mut writer, 0, &mut directory);
    writer.commit(&directory).unwrap();
    let before = bytes_of(&file);
    let index = Index::decode(before.clone()).unwrap();
    let mut directory = index.directory().clone();
    let mut writer = IndexWriter::extend(&file, &index).unwrap();
    write_filters(&mut writer, 3, &mut directory);
    writer.commit(&directory).unwrap();
    (before, bytes_of(&file))
}

/// Whether every key is found, one by one and in a batch. Damage that is noticed is no answer.
fn assert_nothing_is_missed(index: &Index, what: &dyn Fn() -> String) {
    for file in &index.directory().files {
        let number = std::str::from_utf8(&file.path.bytes).unwrap_or_default();
        let hashes = number.parse().map_or(&[][..], hashes);
        if hashes.is_empty() {
            continue;
        }
        for filter in &file.filters {
            for batch in [&hashes[..2], hashes] {
                let mut found = vec![false; batch.len()];
                if index.contains_hashes(filter, batch, &mut found).is_ok() {
                    assert!(found.iter().all(|&found| found), "{}", what());
                }
            }
        }
    }
}

#[test]
fn what_is_written_is_read_back() {
    let (before, after) = before_and_after();
    assert_eq!(before[HEADER_BYTES..2 * HEADER_BYTES], [0; HEADER_BYTES]);
    // Nothing of the old index is rewritten except the header that was not in use.
    assert_eq!(before[..HEADER_BYTES], after[..HEADER_BYTES]);
    assert_eq!(
        before[2 * HEADER_BYTES..],
        after[2 * HEADER_BYTES..before.len()]
    );
    let index = Index::decode(after).unwrap();
    index.verify().unwrap();
    assert!(index.damaged_header().is_none());
    let directory = index.directory();
    assert_eq!(directory.settings, b"{}");
    assert!(directory.roots[0].is_folder && directory.roots[0].path == path("data"));
    assert_eq!(directory.files.len(), 6);
    let file = &directory.files[4];
    assert_eq!((file.size, file.modified_ns), (7, -1));
    assert_eq!(file.column, b"id");
    let filter = &file.filters[0];
    assert_eq!((filter.row_group, filter.keys), (Some(3), 50));
    assert_eq!(filter.key_form, KeyForm::Integer);
    assert_nothing_is_missed(&index, &String::new);
    let absent: Vec<KeyHash> = (0..10_000_u64)
        .map(|key| SCHEME.hash(key.to_le_bytes().as_slice()))
        .collect();
    let mut found = vec![false; absent.len()];
    index
        .contains_hashes(&directory.files[0].filters[0], &absent, &mut found)
        .unwrap();
    let false_positives = found.iter().filter(|&&found| found).count();
    assert!(false_positives < 40, "{false_positives} of 10,000 at 0.1 %");
}

#[test]
fn damage_of_any_byte_is_noticed_and_hides_no_key() {
    let (bytes, _) = before_and_after();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        if let Ok(index) = Index::decode(damaged) {
            assert!(index.verify().is_err(), "byte {at}");
            assert_nothing_is_missed(&index, &|| format!("byte {at}"));
        }
    }
}

#[test]
fn an_index_that_is_cut_off_is_refused() {
    let (_, bytes) = before_and_after();
    for length in 0..bytes.len() {
        let cut = Index::decode(bytes[..length].to_vec());
        assert!(cut.is_err(), "{length} bytes");
    }
}

/// Bytes are appended and synced first, and then the header is written, perhaps only a part of it.
#[test]
fn an_update_that_was_interrupted_leaves_the_old_index() {
    let (before, after) = before_and_after();
    let appended = &after[before.len()..];
    for length in (0..appended.len()).step_by(61).chain([appended.len()]) {
        let crashed = [&before[..], &appended[..length]].concat();
        let index = Index::decode(crashed).unwrap();
        index.verify().unwrap();
        assert_eq!(index.directory().files.len(), 3);
        assert_nothing_is_missed(&index, &|| format!("{length} bytes"));
    }
    for length in 1..HEADER_BYTES {
        let mut crashed = [&before[..], appended].concat();
        let header = HEADER_BYTES..HEADER_BYTES + length;
        crashed[header.clone()].copy_from_slice(&after[header]);
        let index = Index::decode(crashed).unwrap();
        assert!(index.damaged_header().is_some() && index.verify().is_err());
        assert_eq!(index.directory().files.len(), 3, "{length} bytes");
    }
    // The next update repairs the header and keeps what is there.
    let mut file = tempfile::tempfile().unwrap();
    let mut crashed = [&before[..], &appended[..appended.len() / 2]].concat();
    crashed[HEADER_BYTES] = 1;
    file.write_all(&crashed).unwrap();
    let index = Index::decode(crashed).unwrap();
    let mut directory = index.directory().clone();
    let mut writer = IndexWriter::extend(&file, &index).unwrap();
    write_filters(&mut writer, 3, &mut directory);
    writer.commit(&directory).unwrap();
    let index = Index::decode(bytes_of(&file)).unwrap();
    index.verify().unwrap();
    assert_eq!(index.directory().files.len(), 6);
    assert_nothing_is_missed(&index, &String::new);
}

#[test]
fn copies_of_filters_answer_alike() {
    let (_, bytes) = before_and_after();
    let index = Index::decode(bytes).unwrap();
    let file = tempfile::tempfile().unwrap();
    let mut writer = IndexWriter::create(&file).unwrap();
    let mut directory = index.directory().clone();
    for filter in directory
        .files
        .iter_mut()
        .flat_map(|file| &mut file.filters)
    {
        *filter = writer.copy(&index, filter).unwrap();
    }
    writer.commit(&directory).unwrap();
    let copy = Index::decode(bytes_of(&file)).unwrap();
    copy.verify().unwrap();
    assert!(copy.file_bytes() < index.file_bytes() && copy.used_bytes() <= copy.file_bytes());
    assert_nothing_is_missed(&copy, &String::new);
}

/// Checksums do not stop a forger: every field of the directory is checked as well.
#[test]
fn forged_directories_are_refused_or_harmless() {
    let (bytes, _) = before_and_after();
    let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let (generation, offset) = (number(16), number(24) as usize);
    let mut refused = 0;
    for at in offset..bytes.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut forged = bytes.clone();
            forged[at] = value;
            let sum = XxHash3_64::oneshot_with_seed(generation, &forged[offset..]);
            forged[40..48].copy_from_slice(&sum.to_le_bytes());
            let sum = XxHash3_64::oneshot(&forged[..HEADER_BYTES - 8]);
            forged[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
            let Ok(index) = Index::decode(forged) else {
                refused += 1;
                continue;
            };
            let hashes = hashes(1);
            let mut found = vec![false; hashes.len()];
            for filter in index.directory().filters() {
                _ = index.contains_hashes(filter, &hashes[..1], &mut found[..1]);
                _ = index.contains_hashes(filter, hashes, &mut found);
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

/// The file in tests/data was written by the first version, and stays readable.
#[test]
fn an_old_index_answers() {
    let bytes = include_bytes!("../data/two-files.idx");
    let index = Index::decode(bytes.to_vec()).unwrap();
    index.verify().unwrap();
    for (file, key) in index.directory().files.iter().zip(["apple", "plum"]) {
        let mut found = [false; 2];
        let hashes = [SCHEME.hash(key), SCHEME.hash("neither")];
        index
            .contains_hashes(&file.filters[0], &hashes, &mut found)
            .unwrap();
        assert_eq!(found, [true, false], "{key}");
    }
}
