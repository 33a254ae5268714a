//! The tests of the commands, by behaviour.

mod batches;
mod files;
mod golden;
mod grid;
mod host;
mod images;
mod law;
mod model;
mod own;
mod sizes;
mod transcripts;
