//! `mayhap serve` and the module give the same replies: random commands run on both, in both layouts and protocols, with the same secret.

use crate::Engine;
use mayhap_command::find;
use mayhap_server::{Server, ServerOptions};
use mayhap_testkit::random_commands::{KEYS, random_query, random_write};
use mayhap_testkit::raw_client::RawClient;
use mayhap_testkit::{Random, is_soak};

/// The number of commands after which all keys are compared and removed.
const A_RUN: u64 = 500;

/// A random command that both have. Errors about unknown commands differ.
fn random_command(random: &mut Random) -> String {
    match random.below(10) {
        0 => key_query(random),
        1..5 => random_query(random),
        _ => random_write(random),
    }
}

/// Replies of window filters depend on the time, and the two hosts have different clocks. So writes get a time later than both.
const BEGINNING: u64 = 1 << 42;

fn timed(line: String, time: u64) -> String {
    let name = line.split(' ').next().unwrap_or_default();
    match find(name.as_bytes()) {
        Some(command) if command.spec.writes() => format!("MAYHAP.AT {time} {line}"),
        _ => line,
    }
}

fn key_query(random: &mut Random) -> String {
    let (key, other) = (random.choose(&KEYS), random.choose(&KEYS));
    match random.below(8) {
        0 => format!("TYPE {key}"),
        1 => format!("EXISTS {key} {other}"),
        2 => format!("COPY {key} {other}"),
        3 => format!("COPY {key} {other} REPLACE"),
        4 => format!("PERSIST {key}"),
        5 => format!("EXPIRE {key} 1000"),
        6 => format!("DUMP {key}"),
        _ => "DBSIZE".to_owned(),
    }
}

fn set_everywhere(clients: &mut [RawClient; 2], name: &str, value: &str) {
    for (client, spelt) in clients.iter_mut().zip(["mayhap-", "mayhap."]) {
        client.expect(&format!("CONFIG SET {spelt}{name} {value}"), "+OK\r\n");
    }
}

/// The engine formats floating-point numbers with other digits, so they are compared as numbers.
fn normalised(reply: &[u8]) -> Vec<u8> {
    let is_double = |line: &&[u8]| line.starts_with(b",");
    let lines = reply.split_inclusive(|&byte| byte == b'\n');
    if !lines.clone().any(|line| is_double(&line)) {
        return reply.to_vec();
    }
    let plain = lines.map(|line| {
        let text = String::from_utf8_lossy(line);
        match text.trim_end().strip_prefix(',').map(str::parse::<f64>) {
            Some(Ok(number)) => format!(",{number}\r\n").into_bytes(),
            _ => line.to_vec(),
        }
    });
    plain.collect::<Vec<_>>().concat()
}

#[test]
fn server_and_module_give_the_same_replies() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = ServerOptions {
        port: 0,
        workers: 1,
        ..ServerOptions::new(folder.path())
    };
    let server = Server::start(&options).expect("it starts");
    let (address, stop) = (server.addresses()[0], server.stop_handle());
    let running = std::thread::spawn(move || server.run());
    let secret = folder.path().join("store/secret.key");
    let secret = secret.to_str().expect("a path");
    let engine = Engine::start(&["secret-file", secret], &[]);

    let runs = if is_soak() { 2050 } else { 205 };
    let mut said = 0;
    for seed in 0..runs {
        let mut random = Random::new(seed);
        let mut clients = [RawClient::connect(address), engine.client()];
        for client in &mut clients {
            client.call(&format!("HELLO {}", 2 + seed % 2));
            client.expect("FLUSHALL", "+OK\r\n");
        }
        set_everywhere(
            &mut clients,
            "layout",
            random.choose(&["native", "redisbloom"]),
        );
        set_everywhere(
            &mut clients,
            "bf-initial-size",
            random.choose(&["1", "10", "100"]),
        );
        set_everywhere(
            &mut clients,
            "cf-max-expansions",
            random.choose(&["1", "2", "32"]),
        );
        let (mut time, is_timed) = (BEGINNING, random.one_in(2));
        for step in 0..A_RUN {
            time += random.below(700);
            let mut line = random_command(&mut random);
            if is_timed {
                line = timed(line, time);
            } else if line.starts_with("BF.WINDOW") {
                continue;
            }
            let [ours, theirs] = clients.each_mut().map(|client| {
                let words: Vec<&str> = line.split(' ').collect();
                client.raw(&words)
            });
            said += 1;
            assert!(
                normalised(&ours) == normalised(&theirs),
                "seed {seed} step {step}: {line:.300}\n server {:.500}\n module {:.500}",
                ours.escape_ascii().to_string(),
                theirs.escape_ascii().to_string()
            );
        }
        for key in KEYS {
            let [ours, theirs] = clients.each_mut().map(|client| client.raw(&["DUMP", key]));
            assert!(ours == theirs, "seed {seed}: {key} became another filter");
        }
    }
    assert!(said >= 100_000);
    engine.expect_health();
    stop.stop();
    running.join().expect("no panic").expect("it ends well");
}
