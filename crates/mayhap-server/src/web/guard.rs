//! Which requests come from our own page: the checks of `Host` and `Origin`.
//!
//! Without them, a page of another site could send commands through its visitor's browser (CSRF), or read answers after its name
//! was changed to our address (DNS rebinding).

use crate::net::http::RequestHead;
use std::net::IpAddr;

/// Whether the `Host` is one under which this server may be reached: an address, `localhost`, or one of the given names. An
/// attacker controls other names, but no address.
pub(super) fn host_is_allowed(host: &str, names: &[String]) -> bool {
    let Some(name) = without_port(host) else {
        return false;
    };
    let bare = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    match bare {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            name.parse::<IpAddr>()
                .is_ok_and(|address| address.is_ipv4())
                || name.eq_ignore_ascii_case("localhost")
                || names.iter().any(|known| known.eq_ignore_ascii_case(name))
        }
    }
}

/// The host of `host` or `host:port`.
fn without_port(host: &str) -> Option<&str> {
    let end = if host.starts_with('[') {
        host.find(']')? + 1
    } else {
        host.find(':').unwrap_or(host.len())
    };
    let (name, port) = host.split_at_checked(end)?;
    let is_port = match port.strip_prefix(':') {
        None => port.is_empty(),
        Some(digits) => digits.parse::<u16>().is_ok(),
    };
    (is_port && !name.is_empty()).then_some(name)
}

/// Whether an `Origin` is that of our page: the scheme and the `Host`. Behind a proxy the browser may use TLS even if we do not.
fn is_own_origin(origin: &str, host: &str, is_tls: bool) -> bool {
    let secure = origin.strip_prefix("https://");
    let plain = origin.strip_prefix("http://").filter(|_| !is_tls);
    secure
        .or(plain)
        .is_some_and(|own| own.eq_ignore_ascii_case(host))
}

/// Whether a browser sent the request for a page of another site. Browsers say so in one of two headers.
pub(super) fn is_cross_site(head: &RequestHead, is_tls: bool) -> bool {
    let host = head.header("host").unwrap_or_default();
    let is_foreign = |origin: &str| !is_own_origin(origin, host, is_tls);
    let site = head.header("sec-fetch-site");
    head.header("origin").is_some_and(is_foreign)
        || site.is_some_and(|site| !["same-origin", "none"].contains(&site))
}

/// Whether a request that changes something comes from our page, or from a program that knows what it does. Browsers send an
/// `Origin` with every POST.
pub(super) fn may_post(head: &RequestHead, is_tls: bool) -> bool {
    head.header("origin").is_some() && !is_cross_site(head, is_tls)
}

/// Whether a browser may have sent it: all of them send this header, and programs that collect metrics do not.
pub(super) fn is_browser(head: &RequestHead) -> bool {
    ["accept-language", "origin", "sec-fetch-site"]
        .iter()
        .any(|name| head.header(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::{host_is_allowed, is_own_origin};

    #[test]
    fn addresses_and_given_names_are_hosts() {
        let names = ["dash.example".to_owned()];
        for host in [
            "127.0.0.1",
            "127.0.0.1:9380",
            "192.168.1.7:1",
            "[::1]",
            "[::1]:9380",
            "localhost",
            "LOCALHOST:80",
            "dash.example",
            "Dash.Example:443",
        ] {
            assert!(host_is_allowed(host, &names), "{host}");
        }
        for host in [
            "",
            ":80",
            "attacker.example",
            "localhost.attacker.example",
            "dash.example.attacker.example",
            "127.0.0.1.attacker.example",
            "127.0.0.1:x",
            "127.0.0.1:80:80",
            "127.0.0.1@attacker.example",
            "localhost:99999",
            "[::1",
            "::1",
            "[127.0.0.1]",
            "[::1]x",
            "localhost/",
            "localhost.",
            "0x7f.1",
        ] {
            assert!(!host_is_allowed(host, &names), "{host}");
        }
    }

    #[test]
    fn an_origin_is_the_scheme_and_the_host() {
        assert!(is_own_origin("http://127.0.0.1:9", "127.0.0.1:9", false));
        assert!(is_own_origin("https://a.example", "A.example", false));
        assert!(is_own_origin("https://[::1]:9", "[::1]:9", true));
        for origin in [
            "null",
            "",
            "http://127.0.0.1:8",
            "http://127.0.0.1",
            "ftp://127.0.0.1:9",
            "http://127.0.0.1:9/",
            "http://127.0.0.1:9.attacker.example",
            "127.0.0.1:9",
        ] {
            assert!(!is_own_origin(origin, "127.0.0.1:9", false), "{origin}");
        }
        assert!(!is_own_origin("http://127.0.0.1:9", "127.0.0.1:9", true));
    }
}
