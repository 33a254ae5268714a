//! Folders that each version of the format wrote. They are read from memory, so that nothing can change them.

use mayhap_log::simulated::SimulatedDisk;
use mayhap_log::{Fsync, Journal, JournalError, JournalOptions, Lsn, Recovered};
use std::fs;
use std::path::Path;

fn load(version: &str) -> SimulatedDisk {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/log");
    let disk = SimulatedDisk::new();
    for entry in fs::read_dir(folder.join(version)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        disk.write_file(&name, &fs::read(entry.path()).unwrap());
    }
    disk
}

/// Entries as (number, body), records as (number, time, body).
type Seen = (Vec<(Lsn, Vec<u8>)>, Vec<(Lsn, u64, Vec<u8>)>);

fn read(disk: &SimulatedDisk) -> (Seen, Journal<SimulatedDisk>, mayhap_log::RecoverySummary) {
    let mut seen = Seen::default();
    let options = JournalOptions::default()
        .fsync(Fsync::Always)
        .background(false);
    let (journal, summary) = Journal::open(disk.clone(), options, |what| {
        match what {
            Recovered::Entry { lsn, body } => seen.0.push((lsn, body.to_vec())),
            Recovered::LargeEntry { .. } => unreachable!("a few bytes"),
            Recovered::Record { lsn, time, body } => seen.1.push((lsn, time, body.to_vec())),
        }
        Ok(())
    })
    .unwrap();
    (seen, journal, summary)
}

/// A snapshot, the log that goes with it, and a second log whose last record is cut off.
#[test]
fn version_1_stays_readable() {
    let disk = load("v1");
    let ((entries, mut records), journal, summary) = read(&disk);
    let expected = [
        (3, Vec::new()),
        (3, b"an entry".to_vec()),
        (4, vec![0xff; 300]),
    ];
    assert_eq!(entries, expected);
    let expected: [(Lsn, u64, &[u8]); 5] = [
        (4, 1_700_000_000_010, b"while the snapshot was taken"),
        (5, u64::MAX, b""),
        (6, 0, b"in parts"),
        (7, 1_700_000_000_020, b"after 0"),
        (8, 1_700_000_000_021, b"after 1"),
    ];
    let expected = expected.map(|(lsn, time, body)| (lsn, time, body.to_vec()));
    assert_eq!(records, expected);
    assert_eq!((summary.snapshot, summary.last_lsn), (Some(2), 8));
    let torn = summary.torn.unwrap();
    assert_eq!(
        (torn.file.as_str(), torn.offset, torn.bytes),
        ("log-0000000003", 222, 35)
    );

    // And it goes on from there.
    let lsn = journal.append(9, b"of today").unwrap();
    journal.commit(lsn).unwrap();
    records.push((9, 9, b"of today".to_vec()));
    assert_eq!(read(&disk.crash(1)).0, (entries, records));
}

/// A snapshot, the log that goes with it and has no record, and a second log that was ended in order.
#[test]
fn version_2_stays_readable() {
    let disk = load("v2");
    let ((entries, mut records), journal, summary) = read(&disk.copy());
    assert_eq!(entries, [(3, b"an entry".to_vec())]);
    let expected: [(Lsn, u64, &[u8]); 2] = [
        (4, 1_700_000_000_300, b"after the snapshot"),
        (5, 1_700_000_000_301, b"the last"),
    ];
    let expected = expected.map(|(lsn, time, body)| (lsn, time, body.to_vec()));
    assert_eq!(records, expected);
    assert_eq!((summary.snapshot, summary.last_lsn), (Some(2), 5));
    // Of a record that the snapshot has made superfluous.
    assert_eq!(summary.last_time, 1_700_000_000_500);
    assert_eq!(summary.torn, None);
    drop(journal);

    // The mark at the end keeps the last record from being taken for one that nobody was promised.
    let last = "log-0000000003";
    let bytes = disk.bytes(last).unwrap();
    let damaged = disk.copy();
    let mut flipped = bytes.clone();
    flipped[bytes.len() - 33] ^= 1;
    damaged.write_file(last, &flipped);
    let options = JournalOptions::default().background(false);
    assert!(matches!(
        Journal::open(damaged, options, |_| Ok(())),
        Err(JournalError::Damaged { .. })
    ));

    // And it goes on from there.
    let (_, journal, _) = read(&disk);
    let lsn = journal.append(9, b"of today").unwrap();
    journal.commit(lsn).unwrap();
    records.push((6, 9, b"of today".to_vec()));
    assert_eq!(read(&disk.crash(1)).0, (entries, records));
}
