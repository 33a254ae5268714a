//! Files that are not what was written.

use mayhap_log::simulated::{Fault, FaultKind, SimulatedDisk};
use mayhap_log::{
    DamageKind, Fsync, Journal, JournalError, JournalOptions, Lsn, Recovered, RecoverySummary,
};

const LOG: &str = "log-0000000002";
const SNAPSHOT: &str = "snapshot-0000000002";

type Seen = Vec<(bool, Lsn, u64, Vec<u8>)>;

fn options() -> JournalOptions {
    JournalOptions::default()
        .fsync(Fsync::Always)
        .background(false)
}

fn open(
    disk: &SimulatedDisk,
    options: JournalOptions,
) -> Result<(Seen, RecoverySummary), JournalError> {
    let mut seen = Vec::new();
    let (_, summary) = Journal::open(disk.clone(), options, |what| {
        seen.push(match what {
            Recovered::Entry { lsn, body } => (true, lsn, 0, body.to_vec()),
            Recovered::LargeEntry { lsn, length, read } => {
                let mut body = vec![0; length as usize];
                read(0, &mut body).unwrap();
                (true, lsn, 0, body)
            }
            Recovered::Record { lsn, time, body } => (false, lsn, time, body.to_vec()),
        });
        Ok(())
    })?;
    Ok((seen, summary))
}

/// A snapshot of three entries and a log of six groups behind it, whose records are 4 to 15; as after a kill, so that the last mark is
/// before the last group.
fn small() -> (SimulatedDisk, Seen) {
    let disk = SimulatedDisk::new();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    let mut seen = Vec::new();
    for number in 0..3 {
        journal.append(number, b"before the snapshot").unwrap();
    }
    let mut snapshot = journal.begin_snapshot().unwrap();
    for number in 0..3_u8 {
        let body = vec![number; 20 * usize::from(number)];
        snapshot.entry(3, &body).unwrap();
        seen.push((true, 3, 0, body));
    }
    for group in 0..6_u64 {
        for part in 0..2 {
            let body = format!("group {group}, part {part}").into_bytes();
            let lsn = journal.append(group, &body).unwrap();
            seen.push((false, lsn, group, body));
        }
        journal.commit(journal.last_lsn()).unwrap();
    }
    snapshot.finish().unwrap();
    drop(journal);
    let disk = disk.restart();
    assert_eq!(disk.names(), [LOG, SNAPSHOT]);
    assert_eq!(open(&disk.copy(), options()).unwrap().0, seen);
    (disk, seen)
}

