//! `mayhap migrate`: moves filters between servers, or from an RDB file to a server.
//!
//! | file | what it answers |
//! | --- | --- |
//! | `endpoint.rs`, `node.rs`, `server.rs` | what do URLs mean, what can go wrong with a connection, and which node of a cluster has a key? |
//! | `slot.rs` | which slot has a key, and which temporary name is in it? |
//! | `filter_type.rs`, `listing.rs`, `info.rs` | which keys are filters, and what are they like? |
//! | `from_server.rs`, `from_file.rs` | what becomes of each filter of a server, or of an RDB file? |
//! | `chunks.rs`, `transfer.rs`, `rdb_source.rs` | how is one filter copied, from a server or from a file? |
//! | `verify.rs`, `report.rs` | are both sides equal, and how is that reported? |

mod chunks;
mod endpoint;
mod filter_type;
mod from_file;
mod from_server;
mod info;
mod listing;
mod node;
mod rdb_source;
mod report;
mod server;
mod slot;
mod transfer;
mod verify;

use crate::args;
use crate::error::{CliError, Usage};
use crate::interrupt;
use clap::Args;
use endpoint::{Endpoint, SourcePlace};
use filter_type::{FilterLayout, FilterType};
use listing::Listed;
use node::CommandError;
use report::{Row, Verdict};
use server::Server;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use transfer::{MoveError, refused};
use verify::Sample;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap migrate redis://old:6379 redis://new:6380              move every filter
  mayhap migrate --dry-run redis://old:6379 redis://new:6380    only list them, with their rates
  mayhap migrate --match 'seen:*' --verify 10000 redis://old rediss://user:secret@new:6390
  mayhap migrate --verify 10000 --keys urls.txt redis://old redis://new
  mayhap migrate dump.rdb redis://new:6380                      the filters of an RDB file
  mayhap migrate --json redis://old redis://new > report.jsonl

Servers are RedisBloom, the module or `mayhap serve`, alone or as clusters. A filter is loaded under a temporary
name and appears at once when it is complete, with its time to live. Nothing is deleted at the source. An
interrupted or killed run can be repeated: filters that are at the target already are compared and left alone.
Bloom filters may be written to meanwhile, writes to cuckoo filters must pause; the report says how to switch over.
MAYHAP_SOURCE_PASSWORD and MAYHAP_TARGET_PASSWORD hold passwords that should not be in a URL.
Exit status: 0 if every filter is at the target, 1 if there is none to move, 2 if one was not moved.";

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct MigrateArgs {
    /// Where the filters are: redis://HOST:PORT, rediss://HOST:PORT for TLS, or an RDB file
    #[arg(value_name = "SOURCE")]
    source: OsString,
    /// Where they go: redis://HOST:PORT or rediss://HOST:PORT
    #[arg(value_name = "TARGET")]
    target: OsString,
    /// Only keys that match, as in SCAN: * ? [abc]
    #[arg(long = "match", value_name = "PATTERN")]
    pattern: Option<OsString>,
    /// The layout that filters must have at the target [default: that of the source]
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<FilterLayout>,
    /// List the filters, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Query both sides for N keys, and compare the answers and INFO
    #[arg(long, value_name = "N", value_parser = args::count)]
    verify: Option<u64>,
    /// Keys for --verify, one per line, of which N are sampled [default: random keys]
    #[arg(long, value_name = "FILE", requires = "verify")]
    keys: Option<PathBuf>,
    /// Replace keys of the target that differ from the source
    #[arg(long)]
    replace: bool,
    /// Only this database of an RDB file [default: all, each into the same database of the target]
    #[arg(long, value_name = "N")]
    db: Option<u64>,
    /// Certificates of authorities to trust, in PEM [default: those of the system]
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Certificate to authenticate with, in PEM
    #[arg(long, value_name = "FILE", requires = "cert_key")]
    cert: Option<PathBuf>,
    /// Private key of that certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    cert_key: Option<PathBuf>,
    /// Accept any certificate
    #[arg(long)]
    insecure: bool,
    /// Print one JSON object per filter and line
    #[arg(long)]
    json: bool,
}

