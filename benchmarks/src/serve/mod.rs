//! Servers under load: how they are started, filled and measured.

mod flood;
mod host;
mod lines;
mod load;
mod pages;
mod waits;

pub use flood::flood;
pub use host::{Host, choose_mayhap, idle, redis_is_there};
pub use lines::{Line, against_missing, in_turns, table};
pub use load::{Load, Measured, median};
pub use pages::OpenPages;
pub use waits::Waits;
