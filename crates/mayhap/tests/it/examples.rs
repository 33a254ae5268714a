//! Every example runs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};

#[expect(dead_code, reason = "the program's own `main` listens on a fixed port")]
#[path = "../../examples/axum_service.rs"]
mod axum_service;

/// Runs an example, which `cargo test` has built, and returns what it prints.
fn run(name: &str, input: &[u8]) -> String {
    let test = std::env::current_exe().unwrap();
    // target/debug/deps/it-0123 -> target/debug/examples/name
    let built = test.parent().unwrap().parent().unwrap();
    let mut child = Command::new(built.join("examples").join(name))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{name}: {error}: run `cargo build -p mayhap --examples`"));
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn programs_end_well() {
    for name in [
        "generic",
        "integer_keys",
        "save_and_load",
        "threads",
        "windows",
    ] {
        run(name, b"");
    }
    assert_eq!(run("dedup", b"a\nb\na\n"), "a\nb\n");
}

/// The service answers over a real connection, and serves a new file after a reload.
#[test]
fn axum_service_answers_and_reloads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("blocked.mayhap");
    let save = |urls: &[&str]| {
        let filter = mayhap::Bloom::from_keys(urls, 1e-6).unwrap();
        mayhap::save(&path, &filter).unwrap();
    };
    save(&["https://bad.example/"]);
    let app = axum_service::app(axum_service::Blocked::open(path.clone()).unwrap());
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            send.send(listener.local_addr().unwrap()).unwrap();
            axum::serve(listener, app).await.unwrap();
        });
    });
    let address = receive.recv().unwrap();
    assert!(request(address, "GET", "/check?url=https://bad.example/").ends_with("mayhap\n"));
    assert!(request(address, "GET", "/check?url=https://good.example/").ends_with("no\n"));
    assert!(request(address, "GET", "/check").starts_with("HTTP/1.1 400"));
    save(&["https://good.example/"]);
    assert!(request(address, "POST", "/reload").ends_with("reloaded\n"));
    assert!(request(address, "GET", "/check?url=https://good.example/").ends_with("mayhap\n"));
    // A damaged file changes nothing. Files are replaced, never written in place: they are mapped.
    let other = folder.path().join("other");
    std::fs::write(&other, "no filter").unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert!(request(address, "POST", "/reload").starts_with("HTTP/1.1 500"));
    assert!(request(address, "GET", "/check?url=https://good.example/").ends_with("mayhap\n"));
}

fn request(address: SocketAddr, method: &str, target: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}
