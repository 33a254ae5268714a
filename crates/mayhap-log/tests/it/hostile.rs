//! Files that somebody made up, with checksums that are right: every field at its limits. Whatever is in them, opening ends with an
//! error or with a journal that works; it never panics.

use mayhap_log::simulated::SimulatedDisk;
use mayhap_log::{Fsync, Journal, JournalOptions};

const HEADER: usize = 64;
const VALUES: [u64; 12] = [
    0,
    1,
    2,
    255,
    (1 << 32) - 2,
    (1 << 31) - 1,
    (1 << 32) - 1,
    1 << 32,
    1 << 62,
    (1 << 62) + 1,
    (1 << 63) - 1,
    u64::MAX,
];

fn options() -> JournalOptions {
    JournalOptions::default()
        .fsync(Fsync::Always)
        .background(false)
}

/// A snapshot, its log, and a log that continues it.
fn folder() -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    let (journal, _) = Journal::open(disk.clone(), options(), |_| Ok(())).unwrap();
    journal.append(1, b"before").unwrap();
    let mut snapshot = journal.begin_snapshot().unwrap();
    snapshot.entry(1, b"an entry").unwrap();
    snapshot.entry(1, b"").unwrap();
    snapshot.finish().unwrap();
    journal.append(2, b"a record").unwrap();
    drop(journal.begin_snapshot().unwrap());
    journal.append(3, b"another").unwrap();
    journal.close().unwrap();
    disk.restart()
}

/// Where pieces of a file begin and end, its header first.
fn pieces(name: &str, bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut pieces = vec![(0, HEADER)];
    let mut at = HEADER;
    while at < bytes.len() {
        let word = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap());
        let long = u64::from_le_bytes(bytes[at + 8..at + 16].try_into().unwrap());
        let size = match (name.starts_with("log"), word) {
            (true, u32::MAX) => 32,
            (true, length) => 24 + length as usize,
            (false, 1) => 24 + long as usize,
            (false, _) => 24,
        };
        pieces.push((at, at + size));
        at += size;
    }
    pieces
}

/// Makes the checksum of a piece right.
fn seal(bytes: &mut [u8], start: usize, end: usize) {
    let (at, sum) = if start == 0 {
        (60, crc32c::crc32c(&bytes[..60]))
    } else {
        let seed = crc32c::crc32c(&bytes[40..48]);
        (start, crc32c::crc32c_append(seed, &bytes[start + 4..end]))
    };
    bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn header_fields_at_their_limits_are_harmless() {
    let disk = folder();
    let (mut opened, mut refused) = (0, 0);
    for name in disk.names() {
        let bytes = disk.bytes(&name).unwrap();
        for (start, end) in pieces(&name, &bytes) {
            let fields = if start == 0 {
                vec![
                    (8, 2),
                    (10, 2),
                    (12, 4),
                    (16, 8),
                    (24, 8),
                    (32, 8),
                    (40, 8),
                    (48, 8),
                    (56, 4),
                ]
            } else {
                vec![
                    (start + 4, 4),
                    (start + 8, 8),
                    (start + 16, 8),
                    (start + 24, 8),
                ]
            };
            for (at, size) in fields.into_iter().filter(|(at, size)| at + size <= end) {
                for value in VALUES {
                    let mut bytes = bytes.clone();
                    bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
                    seal(&mut bytes, start, end);
                    let copy = disk.copy();
                    copy.write_file(&name, &bytes);
                    for accept in [false, true] {
                        match Journal::open(copy.clone(), options().accept_loss(accept), |_| Ok(()))
                        {
                            Err(_) => refused += 1,
                            Ok((journal, _)) => {
                                let lsn = journal.append(1, b"it works").unwrap();
                                journal.commit(lsn).unwrap();
                                opened += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(
        opened > 100 && refused > 500,
        "{opened} opened, {refused} refused"
    );
}
