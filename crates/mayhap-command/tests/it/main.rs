//! What commands owe, by behaviour.

#[path = "../host/mod.rs"]
mod host;

mod batches;
mod golden;
mod grid;
mod images;
mod law;
mod model;
mod own;
mod sizes;
