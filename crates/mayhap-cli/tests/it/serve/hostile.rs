//! Whatever is asked of the server, with whatever arguments: one well-formed reply each, a bound on its memory, and it lives.

use crate::serve::process::{Home, Server};
use crate::serve::rounds;
use mayhap_testkit::Random;
use mayhap_testkit::client::{Client, ParsedReply, Words, push_request, words};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

const LIMIT: &str = "--fsync no --max-memory 64mb";
/// What the process may take: the keys, a snapshot or a copy of one, and itself.
const MAX_BYTES: u64 = 400 << 20;
const MAX_WORDS: usize = 5;

/// Keys of every type, made again whenever something may have taken them away.
const KEYS: [&str; 8] = [
    "SET text abc",
    "BF.ADD bloom x",
    "BF.RESERVE fixed 0.01 100 NONSCALING",
    "BF.WINDOW window 0.01 100 60",
    "CF.ADD cuckoo x",
    "CBF.ADD counting x",
    "SET going x EX 1000",
    "BF.MADD grown 1 2 3",
];

fn arguments() -> Words {
    let numbers = "0 1 -1 2 3 0.01 2147483648 9223372036854775807 -9223372036854775808 18446744073709551616 nan inf -inf 1e308 1e-308 1073741824";
    let names = "text bloom fixed window cuckoo counting going grown missing * ITEMS CAPACITY ERROR EXPANSION NONSCALING NOCREATE BUCKETSIZE REPLACE ABSTTL MATCH COUNT EX PX NX XX GT LT GET";
    let mut all = words(&format!("{numbers} {names}"));
    all.push(Vec::new());
    all.push(vec![b'x'; 64 << 10]);
    all.push((0..=255).collect());
    all.push(b"two words\r\n+OK\r\n".to_vec());
    all
}

/// What stands first behind a name that has several commands in it.
fn subcommands(name: &str) -> Words {
    words(match name {
        "client" => {
            "id info list kill getname setname setinfo no-evict no-touch tracking help unblock"
        }
        "command" => "count list info docs getkeys help",
        "config" => "get resetstat rewrite help",
        "latency" => "latest history histogram reset doctor help",
        "memory" => "usage doctor help",
        "module" => "list load help",
        "object" => "encoding refcount idletime freq help",
        "slowlog" => "get len reset help",
        _ => "",
    })
}

/// Those that end the connection or the server are asked elsewhere.
fn is_asked(words: &Words) -> bool {
    let name = words[0].to_ascii_lowercase();
    !(name == b"quit" || name == b"shutdown" && words.len() == 1)
}

fn make_keys(client: &mut Client) {
    for line in KEYS {
        client.call_line(line);
    }
}

fn field(client: &mut Client, section: &str, name: &str) -> u64 {
    let text = client.call_line(&format!("INFO {section}")).text();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name}:")));
    line.and_then(|line| line.parse().ok())
        .unwrap_or_else(|| panic!("no {name} in {text}"))
}

/// Some requests at once, and behind them one whose answer is known: a reply too many or too few shows.
fn ask_all(client: &mut Client, requests: &[Words]) {
    let mut bytes = Vec::new();
    for words in requests {
        push_request(&mut bytes, words);
    }
    // Whatever MULTI and HELLO have left behind ends here.
    push_request(&mut bytes, &["DISCARD"]);
    push_request(&mut bytes, &["ECHO", "the end"]);
    client.send(&bytes).expect("sent");
    let actual = |words: &Words| {
        let words = words
            .iter()
            .map(|word| String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned());
        words.collect::<Vec<_>>()
    };
    for words in requests {
        let reply = client.read();
        let reply = reply.unwrap_or_else(|error| panic!("{:?}: {error}", actual(words)));
        // The end of a line is never in the middle of one.
        if let ParsedReply::Error(text) | ParsedReply::Simple(text) = &reply {
            assert!(
                !text.contains(['\r', '\n']),
                "{:?}: {text:?}",
                actual(words)
            );
        }
    }
    client.read().expect("DISCARD");
    let end = client.read().expect("ECHO");
    assert_eq!(
        end.text(),
        "the end",
        "behind {:?}",
        requests.iter().map(actual).collect::<Vec<_>>()
    );
}

fn assert_bounded(server: &Server<'_>, after: &str) {
    let (now, most) = server.resident();
    assert!(most < MAX_BYTES, "{most} bytes after {after}, {now} now");
}

