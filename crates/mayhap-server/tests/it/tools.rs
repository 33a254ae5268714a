//! Redis's own tools, where the machine has them; clients/redis/ has more of it.

use crate::{Running, folder};
use std::io::{BufRead, BufReader, ErrorKind};
use std::process::{Command, Stdio};

/// `redis-cli` with these words; none where there is none.
fn cli(server: &Running, words: &str) -> Option<Command> {
    let mut command = Command::new("redis-cli");
    let is_missing = Command::new("redis-cli")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err_and(|error| error.kind() == ErrorKind::NotFound);
    if is_missing {
        eprintln!("skipped: there is no redis-cli (apt install redis-tools)");
        return None;
    }
    command
        .args(["-p", &server.address.port().to_string()])
        .args(words.split_whitespace());
    Some(command)
}

#[test]
fn redis_cli_shows_statistics() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("BF.ADD b x", ":1\r\n");
    let Some(mut command) = cli(&server, "--stat -i 0.01") else {
        return;
    };
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let shown: Vec<String> = lines.map_while(Result::ok).take(6).collect();
    let _ = child.kill();
    let _ = child.wait();
    let last = shown.last().expect("some lines");
    let words: Vec<&str> = last.split_whitespace().collect();
    // Keys, memory, clients, blocked ones, requests and connections.
    assert_eq!((words[0], words[2], words[3]), ("1", "2", "0"), "{shown:?}");
    client.expect("PING", "+PONG\r\n");
    assert!(!shown.concat().contains("-92233"), "{shown:?}");
}

#[test]
fn redis_cli_finds_the_large_keys() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    for key in ["a", "b", "c"] {
        client.expect(&format!("BF.ADD {key} x"), ":1\r\n");
    }
    client.expect("SET text something", "+OK\r\n");
    for (words, expected) in [
        ("--bigkeys", "3 mayhap-bf"),
        ("--memkeys", "3 mayhap-bf"),
        ("INFO everything", "cluster_enabled:0"),
        ("CLIENT HELP", "Print this help."),
    ] {
        let Some(mut command) = cli(&server, words) else {
            return;
        };
        let told = command.output().expect("it runs");
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(
            told.status.success() && text.contains(expected),
            "{words}: {text}"
        );
    }
}
