//! Images, dumps and headers never change: the files in `golden/slots/` can be read, and the same commands write the same bytes.

use crate::host::Host;
use mayhap_command::{Config, Layout, Limits, Reply, Slot};
use mayhap_core::{SipKey, Timestamp};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/slots")
}

/// Compares with the file of that name; writes it if it is missing and writing was requested.
fn check(name: &str, bytes: &[u8]) {
    let path = folder().join(name);
    if !path.exists() && std::env::var_os("MAYHAP_WRITE_GOLDEN").is_some() {
        std::fs::create_dir_all(folder()).expect("a folder");
        std::fs::write(&path, bytes).expect("a file");
    }
    let golden = std::fs::read(&path).expect("a golden file: it is never changed");
    assert!(
        golden == bytes,
        "{name} would be written in another way now"
    );
}

const CUCKOO: [&str; 4] = [
    "cuckoo-fixed",
    "cuckoo-growing",
    "cuckoo-set",
    "cuckoo-theirs",
];

/// What older versions logged for `CBF.RESERVE counting 0.05 10`: a header that names the structure, so that a log gives the same filters
/// in every version.
fn log_of_an_older_version() -> [Vec<Vec<u8>>; 1] {
    ["counting"].map(|name| {
        let header = std::fs::read(folder().join(format!("{name}.created"))).expect("a header");
        vec![b"MAYHAP.LOAD".to_vec(), name.into(), header]
    })
}

/// A filter of every kind.
fn host() -> Host {
    let mut host = Host::new(Config::default());
    host.secret = SipKey::new(*b"a key for golden");
    host.now = Timestamp(1_700_000_000_000);
    for line in [
        "BF.RESERVE fixed 0.01 20 NONSCALING",
        "BF.RESERVE growing 0.001 5 EXPANSION 4",
        "BF.WINDOW window-set 0.1 8 60",
        "CF.RESERVE cuckoo-fixed 20 EXPANSION 0 BUCKETSIZE 4 MAXITERATIONS 50",
        "CF.RESERVE cuckoo-growing 4 EXPANSION 3 ERROR 0.02",
        "CBF.RESERVE counting-cuckoo 0.05 10",
    ] {
        assert_eq!(host.run_line(line), Reply::OK, "{line}");
    }
    host.load_ring("window", 0.1, 8, 60);
    for line in log_of_an_older_version() {
        let words: Vec<&[u8]> = line.iter().map(Vec::as_slice).collect();
        assert_eq!(host.run(&words), Reply::OK);
    }
    // Keys that nobody reserved.
    let reset = host.config.clone();
    host.config.bf_error_rate = 0.001;
    (host.config.bf_initial_size, host.config.bf_expansion) = (5, 4);
    host.config.cf_expansion = 3;
    host.run_line("BF.ADD set 0");
    host.run_line("CF.ADDNX cuckoo-set 0");
    host.config = reset;
    host.config.layout = Layout::RedisBloom;
    host.run_line("BF.RESERVE theirs 0.01 4");
    host.run_line("CF.RESERVE cuckoo-theirs 4");
    for number in 0..12 {
        host.now = Timestamp(host.now.0 + 1000);
        for key in ["fixed", "growing", "window", "window-set", "set", "theirs"] {
            host.run_line(&format!("BF.ADD {key} {number}"));
        }
        for key in CUCKOO {
            host.run_line(&format!("CF.ADD {key} {number}"));
        }
        host.run_line(&format!("CBF.ADD counting {}", number % 8));
        // Some more often than a counter of two bits holds.
        for _ in 0..=number % 8 {
            host.run_line(&format!("CBF.ADD counting-cuckoo {}", number % 8));
        }
    }
    for key in CUCKOO {
        host.run_line(&format!("CF.ADD {key} 5"));
        host.run_line(&format!("CF.DEL {key} 3"));
    }
    host
}

#[test]
fn golden_files_are_written_unchanged() {
    let mut host = host();
    for (key, slot) in host.keys.clone() {
        let name = String::from_utf8(key).expect("a name");
        check(&format!("{name}.slot"), &slot.encode());
        check(&format!("{name}.dump"), &slot.dump(12));
        let family = match slot {
            Slot::Bloom(_) => "BF",
            Slot::Cuckoo(_) => "CF",
            _ => continue,
        };
        let Reply::Array(parts) = host.run_line(&format!("{family}.SCANDUMP {name} 0")) else {
            panic!("a header");
        };
        let Reply::Bulk(header) = &parts[1] else {
            panic!("a header");
        };
        // A seed for fuzzing: a header, and a chunk of one byte.
        let mut load = header.clone();
        load.extend_from_slice(&[1, 2, 0, 0xff, 4]);
        check(&format!("{name}.load"), &load);
    }
}

#[test]
fn golden_files_are_read() {
    let mut host = host();
    let mut files = 0;
    for entry in folder().read_dir().expect("the folder") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a file");
        let limits = Limits::default();
        let slot = match path.extension().and_then(|ending| ending.to_str()) {
            Some("slot") => Slot::decode(&bytes, limits),
            Some("dump") => Slot::restore(&bytes, limits),
            _ => continue,
        };
        host.keys.insert(b"k".to_vec(), slot.expect("a filter"));
        let family = match &host.keys[b"k".as_slice()] {
            Slot::Bloom(_) => "BF",
            Slot::Cuckoo(_) => "CF",
            _ => "CBF",
        };
        let reply = host.run_line(&format!("{family}.MEXISTS k 0 1 5 7"));
        assert_eq!(reply, Reply::Booleans(vec![true; 4]), "{}", path.display());
        files += 1;
    }
    assert_eq!(files, 24);
}
