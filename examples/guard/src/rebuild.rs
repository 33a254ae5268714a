//! Fills a new filter with all users while others ask and insert, and puts it into the place of the old one.
//!
//! 1. Only one builder at a time: an advisory lock of PostgreSQL.
//! 2. A new, empty filter beside the old one. From now on inserts tell both.
//! 3. Inserts that began before are waited for: they may have looked for the new filter too early.
//! 4. All rows that there are now go into the new filter. So it has those that were there, and those that came since.
//! 5. The marks go in, and it takes the place of the old one, in one transaction, if no other builder has begun.
//!
//! Questions are answered by the old filter until the last step, or by the database where there is none.

use crate::Config;
use crate::database::Database;
use crate::failure::Failure;
use crate::filter::Filter;
use std::time::Duration;

/// Names in a command: few enough for Redis to serve others in between, many enough not to wait for the wire.
const BATCH: usize = 2_000;
/// Nobody waits for a builder's commands.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest capacity that BF.RESERVE takes; the filter grows beyond.
const MOST: u64 = 1 << 30;

/// When a filter is worth building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Unless there is one that can be trusted; another instance may have made it while this one waited for its turn.
    Untrusted,
    /// In any case: to forget users that were deleted, or to have room for more.
    Always,
}

/// Builds the filter; `false` when there was no need, or another builder has taken over.
///
/// # Errors
/// When either store is away or the new filter is lost on the way. The old one, if any, is as it was.
pub fn rebuild(config: &Config, when: When) -> Result<bool, Failure> {
    let mut database = Database::connect(&config.postgres)?;
    database.lock_builder()?;
    // One connection from here to the end: if Redis ends in between, so does this build, and the marks name the right process.
    let mut filter = Filter::connect(&config.redis, PATIENCE)?;
    if when == When::Untrusted && filter.is_trusted()? {
        return Ok(false);
    }
    let builder = database.builder_name()?;
    let users = database.count()?;
    let capacity = users.saturating_add(users / 4).clamp(1_000, MOST);
    filter.begin(&builder, config.false_positive_rate, capacity)?;
    database.wait_for_inserts()?;
    database.each_batch(BATCH, |names| Ok(filter.fill(names)?))?;
    Ok(filter.finish(&builder)?)
}
