//! Servers under load: how they are started, filled and measured.

mod host;
mod load;

pub use host::{Host, choose_mayhap, idle, redis_is_there};
pub use load::{Load, Measured, median};
