//! A service that says whether a URL is on a list of malicious ones: `cargo run --example axum_service -- blocked.mayhap`, then
//! `curl 'localhost:3000/check?url=https://bad.example/'`.
//!
//! The list is a file that `mayhap build -o blocked.mayhap urls.txt` or another program writes. It is mapped, so that several
//! processes share its memory, and a new file takes effect without a restart: `POST /reload`.

#![expect(clippy::print_stdout, reason = "it is a program")]

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Router, serve};
use mayhap::native::{self, Mapped, Verify};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

/// The list, and where it came from.
pub(crate) struct Blocked {
    path: PathBuf,
    filter: RwLock<Arc<Mapped>>,
}

impl Blocked {
    /// Opens the list. Every checksum is verified before the first answer.
    pub(crate) fn open(path: PathBuf) -> Result<Self, native::FileError> {
        let filter = native::map(&path, Verify::Full, None)?;
        let filter = RwLock::new(Arc::new(filter));
        Ok(Self { path, filter })
    }

    fn current(&self) -> Arc<Mapped> {
        // Nothing panics while the lock is held.
        self.filter
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone()
    }

    /// Opens the file again. A file that is damaged or missing changes nothing.
    fn reload(&self) -> Result<(), native::FileError> {
        let new = Arc::new(native::map(&self.path, Verify::Full, None)?);
        *self
            .filter
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = new;
        Ok(())
    }
}

/// The routes of the service.
pub(crate) fn app(blocked: Blocked) -> Router {
    Router::new()
        .route("/check", get(check))
        .route("/reload", post(reload))
        .with_state(Arc::new(blocked))
}

async fn check(
    State(blocked): State<Arc<Blocked>>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<&'static str, (StatusCode, &'static str)> {
    let url = query
        .get("url")
        .ok_or((StatusCode::BAD_REQUEST, "give ?url="))?;
    // "mayhap" is the moment to ask the database.
    Ok(if blocked.current().contains(url) {
        "mayhap\n"
    } else {
        "no\n"
    })
}

async fn reload(State(blocked): State<Arc<Blocked>>) -> Result<&'static str, (StatusCode, String)> {
    match blocked.reload() {
        Ok(()) => Ok("reloaded\n"),
        Err(error) => Err((StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os()
        .nth(1)
        .ok_or("give the file of a filter")?;
    let app = app(Blocked::open(path.into())?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
        println!("listening on http://{}", listener.local_addr()?);
        Ok(serve(listener, app).await?)
    })
}
