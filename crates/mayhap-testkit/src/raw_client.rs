//! A minimal Redis client: it sends words and returns the raw bytes of each reply.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A connection.
pub struct RawClient {
    reader: BufReader<TcpStream>,
}

/// The bytes of a request.
pub fn request<W: AsRef<[u8]>>(words: &[W]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        let word = word.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

impl RawClient {
    /// Connects, or panics.
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        Self {
            reader: BufReader::new(stream),
        }
    }

    /// The address of this end.
    pub fn local_address(&self) -> SocketAddr {
        self.reader.get_ref().local_addr().expect("a socket")
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).expect("sent");
    }

    /// Sends one command and waits for its reply.
    pub fn raw<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Vec<u8> {
        self.send(&request(words));
        self.reply()
    }

    /// The same for a line of words; returns the reply as text.
    pub fn call(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        String::from_utf8_lossy(&self.raw(&words)).into_owned()
    }

    /// Sends a line of words and requires this reply.
    #[track_caller]
    pub fn expect(&mut self, line: &str, reply: &str) {
        assert_eq!(self.call(line), reply, "{line}");
    }

    /// The bytes of the next reply.
    pub fn reply(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.read_into(&mut bytes);
        bytes
    }

    /// Whether the server has closed the connection.
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest).is_err() || rest.is_empty()
    }

    fn read_into(&mut self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        self.reader.read_until(b'\n', bytes).expect("a reply");
        assert!(bytes.len() > start, "the server closed the connection");
        let line = String::from_utf8_lossy(&bytes[start + 1..bytes.len() - 2]).into_owned();
        let count = || line.parse::<i64>().expect("a length");
        match bytes[start] {
            b'$' | b'=' if count() >= 0 => {
                let length = count() as usize + 2;
                let from = bytes.len();
                bytes.resize(from + length, 0);
                self.reader.read_exact(&mut bytes[from..]).expect("a bulk");
            }
            b'*' | b'~' => (0..count().max(0)).for_each(|_| self.read_into(bytes)),
            b'%' => (0..2 * count()).for_each(|_| self.read_into(bytes)),
            _ => {}
        }
    }
}
