//! JSON of requests and responses. Names and items are text, or base64 if they are not UTF-8.

use super::error::ApiError;
use crate::net::http::{Answer, HttpResponse, RequestHead};
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

pub(super) const JSON: &str = "application/json; charset=utf-8";

/// How the strings of a request or response are to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Encoding {
    #[default]
    Text,
    Base64,
    /// The start of a name that is too long to be asked for.
    #[serde(skip_deserializing)]
    Cut,
}

impl Encoding {
    pub(super) fn decode(self, text: &str) -> Result<Vec<u8>, ApiError> {
        match self {
            Self::Text => Ok(text.into()),
            Self::Base64 => BASE64.decode(text.as_bytes()).map_err(|_| {
                ApiError::new(
                    400,
                    "with \"encoding\": \"base64\", keys and items must be base64 with padding",
                )
            }),
            Self::Cut => Err(ApiError::new(400, "the encoding is text or base64")),
        }
    }

    /// The encoding of a query's parameter `key`.
    pub(super) fn in_query(head: &RequestHead) -> Result<Self, ApiError> {
        match head.parameter("encoding").as_deref() {
            None | Some("" | "text") => Ok(Self::Text),
            Some("base64") => Ok(Self::Base64),
            Some(_) => Err(ApiError::new(400, "the encoding is text or base64")),
        }
    }
}

/// The name of a key: `{"key": ..., "encoding": ...}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct KeyName {
    pub(super) key: String,
    pub(super) encoding: Encoding,
}

impl KeyName {
    pub(super) fn new(name: &[u8]) -> Self {
        match std::str::from_utf8(name) {
            Ok(text) => Self {
                key: text.to_owned(),
                encoding: Encoding::Text,
            },
            Err(_) => Self {
                key: BASE64.encode(name),
                encoding: Encoding::Base64,
            },
        }
    }
}

pub(super) fn response(status: u16, value: &impl Serialize) -> HttpResponse {
    match serde_json::to_vec(value) {
        Ok(bytes) => HttpResponse::new(status, JSON, bytes),
        Err(error) => HttpResponse::text(500, error.to_string()),
    }
}

pub(super) fn answer(value: &impl Serialize) -> Answer {
    Answer::Whole(response(200, value))
}

/// The body of a request.
pub(super) fn body<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes)
        .map_err(|error| ApiError::new(400, format!("the body is not what it should be: {error}")))
}
