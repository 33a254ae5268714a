//! The rows in PostgreSQL, and the two locks that keep the filter right when several instances of the service run.

use crate::failure::Failure;
use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Config, NoTls, Statement};
use serde::{Deserialize, Serialize};

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The primary key.
    pub name: String,
    /// What a row is asked for.
    pub email: String,
}

/// The advisory lock of who fills the filter: "filter" in ASCII.
const BUILDER_LOCK: i64 = 0x6669_6c74_6572;

/// One session.
pub struct Database {
    client: Client,
    find: Statement,
    insert: Statement,
    delete: Statement,
}

impl Database {
    /// Connects and prepares what is asked again and again.
    pub fn connect(address: &str) -> Result<Self, Failure> {
        let mut config: Config = address.parse()?;
        let mut client = config.application_name("guard").connect(NoTls)?;
        Ok(Self {
            find: client.prepare("SELECT email FROM users WHERE name = $1")?,
            insert: client.prepare("INSERT INTO users (name, email) VALUES ($1, $2)")?,
            delete: client.prepare("DELETE FROM users WHERE name = $1")?,
            client,
        })
    }

    /// Whether a new session is needed.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// The user of this name.
    pub fn find(&mut self, name: &str) -> Result<Option<User>, Failure> {
        let row = self.client.query_opt(&self.find, &[&name])?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(User {
            name: name.to_owned(),
            email: row.try_get(0)?,
        }))
    }

    /// Inserts a user whom nobody can see until `before_commit` is done; `false` when the name is taken.
    ///
    /// The order is what the guard stands on. The row comes first, since it takes the lock that [`Self::wait_for_inserts`] waits for;
    /// then the filter learns the name; then the row becomes visible. If the commit fails, the filter knows a name too many, which
    /// costs a question now and then; the other way round an existing user would be denied.
    ///
    /// # Errors
    /// When either store does not do its part; then there is no row, or, if the commit itself got no answer, perhaps one that the
    /// filter knows.
    pub fn insert(
        &mut self,
        user: &User,
        before_commit: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let mut transaction = self.client.transaction()?;
        match transaction.execute(&self.insert, &[&user.name, &user.email]) {
            Ok(_) => {}
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        before_commit()?;
        transaction.commit()?;
        Ok(true)
    }

    /// Deletes a user; `false` when there is none.
    pub fn delete(&mut self, name: &str) -> Result<bool, Failure> {
        Ok(self.client.execute(&self.delete, &[&name])? > 0)
    }

    /// Waits until no other instance fills the filter. The lock ends with the session, so a builder that dies blocks nobody.
    pub fn lock_builder(&mut self) -> Result<(), Failure> {
        self.client
            .execute("SELECT pg_advisory_lock($1)", &[&BUILDER_LOCK])?;
        Ok(())
    }

    /// Waits for the end of every insert that has begun. Those that begin later find the new filter and tell it; those from before
    /// may have missed it, and are rows by now. Only inserts wait meanwhile, and not for long: where
    /// somebody loads rows for an hour, this gives up.
    pub fn wait_for_inserts(&mut self) -> Result<(), Failure> {
        let lock = "BEGIN; SET LOCAL lock_timeout = '10s'; LOCK TABLE users IN SHARE MODE; COMMIT";
        Ok(self.client.batch_execute(lock)?)
    }

    /// How many users there are.
    pub fn count(&mut self) -> Result<u64, Failure> {
        let row = self.client.query_one("SELECT count(*) FROM users", &[])?;
        let count: i64 = row.try_get(0)?;
        Ok(count.unsigned_abs())
    }

    /// A name that no other builder has.
    pub fn builder_name(&mut self) -> Result<String, Failure> {
        let row = self
            .client
            .query_one("SELECT gen_random_uuid()::text", &[])?;
        Ok(row.try_get(0)?)
    }

    /// Every name that is there now, in batches, as they come from the server.
    pub fn each_batch(
        &mut self,
        size: usize,
        mut each: impl FnMut(&[String]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let nothing: [&str; 0] = [];
        let mut rows = self.client.query_raw("SELECT name FROM users", nothing)?;
        let mut batch = Vec::with_capacity(size);
        while let Some(row) = rows.next()? {
            batch.push(row.try_get(0)?);
            if batch.len() == size {
                each(&batch)?;
                batch.clear();
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        each(&batch)
    }
}
