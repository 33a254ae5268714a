//! A response and its bytes.

use std::borrow::Cow;
use std::fmt::Write;

/// A complete response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// The content type, such as `text/plain; charset=utf-8`.
    pub content_type: &'static str,
    /// Further headers.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body.
    pub body: Cow<'static, [u8]>,
}

/// What every response says. No page of another site may embed or read anything from here.
const ALWAYS: &str = "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\nConnection: close\r\n";

/// The response when there are too many connections.
pub(super) const COME_AGAIN: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

impl HttpResponse {
    /// A response with a body.
    pub fn new(
        status: u16,
        content_type: &'static str,
        body: impl Into<Cow<'static, [u8]>>,
    ) -> Self {
        Self {
            status,
            content_type,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// Plain text.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        let text: String = text.into();
        Self::new(status, "text/plain; charset=utf-8", text.into_bytes())
    }

    /// The same with one more header. The value must not have line breaks.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The bytes to send.
    pub(super) fn bytes(&self, has_body: bool) -> Vec<u8> {
        let mut head = self.head();
        // Pages say themselves how long they may be kept.
        if !self
            .headers
            .iter()
            .any(|(name, _)| *name == "Cache-Control")
        {
            head += "Cache-Control: no-store\r\n";
        }
        // That of a 304 would be the length of what it stands for.
        if self.status != 304 {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        head += "\r\n";
        let mut bytes = head.into_bytes();
        if has_body {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }

    /// The status line and the headers, without the length and without the end.
    fn head(&self) -> String {
        let (status, content_type) = (self.status, self.content_type);
        let mut head = format!(
            "HTTP/1.1 {status} {}\r\nContent-Type: {content_type}\r\n{ALWAYS}",
            reason(status)
        );
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head
    }

    /// The head of a stream of events, which has no length.
    pub(super) fn events_head() -> Vec<u8> {
        let head = Self::new(200, "text/event-stream", &b""[..]).head();
        format!("{head}Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n\r\n").into_bytes()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        507 => "Insufficient Storage",
        _ => "Other",
    }
}

#[cfg(test)]
mod tests {
    use super::HttpResponse;

    #[test]
    fn head_has_the_length_and_no_body() {
        let response = HttpResponse::text(200, "12345");
        let (get, head) = (response.bytes(true), response.bytes(false));
        assert_eq!(get, [&head[..], b"12345"].concat());
        let head = String::from_utf8(head).unwrap();
        assert!(head.contains("Content-Length: 5\r\n"), "{head}");
        assert!(head.contains("Cache-Control: no-store\r\n"), "{head}");
    }
}
