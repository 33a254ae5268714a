//! What the log owes to those who rely on it, by behaviour.

mod model;
mod world;
