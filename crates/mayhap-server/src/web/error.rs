//! Why a request to the API failed: a status, and a sentence that says what to do.

use super::json;
use crate::net::http::HttpResponse;
use serde_json::json;
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ApiError {
    pub(super) status: u16,
    pub(super) text: String,
    retry_after: Option<Duration>,
}

impl ApiError {
    pub(super) fn new(status: u16, text: impl Into<String>) -> Self {
        Self {
            status,
            text: text.into(),
            retry_after: None,
        }
    }

    pub(super) fn retry_after(mut self, time: Duration) -> Self {
        self.retry_after = Some(time);
        self
    }

    /// From the error reply of a command, whose first word is a code.
    pub(super) fn from_reply(reply: &str) -> Self {
        let (code, text) = reply.split_once(' ').unwrap_or(("", reply));
        let is_code = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_uppercase());
        let (code, text) = if is_code {
            (code, text)
        } else {
            ("ERR", reply)
        };
        let status = match code {
            "WRONGTYPE" => 409,
            "OOM" => 507,
            "READONLY" => 403,
            "MISCONF" => 503,
            _ => 422,
        };
        Self::new(status, text)
    }

    pub(super) fn response(&self) -> HttpResponse {
        let response = json::response(self.status, &json!({ "error": self.text }));
        match self.retry_after {
            None => response,
            Some(time) => response.with("Retry-After", (time.as_secs() + 1).to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ApiError;

    #[test]
    fn error_replies_have_a_fitting_status() {
        for (reply, status, text) in [
            ("ERR item exists", 422, "item exists"),
            ("item exists", 422, "item exists"),
            ("OOM no memory", 507, "no memory"),
            ("WRONGTYPE Operation", 409, "Operation"),
            ("nospace", 422, "nospace"),
        ] {
            assert_eq!(ApiError::from_reply(reply), ApiError::new(status, text));
        }
    }
}