/// The status of the signal that asked to stop; 0 if none did.
static STOPPED_BY: AtomicU8 = AtomicU8::new(0);

pub(crate) fn run(args: &MigrateArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let source = endpoint::source(args)?;
    let mut target = endpoint::target(args)?;
    // Only the databases of a file are those of the target.
    target.names_database |= matches!(source, SourcePlace::Server(_));
    let sample = args.verify.filter(|_| !args.dry_run);
    let sample = sample
        .map(|count| Sample::new(count, args.keys.as_deref()))
        .transpose()?;
    interrupt::pass_next_to(|signal| {
        STOPPED_BY.store(signal.exit_code(), Ordering::Relaxed);
        server::stop();
    });
    let mut migration = Migration::new(args, target, sample, out)?;
    let moved = match &source {
        SourcePlace::Server(endpoint) => migration.move_from_server(endpoint),
        SourcePlace::File(path) => migration.move_from_file(path),
    };
    let rows = migration.rows;
    if !args.json && !rows.is_empty() {
        report::write_table(&rows, out)?;
    }
    let stopped_by = STOPPED_BY.load(Ordering::Relaxed);
    if stopped_by != 0 {
        out.flush()?;
        crate::print_messages(&[
            "interrupted: the temporary key at the target was removed; repeat the command to go on"
                .to_owned(),
        ]);
        return Ok(ExitCode::from(stopped_by));
    }
    moved?;
    let filters = rows
        .iter()
        .filter(|row| row.verdict != Verdict::NotAFilter)
        .count();
    let not_moved = rows.iter().filter(|row| row.verdict.is_error()).count();
    if filters == 0 {
        return Ok(ExitCode::from(1));
    }
    if !args.json && !args.dry_run {
        report::write_procedure(matches!(source, SourcePlace::File(_)), out)?;
    }
    if not_moved > 0 {
        out.flush()?;
        return Err(CliError::message(format!(
            "{not_moved} of {filters} filters {}: the report says why",
            if args.dry_run {
                "cannot be moved"
            } else {
                "were not moved"
            }
        )));
    }
    Ok(ExitCode::SUCCESS)
}

struct Migration<'a, W> {
    args: &'a MigrateArgs,
    targets: Targets,
    sample: Option<Sample>,
    /// Tells the temporary names of this run apart.
    run: String,
    rows: Vec<Row>,
    out: &'a mut W,
}

/// The databases of the target.
struct Targets {
    endpoint: Endpoint,
    /// By number.
    connected: BTreeMap<i64, Server>,
}

impl Targets {
    fn connect(endpoint: Endpoint) -> Result<Self, CliError> {
        let mut targets = Self {
            endpoint,
            connected: BTreeMap::new(),
        };
        targets.get(targets.endpoint.database())?;
        Ok(targets)
    }

    fn get(&mut self, database: i64) -> Result<&mut Server, CliError> {
        match self.connected.entry(database) {
            Entry::Occupied(server) => Ok(server.into_mut()),
            Entry::Vacant(place) => {
                let server = Server::connect(&self.endpoint.with_database(database))?;
                Ok(place.insert(server))
            }
        }
    }

    /// The number of the database for one of the source.
    fn database_for(&self, source: u64) -> i64 {
        if self.endpoint.names_database {
            self.endpoint.database()
        } else {
            i64::try_from(source).unwrap_or(i64::MAX)
        }
    }

    /// The database for one of the source.
    fn database_of(&mut self, one: &Listed) -> Result<&mut Server, MoveError> {
        let database = self.database_for(one.database);
        self.get(database).map_err(|error| {
            refused(format!(
                "database {database} of the target does not answer ({}): choose one with --db, and name the target's in its URL",
                error.line(Usage::DEFAULT).unwrap_or_default()
            ))
        })
    }
}

