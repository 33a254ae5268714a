//! Pages over HTTP.

use mayhap_server::net::http::{Page, PageServer, serve_pages};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

fn pages() -> PageServer {
    let pages = |path: &str| {
        (path == "/metrics").then(|| Page {
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
fn a_head_that_does_not_end_is_refused() {
    let server = pages();
    let long = [b"GET /metrics HTTP/1.1\r\nX: ".to_vec(), vec![b'x'; 20_000]].concat();
    assert!(ask(&server, &long).starts_with(b"HTTP/1.1 400 "));
    server.stop();
}

#[test]
fn silent_clients_hold_nobody_up() {
    let server = pages();
    let silent: Vec<_> = (0..20)
        .map(|_| TcpStream::connect(server.address).unwrap())
        .collect();
    assert!(ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n").starts_with(b"HTTP/1.1 200 "));
    drop(silent);
    server.stop();
}

#[test]
fn too_many_clients_are_told_to_come_again() {
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
