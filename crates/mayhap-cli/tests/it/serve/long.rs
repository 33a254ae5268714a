//! Commands on large filters: a worker does next to nothing of their work, so that others do not wait, and they take little memory besides
//! the filter. How long others wait in milliseconds is measured by `make bench-serve`.

use crate::serve::process::{Home, Server};
use crate::serve::rounds;
use mayhap_testkit::Random;
use mayhap_testkit::client::{Client, ParsedReply};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// About 190 MiB.
const RESERVE: &str = "0.01 160000000 NONSCALING";
/// Enough to have all pages of the filter in memory.
const ITEMS: u64 = 400_000;
/// What a command may take besides the filters.
const EXTRA: u64 = 64 << 20;

/// Nanoseconds of CPU that the workers had, and all threads.
fn cpu(server: &Server<'_>) -> (u64, u64) {
    let (mut workers, mut all) = (0, 0);
    let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).expect("threads");
    for task in tasks.flatten() {
        let read = |file: &str| fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let times = read("schedstat");
        let time = times.split(' ').next().and_then(|time| time.parse().ok());
        let time: u64 = time.unwrap_or(0);
        all += time;
        if read("comm").starts_with("worker") {
            workers += time;
        }
    }
    (workers, all)
}

fn size_bytes(client: &mut Client) -> u64 {
    let size = client.call_line("MEMORY USAGE big");
    size.number().expect("a size").unsigned_abs()
}

fn fill(client: &mut Client) {
    assert!(
        client
            .call_line(&format!("BF.RESERVE big {RESERVE}"))
            .is_ok()
    );
    for first in (0..ITEMS).step_by(1000) {
        let items: Vec<String> = (first..first + 1000)
            .map(|item| format!("i{item}"))
            .collect();
        let added = client.call_line(&format!("BF.MADD big {}", items.join(" ")));
        assert_eq!(added.elements().len(), 1000);
    }
    assert_eq!(client.call_line("BF.ADD small x").number(), Some(1));
}

/// Commands, what they leave in memory in units of the filter, and how their last reply begins.
const COMMANDS: [(&[&str], u64, &str); 9] = [
    (&["SAVE"], 0, "OK"),
    (&["BF.ESTIMATE big"], 0, ""),
    (&["RENAME big other", "RENAME other big"], 0, "OK"),
    (&["COPY big copy"], 1, "Integer(1)"),
    (&["BF.MERGE copy big"], 0, "OK"),
    (
        &["MULTI", "BF.MERGE copy big", "BF.EXISTS small x", "EXEC"],
        0,
        "",
    ),
    (&["BF.MERGE new big copy"], 1, "OK"),
    (&["DEL copy new"], 0, "Integer(2)"),
    // It is read back to be served.
    (&["MAYHAP.EXPORT big file.mayhap"], 2, "Integer"),
];

#[test]
fn workers_do_little_of_the_work_on_a_large_filter_and_it_takes_little_memory() {
    let home = Home::new();
    let server = home.start("");
    let mut client = server.client();
    fill(&mut client);
    let size = size_bytes(&mut client);
    for (lines, left, last) in COMMANDS {
        fs::write(format!("/proc/{}/clear_refs", server.id()), "5").expect("the peak is reset");
        let (resident, _) = server.resident();
        let (workers, all) = cpu(&server);
        let mut reply = ParsedReply::Null;
        for line in lines {
            reply = client.call_line(line);
            assert!(!matches!(reply, ParsedReply::Error(_)), "{line}: {reply:?}");
        }
        assert!(reply.text().starts_with(last), "{lines:?}: {reply:?}");
        let (workers_then, all_then) = cpu(&server);
        let (workers, all) = (workers_then - workers, all_then - all);
        let (_, peak) = server.resident();
        let extra = peak.saturating_sub(resident);
        eprintln!("{lines:?}: workers {workers} of {all} ns, {extra} bytes more");
        // Reading the filter once takes some 20 ms.
        assert!(
            workers < 5_000_000 || 8 * workers < all,
            "{lines:?}: the workers had {workers} of {all} ns"
        );
        assert!(
            extra < left * size + EXTRA,
            "{lines:?}: {extra} bytes for a filter of {size}"
        );
    }
    assert_eq!(client.call_line("BF.EXISTS big i7").number(), Some(1));
}

