//! The page, its API, metrics and health: which paths there are, and who may use them.
//!
//! | place | what it answers |
//! | --- | --- |
//! | `guard.rs` | does the request come from our own page? |
//! | `sessions.rs`, `login.rs` | who has logged in? |
//! | `page_files.rs` | the files of the page |
//! | `events.rs`, `figures.rs` | what happens on the server, once per second |
//! | `filters.rs`, `writes.rs` | which filters are there, and how are they changed? |
//! | `planner.rs` | plans, and files that somebody chose |
//! | `call.rs` | how does a request become a command? |
//! | `json.rs`, `error.rs` | how are answers and errors written? |

#![expect(
    clippy::unnecessary_wraps,
    reason = "all handlers have the same signature"
)]

mod call;
mod error;
mod events;
mod figures;
mod filters;
mod guard;
mod json;
mod login;
mod page_files;
mod planner;
mod sessions;
mod writes;

use crate::engine::Engine;
use crate::metrics;
use crate::net::http::{Admission, Answer, HttpResponse, HttpService, Method, RequestHead};
use crate::options::HttpOptions;
use error::ApiError;
use events::EventHub;
use sessions::Sessions;
use std::sync::Arc;
use std::thread::JoinHandle;

/// What all requests share.
pub(crate) struct Web {
    engine: Arc<Engine>,
    options: HttpOptions,
    port: u16,
    sessions: Arc<Sessions>,
    events: Arc<EventHub>,
    /// Stops the server, after a command that may have damaged the memory.
    shut_down: Box<dyn Fn() + Send + Sync>,
}

/// Ends the streams of events.
pub(crate) struct EventStreams {
    hub: Arc<EventHub>,
    thread: JoinHandle<()>,
}

impl EventStreams {
    pub(crate) fn end(self) {
        self.hub.close();
        let _ = self.thread.join();
    }
}

/// Who may use a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Access {
    /// Programs that collect metrics, under any name and without a password.
    Monitoring,
    /// Everybody who uses one of our names.
    Page,
    /// Those who have logged in.
    Session,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    Read,
    /// A POST that changes no filter.
    Post,
    /// A POST that changes a filter: not in read-only mode.
    Change,
}

type Handler = fn(&Web, &RequestHead, &[u8]) -> Result<Answer, ApiError>;

struct Route {
    path: &'static str,
    access: Access,
    effect: Effect,
    max_body_bytes: u64,
    max_concurrent: usize,
    run: Handler,
}

const fn route(path: &'static str, access: Access, effect: Effect, run: Handler) -> Route {
    Route {
        path,
        access,
        effect,
        max_body_bytes: match effect {
            Effect::Read => 0,
            Effect::Post | Effect::Change => 1 << 20,
        },
        max_concurrent: usize::MAX,
        run,
    }
}

impl Route {
    const fn max_body(mut self, bytes: u64) -> Self {
        self.max_body_bytes = bytes;
        self
    }

    const fn max_concurrent(mut self, most: usize) -> Self {
        self.max_concurrent = most;
        self
    }
}

/// Who does not know the password can send only so much.
const MAX_LOGIN_BYTES: u64 = 4 << 10;

/// The size of a file that may be inspected.
const MAX_UPLOAD_BYTES: u64 = 64 << 20;

