//! What commands owe, by behaviour.

#[path = "../host/mod.rs"]
mod host;
#[path = "../said/mod.rs"]
mod said;

mod batches;
mod files;
mod golden;
mod grid;
mod images;
mod law;
mod model;
mod own;
mod sizes;
