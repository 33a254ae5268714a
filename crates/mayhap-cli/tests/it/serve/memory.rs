//! Started with too little memory for what the folder has: it says how much is missing, and touches nothing.

use crate::serve::process::Home;
use std::fs;

/// Filters of 100 to 200 MiB, which take memory only where items are.
const FILTERS: usize = 12;
/// How to make one, to add to it and to ask it.
const KINDS: [[&str; 3]; 3] = [
    [
        "BF.RESERVE key 0.01 150000000 NONSCALING",
        "BF.ADD key item",
        "BF.EXISTS key item",
    ],
    [
        "CF.RESERVE key 100000000",
        "CF.ADD key item",
        "CF.EXISTS key item",
    ],
    [
        "CBF.RESERVE key 0.01 30000000",
        "CBF.ADD key item",
        "CBF.EXISTS key item",
    ],
];
const ITEMS: u64 = 20;
/// In KiB: enough for the program and a few of them.
const LIMIT: u64 = 900 << 10;

fn line(filter: usize, which: usize, item: u64) -> String {
    let line = KINDS[filter % KINDS.len()][which];
    line.replace("key", &format!("f{filter}"))
        .replace("item", &format!("item{item}"))
}

fn behind_a_limit(home: &Home, words: &str) -> Result<(), String> {
    let script = format!("ulimit -v {LIMIT}; exec \"$@\"");
    let before = ["bash", "-c", &script, "limited"];
    home.try_start_behind(&before, words).map(drop)
}

/// All files with their bytes.
fn contents(home: &Home) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| {
        let bytes = fs::read(home.store().join(&name)).expect("a file");
        (name, bytes)
    };
    home.files().into_iter().map(read).collect()
}

#[test]
fn too_little_memory_stops_the_start_and_changes_nothing() {
    for layout in ["native", "redisbloom"] {
        let home = Home::new();
        let options = format!("--fsync no --max-memory 0 --layout {layout}");
        let mut server = home.start(&options);
        let mut client = server.client();
        for filter in 0..FILTERS {
            assert!(client.call_line(&line(filter, 0, 0)).is_ok(), "{layout}");
            for item in 0..ITEMS {
                let added = client.call_line(&line(filter, 1, item));
                assert_eq!(added.number(), Some(1), "{layout}");
            }
        }
        assert!(client.call(&["SHUTDOWN"]).is_err());
        server.ended();
        drop(server);
        let before = contents(&home);
        // As often as somebody tries.
        for words in [&options, &format!("{options} --accept-loss")] {
            let stderr_text = behind_a_limit(&home, words).expect_err("there is too little memory");
            assert!(
                stderr_text.contains("there is too little memory: ")
                    && stderr_text.contains(" bytes more than the system gives")
                    && stderr_text.lines().count() == 2,
                "{layout}: {stderr_text}"
            );
            assert!(
                contents(&home) == before,
                "{layout}: the folder has changed"
            );
        }
        let server = home.start(&options);
        let mut client = server.client();
        for filter in 0..FILTERS {
            for item in 0..ITEMS {
                let asked = line(filter, 2, item);
                assert_eq!(
                    client.call_line(&asked).number(),
                    Some(1),
                    "{layout}: {asked}"
                );
            }
        }
    }
}
