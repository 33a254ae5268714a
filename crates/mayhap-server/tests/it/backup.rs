//! A copy of the folder that is made while the server runs: docs/guide/server.md says how.

use crate::admin::info;
use crate::{Running, folder};
use mayhap_server::ServerOptions;
use mayhap_testkit::raw_client::RawClient;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// As `cp -r` does it, file by file, in whatever order.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// How many snapshots were taken, while none is under way.
fn saves_at_rest(client: &mut RawClient) -> String {
    loop {
        let told = info(client, "persistence");
        if told["rdb_bgsave_in_progress"] == "0" {
            return told["rdb_saves"].clone();
        }
    }
}

#[test]
fn a_copy_has_all_that_was_acknowledged_before_it() {
    let (data, mut options) = folder();
    // Snapshots are taken all the time, but not while the folder is copied.
    let often = ("mayhap-snapshot-after".to_owned(), "1".to_owned());
    options.settings.push(often);
    let server = Running::with(&options);
    let mut owner = server.client();
    let (acknowledged, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = server.client();
            for number in 1.. {
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
                let key = number % 7;
                writer.call(&format!("BF.ADD filter:{key} item:{number}"));
                acknowledged.store(number, Ordering::SeqCst);
            }
        });
        for _ in 0..5 {
            let reached = acknowledged.load(Ordering::SeqCst) + 500;
            while acknowledged.load(Ordering::SeqCst) < reached {
                std::thread::yield_now();
            }
            owner.expect("SAVE", "+OK\r\n");
            owner.expect("CONFIG SET mayhap-snapshot-after 0", "+OK\r\n");
            let before = acknowledged.load(Ordering::SeqCst);
            let backup = loop {
                let saves = saves_at_rest(&mut owner);
                let backup = tempfile::tempdir().expect("a folder");
                copy(data.path(), backup.path());
                if saves_at_rest(&mut owner) == saves {
                    break backup;
                }
            };
            owner.expect("CONFIG SET mayhap-snapshot-after 1", "+OK\r\n");
            let restored = Running::with(&ServerOptions {
                port: 0,
                ..ServerOptions::new(backup.path())
            });
            let mut client = restored.client();
            for number in 1..=before {
                let key = number % 7;
                client.expect(&format!("BF.EXISTS filter:{key} item:{number}"), ":1\r\n");
            }
        }
        is_over.store(true, Ordering::SeqCst);
    });
}
