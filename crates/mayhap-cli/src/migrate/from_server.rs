//! The filters of a server, one after the other.

use super::endpoint::Endpoint;
use super::filter_type::{Family, FilterType};
use super::info::{self, FilterInfo};
use super::listing::{self, Content, Listed};
use super::node::CommandError;
use super::report::{Row, Verdict, printable};
use super::server::{self, Server};
use super::transfer::{self, LiveFilter, MoveError, Temporary, failed};
use super::verify::{self, Sample};
use super::{Migration, chunks, message, set_expiry, type_of};
use crate::error::CliError;
use std::io::Write;

impl<W: Write> Migration<'_, W> {
    pub(super) fn move_from_server(&mut self, endpoint: &Endpoint) -> Result<(), CliError> {
        let mut source = Server::connect(endpoint)?;
        self.check_other_server(&mut source)?;
        let listed =
            listing::filters(&mut source, self.pattern()).map_err(|error| message(&error))?;
        self.remove_leftovers(&listed)?;
        for (number, one) in listed.iter().enumerate() {
            if server::is_stopped() {
                break;
            }
            let mut row = Row::new(one);
            if let Content::Filter(kind) = one.content {
                let place = format!("{}/{} {}", number + 1, listed.len(), printable(&one.key));
                let moved = self.move_live(&mut source, one, kind, &place, &mut row);
                let moved = moved.map_err(|error| if_gone(&mut source, one, kind, error));
                row.settle(moved);
            }
            self.report(row)?;
        }
        Ok(())
    }

    /// Refuses to move filters onto themselves.
    fn check_other_server(&mut self, source: &mut Server) -> Result<(), CliError> {
        let target = self.targets.get(self.targets.endpoint.database())?;
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
        if source.database() != target.database() {
            return Ok(());
        }
        let (one, other) = (id(source), id(target));
        if one.is_some() && one == other {
            return Err(CliError::message(format!(
                "SOURCE and TARGET are the same server ({}): give two",
                target.name()
            )));
        }
        Ok(())
    }

    fn move_live(
        &mut self,
        source: &mut Server,
        one: &Listed,
        kind: FilterType,
        place: &str,
        row: &mut Row,
    ) -> Result<Verdict, MoveError> {
        let (args, key, sample) = (self.args, one.key.as_slice(), self.sample.as_ref());
        let info = FilterInfo::read(source, kind.family, key)?;
        let header = chunks::scan(source, kind.family, key, 0)?.map(|(_, header)| header);
        row.description = info::describe(source, kind, key, &info, header.as_deref());
        row.expires = transfer::expiry(source, key)?;
        args.check_layout(kind)?;
        // It is copied, and read again.
        let _progress = source.progress(place, 2 * info.size_bytes());
        let target = self.targets.database_of(one)?;
        let there = type_of(target, key)?;
        if there != b"none" {
            if is_equal_live(source, target, kind, key, &there)? {
                row.expires = transfer::expiry(source, key)?;
                if !args.dry_run {
                    set_expiry(target, key, row.expires)?;
                }
                verify_live(source, target, kind, key, sample, row)?;
                return Ok(Verdict::Same);
            }
            args.check_replace(&there)?;
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
        let moved = filter.move_to(Temporary::new(target, key, &self.run), args.replace)?;
        row.passes = Some(moved.passes);
        row.description.current_rate = moved.current_rate.or(row.description.current_rate);
        source.release_buffers();
        verify_live(source, target, kind, key, sample, row)?;
        Ok(Verdict::Moved)
    }
}

/// What the error was if the key is not what it was any more: filters that expire or are removed meanwhile are no failures.
fn if_gone(source: &mut Server, one: &Listed, kind: FilterType, error: MoveError) -> MoveError {
    let is_final = matches!(
        &error,
        MoveError::Command(CommandError::Connection(_) | CommandError::Interrupted)
            | MoveError::Verdict(Verdict::Expired | Verdict::Refused, _)
    );
    if is_final || server::is_stopped() {
        return error;
    }
    match type_of(source, &one.key) {
        Ok(name) if name == b"none" => MoveError::Verdict(
            Verdict::Gone,
            "it expired or was removed at the source meanwhile".to_owned(),
        ),
        Ok(name) if FilterType::from_name(&name) != Some(kind) => failed(format!(
            "the source has a {} with this name now: repeat this",
            printable(&name)
        )),
        _ => error,
    }
}

/// Compares INFO and, with `--verify`, answers.
fn verify_live(
    source: &mut Server,
    target: &mut Server,
    kind: FilterType,
    key: &[u8],
    sample: Option<&Sample>,
    row: &mut Row,
) -> Result<(), MoveError> {
    let here = FilterInfo::read(source, kind.family, key)?;
    let there = FilterInfo::read(target, kind.family, key)?;
    let mut note = here.difference(&there);
    row.description.items = there.items().or(row.description.items);
    if let Some(sample) = sample {
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
        // What INFO says of a cuckoo filter of RedisBloom's layout without items is all of it, and more than the next line may read.
        if kind.is_classic_cuckoo() && here.items() == Some(0) {
            return Ok(true);
        }
        let is_small = here.size_bytes().max(there.size_bytes()) <= transfer::MAX_DUMP_BYTES;
        return Ok(is_small && transfer::is_equal_dump(source, target, key)?);
    }
    Ok(one == other)
}
