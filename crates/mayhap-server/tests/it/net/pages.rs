//! HTTP connections: limits and deadlines, whatever the service.

use mayhap_server::net::http::{
    Admission, Answer, EventSource, HttpListener, HttpResponse, HttpServer, HttpService,
    RequestHead,
};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// How many are making the pages `/slow` and `/busy`, and whether they may come to their end.
#[derive(Default)]
struct Service {
    slow: Mutex<(usize, bool)>,
    bell: Condvar,
}

struct Three(u8);

impl EventSource for Three {
    fn next(&mut self) -> Option<Arc<[u8]>> {
        self.0 += 1;
        (self.0 <= 3).then(|| format!("data: {}\n\n", self.0).into_bytes().into())
    }
}

impl HttpService for Service {
    fn check(&self, head: &RequestHead) -> Result<Admission, HttpResponse> {
        match head.path.as_str() {
            "/forbidden" => Err(HttpResponse::text(403, "no\n")),
            path => Ok(Admission {
                max_body_bytes: 1 << 20,
                max_concurrent: if path == "/slow" { 2 } else { usize::MAX },
            }),
        }
    }

    fn answer(&self, head: &RequestHead, body: Vec<u8>) -> Answer {
        Answer::Whole(match head.path.as_str() {
            "/large" => HttpResponse::text(200, "x".repeat(300_000)),
            "/slow" | "/busy" => {
                let mut state = self.slow.lock().unwrap();
                state.0 += 1;
                self.bell.notify_all();
                drop(
                    self.bell
                        .wait_while(state, |(_, may_end)| !*may_end)
                        .unwrap(),
                );
                HttpResponse::text(200, "made")
            }
            "/panics" => panic!("as the test wants"),
            "/events" => return Answer::Events(Box::new(Three(0))),
            _ => HttpResponse::text(200, format!("{} bytes", body.len())),
        })
    }

    fn refuse(&self, _: Option<&RequestHead>, status: u16, text: &str) -> HttpResponse {
        HttpResponse::text(status, text)
    }
}

fn start() -> (HttpServer, Arc<Service>) {
    let service = Arc::new(Service::default());
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let shared: Arc<Service> = Arc::clone(&service);
    (listener.serve(None, shared).unwrap(), service)
}

fn ask(server: &HttpServer, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn get(server: &HttpServer, path: &str) -> String {
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ask(server, head.as_bytes())
}

#[test]
fn pages_are_served_whole() {
    let (server, _) = start();
    let answer = get(&server, "/large");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\r\nContent-Length: 300000\r\n"));
    assert!(answer.ends_with(&"x".repeat(300_000)));
    let head = ask(&server, b"HEAD /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(answer.len(), head.len() + 300_000);
    server.stop();
}

#[test]
fn a_body_is_read_to_its_claimed_end_and_no_further() {
    let (server, _) = start();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let request = b"POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\nabc";
    stream.write_all(request).unwrap();
    stream.write_all(b"def and more").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("6 bytes"), "{answer}");
    server.stop();
}

#[test]
fn a_body_that_ends_too_early_is_answered() {
    let (server, _) = start();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let request = b"POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\nabc";
    stream.write_all(request).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    server.stop();
}

#[test]
fn bodies_are_refused_before_they_are_sent() {
    let (server, _) = start();
    for (headers, status) in [
        ("Content-Length: 1048577", 413),
        ("Content-Length: 18446744073709551615", 413),
        ("Content-Length: 18446744073709551616", 400),
        ("Content-Length: -1", 400),
        ("Transfer-Encoding: chunked", 411),
    ] {
        let answer = ask(
            &server,
            format!("POST / HTTP/1.1\r\n{headers}\r\n\r\n").as_bytes(),
        );
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{answer}"
        );
    }
    let refused = ask(
        &server,
        b"POST /forbidden HTTP/1.1\r\nContent-Length: 99\r\n\r\n",
    );
    assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
    server.stop();
}

#[test]
fn an_endless_http_head_is_rejected() {
    let (server, _) = start();
    let long = [b"GET /large HTTP/1.1\r\nX: ".to_vec(), vec![b'x'; 100_000]].concat();
    assert!(ask(&server, &long).starts_with("HTTP/1.1 431 "));
    server.stop();
}

#[test]
fn an_unfinished_request_is_answered_when_the_client_ends() {
    let (server, _) = start();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(b"GET /large HTTP/1.1\r\nHost:").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    server.stop();
}

#[test]
fn a_client_that_sends_a_byte_now_and_then_is_closed() {
    let (server, _) = start();
    let mut stream = TcpStream::connect(server.address).unwrap();
    // More than the deadline allows, at this pace; the server ends it.
    let mut is_closed = false;
    for _ in 0..200 {
        is_closed = stream.write_all(b"G").is_err();
        if is_closed {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert!(is_closed);
    server.stop();
}

#[test]
fn silent_clients_delay_nobody() {
    let (server, _) = start();
    let silent: Vec<_> = (0..20)
        .map(|_| TcpStream::connect(server.address).unwrap())
        .collect();
    assert!(get(&server, "/large").starts_with("HTTP/1.1 200 "));
    drop(silent);
    server.stop();
}

#[test]
fn too_many_http_clients_get_503() {
    let (server, service) = start();
    let ask = || {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(b"GET /busy HTTP/1.1\r\n\r\n").unwrap();
        stream
    };
    let waiting: Vec<_> = (0..64).map(|_| ask()).collect();
    let (lock, bell) = (&service.slow, &service.bell);
    drop(
        bell.wait_while(lock.lock().unwrap(), |(making, _)| *making < 64)
            .unwrap(),
    );
    let answer_of = |mut stream: TcpStream| {
        let mut answer = Vec::new();
        // The server does not wait for the request that it rejects.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    };
    let rejected = answer_of(TcpStream::connect(server.address).unwrap());
    assert!(rejected.starts_with("HTTP/1.1 503 "), "{rejected}");
    lock.lock().unwrap().1 = true;
    bell.notify_all();
    for stream in waiting {
        let answer = answer_of(stream);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    server.stop();
}

#[test]
fn concurrent_requests_for_a_path_are_limited() {
    let (server, service) = start();
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(b"GET /slow HTTP/1.1\r\n\r\n").unwrap();
            stream
        })
        .collect();
    let (lock, bell) = (&service.slow, &service.bell);
    drop(
        bell.wait_while(lock.lock().unwrap(), |(making, _)| *making < 2)
            .unwrap(),
    );
    for _ in 0..10 {
        assert!(get(&server, "/slow").starts_with("HTTP/1.1 503 "));
        assert!(get(&server, "/other").starts_with("HTTP/1.1 200 "));
    }
    lock.lock().unwrap().1 = true;
    bell.notify_all();
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    assert!(get(&server, "/slow").starts_with("HTTP/1.1 200 "));
    server.stop();
}

#[test]
fn a_panic_is_a_response() {
    let (server, _) = start();
    assert!(get(&server, "/panics").starts_with("HTTP/1.1 500 "));
    assert!(get(&server, "/large").starts_with("HTTP/1.1 200 "));
    server.stop();
}

#[test]
fn events_are_sent_until_their_source_ends() {
    let (server, _) = start();
    let answer = get(&server, "/events");
    assert!(
        answer.contains("\r\nContent-Type: text/event-stream\r\n"),
        "{answer}"
    );
    assert!(!answer.contains("Content-Length"), "{answer}");
    assert!(
        answer.ends_with("\r\n\r\ndata: 1\n\ndata: 2\n\ndata: 3\n\n"),
        "{answer}"
    );
    server.stop();
}
