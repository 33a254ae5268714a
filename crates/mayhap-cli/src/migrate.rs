//! `mayhap migrate`: moves filters between servers, or from an RDB file to a server.
//!
//! | file | what it answers |
//! | --- | --- |
//! | `endpoint.rs`, `node.rs`, `server.rs` | what do URLs mean, what can go wrong with a connection, and which node of a cluster has a key? |
//! | `slot.rs` | which slot has a key, and which temporary name is in it? |
//! | `filter_type.rs`, `listing.rs`, `info.rs` | which keys are filters, and what are they like? |
//! | `chunks.rs`, `transfer.rs`, `rdb_source.rs` | how is one filter copied, from a server or from a file? |
//! | `verify.rs`, `report.rs` | are both sides equal, and how is that reported? |

mod chunks;
mod endpoint;
mod filter_type;
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
use crate::error::CliError;
use crate::interrupt;
use clap::Args;
use endpoint::{Endpoint, SourcePlace};
use filter_type::{Family, FilterLayout, FilterType, Stays};
use info::{Description, FilterInfo};
use listing::{Content, Listed};
use mayhap_command::Slot;
use node::CommandError;
use rdb_source::RdbSource;
use report::{Row, Verdict};
use server::Server;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use transfer::{LiveFilter, MoveError, Temporary};
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
    let target = endpoint::target(args)?;
    let sample = args.verify.filter(|_| !args.dry_run);
    let sample = sample
        .map(|count| Sample::new(count, args.keys.as_deref()))
        .transpose()?;
    interrupt::pass_next_to(|signal| {
        STOPPED_BY.store(signal.exit_code(), Ordering::Relaxed);
        server::stop();
    });
    let mut migration = Migration::new(args, target, sample)?;
    let is_file = matches!(source, SourcePlace::File(_));
    let moved = match &source {
        SourcePlace::Server(endpoint) => migration.move_from_server(endpoint),
        SourcePlace::File(path) => {
            RdbSource::open(path, args.db).and_then(|file| migration.move_from_file(&file))
        }
    };
    let rows = migration.rows;
    if args.json {
        report::write_json(&rows, out)?;
    } else if !rows.is_empty() {
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
        report::write_procedure(is_file, out)?;
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

struct Migration<'a> {
    args: &'a MigrateArgs,
    endpoint: Endpoint,
    /// By database.
    targets: BTreeMap<i64, Server>,
    sample: Option<Sample>,
    /// Tells the temporary names of this run apart.
    run: String,
    rows: Vec<Row>,
}

fn message(error: &CommandError) -> CliError {
    CliError::message(error.text())
}

impl<'a> Migration<'a> {
    fn new(
        args: &'a MigrateArgs,
        endpoint: Endpoint,
        sample: Option<Sample>,
    ) -> Result<Self, CliError> {
        let run = getrandom::u64().map_err(|error| {
            CliError::message(format!(
                "the system has no random numbers ({error}): try again"
            ))
        })?;
        let mut migration = Self {
            args,
            endpoint,
            targets: BTreeMap::new(),
            sample,
            run: format!("{run:016x}"),
            rows: Vec::new(),
        };
        let database = migration.endpoint.info.redis_settings().db();
        migration.target(database)?;
        Ok(migration)
    }

    fn target(&mut self, database: i64) -> Result<&mut Server, CliError> {
        if !self.targets.contains_key(&database) {
            let server = Server::connect(&self.endpoint.with_database(database))?;
            self.targets.insert(database, server);
        }
        match self.targets.get_mut(&database) {
            Some(server) => Ok(server),
            None => Err(CliError::message("the target is not connected")),
        }
    }

