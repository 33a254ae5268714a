//! Connections that come back: one is made when it is needed, and dropped when it is of no more use.

use crate::database::Database;
use crate::failure::Failure;
use crate::filter::Filter;
use redis::{ErrorKind, RedisError, RedisResult};
use std::time::{Duration, Instant};

/// After Redis failed it is left alone for a moment, so that one that hangs does not cost every question its patience.
const PAUSE: Duration = Duration::from_millis(200);

/// The way to Redis.
pub(crate) struct ToRedis {
    url: String,
    patience: Duration,
    filter: Option<Filter>,
    paused_until: Option<Instant>,
}

impl ToRedis {
    pub(crate) fn new(url: &str, patience: Duration) -> Self {
        Self {
            url: url.to_owned(),
            patience,
            filter: None,
            paused_until: None,
        }
    }

    pub(crate) fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut Filter) -> RedisResult<T>,
    ) -> RedisResult<T> {
        if self
            .paused_until
            .is_some_and(|until| Instant::now() < until)
        {
            return Err((ErrorKind::Io, "Redis failed a moment ago").into());
        }
        let result = self.connected().and_then(question);
        if matches!(&result, Err(error) if ends_connection(error)) {
            self.filter = None;
            self.paused_until = Some(Instant::now() + PAUSE);
        }
        result
    }

    fn connected(&mut self) -> RedisResult<&mut Filter> {
        match &mut self.filter {
            Some(filter) => Ok(filter),
            none => Ok(none.insert(Filter::connect(&self.url, self.patience)?)),
        }
    }
}

/// Whether the connection is of no use after this error. A question without an answer in time may still get one, and the next
/// question would take it for its own; a refusal is an answer.
fn ends_connection(error: &RedisError) -> bool {
    !matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
}

/// The way to PostgreSQL.
pub(crate) struct ToDatabase {
    address: String,
    database: Option<Database>,
}

impl ToDatabase {
    pub(crate) fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            database: None,
        }
    }

    pub(crate) fn connected(&mut self) -> Result<&mut Database, Failure> {
        if self.database.as_ref().is_some_and(Database::is_closed) {
            self.database = None;
        }
        match &mut self.database {
            Some(database) => Ok(database),
            none => Ok(none.insert(Database::connect(&self.address)?)),
        }
    }
}
