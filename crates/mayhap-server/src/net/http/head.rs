//! The head of a request: method, path, query and headers.

use std::net::SocketAddr;

/// The maximum number of headers. Browsers send about twenty.
const MAX_HEADERS: usize = 64;

/// The methods that are served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Reads.
    Get,
    /// Reads, without the body.
    Head,
    /// Changes, or sends a file.
    Post,
    /// Any other method.
    Other,
}

/// The head of a request.
#[derive(Clone, Debug)]
pub struct RequestHead {
    /// The method.
    pub method: Method,
    /// The path without the query. It starts with `/`, and is not decoded: no path has special characters.
    pub path: String,
    /// What follows the question mark.
    pub query: String,
    /// The length of the body, as the client claims.
    pub body_bytes: u64,
    /// The address of the client.
    pub peer: SocketAddr,
    headers: Vec<(String, String)>,
}

/// Why a head is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HeadError {
    Invalid(&'static str),
    /// A body without a length.
    NoLength,
}

impl RequestHead {
    /// Parses a head; `None` if more bytes are needed. Returns the length of the head.
    pub(super) fn parse(
        bytes: &[u8],
        peer: SocketAddr,
    ) -> Result<Option<(Self, usize)>, HeadError> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(HeadError::Invalid("too many headers"));
            }
            Err(_) => return Err(HeadError::Invalid("this is not HTTP/1.1")),
        };
        let method = match request.method {
            Some("GET") => Method::Get,
            Some("HEAD") => Method::Head,
            Some("POST") => Method::Post,
            _ => Method::Other,
        };
        let target = request.path.unwrap_or_default();
        if !target.starts_with('/') {
            return Err(HeadError::Invalid("the path must start with /"));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = request.headers.iter();
        let headers = headers.map(|header| {
            let value = String::from_utf8_lossy(header.value).trim().to_owned();
            (header.name.to_ascii_lowercase(), value)
        });
        let mut head = Self {
            method,
            path: path.to_owned(),
            query: query.to_owned(),
            body_bytes: 0,
            peer,
            headers: headers.collect(),
        };
        head.body_bytes = head.claimed_body()?;
        // Two values would allow one part of a system to see one, and another part the other.
        for name in ["host", "origin", "content-type"] {
            if head.values(name).count() > 1 {
                return Err(HeadError::Invalid("a header is there twice"));
            }
        }
        Ok(Some((head, length)))
    }

    fn claimed_body(&self) -> Result<u64, HeadError> {
        if self.header("transfer-encoding").is_some() {
            return Err(HeadError::NoLength);
        }
        let mut lengths = self.values("content-length");
        match (lengths.next(), lengths.next()) {
            (None, _) => Ok(0),
            (Some(length), None) if length.bytes().all(|byte| byte.is_ascii_digit()) => length
                .parse()
                .map_err(|_| HeadError::Invalid("the Content-Length is not a number")),
            _ => Err(HeadError::Invalid("the Content-Length is not a number")),
        }
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let headers = self.headers.iter();
        headers.filter_map(move |(known, value)| (known == name).then_some(value.as_str()))
    }

    /// The value of a header, whose name is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.values(name).next()
    }

    /// The value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.values("cookie").flat_map(|header| header.split(';'));
        let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
        pairs.find_map(|(known, value)| (known == name).then_some(value))
    }

    /// The value of a parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = form_urlencoded::parse(self.query.as_bytes());
        pairs.find_map(|(known, value)| (known == name).then(|| value.into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{HeadError, Method, RequestHead};

    fn parse(head: &str) -> Result<Option<(RequestHead, usize)>, HeadError> {
        RequestHead::parse(head.as_bytes(), ([127, 0, 0, 1], 1).into())
    }

    #[test]
    fn a_head_has_its_path_query_headers_and_cookies() {
        let text = "POST /api/add?a=b%20c&d= HTTP/1.1\r\nHost: x\r\nCookie: a=1; b=2\r\nContent-Length: 3\r\n\r\nabc";
        let (head, length) = parse(text).unwrap().unwrap();
        assert_eq!(length, text.len() - 3);
        assert_eq!(
            (head.method, head.path.as_str()),
            (Method::Post, "/api/add")
        );
        assert_eq!(head.parameter("a").as_deref(), Some("b c"));
        assert_eq!(head.parameter("d").as_deref(), Some(""));
        assert_eq!(head.parameter("e"), None);
        assert_eq!((head.cookie("b"), head.cookie("c")), (Some("2"), None));
        assert_eq!((head.header("host"), head.body_bytes), (Some("x"), 3));
    }

    #[test]
    fn ambiguous_heads_are_rejected() {
        for (headers, is_good) in [
            ("Host: a\r\nAccept: x\r\nAccept: y\r\n", true),
            ("Host: a\r\nHost: b\r\n", false),
            ("Origin: a\r\norigin: b\r\n", false),
            ("Content-Length: 1\r\nContent-Length: 1\r\n", false),
            ("Content-Length: +1\r\n", false),
            ("Content-Length: -1\r\n", false),
            ("Content-Length: 1, 1\r\n", false),
            ("Content-Length: 99999999999999999999\r\n", false),
            ("Transfer-Encoding: chunked\r\n", false),
            ("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", false),
            ("Bad Header: 1\r\n", false),
        ] {
            let parsed = parse(&format!("GET / HTTP/1.1\r\n{headers}\r\n"));
            assert_eq!(parsed.is_ok(), is_good, "{headers}");
        }
        let many = "X: y\r\n".repeat(65);
        assert!(parse(&format!("GET / HTTP/1.1\r\n{many}\r\n")).is_err());
        for line in [
            "GET x HTTP/1.1",
            "GET  / HTTP/1.1",
            "GET / HTTP/2",
            "GET /",
            "\0 / HTTP/1.1",
        ] {
            assert!(parse(&format!("{line}\r\n\r\n")).is_err(), "{line}");
        }
        assert!(parse("GET / HTTP/1.1\r\nHost: a\r\n").unwrap().is_none());
    }
}