    /// The database of the target for one of the source.
    fn target_database(&self, source: u64) -> i64 {
        if self.endpoint.names_database {
            self.endpoint.info.redis_settings().db()
        } else {
            i64::try_from(source).unwrap_or(i64::MAX)
        }
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
            let database = self.target_database(one.database);
            by_database.entry(database).or_default().insert(&one.key);
        }
        for (database, keys) in by_database {
            // A database that is not there is reported for each of its filters.
            if let Ok(target) = self.target(database) {
                listing::remove_leftovers(target, &keys).map_err(|error| message(&error))?;
            }
        }
        Ok(())
    }

    fn move_from_server(&mut self, endpoint: &Endpoint) -> Result<(), CliError> {
        let mut source = Server::connect(endpoint)?;
        self.check_other_server(&mut source)?;
        let database = self.endpoint.info.redis_settings().db();
        let listed =
            listing::filters(&mut source, self.pattern()).map_err(|error| message(&error))?;
        // A server's filters go into the database that the target's URL names, 0 if it names none.
        self.endpoint.names_database = true;
        self.remove_leftovers(&listed)?;
        for one in &listed {
            if server::is_stopped() {
                break;
            }
            let mut row = new_row(one);
            if let Content::Filter(kind) = one.content {
                let moved = self.move_live(&mut source, database, one, kind, &mut row);
                settle(&mut row, moved);
            }
            self.rows.push(row);
        }
        Ok(())
    }

    /// Refuses to move filters onto themselves.
    fn check_other_server(&mut self, source: &mut Server) -> Result<(), CliError> {
        let database = self.endpoint.info.redis_settings().db();
        let is_same_database = source.database() == database;
        let target = self.target(database)?;
        let id = |server: &mut Server| -> Option<String> {
            let address = server.masters().into_iter().next()?;
            let info = server
                .run_at(&address, &[b"INFO", b"server"])
                .ok()
                .and_then(server::bytes_of)?;
            let info = String::from_utf8(info).ok()?;
            info.lines()
                .find_map(|line| line.strip_prefix("run_id:"))
                .map(str::to_owned)
        };
        let (one, other) = (id(source), id(target));
        if is_same_database && one.is_some() && one == other {
            return Err(CliError::message(format!(
                "SOURCE and TARGET are the same server ({}): give two",
                target.name()
            )));
        }
        Ok(())
    }

    fn check_layout(&self, kind: FilterType) -> Result<(), MoveError> {
        let reason = match (kind.layout, self.args.layout) {
            (FilterLayout::RedisBloom, Some(FilterLayout::Native)) => {
                "it has RedisBloom's layout, and --layout native would need its keys, which a filter does not contain: move it without --layout, or add the keys to a new filter"
            }
            (FilterLayout::Native, Some(FilterLayout::RedisBloom)) => {
                "it has the native layout, and --layout redisbloom would need its keys, which a filter does not contain: add the keys to a new filter at the target"
            }
            _ => return Ok(()),
        };
        Err(MoveError::Verdict(Verdict::Refused, reason.to_owned()))
    }

    fn move_live(
        &mut self,
        source: &mut Server,
        database: i64,
        one: &Listed,
        kind: FilterType,
        row: &mut Row,
    ) -> Result<Verdict, MoveError> {
        let (args, run, key) = (self.args, self.run.clone(), one.key.as_slice());
        let info = FilterInfo::read(source, kind.family, key)?;
        let header = chunks::scan(source, kind.family, key, 0)?.map(|(_, header)| header);
        row.description = info::describe(source, kind, key, &info, header.as_deref());
        row.expires = transfer::expiry(source, key)?;
        self.check_layout(kind)?;
        let Some(target) = self.targets.get_mut(&database) else {
            return Err(CommandError::Connection("the target is not connected".to_owned()).into());
        };
        let there = target.run(key, &[b"TYPE", key])?;
        let there = server::bytes_of(there).unwrap_or_default();
        if there != b"none" {
            if is_equal_live(source, target, kind, key, &there)? {
                row.expires = transfer::expiry(source, key)?;
                if transfer::expiry(target, key)? != row.expires && !args.dry_run {
                    set_expiry(target, key, row.expires)?;
                }
                self.verify_live(source, database, kind, key, row)?;
                return Ok(Verdict::Same);
            }
            check_replace(args, &there)?;
        }
        if args.dry_run {
            return Ok(Verdict::WouldMove);
        }
        let mut filter = LiveFilter {
            source,
            kind,
            key,
            info: &info,
        };
        let moved = filter.move_to(Temporary::new(target, key, &run), args.replace)?;
        row.passes = Some(moved.passes);
        row.description.current_rate = moved.current_rate.or(row.description.current_rate);
        source.release_buffers();
        self.verify_live(source, database, kind, key, row)?;
        Ok(Verdict::Moved)
    }

    /// Compares INFO and, with `--verify`, answers.
    fn verify_live(
        &mut self,
        source: &mut Server,
        database: i64,
        kind: FilterType,
        key: &[u8],
        row: &mut Row,
    ) -> Result<(), MoveError> {
        let Some(target) = self.targets.get_mut(&database) else {
            return Ok(());
        };
        let here = FilterInfo::read(source, kind.family, key)?;
        let there = FilterInfo::read(target, kind.family, key)?;
        let mut note = here.difference(&there);
        row.description.items = there.items().or(row.description.items);
        if let Some(sample) = &self.sample {
            let family = kind.family;
            let mut compare = || {
                sample.compare(
                    |keys| verify::query(source, family, key, keys),
                    |keys| verify::query(target, family, key, keys),
                )
            };
            let mut agreement = compare()?;
            if agreement.lost + agreement.added > 0 {
                // A window filter may have forgotten a key between the two questions.
                agreement = compare()?;
            }
            row.agreement = Some(agreement);
            let later = FilterInfo::read(source, kind.family, key)?;
            let is_unchanged = note.is_none() && later == here;
            if agreement.lost + agreement.added > 0 && is_unchanged {
                return Err(MoveError::Verdict(
                    Verdict::Failed,
                    format!(
                        "of {} keys, {} are only at the source and {} only at the target: repeat this with --replace",
                        agreement.queried, agreement.lost, agreement.added
                    ),
                ));
            }
            if agreement.lost + agreement.added > 0 && note.is_none() {
                note = Some(format!(
                    "{} answers differ",
                    agreement.lost + agreement.added
                ));
            }
        }
        let Some(note) = note else {
            return Ok(());
        };
        let reason = format!(
            "the source changed after it was read ({note}): pause writes and repeat this with --replace"
        );
        if kind.family == Family::Bloom {
            row.reason = Some(reason);
            return Ok(());
        }
        // Keys that were moved or removed meanwhile may be missing at the target.
        Err(MoveError::Verdict(Verdict::Failed, reason))
    }

    fn move_from_file(&mut self, file: &RdbSource) -> Result<(), CliError> {
        let pattern = self.pattern();
        let is_wanted =
            |key: &[u8]| pattern.is_none_or(|pattern| mayhap_server::key_matches(pattern, key));
        // The whole file is checked before anything is written.
        let mut listed = Vec::new();
        file.each(|one, _, _| {
            if is_wanted(&one.key) {
                listed.push(one);
            }
            Ok(())
        })?;
        self.remove_leftovers(&listed)?;
        drop(listed);
        file.each(|one, expires, slot| {
            if server::is_stopped()
                || !is_wanted(&one.key)
                || slot::key_of_temporary(&one.key).is_some()
            {
                return Ok(());
            }
            let mut row = new_row(&one);
            row.expires = expires;
            if let (Content::Filter(kind), Some(slot)) = (&one.content, &slot) {
                let moved = self.move_slot(&one, *kind, slot, &mut row);
                settle(&mut row, moved);
            }
            self.rows.push(row);
            Ok(())
        })
    }

    fn move_slot(
        &mut self,
        one: &Listed,
        kind: FilterType,
        slot: &Slot,
        row: &mut Row,
    ) -> Result<Verdict, MoveError> {
        let (args, run, key) = (self.args, self.run.clone(), one.key.as_slice());
        row.description = info::describe_slot(slot);
        if row.expires.is_some_and(|time| time <= transfer::now_ms()) {
            return Ok(Verdict::Expired);
        }
        self.check_layout(kind)?;
        let database = self.target_database(one.database);
        let sample = self.sample.take();
        let verdict = self.move_slot_to(
            database,
            (args, &run, key),
            kind,
            (slot, sample.as_ref()),
            row,
        );
        self.sample = sample;
        verdict
    }

    fn move_slot_to(
        &mut self,
        database: i64,
        (args, run, key): (&MigrateArgs, &str, &[u8]),
        kind: FilterType,
        (slot, sample): (&Slot, Option<&Sample>),
        row: &mut Row,
    ) -> Result<Verdict, MoveError> {
        let target = self.target(database).map_err(|_| {
            let reason = format!(
                "the target has no database {database}: choose one with --db, and name the target's in its URL"
            );
            MoveError::Verdict(Verdict::Refused, reason)
        })?;
        let there = target.run(key, &[b"TYPE", key])?;
        let there = server::bytes_of(there).unwrap_or_default();
        let mut verdict = Verdict::Moved;
        if there != b"none" {
            if FilterType::from_name(&there) == Some(kind)
                && is_equal_slot(target, kind, key, slot)?
            {
                verdict = Verdict::Same;
                if !args.dry_run && transfer::expiry(target, key)? != row.expires {
                    set_expiry(target, key, row.expires)?;
                }
            } else {
                check_replace(args, &there)?;
            }
        }
        if args.dry_run {
            return Ok(if verdict == Verdict::Same {
                verdict
            } else {
                Verdict::WouldMove
            });
        }
        if verdict == Verdict::Moved {
            let mut temporary = Temporary::new(target, key, run);
            match rdb_source::load(slot, &mut temporary) {
                Err(CommandError::Server(text)) => {
                    let reason = format!("the target does not accept the filter: {text}");
                    return Err(MoveError::Verdict(Verdict::Refused, reason));
                }
                loaded => loaded?,
            }
            temporary.rename(key, row.expires, args.replace)?;
        }
        if let Some(sample) = sample {
            let agreement = sample.compare(
                |keys| verify::query_slot(slot, kind.family, keys),
                |keys| verify::query(target, kind.family, key, keys),
            )?;
            row.agreement = Some(agreement);
            if agreement.lost > 0 {
                let reason = format!(
                    "{} of {} keys are not at the target: repeat this with --replace",
                    agreement.lost, agreement.queried
                );
                return Err(MoveError::Verdict(Verdict::Failed, reason));
            }
        }
        Ok(verdict)
    }
}

