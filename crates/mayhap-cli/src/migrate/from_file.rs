//! The filters of an RDB file, one after the other.

use super::filter_type::FilterType;
use super::info;
use super::listing::{Content, Listed};
use super::node::CommandError;
use super::rdb_source::{self, RdbSource};
use super::report::{Row, Verdict, printable};
use super::server::{self, Server};
use super::transfer::{self, MoveError, Temporary, failed, refused};
use super::verify;
use super::{Migration, chunks, set_expiry, slot, type_of};
use crate::error::CliError;
use mayhap_command::Slot;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

impl<W: Write> Migration<'_, W> {
    pub(super) fn move_from_file(&mut self, path: &Path) -> Result<(), CliError> {
        let file = RdbSource::open(path, self.args.db)?;
        let pattern = self.pattern();
        let is_wanted = |key: &[u8]| {
            slot::key_of_temporary(key).is_none()
                && pattern.is_none_or(|pattern| mayhap_server::key_matches(pattern, key))
        };
        // The whole file is checked before anything is written.
        let mut listed = Vec::new();
        file.each(|one, _, _| {
            if is_wanted(&one.key) {
                listed.push(one);
            }
            Ok(())
        })?;
        self.remove_leftovers(&listed)?;
        let count = listed.len();
        drop(listed);
        // Several databases of the file may go into one of the target.
        let mut places = BTreeSet::new();
        file.each(|one, expires, slot| {
            if server::is_stopped() || !is_wanted(&one.key) {
                return Ok(());
            }
            let mut row = Row::new(&one);
            row.expires = expires;
            if let (Content::Filter(kind), Some(slot)) = (&one.content, &slot) {
                let is_free = places.insert((self.targets.database_for(one.database), one.key.clone()));
                let place = format!("{}/{count} {}", self.rows.len() + 1, printable(&one.key));
                let moved = if is_free {
                    self.move_slot(&one, *kind, slot, &place, &mut row)
                } else {
                    Err(refused(
                        "another database of the file has a filter with this name, which takes its place at the target: choose one with --db, or leave the database out of TARGET",
                    ))
                };
                row.settle(moved);
            }
            self.report(row)
        })
    }

    fn move_slot(
        &mut self,
        one: &Listed,
        kind: FilterType,
        slot: &Slot,
        place: &str,
        row: &mut Row,
    ) -> Result<Verdict, MoveError> {
        let (args, key) = (self.args, one.key.as_slice());
        row.description = info::describe_slot(slot);
        if row.expires.is_some_and(|time| time <= transfer::now_ms()) {
            return Ok(Verdict::Expired);
        }
        args.check_layout(kind)?;
        let target = self.targets.database_of(one)?;
        let there = type_of(target, key)?;
        let is_same =
            FilterType::from_name(&there) == Some(kind) && is_equal_slot(target, kind, key, slot)?;
        if there != b"none" && !is_same {
            args.check_replace(&there)?;
        }
        let verdict = match (is_same, args.dry_run) {
            (true, _) => Verdict::Same,
            (false, true) => Verdict::WouldMove,
            (false, false) => Verdict::Moved,
        };
        if args.dry_run {
            return Ok(verdict);
        }
        if is_same {
            set_expiry(target, key, row.expires)?;
        } else {
            let _progress = target.progress(place, slot.size_bytes());
            let mut temporary = Temporary::new(target, key, &self.run);
            temporary.check_commands(kind.family)?;
            match rdb_source::load(slot, &mut temporary) {
                Err(error @ CommandError::Server { .. }) if error.advice().is_none() => {
                    let text = error.text();
                    return Err(refused(format!(
                        "the target does not accept the filter: {text}"
                    )));
                }
                loaded => loaded?,
            }
            temporary.rename(key, row.expires, args.replace)?;
        }
        let Some(sample) = &self.sample else {
            return Ok(verdict);
        };
        let agreement = sample.compare(
            |keys| verify::query_slot(slot, kind.family, keys),
            |keys| verify::query(target, kind.family, key, keys),
        )?;
        row.agreement = Some(agreement);
        if agreement.lost > 0 {
            return Err(failed(format!(
                "{} of {} keys are not at the target: repeat this with --replace",
                agreement.lost, agreement.queried
            )));
        }
        Ok(verdict)
    }
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
        // However large: it was, or would be, loaded with one command as well.
        None => transfer::is_dump_of(target, key, slot),
    }
}
