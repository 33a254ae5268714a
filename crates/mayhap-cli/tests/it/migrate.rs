//! `mayhap migrate` between two servers, and with servers that reply with nonsense. `clients/migrate` has the tests with other engines.

use crate::serve::process::{Home, Server};
use crate::{mayhap, stderr, stdout};
use mayhap_testkit::client::{Client, ParsedReply};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Output;
use std::thread;

fn migrate(source: SocketAddr, target: SocketAddr, words: &str) -> Output {
    mayhap(&format!(
        "migrate redis://{source} redis://{target} {words}"
    ))
    .output()
    .expect("the program starts")
}

fn rows(output: &Output) -> Vec<Value> {
    let lines = stdout(output).lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn verdicts(output: &Output) -> Vec<(String, String)> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let rows = rows(output);
    rows.iter()
        .map(|row| (text(row, "key"), text(row, "verdict")))
        .collect()
}

fn fill(client: &mut Client) {
    for line in [
        "BF.RESERVE reserved 0.001 2000",
        "BF.WINDOW window 0.01 1000 3600",
        "CBF.RESERVE counting 0.01 1000",
        "CF.RESERVE empty 100",
    ] {
        assert!(client.call_line(line).is_ok(), "{line}");
    }
    for number in 0..1000 {
        for line in [
            format!("BF.ADD growing item-{number}"),
            format!("BF.ADD reserved item-{number}"),
            format!("BF.ADD window item-{number}"),
            format!("CF.ADD cuckoo item-{number}"),
            format!("CBF.ADD counting item-{number}"),
        ] {
            client.call_line(&line);
        }
    }
    client.call_line("PEXPIREAT growing 4102444800000");
    client.call_line("SET text value");
}

const KEYS: [&str; 6] = [
    "counting", "cuckoo", "empty", "growing", "reserved", "window",
];

fn dumps(server: &Server<'_>) -> Vec<ParsedReply> {
    let mut client = server.client();
    let dumps = KEYS
        .iter()
        .map(|key| client.call_line(&format!("DUMP {key}")));
    dumps.collect()
}

#[test]
fn every_kind_of_both_layouts_is_moved_to_the_byte() {
    for layout in ["native", "redisbloom"] {
        let (one, other) = (Home::new(), Home::new());
        let source = one.start(&format!("--layout {layout}"));
        let target = other.start("");
        fill(&mut source.client());
        let before = dumps(&source);
        let listed = migrate(source.address, target.address, "--dry-run --json");
        assert_eq!(listed.status.code(), Some(0), "{}", stderr(&listed));
        assert_eq!(target.client().call_line("DBSIZE").number(), Some(0));
        let moved = migrate(source.address, target.address, "--json --verify 500");
        assert_eq!(moved.status.code(), Some(0), "{}", stderr(&moved));
        let expected = KEYS.map(|key| (key.to_owned(), "moved".to_owned()));
        assert_eq!(verdicts(&moved), expected);
        assert_eq!(dumps(&target), before, "{layout}");
        assert_eq!(dumps(&source), before, "the source is as it was");
        for row in rows(&moved) {
            assert_eq!(row["verified"]["lost"], 0, "{row}");
            assert!(row["bytes"].as_u64() > Some(0), "{row}");
            let is_native = row["layout"] == "native";
            assert_eq!(
                is_native,
                layout == "native" || row["type"] == "counting" || row["key"] == "window"
            );
        }
        let expires = target.client().call_line("PEXPIRETIME growing");
        assert_eq!(expires.number(), Some(4_102_444_800_000));
        let again = migrate(source.address, target.address, "--json");
        let expected = KEYS.map(|key| (key.to_owned(), "same".to_owned()));
        assert_eq!(verdicts(&again), expected);
        assert_eq!(target.client().call_line("DBSIZE").number(), Some(6));
    }
}