fn new_row(one: &Listed) -> Row {
    let (type_name, layout, verdict, reason) = match one.content {
        Content::Filter(kind) => (
            kind.family.name(),
            Some(kind.layout.to_string()),
            Verdict::Failed,
            None,
        ),
        Content::Other(name, Stays::NotAFilter) => (name, None, Verdict::NotAFilter, None),
        Content::Other(name, Stays::Filter(reason)) => {
            (name, None, Verdict::Refused, Some(reason.to_owned()))
        }
    };
    Row {
        key: one.key.clone(),
        database: one.database,
        type_name,
        layout,
        description: Description::default(),
        expires: None,
        passes: None,
        agreement: None,
        verdict,
        reason,
    }
}

fn settle(row: &mut Row, moved: Result<Verdict, MoveError>) {
    match moved {
        Ok(verdict) => row.verdict = verdict,
        Err(MoveError::Verdict(verdict, reason)) => {
            row.verdict = verdict;
            row.reason = Some(reason);
        }
        Err(MoveError::Command(error)) => {
            row.verdict = Verdict::Failed;
            row.reason = Some(error.text());
        }
    }
}

fn check_replace(args: &MigrateArgs, there: &[u8]) -> Result<(), MoveError> {
    if args.replace {
        return Ok(());
    }
    let reason = match FilterType::from_name(there) {
        Some(_) => {
            "the target has another filter with this name: replace it with --replace".to_owned()
        }
        None => format!(
            "the target has a {} with this name: replace it with --replace",
            report::printable(there)
        ),
    };
    Err(MoveError::Verdict(Verdict::Refused, reason))
}

