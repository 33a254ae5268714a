//! The C interface of mayhap. `include/mayhap.h` is generated from this crate; docs/guide/c.md explains its use.
//!
//! Every function returns a number: 0 or more is an answer, less than 0 is one of the `MAYHAP_ERROR` codes, and
//! `mayhap_error_message` then says what happened and what to do. No panic leaves the library.
//!
//! | Place | What it answers |
//! | --- | --- |
//! | `status.rs` | Which errors are there, and what is the message of the last one? |
//! | `arguments.rs` | Are the pointers of the caller valid, and what do they point to? The only place that reads them |
//! | `options.rs` | What does `name=value` mean? |
//! | `filter.rs` | What can be done with a filter, whatever its kind, format and storage? |
//! | `create.rs`, `files.rs`, `query.rs`, `change.rs` | the functions |
//! | `leveldb.rs` | the filter policies for LevelDB |

#![allow(
    unsafe_code,
    reason = "functions take pointers from C; `arguments.rs` reads them"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the header states once what holds for all pointers"
)]

mod arguments;
mod filter;
mod options;

// In the order of the header.
mod status;

mod create;

mod files;

mod query;

mod change;

mod leveldb;

pub use change::*;
pub use create::*;
pub use files::*;
pub use filter::Filter;
pub use leveldb::*;
pub use query::*;
pub use status::*;
