//! What the log owes to those who rely on it, by behaviour.

mod concurrent;
mod damage;
mod faults;
mod folder;
mod golden;
mod group;
mod healing;
mod hostile;
mod model;
mod open_files;
mod simulation;
