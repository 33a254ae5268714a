//! The filter and the cache in Redis: what is sent, and when an answer is to be trusted.
//!
//! A missing key answers 0 to everything, and so does one that was evicted; a Redis that came back with yesterday's snapshot has a
//! filter that lacks today's users. None of these zeros means "absent". So a finished filter has a few *marks* in it, items that
//! no user can be called by, made of the run id of the very Redis process that was told of every insert. Each question asks for
//! them in the same command: where one is missing, nothing else in the answer counts.

use redis::{Client, Connection, ErrorKind, RedisResult, cmd, pipe};
use std::time::Duration;

/// The filter that is asked. The braces keep all keys in one slot of a cluster, since they change together.
const LIVE: &str = "{users}:filter";
/// The one that is being filled.
const NEXT: &str = "{users}:filter:next";
/// Who fills it.
const BUILDER: &str = "{users}:filter:builder";

/// A filter without a mark says that it has it with the false-positive rate; four of them at 1 % once in 10^8.
const MARKS: usize = 4;

/// What the filter says of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No such user.
    Absent,
    /// Ask on.
    Mayhap,
    /// There is no filter that knows all users.
    Untrusted,
}

/// A connection to one Redis process.
pub struct Filter {
    connection: Connection,
    marks: [String; MARKS],
}

impl Filter {
    /// Connects, and learns which process this is: it cannot change while the connection lasts.
    pub fn connect(url: &str, patience: Duration) -> RedisResult<Self> {
        let mut connection = Client::open(url)?.get_connection_with_timeout(patience)?;
        connection.set_read_timeout(Some(patience))?;
        connection.set_write_timeout(Some(patience))?;
        let info: String = cmd("INFO").arg("server").query(&mut connection)?;
        let run_id = info.lines().find_map(|line| line.strip_prefix("run_id:"));
        let run_id = run_id.ok_or((ErrorKind::UnexpectedReturnType, "INFO has no run_id"))?;
        // PostgreSQL has no text with a zero byte in it.
        let marks = std::array::from_fn(|number| format!("\0complete {number} {run_id}"));
        Ok(Self { connection, marks })
    }

    /// What the filter says of a name, and the cached row if there is one, in one round trip.
    ///
    /// # Errors
    /// When Redis does not answer. A cache that refuses is an empty one.
    pub fn ask(&mut self, name: &str) -> RedisResult<(Answer, Option<String>)> {
        let (row, found): (RedisResult<Option<String>>, RedisResult<Vec<bool>>) = pipe()
            .cmd("GET")
            .arg(row_key(name))
            .cmd("BF.MEXISTS")
            .arg(LIVE)
            .arg(&self.marks)
            .arg(name)
            .ignore_errors()
            .query(&mut self.connection)?;
        let found = found?;
        let answer = match found.split_at_checked(MARKS) {
            Some((marks, [name])) if marks.iter().all(|mark| *mark) => match name {
                true => Answer::Mayhap,
                false => Answer::Absent,
            },
            _ => Answer::Untrusted,
        };
        Ok((answer, row.unwrap_or(None)))
    }

    /// Puts a name into the filter that is asked and into the one that is being filled, so that both know it before its row can be
    /// seen. In one transaction: between two commands the second filter could take the place of the first, and miss the name.
    ///
    /// # Errors
    /// When it is not certain that both know the name; then its row must not be committed.
    pub fn remember(&mut self, name: &str) -> RedisResult<()> {
        let told: [RedisResult<Vec<bool>>; 2] = pipe()
            .atomic()
            .add_command(insert(LIVE, &[name]))
            .add_command(insert(NEXT, &[name]))
            .ignore_errors()
            .query(&mut self.connection)?;
        for reply in told {
            match reply {
                // A filter that is not there cannot be wrong about the name.
                Err(error) if error.detail() == Some("not found") => {}
                other => drop(other?),
            }
        }
        Ok(())
    }

    /// Whether there is a filter that knows all users.
    pub fn is_trusted(&mut self) -> RedisResult<bool> {
        Ok(self.ask("")?.0 != Answer::Untrusted)
    }

    /// Starts a new filter beside the one that is asked; whoever was filling one before has lost.
    pub fn begin(&mut self, builder: &str, rate: f64, capacity: u64) -> RedisResult<()> {
        pipe()
            .atomic()
            .cmd("SET")
            .arg(BUILDER)
            .arg(builder)
            .cmd("DEL")
            .arg(NEXT)
            .cmd("BF.RESERVE")
            .arg(NEXT)
            .arg(rate)
            .arg(capacity)
            .exec(&mut self.connection)
    }

    /// Puts names into the new filter. It is never made anew here: if it is gone, so are names that are not asked for again.
    pub fn fill<S: AsRef<str>>(&mut self, names: &[S]) -> RedisResult<()> {
        insert(NEXT, names).exec(&mut self.connection)
    }

    /// Marks the new filter and puts it into the place of the old one; `false` when another builder has started since.
    pub fn finish(&mut self, builder: &str) -> RedisResult<bool> {
        // From here to EXEC nobody else may begin: this builder may have lost its lock in PostgreSQL without knowing.
        cmd("WATCH").arg(BUILDER).exec(&mut self.connection)?;
        let current: Option<String> = cmd("GET").arg(BUILDER).query(&mut self.connection)?;
        if current.as_deref() != Some(builder) {
            cmd("UNWATCH").exec(&mut self.connection)?;
            return Ok(false);
        }
        let done: Option<Vec<redis::Value>> = pipe()
            .atomic()
            .add_command(insert(NEXT, &self.marks))
            .cmd("RENAME")
            .arg(NEXT)
            .arg(LIVE)
            .cmd("DEL")
            .arg(BUILDER)
            .query(&mut self.connection)?;
        Ok(done.is_some())
    }

    /// Keeps a row for a while. Absent rows are never kept: one that is inserted a moment later would be denied.
    pub fn cache(&mut self, name: &str, row: &str, time: Duration) -> RedisResult<()> {
        let mut set = cmd("SET");
        let seconds = time.as_secs().max(1);
        set.arg(row_key(name)).arg(row).arg("EX").arg(seconds);
        set.exec(&mut self.connection)
    }

    /// Forgets a row.
    pub fn uncache(&mut self, name: &str) -> RedisResult<()> {
        cmd("DEL").arg(row_key(name)).exec(&mut self.connection)
    }
}

fn insert<S: AsRef<str>>(key: &str, items: &[S]) -> redis::Cmd {
    let mut insert = cmd("BF.INSERT");
    insert.arg(key).arg("NOCREATE").arg("ITEMS");
    for item in items {
        insert.arg(item.as_ref());
    }
    insert
}

fn row_key(name: &str) -> String {
    format!("user:{name}")
}
