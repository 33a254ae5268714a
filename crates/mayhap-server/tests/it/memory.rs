//! What all keys and served files may take together.

use crate::{Running, folder};
use std::sync::Barrier;
use std::thread;

const LIMIT: u64 = 64 << 20;

fn used(server: &Running) -> u64 {
    let info = server.client().call("INFO memory");
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("used_memory:"));
    line.expect("used_memory").parse().expect("a number")
}

/// Each of them fits alone, and five of them do not: as many clients as threads ask at the same moment.
#[test]
fn concurrent_clients_respect_the_memory_limit() {
    let (_folder, mut options) = folder();
    options.workers = 8;
    options.max_memory = Some(LIMIT);
    let server = Running::with(&options);
    // A new filter, one that grows, one that is loaded, a copy, and a string.
    let large = "x".repeat(20 << 20);
    let set = format!("SET key {large}");
    let commands = [
        "BF.RESERVE key 0.01 17000000 NONSCALING",
        "CF.RESERVE key 12000000",
        "BF.WINDOW key 0.01 8000000 60",
        "CBF.RESERVE key 0.01 11000000",
        "COPY from key",
        &set,
    ];
    for command in commands {
        let mut client = server.client();
        client.expect("FLUSHALL", "+OK\r\n");
        if command.starts_with("COPY") {
            client.expect("BF.RESERVE from 0.01 17000000 NONSCALING", "+OK\r\n");
        }
        let barrier = Barrier::new(8);
        let made: usize = thread::scope(|scope| {
            let clients: Vec<_> = (0..8)
                .map(|number| {
                    let (server, barrier) = (&server, &barrier);
                    scope.spawn(move || {
                        let mut client = server.client();
                        let command = command.replace("key", &format!("k{number}"));
                        barrier.wait();
                        let reply = client.call(&command);
                        let is_made = !reply.starts_with('-');
                        assert!(
                            is_made || reply.to_lowercase().contains("memory"),
                            "{reply}"
                        );
                        usize::from(is_made)
                    })
                })
                .collect();
            clients
                .into_iter()
                .map(|client| client.join().expect("a client"))
                .sum()
        });
        let (name, used) = (&command[..10], used(&server));
        assert!(used <= LIMIT, "{name}: {made} were made, which take {used}");
        assert!(
            (2..=4).contains(&made),
            "{name}: {made} were made, which take {used}"
        );
    }
}

/// Batches that are too long for a worker grow filters on other threads.
#[test]
fn concurrent_long_batches_respect_the_memory_limit() {
    let (_folder, mut options) = folder();
    let limit = 400_000;
    options.max_memory = Some(limit);
    let server = Running::with(&options);
    let items: Vec<String> = (0..60_000).map(|item| format!("i{item}")).collect();
    let items = items.join(" ");
    let barrier = Barrier::new(6);
    thread::scope(|scope| {
        for number in 0..6 {
            let (server, items, barrier) = (&server, &items, &barrier);
            scope.spawn(move || {
                let mut client = server.client();
                barrier.wait();
                let reply = client.call(&format!("BF.MADD k{number} {items}"));
                assert!(reply.starts_with(['*', '-']), "{}", &reply[..40]);
            });
        }
    });
    let used = used(&server);
    assert!((limit / 4..=limit).contains(&used), "{used}");
    server.client().expect("BF.EXISTS k0 nothing", ":0\r\n");
}

#[test]
fn exported_files_count_towards_the_memory_limit() {
    let (folder, mut options) = folder();
    let limit = 60 << 20;
    options.max_memory = Some(limit);
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("BF.RESERVE key 0.01 17000000 NONSCALING", "+OK\r\n");
    client.expect("BF.ADD key x", ":1\r\n");
    let before = used(&server);
    assert!(client.call("MAYHAP.EXPORT key one.mayhap").starts_with(':'));
    assert!(used(&server) > before + (20 << 20));
    // The same file again takes no more.
    assert!(
        client
            .call("MAYHAP.EXPORT key one.mayhap REPLACE")
            .starts_with(':')
    );
    let refused = client.call("MAYHAP.EXPORT key two.mayhap");
    assert!(refused.starts_with("-OOM"), "{refused}");
    assert!(!folder.path().join("two.mayhap").exists());
    let refused = client.call("BF.RESERVE other 0.01 34000000 NONSCALING");
    assert!(refused.contains("memory"), "{refused}");
    server.end();
    // A file beyond the limit is not served at the next start either.
    let file = folder.path().join("one.mayhap");
    for name in ["two.mayhap", "three.mayhap"] {
        std::fs::copy(&file, folder.path().join(name)).expect("a copy");
    }
    let server = Running::with(&options);
    let used = used(&server);
    assert!(used <= limit && used > before + (20 << 20), "{used}");
}
