//! The routes.

use crate::database::User;
use crate::failure::Failure;
use crate::guard::{Guard, Stage};
use crate::metrics::Metrics;
use std::io::Read;
use tiny_http::{Header, Method, Request, Response};

/// The longest body that is read: a user.
const MAX_BYTES: u64 = 4096;
/// The longest name.
const MAX_NAME_BYTES: usize = 64;

/// What goes back.
pub(crate) struct Answer {
    status: u16,
    body: String,
    /// Which stage of the guard knew.
    pub(crate) stage: Option<Stage>,
}

impl Answer {
    fn new(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            body: body.into(),
            stage: None,
        }
    }

    pub(crate) fn send(self, request: Request) {
        let mut response = Response::from_string(self.body).with_status_code(self.status);
        let stage = self.stage.map(|stage| ("answered-by", stage.name()));
        let retry = (self.status == 503).then_some(("retry-after", "1"));
        for (name, value) in stage.into_iter().chain(retry) {
            if let Ok(header) = Header::from_bytes(name, value) {
                response.add_header(header);
            }
        }
        // Whoever has hung up misses the answer.
        let _ = request.respond(response);
    }
}

/// Answers a request.
pub(crate) fn answer(request: &mut Request, guard: &mut Guard, metrics: &Metrics) -> Answer {
    let path = request.url().to_owned();
    let name = path.strip_prefix("/users/");
    let answer = match (request.method(), name, path.as_str()) {
        (_, Some(name), _) if !is_name(name) => Ok(no_name()),
        (Method::Get, Some(name), _) => find(name, guard),
        (Method::Delete, Some(name), _) => delete(name, guard),
        (Method::Post, _, "/users") => create(request, guard),
        (Method::Get, _, "/metrics") => Ok(Answer::new(200, metrics.text())),
        _ => Ok(Answer::new(
            404,
            "GET or DELETE /users/{name}, POST /users, GET /metrics\n",
        )),
    };
    answer.unwrap_or_else(|failure| {
        metrics.failed();
        Answer::new(503, format!("{failure}\n"))
    })
}

fn find(name: &str, guard: &mut Guard) -> Result<Answer, Failure> {
    let found = guard.find(name)?;
    let mut answer = match found.row {
        Some(row) => Answer::new(200, row),
        None => Answer::new(404, "no such user\n"),
    };
    answer.stage = Some(found.stage);
    Ok(answer)
}

fn create(request: &mut Request, guard: &mut Guard) -> Result<Answer, Failure> {
    let body = serde_json::from_reader(request.as_reader().take(MAX_BYTES));
    let Ok(user) = body as serde_json::Result<User> else {
        return Ok(Answer::new(
            400,
            "a user is {\"name\": .., \"email\": ..}\n",
        ));
    };
    if !is_name(&user.name) || user.email.contains('\0') {
        return Ok(no_name());
    }
    let inserted = guard.insert(&user)?;
    let (status, body) = if inserted {
        (201, "created\n")
    } else {
        (409, "the name is taken\n")
    };
    Ok(Answer::new(status, body))
}

fn delete(name: &str, guard: &mut Guard) -> Result<Answer, Failure> {
    let deleted = guard.delete(name)?;
    let (status, body) = if deleted {
        (200, "deleted\n")
    } else {
        (404, "no such user\n")
    };
    Ok(Answer::new(status, body))
}

/// Names need no escapes in a URL, so one name has one spelling: what the filter hashes is what the database compares.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_plain)
}

fn no_name() -> Answer {
    Answer::new(400, "a name has 1 to 64 letters, digits and -._~\n")
}
