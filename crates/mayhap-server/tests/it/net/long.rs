//! Requests that are served on threads of their own, and such that are tried again.

use super::service::{local, request, serve};
use mayhap_server::net::ListenOptions;
use std::sync::atomic::Ordering;

/// One worker, so that everybody else would have to wait for it.
fn one_worker() -> ListenOptions {
    ListenOptions {
        workers: 1,
        ..local()
    }
}

#[test]
fn only_its_own_connection_waits_for_a_long_request() {
    let server = serve(one_worker());
    let (mut patient, mut other) = (server.client(), server.client());
    patient.send(b"PING\r\nLONG\r\nSETTLED\r\n");
    assert_eq!(patient.line(), "+PONG");
    server.service.wait_for_long(1);
    for _ in 0..100 {
        assert_eq!(other.ask("PING"), "+PONG");
    }
    server.service.release_long();
    assert_eq!(patient.line(), "+long");
    assert_eq!(patient.line(), "+settled");
    assert_eq!(patient.ask("COUNT"), ":4");
    server.stop();
}

#[test]
fn more_long_requests_than_threads_are_all_served() {
    let server = serve(one_worker());
    let mut clients: Vec<_> = (0..20).map(|_| server.client()).collect();
    for client in &mut clients {
        // What follows arrives in pieces while the connection is away.
        client.send(b"LONG\r\nPING\r\n*2\r\n$4\r\nEC");
    }
    server.service.wait_for_long(4);
    assert_eq!(server.client().ask("PING"), "+PONG");
    server.service.release_long();
    for client in &mut clients {
        assert_eq!(client.line(), "+long");
        assert_eq!(client.line(), "+PONG");
        client.send(b"HO\r\n$1\r\nx\r\n");
        assert_eq!(client.line(), "*1");
    }
    server.stop();
}

#[test]
fn a_request_is_retried_until_its_keys_are_free() {
    let server = serve(one_worker());
    let (mut patient, mut other) = (server.client(), server.client());
    server.service.is_busy.store(true, Ordering::SeqCst);
    patient.send(&request(&[b"NEEDS"]).repeat(3));
    while server.service.tries.load(Ordering::SeqCst) < 5 {
        assert_eq!(other.ask("PING"), "+PONG");
    }
    server.service.is_busy.store(false, Ordering::SeqCst);
    for _ in 0..3 {
        assert_eq!(patient.line(), "+free");
    }
    server.stop();
}

#[test]
fn a_client_can_be_killed_while_its_request_is_served_elsewhere() {
    let server = serve(one_worker());
    let mut victim = server.client();
    victim.send(b"LONG\r\n");
    server.service.wait_for_long(1);
    let victims = server.service.clients.lock().unwrap().clone();
    victims[0].kill();
    assert_eq!(server.client().ask("PING"), "+PONG");
    server.service.release_long();
    // The reply may still come; nothing after it does.
    victim.send(b"PING\r\n");
    let last = victim.line();
    assert!(last.is_empty() || last == "+long", "{last}");
    assert!(victim.is_closed());
    server.stop();
}

#[test]
fn a_server_that_stops_waits_for_long_requests() {
    let server = serve(one_worker());
    let mut client = server.client();
    client.send(b"LONG\r\n");
    server.service.wait_for_long(1);
    let service = std::sync::Arc::clone(&server.service);
    let stop = server.running.stop_handle();
    stop.stop();
    service.release_long();
    assert_eq!(client.line(), "+long");
    server.stop();
}

#[test]
fn a_long_request_may_end_the_server() {
    let server = serve(one_worker());
    let mut client = server.client();
    server.service.release_long();
    client.send(b"LONG SHUTDOWN\r\n");
    server.running.wait();
    server.stop();
}