fn message(error: &CommandError) -> CliError {
    CliError::message(error.text())
}

impl<'a, W: Write> Migration<'a, W> {
    fn new(
        args: &'a MigrateArgs,
        endpoint: Endpoint,
        sample: Option<Sample>,
        out: &'a mut W,
    ) -> Result<Self, CliError> {
        let run = getrandom::u64().map_err(|error| {
            CliError::message(format!(
                "the system has no random numbers ({error}): try again"
            ))
        })?;
        Ok(Self {
            args,
            targets: Targets::connect(endpoint)?,
            sample,
            run: format!("{run:016x}"),
            rows: Vec::new(),
            out,
        })
    }

    fn pattern(&self) -> Option<&'a [u8]> {
        self.args
            .pattern
            .as_deref()
            .map(std::ffi::OsStr::as_encoded_bytes)
    }

    fn remove_leftovers(&mut self, listed: &[Listed]) -> Result<(), CliError> {
        if self.args.dry_run {
            return Ok(());
        }
        let mut by_database: BTreeMap<i64, BTreeSet<&[u8]>> = BTreeMap::new();
        for one in listed {
            let database = self.targets.database_for(one.database);
            by_database.entry(database).or_default().insert(&one.key);
        }
        for (database, keys) in by_database {
            // A database that is not there is reported for each of its filters.
            if let Ok(target) = self.targets.get(database) {
                listing::remove_leftovers(target, &keys).map_err(|error| message(&error))?;
            }
        }
        Ok(())
    }

    /// Adds a row to the report. Rows of JSON are printed at once: a run may take hours, and be killed.
    fn report(&mut self, row: Row) -> Result<(), CliError> {
        if self.args.json {
            report::write_json(&row, self.out)?;
            self.out.flush()?;
        }
        self.rows.push(row);
        Ok(())
    }
}

impl MigrateArgs {
    fn check_layout(&self, kind: FilterType) -> Result<(), MoveError> {
        match (kind.layout, self.layout) {
            (FilterLayout::RedisBloom, Some(FilterLayout::Native)) => Err(refused(
                "it has RedisBloom's layout, and --layout native would need its keys, which a filter does not contain: move it without --layout, or add the keys to a new filter",
            )),
            (FilterLayout::Native, Some(FilterLayout::RedisBloom)) => Err(refused(
                "it has the native layout, and --layout redisbloom would need its keys, which a filter does not contain: add the keys to a new filter at the target",
            )),
            _ => Ok(()),
        }
    }

    /// Whether a key of this type may be replaced at the target.
    fn check_replace(&self, there: &[u8]) -> Result<(), MoveError> {
        match FilterType::from_name(there) {
            _ if there == b"mayhap-file" => Err(refused(
                "the target serves a file with this name, which cannot be replaced: remove the file from its folder",
            )),
            _ if self.replace => Ok(()),
            Some(_) => Err(refused(
                "the target has another filter with this name: replace it with --replace",
            )),
            None => Err(refused(format!(
                "the target has a {} with this name: replace it with --replace",
                report::printable(there)
            ))),
        }
    }
}

/// The type of a key; `none` if it is not there.
fn type_of(server: &mut Server, key: &[u8]) -> Result<Vec<u8>, CommandError> {
    let reply = server.run(key, &[b"TYPE", key])?;
    server::text_of("TYPE", reply)
}

/// Gives a filter that is at the target already the time to live of the source.
fn set_expiry(target: &mut Server, key: &[u8], expires: Option<i64>) -> Result<(), CommandError> {
    if transfer::expiry(target, key)? == expires {
        return Ok(());
    }
    let time = expires.unwrap_or_default().to_string();
    match expires {
        Some(_) => target.run(key, &[b"PEXPIREAT", key, time.as_bytes()])?,
        None => target.run(key, &[b"PERSIST", key])?,
    };
    Ok(())
}