fn changed(disk: &SimulatedDisk, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> SimulatedDisk {
    let copy = disk.copy();
    let mut bytes = copy.bytes(name).unwrap();
    change(&mut bytes);
    copy.write_file(name, &bytes);
    copy
}

/// The snapshot says that all of these records were synced when it was finished: a log that ends anywhere before is refused.
#[test]
fn a_log_truncated_before_what_a_snapshot_contains_is_an_error() {
    let (disk, _) = small();
    for end in 0..disk.bytes(LOG).unwrap().len() {
        let disk = changed(&disk, LOG, |bytes| bytes.truncate(end));
        match open(&disk, options()) {
            Err(JournalError::Damaged { file, offset, .. }) => {
                assert_eq!(file, LOG);
                assert!(offset <= end as u64);
            }
            other => panic!("cut at {end}: {other:?}"),
        }
    }
}

/// Without a snapshot that knows, only marks tell what had been promised, and those are cut off with the rest.
#[test]
fn a_truncated_log_without_a_snapshot_gives_a_clean_prefix() {
    let disk = SimulatedDisk::new();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    let mut seen = Vec::new();
    for number in 0..8_u64 {
        let body = vec![number as u8; number as usize * 9];
        let lsn = journal.append(number, &body).unwrap();
        journal.commit(lsn).unwrap();
        seen.push((false, lsn, number, body));
    }
    drop(journal);
    let disk = disk.restart();
    let log = &disk.names()[0];
    let length = disk.bytes(log).unwrap().len();
    for end in 0..=length {
        let cut = changed(&disk, log, |bytes| bytes.truncate(end));
        if end < 64 {
            assert!(
                open(&cut, options()).is_err(),
                "a header is never half there"
            );
            continue;
        }
        let (found, summary) = open(&cut, options()).unwrap();
        assert_eq!(found, seen[..found.len()], "cut at {end}");
        assert_eq!(summary.last_lsn, found.len() as u64);
        let torn = summary.torn.map_or(0, |torn| torn.bytes);
        let left = cut.bytes(log).unwrap().len() as u64;
        assert_eq!(left + torn, end as u64);
        // What was cut off is gone for good.
        let (again, summary) = open(&cut.restart(), options()).unwrap();
        assert_eq!((again, summary.torn), (found, None));
    }
}

/// Every bit of a log: refused, or what is before it and was not known to be promised. Never another body.
#[test]
fn a_flipped_bit_in_a_log_is_found() {
    let (disk, seen) = small();
    let bytes = disk.bytes(LOG).unwrap();
    for bit in 0..bytes.len() * 8 {
        let disk = changed(&disk, LOG, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        // The snapshot's end knows that all of these records were synced.
        assert!(
            matches!(open(&disk, options()), Err(JournalError::Damaged { .. })),
            "bit {bit}"
        );
        // Accepting it keeps what is before.
        let accepted = open(&disk, options().accept_loss(true));
        match accepted {
            Ok((found, summary)) => {
                assert_eq!(found, seen[..found.len()], "bit {bit}");
                assert_eq!(summary.loss.len(), 1);
                assert!(summary.last_lsn >= 15, "a number would be given twice");
                let (again, _) = open(&disk.restart(), options()).unwrap();
                assert_eq!(again, found, "bit {bit}");
            }
            // A version of the future is not for us to cut.
            Err(JournalError::Damaged {
                problem: DamageKind::Version(_),
                ..
            }) => {}
            Err(error) => panic!("bit {bit}: {error}"),
        }
    }
}

/// Without a snapshot that knows, the marks tell: a bit in any group but the last is damage.
#[test]
fn marks_distinguish_damage_from_a_torn_end() {
    let disk = SimulatedDisk::new();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    let mut seen = Vec::new();
    let mut start_of_last = 0;
    for number in 0..6_u64 {
        start_of_last = journal.state().log_bytes as usize;
        let body = vec![number as u8 + 1; 30];
        let lsn = journal.append(number, &body).unwrap();
        journal.commit(lsn).unwrap();
        seen.push((false, lsn, number, body));
    }
    drop(journal);
    let disk = disk.restart();
    let log = &disk.names()[0];
    let bytes = disk.bytes(log).unwrap();
    for bit in 0..bytes.len() * 8 {
        let disk = changed(&disk, log, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        match open(&disk, options()) {
            Err(JournalError::Damaged { .. }) => assert!(bit / 8 < start_of_last + 32, "bit {bit}"),
            Ok((found, summary)) => {
                assert!(
                    bit / 8 >= start_of_last,
                    "bit {bit} of a promised record passed"
                );
                assert_eq!(found, seen[..5], "bit {bit}");
                assert!(summary.torn.is_some());
            }
            Err(error) => panic!("bit {bit}: {error}"),
        }
    }
}

/// After an orderly end the last group is protected as well.
#[test]
fn after_a_close_every_flipped_bit_is_detected() {
    let disk = SimulatedDisk::new();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    journal.append(1, b"the only record").unwrap();
    journal.close().unwrap();
    let disk = disk.restart();
    let log = &disk.names()[0];
    let length = disk.bytes(log).unwrap().len();
    for bit in 0..(length - 32) * 8 {
        let disk = changed(&disk, log, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        assert!(open(&disk, options()).is_err(), "bit {bit}");
    }
}

/// Every bit and every end of a snapshot: refused, since the logs before it are gone.
#[test]
fn a_damaged_snapshot_is_an_error() {
    let (disk, seen) = small();
    let length = disk.bytes(SNAPSHOT).unwrap().len();
    let flips = (0..length * 8)
        .map(|bit| changed(&disk, SNAPSHOT, |bytes| bytes[bit / 8] ^= 1 << (bit % 8)));
    let cuts = (0..length).map(|end| changed(&disk, SNAPSHOT, |bytes| bytes.truncate(end)));
    let longer = std::iter::once(changed(&disk, SNAPSHOT, |bytes| bytes.push(0)));
    for (case, disk) in flips.chain(cuts).chain(longer).enumerate() {
        let error = open(&disk, options()).err().unwrap();
        assert!(
            matches!(&error, JournalError::Damaged { file, .. } if file == SNAPSHOT),
            "{case}: {error}"
        );
        // Entries before the damage, and all of the log.
        if let Ok((found, summary)) = open(&disk, options().accept_loss(true)) {
            let entries = summary.entries as usize;
            assert_eq!(found[..entries], seen[..entries]);
            assert_eq!(found[entries..], seen[3..]);
        }
    }
}

/// While the older snapshot and its logs are there, a damaged new one can be done without.
#[test]
fn an_older_snapshot_takes_over() {
    let disk = SimulatedDisk::new();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    journal.append(1, b"one").unwrap();
    journal.begin_snapshot().unwrap().finish().unwrap();
    journal.append(2, b"two").unwrap();
    journal.sync().unwrap();
    let before = disk.copy();
    let mut snapshot = journal.begin_snapshot().unwrap();
    snapshot.entry(2, b"both").unwrap();
    snapshot.finish().unwrap();
    journal.append(3, b"three").unwrap();
    journal.sync().unwrap();
    let disk = disk.copy();
    for name in before.names() {
        disk.write_file(&name, &before.bytes(&name).unwrap());
    }
    let whole = open(&disk.copy(), options()).unwrap();
    assert_eq!(
        whole.0,
        [
            (true, 2, 0, b"both".to_vec()),
            (false, 3, 3, b"three".to_vec())
        ]
    );
    let newest = "snapshot-0000000003";
    let length = disk.bytes(newest).unwrap().len();
    for end in 0..length {
        let disk = changed(&disk, newest, |bytes| bytes.truncate(end));
        let (found, summary) = open(&disk, options()).unwrap();
        assert_eq!(
            found,
            [
                (false, 2, 2, b"two".to_vec()),
                (false, 3, 3, b"three".to_vec())
            ]
        );
        assert_eq!(summary.ignored, [newest]);
        assert_eq!(summary.snapshot, Some(2));
    }
}

/// Files that are missing, taken twice or from elsewhere are found out.
#[test]
fn a_missing_or_foreign_file_is_detected() {
    let disk = SimulatedDisk::new();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    for number in 0..4 {
        journal.append(number, b"a record").unwrap();
        // Given up each time: the logs stay.
        drop(journal.begin_snapshot().unwrap());
    }
    journal.append(9, b"the last").unwrap();
    journal.close().unwrap();
    let disk = disk.restart();
    let logs = disk.names();
    assert_eq!(logs.len(), 5);
    assert_eq!(open(&disk.copy(), options()).unwrap().0.len(), 5);
    for name in &logs {
        let copy = disk.copy();
        copy.delete_file(name);
        assert!(
            matches!(open(&copy, options()), Err(JournalError::Damaged { .. })),
            "{name} is missing"
        );
    }
    for (name, other) in logs.iter().zip(logs.iter().skip(1)) {
        let copy = disk.copy();
        copy.write_file(name, &disk.bytes(other).unwrap());
        assert!(open(&copy, options()).is_err(), "{other} as {name}");
    }
    let elsewhere = SimulatedDisk::new();
    let (journal, _) = Journal::open(elsewhere.clone(), options(), |_| Ok(())).unwrap();
    drop(journal.begin_snapshot().unwrap());
    drop(journal);
    let copy = disk.copy();
    copy.write_file(&logs[1], &elsewhere.bytes(&logs[1]).unwrap());
    assert!(open(&copy, options()).is_err(), "a log of another folder");
}

/// A snapshot without its log, and a log that begins with a snapshot that is not there.
#[test]
fn snapshot_and_log_belong_together() {
    let (disk, _) = small();
    for name in [LOG, SNAPSHOT] {
        let copy = disk.copy();
        copy.delete_file(name);
        assert!(
            matches!(open(&copy, options()), Err(JournalError::Damaged { .. })),
            "{name} is missing"
        );
    }
}

/// Whatever fails while a loss is being accepted: accepting it again ends with the same, and nothing is taken that was given up.
#[test]
fn accepting_a_loss_can_be_interrupted() {
    let (disk, seen) = small();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    for number in 0..3 {
        drop(journal.begin_snapshot().unwrap());
        journal.append(number, b"in a later log").unwrap();
        journal.sync().unwrap();
    }
    drop(journal);
    let damaged = changed(&disk, LOG, |bytes| bytes[300] ^= 1);
    let sound = damaged.copy();
    let (kept, _) = open(&sound, options().accept_loss(true)).unwrap();
    assert!(kept.len() > 3 && kept.len() < seen.len());
    let lost = sound
        .names()
        .iter()
        .filter(|name| name.contains("lost"))
        .count();
    assert_eq!(lost, 4, "the end of one log, and three logs");
    for at in 0..sound.calls() {
        for crash in [false, true] {
            let disk = damaged.copy();
            disk.fail(Fault {
                at,
                error: FaultKind::Eio,
                stays: true,
            });
            let first = open(&disk, options().accept_loss(true));
            let disk = if crash {
                disk.crash(at)
            } else {
                disk.restart()
            };
            let again = open(&disk, options().accept_loss(true)).unwrap();
            assert_eq!(again.0, kept, "call {at}");
            assert!(
                first.is_ok() || first.is_err_and(|error| matches!(error, JournalError::Io { .. }))
            );
            assert_eq!(
                open(&disk.crash(at), options()).unwrap().0,
                kept,
                "call {at}"
            );
        }
    }
}

/// Files of others in the folder are left alone; our own that were never finished are removed.
#[test]
fn unknown_files_are_left_alone() {
    let (disk, seen) = small();
    for name in [
        "notes",
        "log-2",
        "log-00000000022",
        "snapshot-0000000001.old",
        "x.tmp",
    ] {
        disk.write_file(name, b"somebody else's");
    }
    disk.write_file("log-0000000007.tmp", b"never finished");
    disk.write_file("snapshot-0000000007.tmp", b"never finished");
    assert_eq!(open(&disk, options()).unwrap().0, seen);
    assert_eq!(disk.names().len(), 2 + 5);
    assert!(
        disk.names()
            .iter()
            .filter(|name| name.contains("tmp"))
            .eq(["x.tmp"])
    );
}

/// Bytes in a body that look like a mark do not make a torn end look like damage: nobody knows the number that checksums begin with.
#[test]
fn a_body_cannot_forge_a_mark() {
    let disk = SimulatedDisk::new();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    journal.append(1, b"good").unwrap();
    journal.sync().unwrap();
    let elsewhere = SimulatedDisk::new();
    let (other, _) = Journal::open(elsewhere.clone(), options(), |_| Ok(())).unwrap();
    for number in 0..9 {
        other.append(number, b"x").unwrap();
        other.sync().unwrap();
    }
    // All marks of another log, in the body of a record whose end is cut off.
    journal
        .append(2, &elsewhere.bytes("log-0000000001").unwrap())
        .unwrap();
    journal.sync().unwrap();
    drop(journal);
    let disk = disk.restart();
    let cut = changed(&disk, "log-0000000001", |bytes| {
        bytes.truncate(bytes.len() - 1);
    });
    let (found, summary) = open(&cut, options()).unwrap();
    assert_eq!(found.len(), 1);
    assert!(summary.torn.is_some());
}
