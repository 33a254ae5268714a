//! A real folder.

use mayhap_log::{Folder, Fsync, Journal, JournalOptions, Recovered};
use std::fs;
use std::io;

/// What is closed, and what is only committed, is there when the folder is opened again; a snapshot makes older files superfluous.
#[test]
fn a_folder_keeps_what_was_committed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("data/of/ours");
    let mut expected = Vec::new();
    for round in 0..6_u64 {
        let mut seen = Vec::new();
        let options = JournalOptions::default()
            .fsync([Fsync::Always, Fsync::EverySecond, Fsync::No][round as usize % 3]);
        let folder = Folder::open(&path).unwrap();
        assert_eq!(folder.path(), path);
        let (journal, summary) = Journal::open(folder, options, |what| {
            match what {
                Recovered::Entry { body, .. } => {
                    seen.extend(
                        body.as_chunks::<8>()
                            .0
                            .iter()
                            .map(|bytes| u64::from_le_bytes(*bytes)),
                    );
                }
                Recovered::LargeEntry { .. } => unreachable!("a few bytes"),
                Recovered::Record { body, .. } => {
                    seen.push(u64::from_le_bytes(body.try_into().unwrap()));
                }
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, expected);
        assert_eq!(summary.last_lsn, expected.len() as u64);
        for number in 0..50 {
            let number = round * 100 + number;
            journal.append(round, &number.to_le_bytes()).unwrap();
            expected.push(number);
        }
        journal.commit(journal.last_lsn()).unwrap();
        if round == 3 {
            let mut snapshot = journal.begin_snapshot().unwrap();
            let body: Vec<u8> = expected
                .iter()
                .flat_map(|number| number.to_le_bytes())
                .collect();
            snapshot.entry(journal.last_lsn(), &body).unwrap();
            let finished = snapshot.finish().unwrap();
            assert_eq!(finished.bytes, 64 + 24 + body.len() as u64 + 24);
            let mut names: Vec<_> = fs::read_dir(&path)
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            assert_eq!(names, ["lock", "log-0000000002", "snapshot-0000000002"]);
        }
        if round % 2 == 0 {
            journal.close().unwrap();
        }
    }
}

/// A second opening is refused by name, and possible once the first is gone.
#[test]
fn a_folder_is_opened_once() {
    let place = tempfile::tempdir().unwrap();
    let first = Folder::open(place.path()).unwrap();
    let error = Folder::open(place.path()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
    let path = place.path().display().to_string();
    assert!(error.to_string().contains(&path), "{error}");
    drop(first);
    let (journal, _) = Journal::open(
        Folder::open(place.path()).unwrap(),
        JournalOptions::default(),
        |_| Ok(()),
    )
    .unwrap();
    assert!(
        Folder::open(place.path()).is_err(),
        "a journal holds its folder"
    );
    drop(journal);
    Folder::open(place.path()).unwrap();
}

/// The thread syncs what was committed under `EverySecond`, without being asked.
#[test]
fn the_thread_syncs() {
    let place = tempfile::tempdir().unwrap();
    let options = JournalOptions::default().fsync(Fsync::EverySecond);
    let (journal, _) =
        Journal::open(Folder::open(place.path()).unwrap(), options, |_| Ok(())).unwrap();
    let lsn = journal.append(1, b"a change").unwrap();
    journal.commit(lsn).unwrap();
    assert_eq!(journal.state().written, lsn);
    while journal.state().synced < lsn {
        std::thread::yield_now();
    }
    assert!(journal.state().unsynced_for.is_none());
    assert!(journal.state().since_sync.is_some());
}

/// Bodies larger than any buffer go through both kinds of files.
#[test]
fn large_bodies_come_back() {
    let place = tempfile::tempdir().unwrap();
    let large: Vec<u8> = (0..20_000_000_u32).map(|at| (at * 7 / 5) as u8).collect();
    let (journal, _) = Journal::open(
        Folder::open(place.path()).unwrap(),
        JournalOptions::default(),
        |_| Ok(()),
    )
    .unwrap();
    let mut snapshot = journal.begin_snapshot().unwrap();
    snapshot.entry(0, b"small").unwrap();
    // In pieces of many sizes, of which none meets the end of a buffer.
    snapshot
        .entry_with(0, |put| {
            let mut rest = large.as_slice();
            for step in [0, 1, 7, 262_143, 1_000_003].iter().cycle() {
                let (piece, later) = rest.split_at(rest.len().min(*step));
                put(piece)?;
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            Ok(())
        })
        .unwrap();
    snapshot.entry(0, b"").unwrap();
    snapshot.finish().unwrap();
    journal.append_parts(1, &[b"", &large]).unwrap();
    journal.append(2, b"").unwrap();
    journal.close().unwrap();
    let mut seen = Vec::new();
    Journal::open(
        Folder::open(place.path()).unwrap(),
        JournalOptions::default(),
        |what| {
            seen.push(match what {
                Recovered::Entry { body, .. } | Recovered::Record { body, .. } => body.to_vec(),
                Recovered::LargeEntry { length, read, .. } => {
                    let mut body = vec![0; length as usize];
                    read(0, &mut body).unwrap();
                    body
                }
            });
            Ok(())
        },
    )
    .unwrap();
    assert!(
        seen == [
            b"small".to_vec(),
            large.clone(),
            Vec::new(),
            large,
            Vec::new()
        ]
    );
}
