//! The words of `BF.*`, `CF.*` and `CBF.*`: arguments become a [`Command`], a command is applied to the [`Slot`] of its key, and
//! there is a [`Reply`] and what has to be passed on to replicas and logs. Nothing here knows sockets, disks or clocks.
//!
//! ```
//! use mayhap_core::{SipKey, Timestamp};
//! use mayhap_command::{Command, Config, Context, PassedOn, Protocol, Slot};
//! let config = Config::default();
//! let context = Context { config: &config, now: Timestamp(0), secret: SipKey::new([7; 16]), max_bytes: 1 << 30 };
//! let mut slot = Slot::Missing;
//! let Ok(Command::Change(add)) = Command::parse(&[b"BF.ADD", b"seen", b"apple"], &config) else { panic!() };
//! let outcome = add.apply(&mut slot, &[], &context);
//! let mut bytes = Vec::new();
//! outcome.reply.write(Protocol::Resp3, &mut bytes);
//! assert_eq!(bytes, b"#t\r\n");
//! // It made the filter: whoever does the same must not depend on settings or secrets.
//! assert!(matches!(outcome.passed_on, PassedOn::Instead(commands) if commands.len() == 2));
//! ```

mod arguments;
mod at;
mod bf;
mod cbf;
mod cf;
mod command;
mod config;
mod file;
mod image;
mod load;
mod merge;
mod native;
mod reply;
mod slot;
mod stats;
mod table;
mod words;

pub use arguments::{Argument, ArgumentKind};
pub use command::{Ask, Change, Command, Context, Outcome, PassedOn};
pub use config::{Config, Layout, NAMES};
pub use mayhap_codec::{DecodeError, Limits};
pub use native::{NativeBloom, NativeCounting, NativeCuckoo};
pub use reply::{Protocol, Reply};
pub use slot::{Bloom, Cuckoo, Slot, TYPES};
pub use stats::Stats;
pub use table::{COMMANDS, Specification, find};

use mayhap_core::PlanError;
use std::borrow::Cow;

pub(crate) const NOT_FOUND: Reply = Reply::error("ERR not found");
pub(crate) const EXISTS: Reply = Reply::error("ERR item exists");
pub(crate) const WRONG_TYPE: Reply =
    Reply::error("WRONGTYPE Operation against a key holding the wrong kind of value");
pub(crate) const NO_MEMORY: Reply = Reply::error("ERR Insufficient memory to create filter");

/// That a filter could not be made, in the words of its family.
fn not_made(other: &'static str) -> impl FnOnce(PlanError) -> Reply {
    move |error| match error {
        PlanError::OutOfMemory { .. } => NO_MEMORY,
        _ => Reply::error(other),
    }
}

/// A count, as far as a reply can hold one.
fn count(number: u64) -> Reply {
    Reply::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// That a command has too many words or too few.
fn wrong_arity(name: &str) -> Reply {
    Reply::Error(Cow::Owned(format!(
        "ERR wrong number of arguments for '{name}' command"
    )))
}
