//! A service that spares its database the questions about users that do not exist.
//!
//! A question goes through three stages, and the first that knows answers:
//!
//! ```text
//! GET /users/ann  ->  filter: certainly absent?  ->  cache: seen lately?  ->  PostgreSQL
//!                     \________ one round trip to Redis ________/
//! ```
//!
//! Two promises: a user who exists is never denied, and the database is asked about a missing one only as often as the filter's
//! rate says. [`filter`] has the questions to Redis and says when they are to be trusted, [`database`] those to PostgreSQL,
//! [`guard`] puts the stages together, [`rebuild`] fills the filter while users come and go, [`service`] is the threads and
//! `http` the routes. The README has the whole argument.

#![allow(
    clippy::missing_errors_doc,
    reason = "nearly everything here fails when its store is away, and only then"
)]

pub mod database;
pub mod failure;
pub mod filter;
pub mod guard;
mod http;
mod link;
pub mod metrics;
pub mod rebuild;
pub mod service;

use std::time::Duration;

/// Where everything is, and how the filter is made.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where HTTP is spoken, such as `127.0.0.1:8080`; port 0 takes a free one.
    pub listen: String,
    /// How PostgreSQL is reached: `host=/run/postgresql user=ann`, or a URL.
    pub postgres: String,
    /// How Redis is reached: `redis://127.0.0.1:6379`, `redis+unix:///run/redis.sock`.
    pub redis: String,
    /// Whether the filter and the cache are asked at all. Inserts tell the filter in any case.
    pub guarded: bool,
    /// The share of missing users for which the database is asked all the same.
    pub false_positive_rate: f64,
    /// How long a row may be answered from the cache; `None` caches nothing.
    pub cache_for: Option<Duration>,
    /// How long Redis may take before the database is asked instead.
    pub redis_patience: Duration,
    /// Threads that answer, each with a connection to either store.
    pub workers: usize,
}
