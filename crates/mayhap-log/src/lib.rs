//! A crash-safe append log. It stores bytes and knows nothing about filters: a caller appends a record of every change, commits
//! it, and receives it again after a crash.
//!
//! ```text
//! append   body     ->  pending memory  ->  commit: one write and sync for all threads      writer.rs
//! shorten  entries  ->  snapshot        ->  older logs are removed                           snapshot.rs, switch.rs
//! reopen   folder   ->  snapshot        ->  logs in order  ->  the torn end is cut off       recovery/
//! ```
//!
//! The disk is a trait with two implementations: [`Folder`], and [`simulated::SimulatedDisk`], which crashes on demand.
//! docs/formats/log.md describes the bytes of the files.
//!
//! ```
//! use mayhap_log::{Fsync, Journal, JournalOptions, Recovered, simulated::SimulatedDisk};
//!
//! let disk = SimulatedDisk::new();
//! let options = JournalOptions::default().fsync(Fsync::Always);
//! let (journal, _) = Journal::open(disk.clone(), options, |_| Ok(()))?;
//! let lsn = journal.append(1_700_000_000_000, b"a change")?;
//! journal.commit(lsn)?;
//! let disk = disk.crash(7);
//!
//! let mut seen = Vec::new();
//! let (_journal, summary) = Journal::open(disk, options, |what| {
//!     if let Recovered::Record { body, .. } = what {
//!         seen.push(body.to_vec());
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(seen, [b"a change"]);
//! assert_eq!(summary.last_lsn, lsn);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod disk;
mod error;
mod file_name;
mod file_reader;
mod folder;
mod format;
mod journal;
mod options;
mod recovery;
mod snapshot;
mod state;
mod switch;
mod ticker;
mod writer;

pub mod simulated;

pub use disk::Disk;
pub use error::{AppendError, DamageKind, JournalError, LogBroken, ReplayError, SnapshotError};
pub use folder::Folder;
pub use format::MAX_BODY_BYTES;
pub use journal::Journal;
pub use options::{Fsync, JournalOptions};
pub use recovery::{Loss, Recovered, RecoverySummary, TornEnd};
pub use snapshot::{FinishedSnapshot, Snapshot};
pub use state::JournalState;

/// The number of a record: 1 for the first, and one more for each that follows, across files and restarts.
pub type Lsn = u64;
