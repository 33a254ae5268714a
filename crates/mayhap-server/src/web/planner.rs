//! Plans, inspections of files and lookups in them: what the page shows without the filters of this server.
//!
//! The work is `mayhap_page`'s; the self-contained page has the same functions as WebAssembly.

use super::Web;
use super::error::ApiError;
use super::json;
use crate::net::http::{Answer, RequestHead};
use mayhap_page::{Options, PageError};
use serde::Deserialize;
use serde_json::Value;

/// The parameters of the query.
fn options(head: &RequestHead) -> Options {
    let pairs = form_urlencoded::parse(head.query.as_bytes());
    Options::new(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())))
}

/// Errors keep what the page can offer to solve them, such as the formats that a file may have.
fn answer(result: Result<Value, PageError>) -> Result<Answer, ApiError> {
    match result {
        Ok(value) => Ok(json::answer(&value)),
        Err(error) => Ok(Answer::Whole(json::response(422, &error.to_json()))),
    }
}

/// What `mayhap plan --json` prints, and the page's curves.
pub(super) fn plan(_: &Web, head: &RequestHead, _: &[u8]) -> Result<Answer, ApiError> {
    answer(mayhap_page::plan(&options(head)))
}

/// What `mayhap info --json` prints for each filter of a file, and pictures of them.
pub(super) fn inspect(_: &Web, head: &RequestHead, body: &[u8]) -> Result<Answer, ApiError> {
    answer(mayhap_page::inspect(body, &options(head)))
}

#[derive(Deserialize)]
struct CheckRequest {
    keys: Vec<String>,
}

/// Lookups in a file: the body is a line of JSON, `{"keys": [...]}`, and the file.
pub(super) fn check(_: &Web, head: &RequestHead, body: &[u8]) -> Result<Answer, ApiError> {
    let Some(end) = memchr::memchr(b'\n', body) else {
        let text = "send a line {\"keys\": [...]}, then the bytes of the file";
        return Err(ApiError::new(400, text));
    };
    let (line, file) = body.split_at(end);
    let request: CheckRequest = json::body(line)?;
    let file = file.get(1..).unwrap_or_default();
    answer(mayhap_page::check(file, &request.keys, &options(head)))
}

/// The bits of a small filter.
pub(super) fn demo(_: &Web, _: &RequestHead, body: &[u8]) -> Result<Answer, ApiError> {
    let request: Value = json::body(body)?;
    answer(mayhap_page::demo(&request))
}