#[test]
fn a_large_filter_comes_back_after_all_that() {
    let home = Home::new();
    let mut server = home.start("--fsync always");
    let mut client = server.client();
    fill(&mut client);
    for line in [
        "BGSAVE",
        "RENAME big moved",
        "COPY moved copy",
        "BF.MERGE merged moved copy",
        "BF.ADD merged last",
        "RENAME moved big",
    ] {
        let reply = client.call_line(line);
        assert!(!matches!(reply, ParsedReply::Error(_)), "{line}: {reply:?}");
    }
    server.kill();
    let server = home.start("");
    let mut client = server.client();
    for (key, item, answer) in [
        ("big", "i0", 1),
        ("big", "i399999", 1),
        ("copy", "i0", 1),
        ("copy", "i399999", 1),
        ("merged", "i0", 1),
        ("merged", "last", 1),
        ("moved", "i0", 0),
        ("big", "last", 0),
        ("small", "x", 1),
    ] {
        let found = client.call_line(&format!("BF.EXISTS {key} {item}"));
        assert_eq!(found.number(), Some(answer), "{key} {item}");
    }
    let (_, peak) = server.resident();
    let size = size_bytes(&mut client);
    eprintln!("a start with three filters of {size} bytes took {peak}");
    assert!(peak < 3 * size + EXTRA, "{peak} for three of {size}");
}

/// Keys that hold one filter each, and the items in them.
type Contents = BTreeMap<String, BTreeSet<String>>;

/// Does something to small keys, and to what they should hold.
fn step(random: &mut Random, number: u64, contents: &mut Contents) -> String {
    let key = |random: &mut Random| format!("k{}", random.below(60));
    let (one, other) = (key(random), key(random));
    let held = contents.get(&one).cloned();
    match (random.below(6), held) {
        (0, Some(held)) if one != other => {
            contents.remove(&one);
            contents.insert(other.clone(), held);
            format!("RENAME {one} {other}")
        }
        (1, Some(held)) if one != other => {
            contents.insert(other.clone(), held);
            format!("COPY {one} {other} REPLACE")
        }
        (2, Some(held)) if one != other => {
            contents.entry(other.clone()).or_default().extend(held);
            format!("BF.MERGE {other} {one}")
        }
        (3, Some(_)) => {
            contents.remove(&one);
            format!("DEL {one}")
        }
        (_, Some(_)) => {
            let item = format!("v{number}");
            contents
                .entry(one.clone())
                .or_default()
                .insert(item.clone());
            format!("BF.ADD {one} {item}")
        }
        (_, None) => {
            contents.insert(one.clone(), BTreeSet::new());
            // So strict that an item that is not in is never found.
            format!("BF.RESERVE {one} 0.000000001 20000 NONSCALING")
        }
    }
}

/// While a snapshot is busy with a large filter, others change names, are copied and merged: what the snapshot has passed, and what it has not.
#[test]
fn keys_renamed_copied_or_merged_during_a_snapshot_come_back() {
    for seed in 1..=rounds(3, 30) {
        let home = Home::new();
        let mut server = home.start("");
        let mut client = server.client();
        let mut random = Random::new(seed);
        let mut contents = Contents::new();
        assert!(
            client
                .call_line(&format!("BF.RESERVE big {RESERVE}"))
                .is_ok()
        );
        let (mut number, mut during) = (0, 0);
        let mut steps = |client: &mut Client, count: u64| {
            for _ in 0..count {
                number += 1;
                let line = step(&mut random, number, &mut contents);
                let reply = client.call_line(&line);
                assert!(!matches!(reply, ParsedReply::Error(_)), "{line}: {reply:?}");
            }
        };
        steps(&mut client, 500);
        let begun = client.call_line("BGSAVE");
        assert!(!matches!(begun, ParsedReply::Error(_)), "{begun:?}");
        while client
            .call_line("INFO persistence")
            .text()
            .contains("rdb_bgsave_in_progress:1")
        {
            steps(&mut client, 20);
            during += 20;
        }
        steps(&mut client, 20);
        eprintln!("seed {seed}: {during} changes during the snapshot");
        assert!(
            home.files()
                .iter()
                .any(|name| name.starts_with("snapshot-"))
        );
        server.kill();
        let server = home.start("");
        let mut client = server.client();
        assert_eq!(
            client.call_line("DBSIZE").number(),
            i64::try_from(contents.len() + 1).ok()
        );
        for (key, items) in &contents {
            let all: Vec<String> = (1..=number).map(|number| format!("v{number}")).collect();
            let found = client.call_line(&format!("BF.MEXISTS {key} {}", all.join(" ")));
            let found = found.elements().iter().zip(all);
            let found = found.filter(|(found, _)| found.number() == Some(1));
            let found: BTreeSet<String> = found.map(|(_, item)| item).collect();
            assert_eq!(found, *items, "seed {seed}, {key}");
        }
    }
}
