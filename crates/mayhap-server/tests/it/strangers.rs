//! What somebody can do who has no password, or should not be here at all.

use crate::{Running, folder};

fn field(info: &str, name: &str) -> Option<String> {
    let line = info.lines().find_map(|line| line.strip_prefix(name))?;
    line.strip_prefix(':').map(str::to_owned)
}

#[test]
fn a_web_page_cannot_send_commands() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut owner = server.client();
    owner.expect("SET kept x", "+OK\r\n");
    for head in [
        "POST / HTTP/1.1\r\nHost: 127.0.0.1:6380\r\nContent-Type: text/plain\r\n",
        "GET /FLUSHALL HTTP/1.1\r\n",
        "Host: 127.0.0.1\r\n",
    ] {
        for body in ["FLUSHALL\r\n", "*1\r\n$8\r\nFLUSHALL\r\n"] {
            let mut page = server.client();
            page.send(format!("{head}\r\n{body}").as_bytes());
            let reply = String::from_utf8(page.reply()).unwrap();
            assert!(
                reply.starts_with("-ERR Protocol error: this is HTTP"),
                "{reply}"
            );
            assert!(page.is_closed(), "{head}");
        }
    }
    owner.expect("EXISTS kept", ":1\r\n");
    let info = owner.ask("INFO stats");
    assert_eq!(
        field(&info, "mayhap_refused_http_requests").as_deref(),
        Some("6")
    );
    // What people type goes on.
    owner.send(b"GET kept\r\n");
    assert_eq!(owner.reply(), b"$1\r\nx\r\n");
    owner.expect("GET kept", "$1\r\nx\r\n");
}

#[test]
fn a_line_of_words_has_an_end() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    let line = |length: usize| format!("ECHO {}\r\n", "x".repeat(length - 5));
    client.send(line(65_535).as_bytes());
    assert!(client.reply().starts_with(b"$65530\r\n"));
    client.send(line(65_537).as_bytes());
    assert_eq!(
        client.reply(),
        b"-ERR Protocol error: too big inline request\r\n"
    );
    assert!(client.is_closed());
}
