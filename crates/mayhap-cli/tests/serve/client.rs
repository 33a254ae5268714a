//! A client that takes every reply apart, in both protocols, and says when one is not well formed.

use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reply {
    Simple(String),
    Error(String),
    Integer(i64),
    Boolean(bool),
    Double(f64),
    Bulk(Vec<u8>),
    Null,
    Array(Vec<Reply>),
    /// Names and values one after the other.
    Map(Vec<Reply>),
}

impl Reply {
    /// Integers and booleans alike.
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Boolean(yes) => Some(i64::from(*yes)),
            _ => None,
        }
    }

    pub(crate) fn is_ok(&self) -> bool {
        matches!(self, Self::Simple(text) if text == "OK")
    }

    pub(crate) fn is_error(&self, begins: &str) -> bool {
        matches!(self, Self::Error(text) if text.starts_with(begins))
    }

    pub(crate) fn elements(&self) -> &[Reply] {
        match self {
            Self::Array(elements) | Self::Map(elements) => elements,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Self::Simple(text) | Self::Error(text) => text.clone(),
            other => format!("{other:?}"),
        }
    }

    /// The value behind a name, in an array or a map.
    pub(crate) fn field(&self, name: &str) -> Option<&Reply> {
        let pairs = self.elements().chunks_exact(2);
        pairs
            .filter(|pair| pair[0].text() == name)
            .map(|pair| &pair[1])
            .next()
    }
}

pub(crate) type Words = Vec<Vec<u8>>;

/// A line of words.
pub(crate) fn words(line: &str) -> Words {
    let words = line.split(' ').filter(|word| !word.is_empty());
    words.map(|word| word.as_bytes().to_vec()).collect()
}

pub(crate) fn push_request<W: AsRef<[u8]>>(bytes: &mut Vec<u8>, words: &[W]) {
    bytes.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        let word = word.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
}

pub(crate) struct Client {
    reader: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn to(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            reader: BufReader::new(stream),
        })
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// One command and its reply.
    pub(crate) fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> io::Result<Reply> {
        let mut bytes = Vec::new();
        push_request(&mut bytes, words);
        self.send(&bytes)?;
        self.read()
    }

    /// The same for a line of words, on a server that is there.
    #[track_caller]
    pub(crate) fn ask(&mut self, line: &str) -> Reply {
        match self.call(&words(line)) {
            Ok(reply) => reply,
            Err(error) => panic!("{line}: {error}"),
        }
    }

    /// Many commands at once.
    pub(crate) fn pipeline(&mut self, requests: &[Words]) -> io::Result<Vec<Reply>> {
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

    /// The next reply. `UnexpectedEof` when there is none, `InvalidData` when it is none.
    pub(crate) fn read(&mut self) -> io::Result<Reply> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let bad = || {
            let line = String::from_utf8_lossy(&line);
            Error::new(ErrorKind::InvalidData, format!("no reply: {line:?}"))
        };
        let Some((kind, text)) = line
            .strip_suffix(b"\r\n")
            .and_then(|line| line.split_first())
        else {
            // Cut by the end of the server, or wrong.
            return Err(if line.ends_with(b"\n") {
                bad()
            } else {
                ErrorKind::UnexpectedEof.into()
            });
        };
        let text = String::from_utf8_lossy(text).into_owned();
        let count = || text.parse::<usize>().map_err(|_| bad());
        Ok(match kind {
            b'+' => Reply::Simple(text),
            b'-' => Reply::Error(text),
            b':' => Reply::Integer(text.parse().map_err(|_| bad())?),
            b'#' if text == "t" || text == "f" => Reply::Boolean(text == "t"),
            b',' => Reply::Double(text.parse().map_err(|_| bad())?),
            b'_' if text.is_empty() => Reply::Null,
            b'$' | b'*' if text == "-1" => Reply::Null,
            b'$' => Reply::Bulk(self.bulk(count()?)?),
            b'=' => Reply::Bulk(self.bulk(count()?)?.split_off(4)),
            b'*' | b'~' => Reply::Array(self.many(count()?)?),
            b'%' => Reply::Map(self.many(2 * count()?)?),
            _ => return Err(bad()),
        })
    }

    fn bulk(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length + 2];
        self.reader.read_exact(&mut bytes)?;
        if bytes.split_off(length) != b"\r\n" {
            return Err(Error::new(ErrorKind::InvalidData, "a bulk does not end"));
        }
        Ok(bytes)
    }

    fn many(&mut self, count: usize) -> io::Result<Vec<Reply>> {
        (0..count).map(|_| self.read()).collect()
    }
}
