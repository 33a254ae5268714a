//! The size of native filters, and their false-positive rate.

use crate::host::Host;
use mayhap_command::{Config, Reply};

/// One field of `BF.INFO`.
fn info_field(host: &mut Host, field: &str) -> f64 {
    let Reply::Field(_, value) = host.run_line(&format!("BF.INFO k {field}")) else {
        panic!("a field");
    };
    match *value {
        Reply::Integer(number) => number as f64,
        other => panic!("{other:?}"),
    }
}

fn bits_per_key(host: &mut Host, keys: f64) -> f64 {
    8.0 * info_field(host, "SIZE") / keys
}

fn host() -> Host {
    Host::new(Config::default())
}

#[test]
fn ten_million_keys_take_less_than_in_redisbloom() {
    let mut host = host();
    host.run_line("BF.RESERVE k 0.01 10000000 NONSCALING");
    let fixed = bits_per_key(&mut host, 1e7);
    assert!(fixed <= 9.95, "{fixed}");
    host.run_line("DEL k");
    host.run_line("BF.RESERVE k 0.01 10000000");
    let growing = bits_per_key(&mut host, 1e7);
    assert!(growing <= 11.15, "{growing}");
}

#[test]
fn a_filter_that_nobody_reserved_takes_what_is_set_and_then_grows_in_place() {
    let mut host = host();
    host.config.bf_initial_size = 275_000;
    host.run_line("BF.ADD k 0");
    let reserved = info_field(&mut host, "SIZE");
    let bits = bits_per_key(&mut host, 2.75e5);
    assert!(bits <= 16.0, "{bits}");
    assert_eq!(info_field(&mut host, "CAPACITY") as u64, 275_000);
    add(&mut host, 0..275_000);
    let filled = info_field(&mut host, "SIZE");
    // Some slices may have no cell.
    assert!(filled < reserved * 1.01, "{filled} {reserved}");
    // The table is for 335,544 items, and its cells are too few for these.
    add(&mut host, 275_000..330_000);
    assert_eq!(info_field(&mut host, "FILTERS") as u64, 1);
    assert_eq!(info_field(&mut host, "CAPACITY") as u64, 335_544);
    let grown = info_field(&mut host, "SIZE");
    assert!(grown > reserved * 1.05, "{grown} {reserved}");
}

/// Adds the numbers of a range, and returns how many were new.
fn add(host: &mut Host, numbers: std::ops::Range<u64>) -> usize {
    let mut new = 0;
    let all: Vec<[u8; 8]> = numbers.map(u64::to_le_bytes).collect();
    for items in all.chunks(1000) {
        let mut words: Vec<&[u8]> = vec![b"BF.MADD", b"k"];
        words.extend(items.iter().map(<[u8; 8]>::as_slice));
        let Reply::Booleans(answers) = host.run(&words) else {
            panic!("answers");
        };
        new += answers.iter().filter(|&&new| new).count();
    }
    new
}

fn found(host: &mut Host, numbers: std::ops::Range<u64>) -> usize {
    let mut found = 0;
    let all: Vec<[u8; 8]> = numbers.map(u64::to_le_bytes).collect();
    for items in all.chunks(1000) {
        let mut words: Vec<&[u8]> = vec![b"BF.MEXISTS", b"k"];
        words.extend(items.iter().map(<[u8; 8]>::as_slice));
        let Reply::Booleans(answers) = host.run(&words) else {
            panic!("answers");
        };
        found += answers.iter().filter(|&&yes| yes).count();
    }
    found
}

#[test]
fn a_filter_of_default_size_keeps_its_rate_and_stays_small() {
    let mut host = host();
    let new = add(&mut host, 0..1_000_000);
    assert_eq!(info_field(&mut host, "ITEMS") as usize, new);
    assert_eq!(found(&mut host, 0..1_000_000), 1_000_000);
    let bits = bits_per_key(&mut host, 1e6);
    assert!(bits <= 20.0, "{bits}");
    let strangers = found(&mut host, 1_000_000..3_000_000);
    // Three standard deviations above 1 %.
    assert!(strangers <= 20_000 + 3 * 141, "{strangers}");
}

#[test]
fn a_full_filter_of_fixed_size_keeps_its_rate() {
    let mut host = host();
    host.run_line("BF.RESERVE k 0.01 100000 NONSCALING");
    assert!(add(&mut host, 0..100_000) > 98_000);
    let strangers = found(&mut host, 1_000_000..2_000_000);
    assert!(strangers <= 10_000 + 3 * 100, "{strangers}");
}
