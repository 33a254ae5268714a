//! Pages over HTTP.

use mayhap_server::net::http::{HttpPage, PageServer, serve_pages};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex};

fn pages() -> PageServer {
    let pages = |path: &str| {
        (path == "/metrics").then(|| HttpPage {
            status: 200,
            content_type: "text/plain; version=0.0.4",
            body: vec![b'x'; 300_000],
        })
    };
    serve_pages("127.0.0.1:0".parse().unwrap(), Arc::new(pages)).unwrap()
}

fn ask(server: &PageServer, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn pages_are_served_whole() {
    let server = pages();
    let answer = ask(&server, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(answer.starts_with(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: 300000\r\n"
    ));
    assert!(answer.ends_with(&b"x".repeat(300_000)));
    let head = ask(
        &server,
        b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    );
    assert_eq!(answer.len(), head.len() + 300_000);
    assert!(ask(&server, b"GET /other HTTP/1.1\r\n\r\n").starts_with(b"HTTP/1.1 404 "));
    assert!(ask(&server, b"DELETE /metrics HTTP/1.1\r\n\r\n").starts_with(b"HTTP/1.1 405 "));
    server.stop();
}

#[test]
fn an_endless_http_head_is_rejected() {
    let server = pages();
    let long = [b"GET /metrics HTTP/1.1\r\nX: ".to_vec(), vec![b'x'; 20_000]].concat();
    assert!(ask(&server, &long).starts_with(b"HTTP/1.1 400 "));
    server.stop();
}

#[test]
fn silent_clients_delay_nobody() {
    let server = pages();
    let silent: Vec<_> = (0..20)
        .map(|_| TcpStream::connect(server.address).unwrap())
        .collect();
    assert!(ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n").starts_with(b"HTTP/1.1 200 "));
    drop(silent);
    server.stop();
}

#[test]
fn too_many_http_clients_get_503() {
    let server = pages();
    let mut silent: Vec<_> = (0..200)
        .map(|_| TcpStream::connect(server.address).unwrap())
        .collect();
    // The last one is surely one too many.
    let mut answer = String::new();
    silent.pop().unwrap().read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    server.stop();
}

#[test]
fn concurrent_renders_of_a_page_are_limited() {
    // How many are making the page, and whether they may come to their end.
    let state = Arc::new((Mutex::new((0, false)), Condvar::new()));
    let shared = Arc::clone(&state);
    let pages = move |path: &str| {
        if path == "/slow" {
            let (state, bell) = &*shared;
            let mut state = state.lock().unwrap();
            state.0 += 1;
            bell.notify_all();
            drop(bell.wait_while(state, |(_, may_end)| !*may_end).unwrap());
        }
        Some(HttpPage {
            status: 200,
            content_type: "text/plain",
            body: b"made".to_vec(),
        })
    };
    let server = serve_pages("127.0.0.1:0".parse().unwrap(), Arc::new(pages)).unwrap();
    let slow = b"GET /slow HTTP/1.1\r\n\r\n";
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(slow).unwrap();
            stream
        })
        .collect();
    let (lock, bell) = &*state;
    drop(
        bell.wait_while(lock.lock().unwrap(), |(making, _)| *making < 2)
            .unwrap(),
    );
    for _ in 0..10 {
        assert!(ask(&server, slow).starts_with(b"HTTP/1.1 503 "));
        assert!(ask(&server, b"GET /other HTTP/1.1\r\n\r\n").starts_with(b"HTTP/1.1 200 "));
    }
    lock.lock().unwrap().1 = true;
    bell.notify_all();
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    assert!(ask(&server, slow).starts_with(b"HTTP/1.1 200 "));
    server.stop();
}
