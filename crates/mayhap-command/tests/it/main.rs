//! The tests of the commands, by behaviour.

mod additional_commands;
mod batches;
mod files;
mod golden;
mod grid;
mod host;
mod images;
mod law;
mod model;
mod sizes;
mod transcripts;