/// All paths except the files of the page.
const ROUTES: &[Route] = &[
    // It may read a thousand filters.
    route("/metrics", Access::Monitoring, Effect::Read, metrics_page).max_concurrent(2),
    route("/health", Access::Monitoring, Effect::Read, health),
    route("/api/session", Access::Page, Effect::Read, login::session),
    route("/api/login", Access::Page, Effect::Post, login::login).max_body(MAX_LOGIN_BYTES),
    route("/api/logout", Access::Page, Effect::Post, login::logout).max_body(MAX_LOGIN_BYTES),
    route("/api/events", Access::Session, Effect::Read, listen),
    route(
        "/api/filters",
        Access::Session,
        Effect::Read,
        filters::filters,
    ),
    route(
        "/api/filter",
        Access::Session,
        Effect::Read,
        filters::filter,
    ),
    route("/api/add", Access::Session, Effect::Change, writes::add),
    route("/api/query", Access::Session, Effect::Post, writes::query),
    route(
        "/api/reserve",
        Access::Session,
        Effect::Change,
        writes::reserve,
    ),
    route(
        "/api/delete",
        Access::Session,
        Effect::Change,
        writes::delete,
    ),
    route("/api/plan", Access::Session, Effect::Read, planner::plan),
    route("/api/demo", Access::Session, Effect::Post, planner::demo),
    // Two files at once, so that uploads do not use up the memory.
    route(
        "/api/inspect",
        Access::Session,
        Effect::Post,
        planner::inspect,
    )
    .max_body(MAX_UPLOAD_BYTES)
    .max_concurrent(2),
    route("/api/check", Access::Session, Effect::Post, planner::check)
        .max_body(MAX_UPLOAD_BYTES)
        .max_concurrent(2),
];

/// The files of the page.
const PAGE: Route = route("", Access::Page, Effect::Read, page_file);

fn find(path: &str) -> Option<&'static Route> {
    let is_file = page_files::exists(path).then_some(&PAGE);
    ROUTES.iter().find(|route| route.path == path).or(is_file)
}

fn page_file(_: &Web, head: &RequestHead, _: &[u8]) -> Result<Answer, ApiError> {
    let response = page_files::respond(head);
    let response = response.ok_or_else(|| ApiError::new(404, "there is no such page"));
    response.map(Answer::Whole)
}

/// The type of the text that Prometheus reads.
const METRICS: &str = "text/plain; version=0.0.4";

fn metrics_page(web: &Web, _: &RequestHead, _: &[u8]) -> Result<Answer, ApiError> {
    let page = metrics::page(&web.engine).into_bytes();
    Ok(Answer::Whole(HttpResponse::new(200, METRICS, page)))
}

fn health(web: &Web, _: &RequestHead, _: &[u8]) -> Result<Answer, ApiError> {
    let (status, text) = match metrics::health(&web.engine) {
        Ok(text) => (200, text.to_owned()),
        Err(text) => (503, text),
    };
    let response = HttpResponse::new(status, METRICS, text.into_bytes());
    Ok(Answer::Whole(response))
}

fn listen(web: &Web, head: &RequestHead, _: &[u8]) -> Result<Answer, ApiError> {
    let token = head
        .cookie(&web.cookie_name())
        .unwrap_or_default()
        .to_owned();
    let (engine, sessions) = (Arc::clone(&web.engine), Arc::clone(&web.sessions));
    // A stream ends with its session, and keeps it alive.
    let may_listen = Box::new(move || sessions.admits(&engine, &token));
    match web.events.listen(may_listen) {
        Some(listener) => Ok(Answer::Events(Box::new(listener))),
        None => Err(ApiError::new(
            503,
            "too many pages are open: close one of them, or try again later",
        )),
    }
}

