//! What administrators and their tools ask for: INFO, CONFIG, HELP, snapshots, pauses.

use crate::{Running, folder};
use mayhap_testkit::raw_client::RawClient;
use std::collections::HashMap;

/// The fields of INFO.
pub(crate) fn info(client: &mut RawClient, sections: &str) -> HashMap<String, String> {
    let text = client.call(&format!("INFO {sections}"));
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs
        .map(|(name, value)| (name.to_owned(), value.trim_end().to_owned()))
        .collect()
}

#[test]
fn info_has_what_tools_read() {
    let (_folder, mut options) = folder();
    options.max_clients = 77;
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("BF.ADD b x", ":1\r\n");
    client.expect("SET s x EX 100", "+OK\r\n");
    client.expect("CONFIG SET maxmemory 3gb", "+OK\r\n");
    let told = info(&mut client, "");
    for (name, value) in [
        ("redis_mode", "standalone"),
        ("arch_bits", "64"),
        ("multiplexing_api", "epoll"),
        ("connected_clients", "1"),
        ("blocked_clients", "0"),
        ("maxclients", "77"),
        ("maxmemory_human", "3.00G"),
        ("maxmemory_policy", "noeviction"),
        ("rdb_bgsave_in_progress", "0"),
        ("aof_rewrite_in_progress", "0"),
        ("loading", "0"),
        ("role", "master"),
        ("connected_slaves", "0"),
        ("cluster_enabled", "0"),
        ("evicted_keys", "0"),
        ("db0", "keys=2,expires=1,avg_ttl=0"),
    ] {
        let found = told.get(name).map(String::as_str);
        assert_eq!(found, Some(value), "{name}");
    }
    for name in [
        "used_memory",
        "used_memory_rss",
        "total_system_memory",
        "used_cpu_sys",
        "used_cpu_user",
        "total_connections_received",
        "total_commands_processed",
        "instantaneous_ops_per_sec",
        "keyspace_hits",
        "keyspace_misses",
        "uptime_in_seconds",
        "process_id",
        "tcp_port",
    ] {
        let number = told.get(name).map(|value| value.parse::<f64>());
        assert!(matches!(number, Some(Ok(0.0..))), "{name}: {number:?}");
    }
    for name in [
        "used_memory_human",
        "used_memory_rss_human",
        "os",
        "master_replid",
    ] {
        assert!(
            told.get(name).is_some_and(|value| !value.is_empty()),
            "{name}"
        );
    }
    assert!(!told.contains_key("filter_b"));
    let all = info(&mut client, "everything");
    assert!(all.contains_key("filter_b"));
    assert!(all["module"].starts_with("name="));
    assert_eq!(info(&mut client, "cluster").len(), 1);
}

#[test]
fn lookups_that_find_a_key_are_counted_apart() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("SET s x", "+OK\r\n");
    client.expect("BF.ADD b x", ":1\r\n");
    client.expect("CONFIG RESETSTAT", "+OK\r\n");
    for (line, hits, misses) in [
        ("GET s", 1, 0),
        ("GET none", 0, 1),
        ("STRLEN s", 1, 0),
        ("BF.EXISTS b y", 1, 0),
        ("BF.MEXISTS none x y", 0, 1),
        ("EXISTS s none s", 2, 1),
        ("TTL s", 1, 0),
        ("TYPE none", 0, 1),
        ("BF.ADD b z", 0, 0),
        ("SET t x", 0, 0),
    ] {
        let count = |client: &mut RawClient| {
            let told = info(client, "stats");
            let number = |name: &str| told[name].parse::<u64>().unwrap();
            (number("keyspace_hits"), number("keyspace_misses"))
        };
        let before = count(&mut client);
        client.call(line);
        let after = count(&mut client);
        assert_eq!(
            (after.0 - before.0, after.1 - before.1),
            (hits, misses),
            "{line}"
        );
    }
}

