//! A Redis-compatible filter server.
//!
//! `net/` and `resp.rs` are sockets and requests; `engine.rs` takes a request to one of the `commands/`, which ask or change the
//! `keyspace.rs`; what is changed goes into the log (`record.rs`, the crate mayhap-log) before it is acknowledged; `recovery.rs` reads
//! the log again; `snapshot.rs` shortens it. `files.rs` serves filter files of any format.

mod call;
mod clients;
mod clock;
mod commands;
mod counters;
mod engine;
mod files;
mod info;
mod keyspace;
mod leases;
mod maintenance;
mod metrics;
pub mod net;
mod options;
mod pattern;
mod pause;
mod printable;
mod random;
mod record;
mod recovery;
mod reply_writer;
pub mod resp;
mod secret;
mod server;
mod session;
mod settings;
mod shared_slot;
mod slowlog;
mod snapshot;
mod stats_cache;
mod system;

pub use mayhap_log::Fsync;
pub use options::{ServerOptions, TlsOptions};
pub use server::{Server, StopHandle};

/// The Redis version that clients see: the protocol and the generic commands correspond to it.
pub(crate) const REDIS_VERSION: &str = "7.4.0";

/// The modules that clients see, with their versions. Some clients look for RedisBloom's name before they use its commands.
pub(crate) const MODULES: [(&str, i64); 2] = [("bf", 20_812), ("mayhap", 100)];

/// Writes a line to the server's log output.
pub(crate) fn report(text: &str) {
    eprintln!("mayhap: {text}");
}
