//! mayhap inside Redis and Valkey: `mayhap-command` on the keys of an engine, which stores, replicates and shards them.
//!
//! | place | what it answers |
//! | --- | --- |
//! | `commands.rs` | How does a command run on the engine's keys? |
//! | `host.rs` | What does the module keep? Settings, and the secret of new filters |
//! | `ffi.rs` | How do calls, keys and replies cross the C API? All unsafe code is in `ffi` |
//! | `ffi/api.rs` | What does the engine provide? Functions, structures and constants of `redismodule.h` |
//! | `ffi/load.rs`, `ffi/docs.rs` | What is registered when the engine loads the module? Types, commands, settings |
//! | `ffi/values.rs`, `ffi/fields.rs` | How does the engine save, load, copy and free a filter? |
//! | `ffi/settings.rs` | How are `mayhap.*` settings read and changed, and what is in `INFO`? |
//! | `ffi/memory.rs` | Where does memory come from? The engine's allocator |

mod commands;
mod ffi;
mod host;
