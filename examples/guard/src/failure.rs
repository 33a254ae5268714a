//! What can go wrong: one of the two stores is away, or refuses.

use std::fmt;

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// PostgreSQL.
    Database(postgres::Error),
    /// Redis, where it cannot be done without.
    Redis(redis::RedisError),
    /// The thread pool or the listener.
    Service(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The error's own text is one word, the cause is behind it.
            Self::Database(error) => match std::error::Error::source(error) {
                Some(cause) => write!(f, "PostgreSQL: {error}: {cause}"),
                None => write!(f, "PostgreSQL: {error}"),
            },
            Self::Redis(error) => write!(f, "Redis: {error}"),
            Self::Service(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Failure {}

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl From<redis::RedisError> for Failure {
    fn from(error: redis::RedisError) -> Self {
        Self::Redis(error)
    }
}