#[test]
fn every_command_answers_whatever_it_is_given() {
    let home = Home::new();
    let server = home.start(LIMIT);
    let mut client = server.client();
    let names: Vec<String> = client
        .call_line("COMMAND LIST")
        .elements()
        .iter()
        .map(ParsedReply::text)
        .collect();
    assert!(names.len() > 80, "{names:?}");
    let arguments = arguments();
    let mut random = Random::new(6);
    let mut asked = 0;
    for name in &names {
        let subcommands = subcommands(name);
        for protocol in ["HELLO 2", "HELLO 3"] {
            client.call_line(protocol);
            for count in 0..=MAX_WORDS {
                // Each argument once where there is one, by chance where there are more.
                let tries = if count == 0 {
                    1
                } else {
                    arguments.len() as u64 + rounds(20, 2000)
                };
                let mut requests = Vec::new();
                for number in 0..tries {
                    let mut words = vec![name.as_bytes().to_vec()];
                    words.extend(
                        (0..count).map(|_| arguments[random.index(arguments.len())].clone()),
                    );
                    if let Some(argument) = arguments.get(number as usize).filter(|_| count > 0) {
                        let place = 1 + random.below(count as u64) as usize;
                        words[place] = argument.clone();
                    }
                    if count > 0 && !subcommands.is_empty() && !random.one_in(8) {
                        words[1] = subcommands[random.index(subcommands.len())].clone();
                    }
                    if is_asked(&words) {
                        requests.push(words);
                    }
                }
                for requests in requests.chunks(16) {
                    make_keys(&mut client);
                    ask_all(&mut client, requests);
                    asked += requests.len();
                }
            }
        }
        assert_bounded(&server, name);
    }
    client.call_line("HELLO 2");
    assert!(client.call_line("FLUSHALL").is_ok());
    // Files that MAYHAP.EXPORT made are still served.
    let files = field(&mut client, "memory", "mayhap_served_bytes");
    assert_eq!(field(&mut client, "memory", "used_memory"), files);
    let served = client.call_line("SCAN 0 COUNT 100000 TYPE mayhap-file");
    let served = i64::try_from(served.elements()[1].elements().len());
    assert_eq!(client.call_line("DBSIZE").number(), served.ok());
    eprintln!("{asked} requests, at most {} MB", server.resident().1 >> 20);
}

#[test]
fn settings_take_any_value_or_refuse_it() {
    let home = Home::new();
    let server = home.start(LIMIT);
    let mut client = server.client();
    let actual = client.call_line("CONFIG GET *");
    let arguments = arguments();
    for pair in actual.elements().chunks_exact(2) {
        let (name, usual) = (pair[0].text(), pair[1].text());
        // These two are to keep clients out.
        if name == "requirepass" || name == "maxclients" {
            continue;
        }
        for argument in &arguments {
            let reply = client
                .call(&[b"CONFIG", &b"SET"[..], name.as_bytes(), argument])
                .expect("a reply");
            assert!(reply.is_ok() || reply.is_error("ERR"), "{name}: {reply:?}");
            // Whatever it is now, filters are made or refused.
            let made = client.call_line("BF.ADD made x");
            assert!(
                made.number().is_some() || matches!(made, ParsedReply::Error(_)),
                "{name}: {made:?}"
            );
            let made = client.call_line("CF.ADD made2 x");
            assert!(
                made.number().is_some() || matches!(made, ParsedReply::Error(_)),
                "{name}: {made:?}"
            );
            client.call_line("DEL made made2");
            client
                .call(&["CONFIG", "SET", &name, &usual])
                .expect("a reply");
        }
        assert_bounded(&server, &name);
    }
    assert_eq!(client.call_line("PING").text(), "PONG");
}

#[test]
fn killed_and_disconnected_clients_do_not_affect_others() {
    let home = Home::new();
    let server = home.start(LIMIT);
    let mut watching = server.client();
    for line in [
        "QUIT",
        "QUIT now",
        "CLIENT KILL TYPE normal SKIPME no",
        "CLIENT KILL ID 0",
        "CLIENT REPLY OFF",
        "CLIENT REPLY SKIP",
        "MULTI",
        "WATCH a",
        "SHUTDOWN LATER",
        "RESET",
    ] {
        let mut client = server.client();
        let _ = client.call(&words("PING"));
        let mut bytes = Vec::new();
        push_request(&mut bytes, &words(line));
        client.send(&bytes).expect("sent");
        drop(client);
        // It may have been killed with the others.
        match watching.call(&["PING"]) {
            Ok(reply) => assert_eq!(reply.text(), "PONG"),
            Err(_) => watching = server.client(),
        }
    }
    assert_eq!(server.client().call_line("PING").text(), "PONG");
}

/// Requests with some bytes changed, or nothing that was ever one.
fn garbage(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(8) {
        let line = random.choose(&KEYS);
        push_request(&mut bytes, &words(line));
    }
    if random.one_in(3) {
        let length = 1 + random.below(4000);
        bytes = (0..length)
            .map(|_| random.choose(b"*$+-:_#,%~\r\n0123456789abc \"'\0\xff"))
            .collect();
    }
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] = random.next_u64() as u8;
    }
    if random.one_in(4) {
        bytes.truncate(random.below(bytes.len() as u64) as usize);
    }
    if random.one_in(10) {
        bytes.extend_from_slice(b"*1000000\r\n$536870912\r\n");
    }
    bytes
}

#[test]
fn garbage_input_is_survived() {
    let home = Home::new();
    let server = home.start(LIMIT);
    let mut random = Random::new(8);
    let mut open = Vec::new();
    for round in 0..rounds(3000, 100_000) {
        let mut stream = TcpStream::connect(server.address).expect("it listens");
        // It may be closed from the other side by now.
        let _ = stream.write_all(&garbage(&mut random));
        if random.one_in(2) {
            open.push(stream);
        }
        if open.len() > 200 {
            let mut stream = open.swap_remove(random.below(200) as usize);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut rest = Vec::new();
            match stream.read_to_end(&mut rest) {
                Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
                _ => {}
            }
        }
        if round % 500 == 0 {
            assert_eq!(server.client().call_line("PING").text(), "PONG");
            assert_bounded(&server, "garbage");
        }
    }
    let mut client = server.client();
    assert!(client.call_line("FLUSHALL").is_ok());
    drop(open);
    assert_eq!(client.call_line("PING").text(), "PONG");
}