#[test]
fn the_table_has_rates_and_the_procedure() {
    let (one, other) = (Home::new(), Home::new());
    let (source, target) = (one.start("--layout redisbloom"), other.start(""));
    let mut client = source.client();
    client.call_line("BF.RESERVE seen 0.01 1000");
    for number in 0..1000 {
        client.call_line(&format!("BF.ADD seen item-{number}"));
    }
    let moved = migrate(source.address, target.address, "");
    let text = stdout(&moved);
    let line = text
        .lines()
        .find(|line| line.starts_with("seen"))
        .unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(
        words[..4],
        ["seen", "bloom", "redisbloom", "1,000"],
        "{text}"
    );
    assert!(line.contains("1 %") && line.ends_with("moved"), "{text}");
    // From the bits: half of what was requested, for the first layer of a filter that grows.
    let current: f64 = words[7].parse().unwrap_or_default();
    assert!((0.3..0.7).contains(&current), "{text}");
    assert!(text.contains("To switch over:"), "{text}");
    let none = migrate(source.address, target.address, "--match none");
    assert_eq!(none.status.code(), Some(1));
}

#[test]
fn a_long_name_does_not_widen_the_other_lines() {
    let (one, other) = (Home::new(), Home::new());
    let (source, target) = (one.start(""), other.start(""));
    let name = "n".repeat(1 << 16);
    let mut client = source.client();
    for key in [name.as_str(), "short"] {
        client.call_line(&format!("BF.ADD {key} item"));
    }
    let moved = migrate(source.address, target.address, "");
    let text = stdout(&moved);
    assert!(text.contains(&name));
    let lines: Vec<_> = text.lines().filter(|line| line.contains("moved")).collect();
    assert!(lines.iter().any(|line| line.len() < 200), "{lines:?}");
}

#[test]
fn empty_filters_of_any_size_are_the_same_afterwards() {
    let (one, other) = (Home::new(), Home::new());
    let (source, target) = (one.start("--layout redisbloom"), other.start(""));
    assert!(
        source
            .client()
            .call_line("CF.RESERVE large 20000000")
            .is_ok()
    );
    for verdict in ["moved", "same"] {
        let moved = migrate(source.address, target.address, "--json");
        let expected = [("large".to_owned(), verdict.to_owned())];
        assert_eq!(verdicts(&moved), expected, "{}", stderr(&moved));
    }
}

#[test]
fn keys_for_verify_are_sampled_from_a_file() {
    let (one, other) = (Home::new(), Home::new());
    let (source, target) = (one.start(""), other.start(""));
    fill(&mut source.client());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("keys.txt");
    let lines: Vec<String> = (0..1000).map(|number| format!("item-{number}\n")).collect();
    let lines = lines.concat();
    std::fs::write(&file, lines).expect("a file");
    let words = format!(
        "--json --match reserved --verify 300 --keys {}",
        file.display()
    );
    let moved = migrate(source.address, target.address, &words);
    let verified = &rows(&moved)[0]["verified"];
    assert_eq!(verified["keys"], 300);
    assert_eq!(verified["found_at_source"], 300);
    assert_eq!(verified["found_at_target"], 300);
}

#[test]
fn arguments_that_do_not_fit_are_explained() {
    let (one, other) = (Home::new(), Home::new());
    let (source, target) = (one.start(""), other.start(""));
    for (words, explained) in [
        ("--db 3", "name the database of a server in its URL"),
        ("--verify 99999999999", "at most 1000000 keys"),
    ] {
        let output = migrate(source.address, target.address, words);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(stderr(&output).contains(explained), "{}", stderr(&output));
    }
    // A URL whose beginning was forgotten may have a password.
    for places in [
        format!("user:secret@{} redis://{}", source.address, target.address),
        format!("redis://{} user:secret@{}", source.address, target.address),
    ] {
        let output = mayhap(&format!("migrate {places}"))
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(2));
        assert!(!stderr(&output).contains("secret"), "{}", stderr(&output));
    }
    // The replies are read as RESP2, whatever the URL asks for, and an empty variable is no password.
    fill(&mut source.client());
    let urls = format!(
        "migrate redis://{}?protocol=resp3 redis://{}?protocol=resp3 --json",
        source.address, target.address
    );
    let mut command = mayhap(&urls);
    command.env("MAYHAP_SOURCE_PASSWORD", "");
    let moved = command.output().expect("the program starts");
    assert_eq!(moved.status.code(), Some(0), "{}", stderr(&moved));
    assert_eq!(verdicts(&moved).len(), KEYS.len());
}

