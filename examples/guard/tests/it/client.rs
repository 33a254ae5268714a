//! HTTP as far as the service speaks it, over a connection that stays.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

pub(crate) struct Client(BufReader<TcpStream>);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The header `answered-by`.
    pub(crate) stage: String,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the service listens");
        stream.set_nodelay(true).expect("a socket");
        Self(BufReader::new(stream))
    }

    pub(crate) fn get(&mut self, name: &str) -> Reply {
        self.ask("GET", &format!("/users/{name}"), "")
    }

    pub(crate) fn delete(&mut self, name: &str) -> Reply {
        self.ask("DELETE", &format!("/users/{name}"), "")
    }

    /// The status of inserting a user.
    pub(crate) fn post(&mut self, name: &str) -> u16 {
        let body = format!("{{\"name\": \"{name}\", \"email\": \"{name}@example.org\"}}");
        self.ask("POST", "/users", &body).status
    }

    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &str) -> Reply {
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: guard\r\nContent-Length: {length}");
        let request = format!("{head}\r\n\r\n{body}");
        self.0
            .get_mut()
            .write_all(request.as_bytes())
            .expect("it reads");
        let status = self.line();
        let status = status.split(' ').nth(1).expect("a status");
        let mut reply = Reply {
            status: status.parse().expect("a number"),
            stage: String::new(),
            body: String::new(),
        };
        let mut length = 0;
        loop {
            let line = self.line().to_ascii_lowercase();
            match line.split_once(": ") {
                Some(("content-length", value)) => length = value.parse().expect("a length"),
                Some(("answered-by", value)) => value.clone_into(&mut reply.stage),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = self.0.by_ref().take(length);
        body.read_to_string(&mut reply.body).expect("a body");
        reply
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line");
        assert!(line.ends_with("\r\n"), "cut off after {line:?}");
        line.trim_end().to_owned()
    }
}
