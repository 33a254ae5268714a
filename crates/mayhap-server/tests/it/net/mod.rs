//! Sockets, with a service that does next to nothing.

mod bounds;
mod certificates;
mod ends;
mod few_files;
mod long;
mod pages;
mod plain;
mod service;
