//! The three stages of a question, and what an insert and a delete owe them. One thread's view, with its own connections.

use crate::Config;
use crate::database::User;
use crate::failure::Failure;
use crate::filter::Answer;
use crate::link::{ToDatabase, ToRedis};
use std::time::Duration;

/// Which stage knew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The filter: certainly absent.
    Filter,
    /// The cache of rows.
    Cache,
    /// PostgreSQL, after the filter said mayhap.
    Database,
    /// PostgreSQL, without a filter: none is to be trusted, Redis is away, or the guard is off.
    DatabaseAlone,
}

impl Stage {
    /// The name in headers and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Cache => "cache",
            Self::Database => "database",
            Self::DatabaseAlone => "database-alone",
        }
    }
}

/// An answer, and where it comes from.
#[derive(Debug)]
pub struct Found {
    /// The row as JSON, if there is one.
    pub row: Option<String>,
    /// Which stage knew.
    pub stage: Stage,
}

impl Found {
    fn new(row: Option<String>, stage: Stage) -> Self {
        Self { row, stage }
    }
}

/// The stages, as one worker sees them.
pub struct Guard {
    guarded: bool,
    cache_for: Option<Duration>,
    redis: ToRedis,
    database: ToDatabase,
}

impl Guard {
    /// Connects to nothing yet.
    pub fn new(config: &Config) -> Self {
        Self {
            guarded: config.guarded,
            cache_for: config.cache_for,
            redis: ToRedis::new(&config.redis, config.redis_patience),
            database: ToDatabase::new(&config.postgres),
        }
    }

    /// The user of this name.
    pub fn find(&mut self, name: &str) -> Result<Found, Failure> {
        let (answer, cached) = self.ask_redis(name);
        if answer == Answer::Absent {
            return Ok(Found::new(None, Stage::Filter));
        }
        if cached.is_some() {
            return Ok(Found::new(cached, Stage::Cache));
        }
        let user = self.database.connected()?.find(name)?;
        let row = user.as_ref().map(to_json).transpose()?;
        if let (true, Some(row), Some(time)) = (self.guarded, &row, self.cache_for) {
            // A row that could not be kept is asked for again.
            let _ = self.redis.ask(|filter| filter.cache(name, row, time));
        }
        Ok(match answer {
            Answer::Mayhap => Found::new(row, Stage::Database),
            _ => Found::new(row, Stage::DatabaseAlone),
        })
    }

    /// Redis away: fail open. The database knows, and all the rest is about sparing it.
    fn ask_redis(&mut self, name: &str) -> (Answer, Option<String>) {
        let nothing = (Answer::Untrusted, None);
        if !self.guarded {
            return nothing;
        }
        self.redis.ask(|filter| filter.ask(name)).unwrap_or(nothing)
    }

    /// Inserts a user; `false` when the name is taken. With Redis away nobody is inserted: another instance may still reach it, and
    /// its filter would deny the new user.
    pub fn insert(&mut self, user: &User) -> Result<bool, Failure> {
        let redis = &mut self.redis;
        let tell = || Ok(redis.ask(|filter| filter.remember(&user.name))?);
        self.database.connected()?.insert(user, tell)
    }

    /// Deletes a user; `false` when there was none. The filter goes on saying mayhap, and the database no, until it is built anew.
    ///
    /// # Errors
    /// When the database does not answer, or the row may stay in the cache until its time is over.
    pub fn delete(&mut self, name: &str) -> Result<bool, Failure> {
        let deleted = self.database.connected()?.delete(name)?;
        self.redis.ask(|filter| filter.uncache(name))?;
        Ok(deleted)
    }
}

fn to_json(user: &User) -> Result<String, Failure> {
    serde_json::to_string(user).map_err(|error| Failure::Service(error.to_string()))
}