/// A server that answers each request by its first word, for as many connections as come.
fn broken_server(reply: ReplyOf) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer_all(stream, reply));
        }
    });
    address
}

/// What a server replies to the words of a request.
type ReplyOf = fn(&[Vec<u8>]) -> Vec<u8>;

fn answer_all(mut stream: std::net::TcpStream, reply: ReplyOf) {
    let (mut input, mut bytes) = (Vec::new(), vec![0; 1 << 16]);
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        input.extend_from_slice(&bytes[..count]);
        while let Some((words, used)) = request(&input) {
            input.drain(..used);
            if stream.write_all(&reply(&words)).is_err() {
                return;
            }
        }
    }
}

/// The words of the first request, and its length; `None` if it is not complete.
fn request(input: &[u8]) -> Option<(Vec<Vec<u8>>, usize)> {
    let line_end = |from: usize| {
        input
            .get(from..)?
            .windows(2)
            .position(|two| two == b"\r\n")
            .map(|at| from + at)
    };
    // The number of a line, behind its first byte.
    let number = |from: usize, end: usize| -> Option<usize> {
        std::str::from_utf8(input.get(from + 1..end)?)
            .ok()?
            .parse()
            .ok()
    };
    let first = line_end(0)?;
    let (mut at, mut words) = (first + 2, Vec::new());
    for _ in 0..number(0, first)? {
        let end = line_end(at)?;
        let length = number(at, end)?;
        words.push(input.get(end + 2..end + 2 + length)?.to_vec());
        at = end + 2 + length + 2;
    }
    (at <= input.len()).then_some((words, at))
}

/// As a server with one filter would answer, except for SCANDUMP.
fn common_reply(words: &[Vec<u8>]) -> Option<&'static str> {
    Some(match words[0].to_ascii_uppercase().as_slice() {
        b"SCAN" => "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n",
        b"TYPE" => "+MBbloom--\r\n",
        b"PEXPIRETIME" => ":-1\r\n",
        b"BF.INFO" => "*4\r\n+Capacity\r\n:100\r\n+Size\r\n:-5\r\n",
        b"CLUSTER" => "-ERR This instance has cluster support disabled\r\n",
        b"BF.SCANDUMP" => return None,
        _ => "+OK\r\n",
    })
}

