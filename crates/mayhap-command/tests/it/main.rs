//! The tests of the commands, by behaviour.

mod batches;
mod extensions;
mod files;
mod golden;
mod grid;
mod host;
mod images;
mod law;
mod model;
mod sizes;
mod transcripts;
