//! Requests and replies without TLS.

use super::service::{Client, local, request, serve};
use mayhap_server::net::{ListenOptions, start};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

#[test]
fn a_long_pipeline_is_answered_in_order() {
    const REQUESTS: usize = 100_000;
    let server = serve(local());
    let mut client = server.client();
    let mut writer = client.0.get_ref().try_clone().unwrap();
    let sending = thread::spawn(move || {
        let requests = (0..REQUESTS).map(|i| request(&[b"ECHO", i.to_string().as_bytes()]));
        writer
            .write_all(&requests.collect::<Vec<_>>().concat())
            .unwrap();
    });
    for i in 0..REQUESTS {
        let word = i.to_string();
        assert_eq!(client.line(), "*1");
        assert_eq!(client.line(), format!("${}", word.len()));
        assert_eq!(client.line(), word);
    }
    sending.join().unwrap();
    assert_eq!(client.ask("COUNT"), format!(":{}", REQUESTS + 1));
    server.stop();
}

#[test]
fn byte_by_byte_is_as_good_as_at_once() {
    let server = serve(local());
    let mut client = server.client();
    let bytes = [
        request(&[b"ECHO", b"", b"two\r\nlines"]),
        b"*0\r\n\r\nPING\r\n*-1\r\n".to_vec(),
        request(&[b"PING"]),
        b"ECHO 'a b' \"\\x41\"\n".to_vec(),
    ];
    for byte in bytes.concat() {
        client.send(&[byte]);
    }
    let expected =
        "*2\r\n$0\r\n\r\n$10\r\ntwo\r\nlines\r\n+PONG\r\n+PONG\r\n*2\r\n$3\r\na b\r\n$1\r\nA\r\n";
    let mut replies = vec![0; expected.len()];
    client.0.read_exact(&mut replies).unwrap();
    assert_eq!(String::from_utf8(replies).unwrap(), expected);
    server.stop();
}

#[test]
fn large_words_come_and_go_in_pieces() {
    let server = serve(local());
    let mut client = server.client();
    for length in [65_000, 65_536, 1 << 20, 20 << 20] {
        let word: Vec<u8> = (0..length).map(|i: u32| (i % 251) as u8).collect();
        let mut writer = client.0.get_ref().try_clone().unwrap();
        let bytes = [request(&[b"ECHO", &word]), b"PING\r\n".to_vec()].concat();
        let sending = thread::spawn(move || writer.write_all(&bytes).unwrap());
        assert_eq!(client.line(), "*1");
        assert_eq!(client.line(), format!("${length}"));
        let mut back = vec![0; word.len() + 2];
        client.0.read_exact(&mut back).unwrap();
        assert!(
            back[..word.len()] == word,
            "{length} bytes came back changed"
        );
        assert_eq!(client.line(), "+PONG");
        sending.join().unwrap();
    }
    assert_eq!(client.ask("PING"), "+PONG");
    assert_eq!(server.running.buffered_bytes(), 0, "buffers are given back");
    server.stop();
}

#[test]
fn a_request_of_many_words_is_served() {
    let server = serve(local());
    let mut client = server.client();
    let words: Vec<String> = (0..200_000).map(|i| i.to_string()).collect();
    let mut all: Vec<&[u8]> = vec![b"ECHO"];
    all.extend(words.iter().map(String::as_bytes));
    let mut writer = client.0.get_ref().try_clone().unwrap();
    let bytes = request(&all);
    let sending = thread::spawn(move || writer.write_all(&bytes).unwrap());
    assert_eq!(client.line(), "*200000");
    for word in &words {
        client.line();
        assert_eq!(client.line(), *word);
    }
    sending.join().unwrap();
    server.stop();
}

#[test]
fn a_protocol_error_follows_earlier_replies_and_closes_the_connection() {
    let server = serve(local());
    for (bytes, error) in [
        ("*1\r\n$4\r\nPING\r\n*x\r\n", "invalid multibulk length"),
        (
            "PING\r\n*2\r\n$4\r\nECHO\r\n:1\r\n",
            "expected '$', got ':'",
        ),
        ("PING\r\n*1\r\n$-1\r\nPING\r\n", "invalid bulk length"),
        (
            "PING\r\nECHO \"a\r\nPING\r\n",
            "unbalanced quotes in request",
        ),
    ] {
        let mut client = server.client();
        client.send(bytes.as_bytes());
        assert_eq!(client.line(), "+PONG", "{bytes:?}");
        assert_eq!(
            client.line(),
            format!("-ERR Protocol error: {error}"),
            "{bytes:?}"
        );
        assert!(client.is_closed(), "{bytes:?}");
    }
    server.stop();
}