impl Web {
    /// Starts the thread of the events.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub(crate) fn start(
        engine: &Arc<Engine>,
        (options, port): (HttpOptions, u16),
        shut_down: Box<dyn Fn() + Send + Sync>,
    ) -> std::io::Result<(Arc<Self>, EventStreams)> {
        let hub = Arc::new(EventHub::default());
        let thread = hub.start(engine)?;
        let web = Self {
            engine: Arc::clone(engine),
            options,
            port,
            sessions: Arc::default(),
            events: Arc::clone(&hub),
            shut_down,
        };
        Ok((Arc::new(web), EventStreams { hub, thread }))
    }

    /// Whether the request may use the path.
    fn admit(&self, route: &Route, head: &RequestHead) -> Result<(), ApiError> {
        let is_api = route.path.starts_with("/api/");
        let is_right_method = match route.effect {
            Effect::Read if is_api => head.method == Method::Get,
            Effect::Read => matches!(head.method, Method::Get | Method::Head),
            Effect::Post | Effect::Change => head.method == Method::Post,
        };
        if !is_right_method {
            return Err(ApiError::new(405, format!("use {}", allowed(route))));
        }
        let host = head.header("host").unwrap_or_default();
        let is_own_host = guard::host_is_allowed(host, &self.options.hosts);
        if route.access == Access::Monitoring {
            // The names of filters are not for web pages that changed their name to our address.
            if !is_own_host && guard::is_browser(head) {
                return Err(ApiError::new(403, wrong_host(host)));
            }
            return Ok(());
        }
        if !is_own_host {
            return Err(ApiError::new(403, wrong_host(host)));
        }
        let is_post = route.effect != Effect::Read;
        if is_post && !guard::may_post(head, self.options.uses_tls) {
            let text = "send this from the server's own page, or with the header Origin: http://HOST:PORT (https with TLS) of this server";
            return Err(ApiError::new(403, text));
        }
        // A link from another site may lead to the page, but nothing may read or use the API.
        if is_api && guard::is_cross_site(head, self.options.uses_tls) {
            let text = "pages of other sites may not use this";
            return Err(ApiError::new(403, text));
        }
        if route.access == Access::Session && !self.is_logged_in(head) {
            let text = "log in first: POST /api/login {\"password\": \"...\"}";
            return Err(ApiError::new(401, text));
        }
        if route.effect == Effect::Change && self.options.is_read_only {
            let text = "this page is read-only: start the server without --http-read-only, or use a Redis client";
            return Err(ApiError::new(403, text));
        }
        if is_post && !has_right_type(route, head) {
            let text = format!("send it with Content-Type: {}", body_type(route));
            return Err(ApiError::new(415, text));
        }
        Ok(())
    }
}

fn wrong_host(host: &str) -> String {
    let host: String = host.chars().take(100).collect();
    format!(
        "this server does not know the name {host:?}: use its address, or start it with --http-host NAME"
    )
}

fn allowed(route: &Route) -> &'static str {
    match route.effect {
        Effect::Read if route.path.starts_with("/api/") => "GET",
        Effect::Read => "GET, HEAD",
        Effect::Post | Effect::Change => "POST",
    }
}

/// Forms of other sites cannot send these types.
fn body_type(route: &Route) -> &'static str {
    if route.max_body_bytes == MAX_UPLOAD_BYTES {
        "application/octet-stream"
    } else {
        "application/json"
    }
}

fn has_right_type(route: &Route, head: &RequestHead) -> bool {
    let given = head.header("content-type").unwrap_or_default();
    let given = given.split(';').next().unwrap_or_default().trim();
    given.eq_ignore_ascii_case(body_type(route))
}

impl HttpService for Web {
    fn check(&self, head: &RequestHead) -> Result<Admission, HttpResponse> {
        let Some(route) = find(&head.path) else {
            return Err(self.refuse(Some(head), 404, "there is no such page"));
        };
        self.admit(route, head).map_err(|error| {
            let response = match route.access {
                Access::Monitoring => HttpResponse::text(error.status, format!("{}\n", error.text)),
                Access::Page | Access::Session => error.response(),
            };
            match response.status {
                405 => response.with("Allow", allowed(route)),
                _ => response,
            }
        })?;
        Ok(Admission {
            max_body_bytes: route.max_body_bytes,
            max_concurrent: route.max_concurrent,
        })
    }

    fn answer(&self, head: &RequestHead, body: Vec<u8>) -> Answer {
        let Some(route) = find(&head.path) else {
            return Answer::Whole(self.refuse(Some(head), 404, "there is no such page"));
        };
        let answer = (route.run)(self, head, &body);
        // It may show changes, so the log is committed first. If that fails, the page says so.
        let _ = self.engine.journal.commit(self.engine.journal.last_lsn());
        answer.unwrap_or_else(|error| Answer::Whole(error.response()))
    }

    fn refuse(&self, head: Option<&RequestHead>, status: u16, text: &str) -> HttpResponse {
        let response = if head.is_some_and(|head| head.path.starts_with("/api/")) {
            ApiError::new(status, text).response()
        } else {
            HttpResponse::text(status, format!("{text}\n"))
        };
        match status {
            503 => response.with("Retry-After", "1"),
            _ => response,
        }
    }
}