#[test]
fn settings_that_answer_ok_hold() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    for (name, value, held) in [
        ("maxmemory", "64mb", "67108864"),
        ("maxmemory", "1g", "1000000000"),
        ("mayhap-max-filter-bytes", "16mb", "16777216"),
        ("mayhap-snapshot-after", "1gb", "1073741824"),
        ("timeout", "300", "300"),
        ("tcp-keepalive", "60", "60"),
        ("mayhap-auth-timeout", "3", "3"),
        ("maxmemory-policy", "noeviction", "noeviction"),
        ("appendonly", "yes", "yes"),
        ("latency-monitor-threshold", "0", "0"),
    ] {
        client.expect(&format!("CONFIG SET {name} {value}"), "+OK\r\n");
        let told = client.call(&format!("CONFIG GET {name}"));
        assert!(told.ends_with(&format!("\r\n{held}\r\n")), "{told}");
    }
    assert_eq!(client.raw(&["CONFIG", "SET", "save", ""]), b"+OK\r\n");
    for line in [
        "maxmemory-policy allkeys-lru",
        "maxmemory-policy nonsense",
        "appendonly no",
        "latency-monitor-threshold 100",
        "tcp-keepalive x",
        "timeout 99999999999",
        "mayhap-max-filter-bytes 1x",
        "dir /tmp",
        "databases 16",
    ] {
        let told = client.call(&format!("CONFIG SET {line}"));
        assert!(told.starts_with("-ERR CONFIG SET failed"), "{line}: {told}");
    }
    let told = client.raw(&["CONFIG", "SET", "save", "3600 1"]);
    assert!(told.starts_with(b"-ERR CONFIG SET failed"));
}

#[test]
fn the_maximum_filter_size_applies_to_files_too() {
    let (folder, mut options) = folder();
    let small = ("mayhap-max-filter-bytes".to_owned(), "1kb".to_owned());
    options.settings.push(small);
    let filter =
        mayhap_core::AnyFilter::from(mayhap_core::Bloom::new(10_000, 0.01).expect("a filter"));
    let path = folder.path().join("fruit.mayhap");
    mayhap_codec::native::save(&path, &filter).expect("saved");
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("EXISTS fruit", ":0\r\n");
    client.expect("CONFIG SET mayhap-max-filter-bytes 1mb", "+OK\r\n");
    while client.call("EXISTS fruit") != ":1\r\n" {}
}

#[test]
fn commands_with_subcommands_have_help() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    for name in [
        "CLIENT", "COMMAND", "CONFIG", "LATENCY", "MEMORY", "MODULE", "OBJECT", "SLOWLOG",
    ] {
        let told = client.call(&format!("{name} help"));
        let head = format!("+{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
        assert_eq!(told.lines().nth(1), Some(head.as_str()), "{told}");
        assert!(
            told.contains("+HELP\r\n+    Print this help.\r\n"),
            "{told}"
        );
        // What is refused points to it, and it has no arguments.
        let refused = client.call(&format!("{name} NONSENSE"));
        assert!(
            refused.ends_with(&format!("Try {name} HELP.\r\n")),
            "{refused}"
        );
        assert!(
            client
                .call(&format!("{name} HELP x"))
                .starts_with("-ERR wrong number")
        );
    }
    // Each part that it names is known.
    for name in ["CLIENT", "COMMAND", "CONFIG", "MEMORY", "OBJECT", "SLOWLOG"] {
        let told = client.call(&format!("{name} HELP"));
        let parts = told.lines().skip(2).step_by(2);
        for part in parts.filter_map(|line| line[1..].split(' ').next()) {
            let reply = client.call(&format!("{name} {part} 1 2 3 4 5 6 7"));
            assert!(!reply.contains("unknown subcommand '"), "{name} {part}");
        }
    }
}

#[test]
fn a_requested_snapshot_counts_as_running() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("BF.ADD b x", ":1\r\n");
    for command in ["BGSAVE SCHEDULE", "BGREWRITEAOF"] {
        for _ in 0..10 {
            let saves = |told: &HashMap<String, String>| told["rdb_saves"].parse::<u64>().unwrap();
            let before = saves(&info(&mut client, "persistence"));
            let reply = client.call(command);
            assert!(reply.starts_with("+Background "), "{reply}");
            let told = info(&mut client, "persistence");
            let is_under_way =
                told["rdb_bgsave_in_progress"] == "1" && told["aof_rewrite_in_progress"] == "1";
            assert!(is_under_way || saves(&told) > before, "{command}: {told:?}");
            while saves(&info(&mut client, "persistence")) == before {}
        }
    }
    assert!(
        client
            .call("BGREWRITEAOF x")
            .starts_with("-ERR wrong number")
    );
    client.expect("BF.EXISTS b x", ":1\r\n");
}

