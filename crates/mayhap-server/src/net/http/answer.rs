//! Builds the response to a request head. No sockets here.

use super::{HttpPage, Pages};

/// The response when there are too many connections.
pub(super) const COME_AGAIN: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

pub(super) fn answer(head: &[u8], pages: &Pages) -> Vec<u8> {
    let Some((method, path)) = request(head) else {
        return spelled(&plain(400, "bad request\n"), true);
    };
    let has_body = match method {
        "GET" => true,
        "HEAD" => false,
        _ => return spelled(&plain(405, "only GET and HEAD\n"), true),
    };
    let page = pages(path).unwrap_or_else(|| plain(404, "there is no such page\n"));
    spelled(&page, has_body)
}

/// The method, and the path without its query. `None` if the head is incomplete or malformed.
fn request(head: &[u8]) -> Option<(&str, &str)> {
    let end = [&b"\r\n\r\n"[..], b"\n\n"]
        .into_iter()
        .find_map(|end| head.windows(end.len()).position(|bytes| bytes == end))?;
    let head = std::str::from_utf8(head.get(..end)?).ok()?;
    let mut words = head.lines().next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let is_token = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_known = matches!(version, "HTTP/1.1" | "HTTP/1.0") && words.next().is_none();
    let path = target.split('?').next()?;
    (is_token && is_known && path.starts_with('/')).then_some((method, path))
}

pub(super) fn plain(status: u16, text: &str) -> HttpPage {
    HttpPage {
        status,
        content_type: "text/plain; charset=utf-8",
        body: text.into(),
    }
}

fn spelled(page: &HttpPage, has_body: bool) -> Vec<u8> {
    let HttpPage {
        status,
        content_type,
        body,
    } = page;
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        503 => "Service Unavailable",
        _ => "Other",
    };
    let length = body.len();
    let allow = if *status == 405 {
        "Allow: GET, HEAD\r\n"
    } else {
        ""
    };
    let mut bytes = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
         {allow}Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    .into_bytes();
    if has_body {
        bytes.extend_from_slice(body);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_line(request: &str) -> String {
        let pages = |path: &str| (path == "/metrics").then(|| plain(200, "up 1\n"));
        let answer = answer(request.as_bytes(), &pages);
        let answer = String::from_utf8(answer).unwrap();
        answer.lines().next().unwrap().to_owned()
    }

    #[test]
    fn requests_are_answered_by_their_kind() {
        for (request, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "200 OK"),
            ("GET /metrics?a=b HTTP/1.0\r\n\r\n", "200 OK"),
            ("HEAD /metrics HTTP/1.1\n\n", "200 OK"),
            ("GET / HTTP/1.1\r\n\r\n", "404 Not Found"),
            ("GET /metrics/ HTTP/1.1\r\n\r\n", "404 Not Found"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            ("get /metrics HTTP/1.1\r\n\r\n", "400 Bad Request"),
            ("GET metrics HTTP/1.1\r\n\r\n", "400 Bad Request"),
            ("GET  /metrics HTTP/1.1\r\n\r\n", "400 Bad Request"),
            ("GET /metrics HTTP/2\r\n\r\n", "400 Bad Request"),
            ("GET /metrics\r\n\r\n", "400 Bad Request"),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n", "400 Bad Request"),
            ("\r\n\r\n", "400 Bad Request"),
            ("", "400 Bad Request"),
        ] {
            assert_eq!(
                first_line(request),
                format!("HTTP/1.1 {expected}"),
                "{request:?}"
            );
        }
    }

    #[test]
    fn head_has_the_length_and_no_body() {
        let pages = |_: &str| Some(plain(200, "12345"));
        let get = answer(b"GET / HTTP/1.1\r\n\r\n", &pages);
        let head = answer(b"HEAD / HTTP/1.1\r\n\r\n", &pages);
        assert_eq!(get, [&head[..], b"12345"].concat());
        assert!(
            String::from_utf8(head)
                .unwrap()
                .contains("Content-Length: 5\r\n")
        );
    }
}
