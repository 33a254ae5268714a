//! What somebody can do who has no password, or should not be here at all.

use crate::{Running, folder};
use mayhap_testkit::raw_client::RawClient;

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
    let info = owner.call("INFO stats");
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
fn an_inline_command_has_a_maximum_length() {
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

fn with_password(settings: &[(&str, &str)]) -> (tempfile::TempDir, Running) {
    let (folder, mut options) = folder();
    options.password = b"secret".to_vec();
    options.max_clients = 20;
    for (name, value) in settings {
        let setting = ((*name).to_owned(), (*value).to_owned());
        options.settings.push(setting);
    }
    (folder, Running::with(&options))
}

fn known(server: &Running) -> RawClient {
    let mut client = server.client();
    client.expect("AUTH secret", "+OK\r\n");
    client
}

/// Waits until so many are connected.
fn wait_for_clients(owner: &mut RawClient, count: usize) {
    let count = count.to_string();
    while field(&owner.call("INFO clients"), "connected_clients").as_ref() != Some(&count) {
        std::thread::yield_now();
    }
}

#[test]
fn silent_clients_make_room_for_others() {
    let (_folder, server) = with_password(&[("mayhap-auth-timeout", "0")]);
    let mut owner = known(&server);
    let mut silent = Vec::new();
    for count in 1..20 {
        silent.push(server.client());
        // They came in this order.
        wait_for_clients(&mut owner, count + 1);
    }
    let mut known_clients = vec![owner];
    for mut silent in silent {
        known_clients.push(known(&server));
        // The oldest made room.
        assert!(silent.is_closed());
    }
    // Those who gave the password make room for nobody.
    let mut late = server.client();
    assert_eq!(late.reply(), b"-ERR max number of clients reached\r\n");
    assert!(late.is_closed());
    for client in &mut known_clients {
        client.expect("PING", "+PONG\r\n");
    }
    let stats = known_clients[0].call("INFO stats");
    let closed = field(&stats, "mayhap_closed_before_auth");
    assert_eq!(closed.as_deref(), Some("19"));
    // One who forgets the password is a stranger again.
    known_clients[3].expect("RESET", "+RESET\r\n");
    let mut next = known(&server);
    next.expect("PING", "+PONG\r\n");
    assert!(known_clients[3].is_closed());
}

#[test]
fn clients_that_do_not_authenticate_are_closed() {
    let (_folder, server) = with_password(&[("mayhap-auth-timeout", "0")]);
    let mut owner = known(&server);
    let mut silent: Vec<RawClient> = (0..10).map(|_| server.client()).collect();
    let mut guessing = server.client();
    assert!(guessing.call("AUTH wrong").starts_with("-WRONGPASS"));
    wait_for_clients(&mut owner, 12);
    owner.expect("CONFIG SET mayhap-auth-timeout 1", "+OK\r\n");
    assert!(silent.iter_mut().all(RawClient::is_closed));
    assert!(guessing.is_closed());
    owner.expect("PING", "+PONG\r\n");
    let stats = owner.call("INFO stats");
    let closed = field(&stats, "mayhap_closed_before_auth");
    assert_eq!(closed.as_deref(), Some("11"));
}

#[test]
fn without_a_password_every_client_is_authenticated() {
    let (_folder, mut options) = folder();
    options.max_clients = 2;
    let server = Running::with(&options);
    let (mut first, mut second) = (server.client(), server.client());
    first.expect("CONFIG SET mayhap-auth-timeout 1", "+OK\r\n");
    second.expect("PING", "+PONG\r\n");
    let mut third = server.client();
    assert_eq!(third.reply(), b"-ERR max number of clients reached\r\n");
    first.expect("PING", "+PONG\r\n");
    second.expect("PING", "+PONG\r\n");
}

#[test]
fn idle_clients_are_closed_after_the_timeout() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut owner = server.client();
    let mut idle = server.client();
    idle.expect("PING", "+PONG\r\n");
    owner.send(b"CONFIG SET timeout 1\r\nCONFIG GET timeout\r\n");
    assert_eq!(owner.reply(), b"+OK\r\n");
    assert_eq!(owner.reply(), b"*2\r\n$7\r\ntimeout\r\n$1\r\n1\r\n");
    assert!(idle.is_closed());
    assert!(owner.is_closed());
}

/// The timer of the server's side of a connection, as the system tells it: 2 is keepalive.
#[cfg(target_os = "linux")]
fn timer(server: &Running, client: &RawClient) -> String {
    let [ours, theirs] = [server.address, client.local_address()]
        .map(|address| format!("0100007F:{:04X}", address.port()));
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let line = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|fields| fields[1] == ours && fields[2] == theirs);
    let timer = line.expect("a connection")[5];
    timer.split(':').next().unwrap().to_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn keepalive_is_as_set() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect(
        "CONFIG GET tcp-keepalive",
        "*2\r\n$13\r\ntcp-keepalive\r\n$3\r\n300\r\n",
    );
    for (seconds, expected) in [("0", "00"), ("60", "02")] {
        client.expect(&format!("CONFIG SET tcp-keepalive {seconds}"), "+OK\r\n");
        let mut next = server.client();
        next.expect("PING", "+PONG\r\n");
        // Until the reply is acknowledged there is another timer.
        while timer(&server, &next) == "01" {
            std::thread::yield_now();
        }
        assert_eq!(timer(&server, &next), expected, "{seconds}");
    }
    assert!(
        client
            .call("CONFIG SET tcp-keepalive 40000")
            .contains("between 0 and 32767")
    );
    assert!(
        client
            .call("CONFIG SET timeout -1")
            .contains("between 0 and 2147483647")
    );
}
