//! A Redis-compatible server of filters.

pub mod net;
pub mod resp;
