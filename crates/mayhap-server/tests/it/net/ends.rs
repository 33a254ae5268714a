//! How connections and the server end.

use super::service::{local, request, serve};
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;

#[test]
fn quit_is_answered_and_nothing_after_it_is_served() {
    let server = serve(local());
    let mut client = server.client();
    client.send(b"PING\r\nQUIT\r\nPING\r\n");
    assert_eq!(client.line(), "+PONG");
    assert_eq!(client.line(), "+OK");
    assert!(client.is_closed());
    server.stop();
}

#[test]
fn an_idle_client_can_be_killed() {
    let server = serve(local());
    let mut victim = server.client();
    let mut other = server.client();
    let id = victim.ask("ID");
    assert_eq!(other.ask("PING"), "+PONG");
    let clients = server.service.clients.lock().unwrap().clone();
    let handle = clients
        .iter()
        .find(|client| format!(":{}", client.id) == id);
    let handle = handle.unwrap();
    assert_eq!(
        *handle.peer,
        *victim.0.get_ref().local_addr().unwrap().to_string()
    );
    assert_eq!(*handle.local, *server.running.addresses[0].to_string());
    assert!(!handle.is_tls);
    handle.kill();
    assert!(victim.is_closed());
    // Its place may be somebody else's by now.
    let mut next = server.client();
    assert_eq!(next.ask("PING"), "+PONG");
    handle.kill();
    handle.kill();
    for _ in 0..10 {
        assert_eq!(next.ask("PING"), "+PONG");
    }
    assert_eq!(other.ask("PING"), "+PONG");
    server.stop();
}

#[test]
fn a_client_that_does_not_read_can_be_killed() {
    let server = serve(local());
    let mut victim = server.client();
    victim.0.get_ref().set_nonblocking(true).unwrap();
    let request = request(&[b"BIG", b"1000000"]).repeat(1000);
    let mut error = None;
    while error.is_none() {
        error = victim.0.get_mut().write_all(&request).err();
    }
    assert_eq!(error.unwrap().kind(), ErrorKind::WouldBlock);
    while server.service.clients.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    let handle = server.service.clients.lock().unwrap()[0].clone();
    handle.kill();
    while server.running.clients() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(server.service.disconnected.load(Ordering::SeqCst), 1);
    server.stop();
}

#[test]
fn a_request_can_end_the_server() {
    let server = serve(local());
    let address = server.running.addresses[0];
    let mut idle = server.client();
    assert_eq!(idle.ask("PING"), "+PONG");
    let mut client = server.client();
    client.send(b"PING\r\nSHUTDOWN\r\nPING\r\n");
    server.running.wait();
    assert_eq!(client.line(), "+PONG");
    assert!(client.is_closed());
    assert!(idle.is_closed());
    server.stop();
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn another_thread_can_stop_the_server() {
    let server = serve(local());
    let mut client = server.client();
    assert_eq!(client.ask("PING"), "+PONG");
    let handle = server.running.stop_handle();
    let thread = std::thread::spawn(move || handle.stop());
    server.running.wait();
    server.running.wait();
    thread.join().unwrap();
    server.stop();
    assert!(client.is_closed());
}

#[test]
fn an_address_in_use_is_named() {
    let server = serve(local());
    let address = server.running.addresses[0];
    let again = mayhap_server::net::ListenOptions {
        addresses: vec![address],
        ..local()
    };
    let service = std::sync::Arc::clone(&server.service);
    let error = mayhap_server::net::start(again, service).err().unwrap();
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    server.stop();
}

#[test]
fn requests_read_before_the_stop_are_served() {
    // More requests than a round takes, in one read: the others are in the buffer when the server is told to stop.
    let server = serve(local());
    let mut client = server.client();
    let mut other = server.client();
    assert_eq!(other.ask("PING"), "+PONG");
    client.send(&b"COUNT\r\n".repeat(9_000));
    assert_eq!(client.line(), ":1");
    server.stop();
    let mut last = String::from(":1");
    loop {
        let line = client.line();
        if line.is_empty() {
            break;
        }
        last = line;
    }
    assert_eq!(last, ":9000");
}

#[test]
fn a_client_that_kills_itself_gets_the_answer() {
    let server = serve(local());
    let mut client = server.client();
    assert_eq!(client.ask("KILL"), "+OK");
    assert!(client.is_closed());
    server.stop();
}

#[test]
fn a_service_can_reject_a_client() {
    let server = serve(local());
    server.service.is_closed.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        let mut client = server.client();
        assert_eq!(client.line(), "-ERR closed today");
        assert!(client.is_closed());
    }
    server.service.is_closed.store(false, Ordering::SeqCst);
    assert_eq!(server.client().ask("PING"), "+PONG");
    server.stop();
}

#[test]
fn a_client_that_disconnects_with_unread_replies_is_forgotten() {
    let server = serve(local());
    let mut client = server.client();
    client.send(&request(&[b"BIG", b"50000000"]));
    assert_eq!(client.line(), "$50000000");
    drop(client);
    while server.running.clients() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(server.running.buffered_bytes(), 0);
    server.stop();
}

#[test]
fn a_panic_stops_the_whole_server() {
    let server = serve(local());
    let mut client = server.client();
    client.send(b"PANIC\r\n");
    server.running.wait();
    assert!(client.is_closed());
    let error = server.running.stop().unwrap_err();
    assert_eq!(error.to_string(), "a thread of the server has panicked");
}
