//! Servers under load: how they are started, filled and measured.

mod host;
mod lines;
mod load;

pub use host::{Host, idle, redis_is_there};
pub use lines::{Line, against_missing, in_turns, table};
pub use load::{Load, Measured, median};
