//! What a client can take of others: nothing.

use super::service::{local, request, serve};
use mayhap_server::net::{ListenOptions, Timeouts};
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn a_client_that_never_reads_takes_little_memory_and_delays_nobody() {
    let server = serve(ListenOptions {
        workers: 1,
        ..local()
    });
    let mut other = server.client();
    let mut greedy = server.client();
    let request = request(&[b"BIG", b"20000", &[b'p'; 1000]]);
    greedy.0.get_ref().set_nonblocking(true).unwrap();
    let mut sent = 0;
    let mut rounds_without_progress = 0;
    // Each answer to the other is a round of their common worker.
    while rounds_without_progress < 100 {
        let rest = &request[sent % request.len()..];
        match greedy.0.get_mut().write(rest) {
            Ok(count) => {
                sent += count;
                rounds_without_progress = 0;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                assert_eq!(other.ask("PING"), "+PONG");
                rounds_without_progress += 1;
            }
        }
        let buffered = server.running.buffered_bytes();
        assert!(
            buffered < 3 << 20,
            "{buffered} bytes for a client that does not read"
        );
    }
    let whole = sent / request.len();
    assert!(whole > 100, "the client was not read at all");
    // And when it reads after all, everything is there.
    greedy.0.get_ref().set_nonblocking(false).unwrap();
    let rest = request[sent % request.len()..].to_vec();
    let mut writer = greedy.0.get_ref().try_clone().unwrap();
    let sending = std::thread::spawn(move || writer.write_all(&rest).unwrap());
    let mut reply = vec![0; "$20000\r\n".len() + 20_000 + 2];
    for _ in 0..=whole {
        greedy.0.read_exact(&mut reply).unwrap();
        assert!(reply.starts_with(b"$20000\r\nxxx") && reply.ends_with(b"x\r\n"));
    }
    sending.join().unwrap();
    assert_eq!(greedy.ask("COUNT"), format!(":{}", whole + 2));
    server.stop();
}

#[test]
fn a_client_with_too_many_unread_replies_is_closed() {
    let server = serve(ListenOptions {
        hard_output_bytes: 32 << 20,
        ..local()
    });
    let mut client = server.client();
    client.send(&request(&[b"BIG", b"64000000"]));
    let mut bytes = Vec::new();
    let _ = client.0.read_to_end(&mut bytes);
    assert!(bytes.len() < 64_000_000);
    assert_eq!(server.client().ask("PING"), "+PONG");
    server.stop();
}

#[test]
fn beyond_the_total_quota_the_largest_client_is_closed() {
    let server = serve(ListenOptions {
        workers: 1,
        // Less than the two have, and more than one of them, whose buffer may be half as large again.
        max_buffered_bytes: 21 << 19,
        ..local()
    });
    let header = b"*2\r\n$4\r\nECHO\r\n$16777216\r\n";
    let mut large = server.client();
    large.send(header);
    large.send(&vec![b'x'; 6 << 20]);
    while server.running.buffered_bytes() < 6 << 20 {
        let closed = server.service.disconnected.load(Ordering::SeqCst);
        assert_eq!(closed, 0, "it was closed while it was alone");
        std::thread::yield_now();
    }
    let mut small = server.client();
    small.send(b"*2\r\n$4\r\nECHO\r\n$5242880\r\n");
    small.send(&vec![b'y'; 5 << 20]);
    small.send(b"\r\n");
    assert_eq!(
        (small.line(), small.line()),
        ("*1".into(), "$5242880".into())
    );
    assert_eq!(small.line().len(), 5 << 20);
    // Its worker has read the letter by the second answer, if there is one.
    assert_eq!(
        (small.ask("PING"), small.ask("PING")),
        ("+PONG".into(), "+PONG".into())
    );
    large.0.get_ref().set_nonblocking(true).unwrap();
    let seen = large.0.get_ref().peek(&mut [0]);
    let is_there = seen.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    assert!(!is_there, "the largest was not closed");
    server.stop();
}

#[test]
fn declared_lengths_allocate_nothing() {
    let server = serve(ListenOptions {
        workers: 1,
        ..local()
    });
    let mut clients = Vec::new();
    for _ in 0..100 {
        let mut client = server.client();
        client.send(b"PING\r\n*1000000\r\n$536870912\r\n");
        assert_eq!(client.line(), "+PONG");
        client.send(b"some of it");
        clients.push(client);
    }
    // What came before this was read.
    assert_eq!(server.client().ask("PING"), "+PONG");
    let buffered = server.running.buffered_bytes();
    assert!((1..100 * 1024).contains(&buffered), "{buffered} bytes");
    server.stop();
}

#[test]
fn a_client_beyond_the_limit_gets_an_error() {
    let server = serve(ListenOptions {
        max_clients: 2,
        ..local()
    });
    let mut first = server.client();
    let mut second = server.client();
    assert_eq!(first.ask("PING"), "+PONG");
    assert_eq!(second.ask("PING"), "+PONG");
    let mut third = server.client();
    assert_eq!(third.line(), "-ERR max number of clients reached");
    assert!(third.is_closed());
    drop(first);
    // As soon as the server has noticed.
    while server.running.clients() > 1 {
        std::thread::yield_now();
    }
    assert_eq!(server.client().ask("PING"), "+PONG");
    server.stop();
}

fn idle(milliseconds: u64) -> Arc<Timeouts> {
    let timeouts = Timeouts::default();
    timeouts.set_idle(Duration::from_millis(milliseconds));
    Arc::new(timeouts)
}

#[test]
fn idle_clients_are_closed_from_the_moment_when_that_is_set() {
    let timeouts = idle(0);
    let server = serve(ListenOptions {
        timeouts: Arc::clone(&timeouts),
        ..local()
    });
    let mut clients = [server.client(), server.client()];
    for client in &mut clients {
        assert_eq!(client.ask("PING"), "+PONG");
    }
    // All workers wait for events by now, and nothing happens to tell them.
    timeouts.set_idle(Duration::from_millis(1));
    assert!(clients.iter_mut().all(super::service::Client::is_closed));
    server.stop();
}

#[test]
fn idle_clients_are_closed_when_asked_for() {
    let server = serve(ListenOptions {
        timeouts: idle(500),
        ..local()
    });
    let mut client = server.client();
    assert_eq!(client.ask("PING"), "+PONG");
    assert!(client.is_closed());
    server.stop();
}

#[test]
fn a_busy_client_does_not_delay_others() {
    let server = serve(ListenOptions {
        workers: 1,
        ..local()
    });
    let busy = server.client();
    let mut writer = busy.0.get_ref().try_clone().unwrap();
    let mut reader = busy.0.get_ref().try_clone().unwrap();
    let sending = std::thread::spawn(move || {
        let pings = b"PING\r\n".repeat(10_000);
        while writer.write_all(&pings).is_ok() {}
    });
    let reading = std::thread::spawn(move || {
        let mut replies = vec![0; 1 << 16];
        while reader.read(&mut replies).is_ok_and(|count| count > 0) {}
    });
    // It would wait for ever if the busy one were served until it has nothing more.
    let mut other = server.client();
    for _ in 0..100 {
        assert_eq!(other.ask("PING"), "+PONG");
    }
    server.stop();
    sending.join().unwrap();
    reading.join().unwrap();
}