#[test]
fn limits_are_asked_before_each_request() {
    let server = serve(local());
    let mut client = server.client();
    let long = request(&[b"ECHO", &b"x".repeat(20_000)]);
    client.send(&long);
    assert_eq!(
        (client.line(), client.line()),
        ("*1".into(), "$20000".into())
    );
    client.line();
    client.send(&[b"FORGET\r\n".to_vec(), long].concat());
    assert_eq!(client.line(), "+OK");
    assert_eq!(
        client.line(),
        "-ERR Protocol error: unauthenticated bulk length"
    );
    assert!(client.is_closed());
    server.stop();
}

#[test]
fn the_log_is_committed_before_replies_are_sent() {
    let server = serve(local());
    let mut client = server.client();
    let spy = client.0.get_ref().try_clone().unwrap();
    for _ in 0..1_000 {
        // The spy must not wait, and shares that with the client.
        spy.set_nonblocking(true).unwrap();
        *server.service.spied.lock().unwrap() = Some(spy.try_clone().unwrap());
        client.send(b"SETTLED\r\n");
        while server.service.spied.lock().unwrap().is_some() {
            let mut byte = [0];
            if client.0.get_ref().peek(&mut byte).is_ok() {
                assert_eq!(byte, *b"+", "sent before it was settled");
                *server.service.spied.lock().unwrap() = None;
            }
        }
        spy.set_nonblocking(false).unwrap();
        assert_eq!(client.line(), "+settled");
    }
    assert_eq!(server.service.seen_too_early.load(Ordering::SeqCst), 0);
    assert!(server.service.settled.load(Ordering::SeqCst) >= 1_000);
    server.stop();
}

#[test]
fn a_half_closed_client_gets_its_replies() {
    let server = serve(local());
    for requests in [1, 10, 100_000] {
        let mut client = server.client();
        let mut writer = client.0.get_ref().try_clone().unwrap();
        let sending = thread::spawn(move || {
            writer.write_all(&b"PING\r\n".repeat(requests)).unwrap();
            writer.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut replies = String::new();
        client.0.read_to_string(&mut replies).unwrap();
        assert_eq!(replies.lines().count(), requests);
        sending.join().unwrap();
    }
    server.stop();
}

#[test]
fn many_clients_at_once_get_their_own_answers() {
    let server = serve(local());
    let mut clients: Vec<Client<TcpStream>> = (0..500).map(|_| server.client()).collect();
    for round in 1..=5 {
        for client in &mut clients {
            client.send(b"COUNT\r\nID\r\n");
        }
        let mut ids = Vec::new();
        for client in &mut clients {
            assert_eq!(client.line(), format!(":{}", 2 * round - 1));
            ids.push(client.line());
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), clients.len());
    }
    assert_eq!(server.running.clients(), clients.len());
    server.stop();
}

#[test]
fn ipv4_and_ipv6_wildcards_can_be_bound_together() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        eprintln!("skipped: there is no IPv6 here");
        return;
    }
    let at = |address: &str, port: u16| ListenOptions {
        addresses: vec![format!("{address}:{port}").parse().unwrap()],
        ..local()
    };
    // The port that one has found may be somebody else's in the other family.
    let found = (0..20).find_map(|_| {
        let new = serve(at("[::]", 0));
        let port = new.running.addresses[0].port();
        let old = start(at("0.0.0.0", port), Arc::clone(&new.service));
        old.ok().map(|running| (new, running))
    });
    let (new, old) = found.expect("`::` and `0.0.0.0` with one port");
    let port = new.running.addresses[0].port();
    for address in ["127.0.0.1", "::1"] {
        let stream = TcpStream::connect((address, port)).unwrap();
        assert_eq!(Client(BufReader::new(stream)).ask("PING"), "+PONG");
    }
    old.stop().unwrap();
    new.stop();
}