#[test]
fn clients_can_be_paused() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let (mut boss, mut other) = (server.client(), server.client());
    boss.expect("CLIENT PAUSE 1000000 WRITE", "+OK\r\n");
    assert_eq!(info(&mut boss, "clients")["paused_actions"], "write");
    other.expect("GET k", "$-1\r\n");
    other.send(b"SET k v\r\nGET k\r\n");
    for _ in 0..100 {
        boss.expect("GET k", "$-1\r\n");
    }
    boss.expect("CLIENT UNPAUSE", "+OK\r\n");
    assert_eq!(other.reply(), b"+OK\r\n");
    assert_eq!(other.reply(), b"$1\r\nv\r\n");
    // A transaction that changes something waits as a whole.
    boss.expect("CLIENT PAUSE 1000000 write", "+OK\r\n");
    other.expect("MULTI", "+OK\r\n");
    other.expect("SET k w", "+QUEUED\r\n");
    other.send(b"EXEC\r\n");
    for _ in 0..100 {
        boss.expect("GET k", "$1\r\nv\r\n");
    }
    boss.expect("CLIENT UNPAUSE", "+OK\r\n");
    assert_eq!(other.reply(), b"*1\r\n+OK\r\n");
    boss.expect("CLIENT PAUSE 1000000", "+OK\r\n");
    other.send(b"PING\r\n");
    boss.expect("CLIENT UNPAUSE", "+OK\r\n");
    assert_eq!(other.reply(), b"+PONG\r\n");
    // It ends by itself.
    boss.expect("CLIENT PAUSE 1 ALL", "+OK\r\n");
    boss.expect("PING", "+PONG\r\n");
    assert_eq!(info(&mut boss, "clients")["paused_actions"], "none");
    for (line, error) in [
        (
            "CLIENT PAUSE x",
            "timeout is not an integer or out of range",
        ),
        ("CLIENT PAUSE -1", "timeout is negative"),
        ("CLIENT PAUSE 1 x", "CLIENT PAUSE mode must be WRITE or ALL"),
    ] {
        boss.expect(line, &format!("-ERR {error}\r\n"));
    }
}

#[test]
fn latencies_are_not_tracked_and_that_is_told() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("LATENCY LATEST", "*0\r\n");
    client.expect("LATENCY HISTORY command", "*0\r\n");
    client.expect("LATENCY HISTOGRAM", "*0\r\n");
    client.expect("LATENCY RESET", ":0\r\n");
    assert!(client.call("LATENCY DOCTOR").contains("SLOWLOG GET"));
    client.expect(
        "LATENCY GRAPH x",
        "-ERR unknown subcommand 'GRAPH'. Try LATENCY HELP.\r\n",
    );
}

#[test]
fn a_served_file_is_there_for_all_commands() {
    let (folder, options) = folder();
    let filter =
        mayhap_core::AnyFilter::from(mayhap_core::Bloom::new(100, 0.01).expect("a filter"));
    let path = folder.path().join("fruit.mayhap");
    mayhap_codec::native::save(&path, &filter).expect("saved");
    let server = Running::with(&options);
    let mut client = server.client();
    // The only file has two names.
    let random = client.call("RANDOMKEY");
    assert!(["$5\r\nfruit\r\n", "$12\r\nfruit.mayhap\r\n"].contains(&random.as_str()));
    client.expect("BF.ADD key x", ":1\r\n");
    client.expect("EXISTS fruit fruit.mayhap", ":2\r\n");
    client.expect("DBSIZE", ":3\r\n");
    let told = info(&mut client, "keyspace");
    assert_eq!(told["db0"], "keys=3,expires=0,avg_ttl=0");
    client.expect("TTL fruit", ":-1\r\n");
    client.expect("PEXPIRETIME fruit", ":-1\r\n");
    client.expect("OBJECT ENCODING fruit", "$3\r\nraw\r\n");
    assert!(client.call("MEMORY USAGE fruit").starts_with(':'));
    for (line, expected) in [
        ("SCAN 0 COUNT 100000", 3),
        ("SCAN 0 COUNT 100000 MATCH fruit*", 2),
        ("SCAN 0 COUNT 100000 TYPE mayhap-file", 2),
        ("SCAN 0 COUNT 100000 TYPE mayhap-bf", 1),
    ] {
        let told = client.call(line);
        let head = format!("*2\r\n$1\r\n0\r\n*{expected}\r\n");
        assert!(told.starts_with(&head), "{line}: {told}");
    }
    assert!(client.call("KEYS fru*").starts_with("*2\r\n"));
    for line in [
        "DEL key fruit",
        "UNLINK fruit",
        "EXPIRE fruit 10",
        "PERSIST fruit",
    ] {
        assert!(client.call(line).starts_with("-READONLY"), "{line}");
    }
    for line in [
        "BF.MERGE new fruit",
        "BF.MERGE key fruit",
        "RENAME fruit new",
        "COPY fruit new",
        "DUMP fruit",
    ] {
        let told = client.call(line);
        assert!(
            told.starts_with("-ERR this is a filter file"),
            "{line}: {told}"
        );
    }
    // Nothing of it was done.
    client.expect("EXISTS key new", ":1\r\n");
}