#[test]
fn a_source_that_replies_with_nonsense_is_reported() {
    let home = Home::new();
    let target = home.start("");
    let replies: [ReplyOf; 13] = [
        // Never ends.
        |words| {
            common_reply(words)
                .unwrap_or("*2\r\n:1\r\n$2\r\nab\r\n")
                .into()
        },
        // Not what SCANDUMP replies.
        |words| common_reply(words).unwrap_or(":5\r\n").into(),
        |words| common_reply(words).unwrap_or("*0\r\n").into(),
        // A length of bytes that never come.
        |words| match common_reply(words) {
            Some(reply) => reply.into(),
            None => b"*2\r\n:1\r\n$-7\r\n".to_vec(),
        },
        // Moved to a node that is not there, for ever.
        |words| match words[0].to_ascii_uppercase().as_slice() {
            b"BF.INFO" => b"-MOVED 5 127.0.0.1:1\r\n".to_vec(),
            _ => common_reply(words).unwrap_or("+OK\r\n").into(),
        },
        |_| b"-ERR no\r\n".to_vec(),
        // Chunks that are shorter than the iterators say, so that they would not end for long.
        |words| match (common_reply(words), words.get(2).map(Vec::as_slice)) {
            (Some(reply), _) => reply.into(),
            (None, Some(b"0")) => b"*2\r\n:1\r\n$2\r\nab\r\n".to_vec(),
            (None, _) => b"*2\r\n:900000\r\n$2\r\nab\r\n".to_vec(),
        },
        // The key is gone before the header is read.
        |words| {
            common_reply(words)
                .unwrap_or("-ERR not \x1b[2Jfound\r\n")
                .into()
        },
        // SCAN without an end.
        |words| match words[0].as_slice() {
            b"SCAN" => b"*2\r\n$1\r\n7\r\n*0\r\n".to_vec(),
            _ => common_reply(words).unwrap_or("+OK\r\n").into(),
        },
        // SCAN in a circle.
        |words| match words[0].as_slice() {
            b"SCAN" => {
                let next = match words[1].as_slice() {
                    b"5" => 6,
                    b"6" => 7,
                    _ => 5,
                };
                format!("*2\r\n$1\r\n{next}\r\n*0\r\n").into()
            }
            _ => common_reply(words).unwrap_or("+OK\r\n").into(),
        },
        // Types that cannot be read, behind which there may be filters.
        |words| match words[0].as_slice() {
            b"TYPE" => b"-NOPERM User u has no permissions to run the 'type' command\r\n".to_vec(),
            _ => common_reply(words).unwrap_or("+OK\r\n").into(),
        },
        |words| match words[0].as_slice() {
            b"TYPE" => b"$-1\r\n".to_vec(),
            _ => common_reply(words).unwrap_or("+OK\r\n").into(),
        },
        |_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
    ];
    for (number, reply) in replies.into_iter().enumerate() {
        let source = broken_server(reply);
        let output = migrate(source, target.address, "");
        assert_eq!(
            output.status.code(),
            Some(2),
            "{number}: {}",
            stdout(&output)
        );
        assert_eq!(
            stderr(&output).lines().count(),
            1,
            "{number}: {}",
            stderr(&output)
        );
        assert!(!stderr(&output).contains("panicked"), "{number}");
        assert!(!stdout(&output).contains('\x1b'), "{number}");
    }
    assert_eq!(target.client().call_line("DBSIZE").number(), Some(0));
}

#[test]
fn a_target_that_does_not_say_ok_has_nothing() {
    let home = Home::new();
    let source = home.start("");
    fill(&mut source.client());
    let replies: [ReplyOf; 3] = [
        // To the chunk behind the header.
        |words| match words[0].as_slice() {
            b"BF.LOADCHUNK" | b"CF.LOADCHUNK" if words[2] != b"1" => b":5\r\n".to_vec(),
            b"RESTORE" => b":5\r\n".to_vec(),
            _ => empty_target(words),
        },
        // To a command of the transaction.
        |words| match words[0].as_slice() {
            b"PERSIST" | b"PEXPIREAT" => b"+OK\r\n".to_vec(),
            _ => empty_target(words),
        },
        // To the transaction.
        |words| match words[0].as_slice() {
            b"EXEC" => b"*1\r\n:1\r\n".to_vec(),
            _ => empty_target(words),
        },
    ];
    for (number, reply) in replies.into_iter().enumerate() {
        let output = migrate(source.address, broken_server(reply), "--json");
        assert_eq!(output.status.code(), Some(2), "{number}");
        for (key, verdict) in verdicts(&output) {
            assert!(
                verdict == "failed" || verdict == "refused",
                "{number}: {key}"
            );
        }
    }
}

/// As a server would answer that has no keys and accepts all.
fn empty_target(words: &[Vec<u8>]) -> Vec<u8> {
    let reply = match words[0].as_slice() {
        b"SCAN" => "*2\r\n$1\r\n0\r\n*0\r\n",
        b"TYPE" => "+none\r\n",
        b"PEXPIRE" => ":1\r\n",
        b"PERSIST" | b"PEXPIREAT" | b"RENAMENX" => "+QUEUED\r\n",
        b"EXEC" => "*2\r\n:1\r\n:1\r\n",
        b"BF.INFO" | b"CF.INFO" | b"CBF.INFO" => "-ERR not found\r\n",
        _ => "+OK\r\n",
    };
    reply.into()
}
