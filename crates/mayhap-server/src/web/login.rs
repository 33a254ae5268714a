//! Sessions of the API: who needs to log in, logging in and out.

use super::Web;
use super::error::ApiError;
use super::json;
use super::sessions::Sessions;
use crate::engine::Engine;
use crate::net::http::{Answer, HttpResponse, RequestHead};
use serde::Deserialize;
use serde_json::json;
use std::time::Instant;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    password: String,
}

impl Sessions {
    /// Whether no password is needed, or the token is that of a session.
    pub(super) fn admits(&self, engine: &Engine, token: &str) -> bool {
        let password = &engine.settings.load().password;
        password.is_empty() || self.is_valid(token, password, Instant::now())
    }
}

impl Web {
    /// Whether the request belongs to a session, or no password is needed.
    pub(super) fn is_logged_in(&self, head: &RequestHead) -> bool {
        let token = head.cookie(&self.cookie_name());
        self.sessions
            .admits(&self.engine, token.unwrap_or_default())
    }

    /// Cookies do not depend on the port, so two servers on one machine need two names. The prefix makes browsers refuse a
    /// cookie of this name that was set without TLS or by a subdomain.
    pub(super) fn cookie_name(&self) -> String {
        let prefix = if self.options.uses_tls { "__Host-" } else { "" };
        format!("{prefix}mayhap-session-{}", self.port)
    }

    fn cookie(&self, token: &str, max_age: Option<u64>) -> String {
        let secure = if self.options.uses_tls {
            "; Secure"
        } else {
            ""
        };
        let age = max_age.map_or_else(String::new, |age| format!("; Max-Age={age}"));
        let name = self.cookie_name();
        format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict{secure}{age}")
    }
}

/// `GET /api/session`
pub(super) fn session(web: &Web, head: &RequestHead, _: &[u8]) -> Result<Answer, ApiError> {
    let needs_password = !web.engine.settings.load().password.is_empty();
    let is_logged_in = web.is_logged_in(head);
    Ok(json::answer(&json!({
        "login": !is_logged_in,
        "password": needs_password,
        "read_only": web.options.is_read_only,
        "version": env!("CARGO_PKG_VERSION"),
    })))
}

/// `POST /api/login`
pub(super) fn login(web: &Web, head: &RequestHead, body: &[u8]) -> Result<Answer, ApiError> {
    let Login { password } = json::body(body)?;
    let (peer, now) = (head.peer.ip(), Instant::now());
    if let Some(delay) = web.sessions.delay(peer, now) {
        let text = "there were too many wrong passwords: wait before you try again";
        return Err(ApiError::new(429, text).retry_after(delay));
    }
    let settings = web.engine.settings.load();
    if !settings.password.is_empty() && !settings.is_password(password.as_bytes()) {
        web.engine.counters.refuse_password();
        web.sessions.record_failure(peer, now);
        return Err(ApiError::new(401, "the password is wrong: try again"));
    }
    web.sessions.record_success(peer);
    let token = web
        .sessions
        .create(&settings.password, now)
        .map_err(|error| ApiError::new(500, error))?;
    Ok(Answer::Whole(
        done().with("Set-Cookie", web.cookie(&token, None)),
    ))
}

/// `POST /api/logout`
pub(super) fn logout(web: &Web, head: &RequestHead, _: &[u8]) -> Result<Answer, ApiError> {
    if let Some(token) = head.cookie(&web.cookie_name()) {
        web.sessions.end(token);
    }
    Ok(Answer::Whole(
        done().with("Set-Cookie", web.cookie("", Some(0))),
    ))
}

fn done() -> HttpResponse {
    json::response(200, &json!({ "ok": true }))
}
