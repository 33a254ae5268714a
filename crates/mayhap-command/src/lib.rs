//! The Redis commands `BF.*`, `CF.*`, `CBF.*` and `MAYHAP.*`: arguments are parsed into a [`Command`], which is applied to the [`Slot`] of
//! its key and returns a [`Reply`] and what has to be replicated or logged. This crate knows no sockets, disks or clocks.
//!
//! | place | what it answers |
//! | --- | --- |
//! | `table.rs` | Which commands are there? One row each |
//! | `spec.rs`, `arguments.rs` | What do hosts know about a command? Arity, flags, keys, documentation |
//! | `command.rs` | What is a parsed command? [`Query`] reads, [`Write`] writes; one struct per command |
//! | `bf/`, `cf/`, `cbf/`, `mayhap/` | What does each command do? A file per command or pair of commands |
//! | `outcome.rs` | What do logs and replicas receive? |
//! | `slot.rs`, `native/` | What does a key hold? A filter of either layout, with its memory |
//! | `image/` | How is a slot stored in logs, snapshots, DUMP and RDB? |
//! | `stats.rs` | What does a filter report about itself? |
//! | `reply.rs`, `resp.rs` | How is a reply sent? |
//! | `parse.rs`, `config.rs` | How are numbers read, and which settings are there? |
//!
//! ```
//! use mayhap_core::{SipKey, Timestamp};
//! use mayhap_command::{Command, Config, Context, Protocol, Replication, Slot};
//! let config = Config::default();
//! let context = Context { config: &config, now: Timestamp(0), secret: SipKey::new([7; 16]), max_bytes: 1 << 30 };
//! let mut slot = Slot::Missing;
//! let Ok(Command::Write(add)) = Command::parse(&[b"BF.ADD", b"seen", b"apple"], &config) else { panic!() };
//! let outcome = add.apply(&mut slot, &[], &context);
//! let mut bytes = Vec::new();
//! outcome.reply.write(Protocol::Resp3, &mut bytes);
//! assert_eq!(bytes, b"#t\r\n");
//! // The filter was created: replicas must not depend on their own settings and secrets.
//! assert!(matches!(outcome.replication, Replication::Rewritten(commands) if commands.len() == 2));
//! ```

mod arguments;
mod bf;
mod cbf;
mod cf;
mod command;
mod config;
mod image;
mod mayhap;
mod native;
mod outcome;
mod parse;
mod reply;
mod resp;
mod slot;
mod spec;
mod stats;
mod table;

pub use arguments::{Argument, ArgumentKind};
pub use command::{Command, Context, GenericQuery, Query, Write};
pub use config::{Config, Layout, NAMES};
pub use mayhap_codec::{DecodeError, Limits};
pub use native::{NativeBloom, NativeCounting, NativeCuckoo};
pub use outcome::{Outcome, Replication};
pub use parse::integer;
pub use reply::Reply;
pub use resp::{Protocol, RespWriter};
pub use slot::{AnyBloom, AnyCuckoo, Slot, TYPES};
pub use spec::{Arity, Categories, CommandSpec, FilterCommand, Flags, KeyPositions};
pub use table::{COMMANDS, find};

use mayhap_core::PlanError;
use std::borrow::Cow;

pub(crate) const NOT_FOUND: Reply = Reply::error("ERR not found");
pub(crate) const EXISTS: Reply = Reply::error("ERR item exists");
pub(crate) const WRONG_TYPE: Reply =
    Reply::error("WRONGTYPE Operation against a key holding the wrong kind of value");
pub(crate) const NO_MEMORY: Reply = Reply::error("ERR Insufficient memory to create filter");

/// The error reply if a filter cannot be created; `other` is the family's text for reasons other than memory.
fn creation_error(other: &'static str) -> impl FnOnce(PlanError) -> Reply {
    move |error| match error {
        PlanError::OutOfMemory { .. } => NO_MEMORY,
        _ => Reply::error(other),
    }
}

/// A count as a reply; one that is too large becomes the largest integer.
fn count(number: u64) -> Reply {
    Reply::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn wrong_arity(name: &str) -> Reply {
    Reply::Error(Cow::Owned(format!(
        "ERR wrong number of arguments for '{name}' command"
    )))
}