fn set_expiry(target: &mut Server, key: &[u8], expires: Option<i64>) -> Result<(), CommandError> {
    let time = expires.unwrap_or_default().to_string();
    match expires {
        Some(_) => target.run(key, &[b"PEXPIREAT", key, time.as_bytes()])?,
        None => target.run(key, &[b"PERSIST", key])?,
    };
    Ok(())
}

/// Whether both servers have the same bytes.
fn is_equal_live(
    source: &mut Server,
    target: &mut Server,
    kind: FilterType,
    key: &[u8],
    there: &[u8],
) -> Result<bool, CommandError> {
    if FilterType::from_name(there) != Some(kind) {
        return Ok(false);
    }
    let (here, there) = (
        FilterInfo::read(source, kind.family, key)?,
        FilterInfo::read(target, kind.family, key)?,
    );
    if here.difference(&there).is_some() {
        return Ok(false);
    }
    // One side after the other, so that only one client holds a large buffer.
    let one = chunks::fingerprint(source, kind.family, key)?;
    source.release_buffers();
    let other = chunks::fingerprint(target, kind.family, key)?;
    target.release_buffers();
    if one.is_none() && other.is_none() {
        let is_small = here.size_bytes().max(there.size_bytes()) <= transfer::MAX_DUMP_BYTES;
        return Ok(is_small && transfer::is_equal_dump(source, target, key)?);
    }
    Ok(one == other)
}

/// Whether the server has the bytes of the slot.
fn is_equal_slot(
    target: &mut Server,
    kind: FilterType,
    key: &[u8],
    slot: &Slot,
) -> Result<bool, CommandError> {
    let there = chunks::fingerprint(target, kind.family, key)?;
    target.release_buffers();
    match there {
        Some(there) => Ok(chunks::fingerprint_of_slot(slot, kind.family).as_ref() == Some(&there)),
        None => Ok(slot.size_bytes() <= transfer::MAX_DUMP_BYTES
            && transfer::is_dump_of(target, key, slot)?),
    }
}
