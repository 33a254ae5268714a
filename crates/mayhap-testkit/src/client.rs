//! A Redis client that parses every reply, in RESP2 and RESP3, and rejects malformed ones.

use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

#[derive(Clone, PartialEq, Debug)]
#[expect(
    missing_docs,
    reason = "the variants are named after the types of RESP"
)]
/// A parsed reply.
pub enum ParsedReply {
    Simple(String),
    Error(String),
    Integer(i64),
    Boolean(bool),
    Double(f64),
    Bulk(Vec<u8>),
    Null,
    Array(Vec<ParsedReply>),
    /// Names and values, alternating.
    Map(Vec<ParsedReply>),
}

impl ParsedReply {
    /// The value of an integer or a boolean.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Boolean(yes) => Some(i64::from(*yes)),
            _ => None,
        }
    }

    /// Whether the reply is `OK`.
    pub fn is_ok(&self) -> bool {
        matches!(self, Self::Simple(text) if text == "OK")
    }

    /// Whether the reply is an error with this prefix.
    pub fn is_error(&self, prefix: &str) -> bool {
        matches!(self, Self::Error(text) if text.starts_with(prefix))
    }

    /// The elements of an array or map; empty for other replies.
    pub fn elements(&self) -> &[ParsedReply] {
        match self {
            Self::Array(elements) | Self::Map(elements) => elements,
            _ => &[],
        }
    }

    /// The reply as text.
    pub fn text(&self) -> String {
        match self {
            Self::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Self::Simple(text) | Self::Error(text) => text.clone(),
            other => format!("{other:?}"),
        }
    }

    /// The value after a name, in an array or a map.
    pub fn field(&self, name: &str) -> Option<&ParsedReply> {
        let pairs = self.elements().chunks_exact(2);
        pairs
            .filter(|pair| pair[0].text() == name)
            .map(|pair| &pair[1])
            .next()
    }
}

/// A command: its name and arguments.
pub type Words = Vec<Vec<u8>>;

/// Splits a line at spaces.
pub fn words(line: &str) -> Words {
    let words = line.split(' ').filter(|word| !word.is_empty());
    words.map(|word| word.as_bytes().to_vec()).collect()
}

/// Appends the bytes of a request.
pub fn push_request<W: AsRef<[u8]>>(bytes: &mut Vec<u8>, words: &[W]) {
    bytes.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        let word = word.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
}

/// A connection.
pub struct Client {
    reader: BufReader<TcpStream>,
}

impl Client {
    /// Connects.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            reader: BufReader::new(stream),
        })
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// Sends a command and reads its reply.
    pub fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> io::Result<ParsedReply> {
        let mut bytes = Vec::new();
        push_request(&mut bytes, words);
        self.send(&bytes)?;
        self.read()
    }

    /// Sends a line of words and reads the reply; panics if the connection fails.
    #[track_caller]
    pub fn call_line(&mut self, line: &str) -> ParsedReply {
        match self.call(&words(line)) {
            Ok(reply) => reply,
            Err(error) => panic!("{line}: {error}"),
        }
    }

    /// Sends many commands before reading their replies.
    pub fn pipeline(&mut self, requests: &[Words]) -> io::Result<Vec<ParsedReply>> {
        let mut replies = Vec::with_capacity(requests.len());
        for requests in requests.chunks(512) {
            let mut bytes = Vec::new();
            for words in requests {
                push_request(&mut bytes, words);
            }
            self.send(&bytes)?;
            for _ in requests {
                replies.push(self.read()?);
            }
        }
        Ok(replies)
    }

    /// The next reply. The error is `UnexpectedEof` if there is none, `InvalidData` if it is malformed.
    pub fn read(&mut self) -> io::Result<ParsedReply> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let bad = || {
            let line = String::from_utf8_lossy(&line);
            Error::new(ErrorKind::InvalidData, format!("malformed reply: {line:?}"))
        };
        let Some((kind, text)) = line
            .strip_suffix(b"\r\n")
            .and_then(|line| line.split_first())
        else {
            // The server ended in the middle of a line, or sent a bare line feed.
            return Err(if line.ends_with(b"\n") {
                bad()
            } else {
                ErrorKind::UnexpectedEof.into()
            });
        };
        let text = String::from_utf8_lossy(text).into_owned();
        let count = || text.parse::<usize>().map_err(|_| bad());
        Ok(match kind {
            b'+' => ParsedReply::Simple(text),
            b'-' => ParsedReply::Error(text),
            b':' => ParsedReply::Integer(text.parse().map_err(|_| bad())?),
            b'#' if text == "t" || text == "f" => ParsedReply::Boolean(text == "t"),
            b',' => ParsedReply::Double(text.parse().map_err(|_| bad())?),
            b'_' if text.is_empty() => ParsedReply::Null,
            b'$' | b'*' if text == "-1" => ParsedReply::Null,
            b'$' => ParsedReply::Bulk(self.bulk(count()?)?),
            b'=' => ParsedReply::Bulk(self.bulk(count()?)?.split_off(4)),
            b'*' | b'~' => ParsedReply::Array(self.many(count()?)?),
            b'%' => ParsedReply::Map(self.many(2 * count()?)?),
            _ => return Err(bad()),
        })
    }

    fn bulk(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length + 2];
        self.reader.read_exact(&mut bytes)?;
        if bytes.split_off(length) != b"\r\n" {
            return Err(Error::new(
                ErrorKind::InvalidData,
                "a bulk string has no end",
            ));
        }
        Ok(bytes)
    }

    fn many(&mut self, count: usize) -> io::Result<Vec<ParsedReply>> {
        (0..count).map(|_| self.read()).collect()
    }
}
