//! A Redis-compatible filter server.
//!
//! A request is read by `net/`, parsed by `resp.rs`, and executed by `engine.rs` through one of the `commands/`, which read or
//! change the `keyspace.rs`. Every change is appended to the log before it is acknowledged.
//!
//! | place | what it answers |
//! | --- | --- |
//! | `net/` | sockets: `listeners.rs` and `accept.rs` accept, `worker.rs` serves in rounds, `offload.rs` runs long requests, `connection.rs` is the state of a client, `buffer_quota.rs` limits the buffers, `transport.rs` and `tls.rs` carry bytes, `http.rs` reads HTTP requests |
//! | `resp.rs`, `resp/` | what is a request, and how long may it be? |
//! | `engine.rs`, `call.rs`, `session.rs` | what happens to a request, and what is kept per connection? |
//! | `commands/` | which commands are there? `table.rs` lists the server's own, `filter.rs` runs BF.*, CF.* and CBF.*, `long.rs` decides what is long, the others have one topic each |
//! | `keyspace.rs`, `shared_slot.rs`, `leases.rs` | which keys exist, and who may access them? |
//! | `record.rs`, `recovery.rs`, `snapshot.rs`, `secret.rs` | what is in the data folder, and how are keys restored from it? |
//! | `files.rs`, `file_items.rs` | which filter files are served, and how do items become their keys? |
//! | `maintenance.rs` | what runs periodically: expiry, files, snapshots |
//! | `web/`, and the folder `page/` beside `src/` | the page, its API, and who may use them |
//! | `settings.rs`, `info.rs`, `metrics.rs`, `stats_cache.rs`, `filter_table.rs`, `command_times.rs`, `slowlog.rs`, `pause.rs` | what can be configured and observed? |

mod call;
mod clients;
mod clock;
mod command_times;
mod commands;
mod counters;
mod engine;
mod file_items;
mod files;
mod filter_table;
mod info;
mod keyspace;
mod leases;
mod maintenance;
mod metrics;
pub mod net;
mod options;
pub mod page;
mod pattern;
mod pause;
mod printable;
mod random;
mod record;
mod recovery;
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
mod web;

pub use mayhap_log::Fsync;
pub use options::{HttpOptions, ServerOptions, TlsOptions};
pub use pattern::matches as key_matches;
pub use server::{Server, StopHandle};

/// The Redis version that clients see: the protocol and the generic commands correspond to it.
pub(crate) const REDIS_VERSION: &str = "7.4.0";

/// The modules that clients see, with their versions. Some clients look for RedisBloom's name before they use its commands.
pub(crate) const MODULES: [(&str, i64); 2] = [("bf", 20_812), ("mayhap", 100)];

/// Writes a line to the server's log output.
pub(crate) fn report(text: &str) {
    eprintln!("mayhap: {text}");
}
