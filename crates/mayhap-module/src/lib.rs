//! mayhap inside of Redis and Valkey: `mayhap-command` for the keys of an engine, which stores, replicates and shards them.
//!
//! `ffi` is all that touches the engine, and all that is unsafe; what it calls here is ordinary Rust:
//!
//! | the engine | calls |
//! | --- | --- |
//! | loads the module | `host::Host::new` |
//! | has a command of ours | `commands::run` |
//! | saves, loads, copies or frees a filter | `Slot`, of `mayhap-command` |
//! | gets or sets `mayhap.*` | `host::Host::get`, `host::Host::set` |

mod commands;
mod ffi;
mod host;
