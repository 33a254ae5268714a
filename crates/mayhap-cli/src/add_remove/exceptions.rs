//! Adding keys to a filter with exceptions.
//!
//! Added keys can make the base accept exceptions that it did not accept before, and the filter knows neither its exceptions nor
//! its members. With the list of exceptions, those that the base accepts after the addition are stored one by one, 8 bytes
//! each: such a list denies nothing else, so no member needs to be known.

use super::{AddArgs, Counts, cannot_change, each_batch};
use crate::build::read_keys;
use crate::error::CliError;
use mayhap_codec::{KeyReader, StoredFilter};
use mayhap_core::{AnyFilter, Excepting, ExceptionLayer, ExceptionParts, KeyHash, OnConflict};
use std::path::Path;

/// Adds the keys if the filter has exceptions, and makes it reject all of them again.
pub(super) fn add(
    args: &AddArgs,
    filter: &mut StoredFilter,
    reader: &KeyReader,
) -> Result<Option<Counts>, CliError> {
    let name = args.change.filter.display();
    let excepting = match filter {
        StoredFilter::Native(filter) => filter.excepting(),
        StoredFilter::Bits { .. } | StoredFilter::Foreign(_) => None,
    };
    let (excepting, list) = match (excepting, &args.except) {
        (None, None) => return Ok(None),
        (Some(excepting), Some(list)) => (excepting, list),
        (Some(_), None) => {
            return Err(CliError::message(format!(
                "{name} was built with --except: give --except LIST again, so that no key of the list is found afterwards"
            )));
        }
        (None, Some(_)) => {
            return Err(CliError::message(format!(
                "{name} has no exceptions: leave --except out, or build it with --except"
            )));
        }
    };
    let exceptions = Exceptions::read(args, list, excepting, reader)?;
    let (changed, counts) = exceptions.add_to(args, excepting, reader)?;
    *filter = StoredFilter::Native(changed.into());
    Ok(Some(counts))
}

struct Exceptions {
    keys: Vec<Vec<u8>>,
    /// The hash of every key.
    hashes: Vec<KeyHash>,
    /// The same, sorted.
    sorted: Vec<u64>,
    on_conflict: OnConflict,
}

impl Exceptions {
    fn read(
        args: &AddArgs,
        list: &Path,
        filter: &Excepting<AnyFilter>,
        reader: &KeyReader,
    ) -> Result<Self, CliError> {
        let lines = args.change.input.for_list(list);
        let keys = read_keys(&lines, reader)?;
        let hashes: Vec<KeyHash> = keys.iter().map(|key| filter.hash(key)).collect();
        let mut sorted: Vec<u64> = hashes.iter().map(|hash| hash.to_u64()).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let exceptions = Self {
            keys,
            hashes,
            sorted,
            on_conflict: args.on_conflict.unwrap_or(OnConflict::Refuse),
        };
        if exceptions.on_conflict == OnConflict::Refuse
            && let Some(key) = exceptions.accepted_keys(filter).next()
        {
            return Err(CliError::message(format!(
                "{key:?} is in {} and was found before, as a member or a false positive: give --on-conflict block to keep finding such keys, or allow to reject them",
                list.display()
            )));
        }
        Ok(exceptions)
    }

    /// The exceptions that a filter accepts, as text.
    fn accepted_keys(&self, filter: &Excepting<AnyFilter>) -> impl Iterator<Item = String> {
        let accepted = self.keys.iter().zip(self.accepted(|hashes, found| {
            filter.contains_hashes(hashes, found);
        }));
        let accepted = accepted.filter(|(_, is_accepted)| *is_accepted);
        accepted.map(|(key, _)| String::from_utf8_lossy(key).into_owned())
    }

    fn accepted(&self, contains: impl FnOnce(&[KeyHash], &mut [bool])) -> Vec<bool> {
        let mut found = vec![false; self.hashes.len()];
        contains(&self.hashes, &mut found);
        found
    }

    fn contains(&self, hash: u64) -> bool {
        self.sorted.binary_search(&hash).is_ok()
    }

    fn add_to(
        &self,
        args: &AddArgs,
        old: &Excepting<AnyFilter>,
        reader: &KeyReader,
    ) -> Result<(Excepting<AnyFilter>, Counts), CliError> {
        let mut base = old.base().clone();
        let mut counts = Counts::default();
        // Hashes of added keys that are exceptions.
        let mut conflicts = Vec::new();
        each_batch(&args.change, reader, |keys| {
            keys.for_each(|key| {
                let hash = old.hash(key);
                if self.contains(hash.to_u64()) {
                    match self.on_conflict {
                        OnConflict::Refuse => {
                            return Err(CliError::message(format!(
                                "{:?} is both to be added and an exception: remove it from a list, or give --on-conflict block or allow",
                                String::from_utf8_lossy(key)
                            )));
                        }
                        OnConflict::Block => conflicts.push(hash.to_u64()),
                        OnConflict::Allow => return Ok(()),
                    }
                }
                let is_new = !old.contains_hash(hash);
                if !base.contains_hash(hash) {
                    base.try_insert_hash(hash)
                        .map_err(|error| cannot_change(&args.change, &error))?;
                }
                counts.count(is_new);
                Ok(())
            })
        })?;
        if self.on_conflict == OnConflict::Block {
            let found = self.accepted(|hashes, found| old.contains_hashes(hashes, found));
            let found = self.hashes.iter().zip(found);
            conflicts.extend(found.filter_map(|(hash, found)| found.then_some(hash.to_u64())));
        }
        conflicts.sort_unstable();
        conflicts.dedup();
        let accepted = self.accepted(|hashes, found| base.contains_hashes(hashes, found));
        let accepted = self.hashes.iter().zip(accepted);
        let mut denied: Vec<u64> = accepted
            .filter_map(|(hash, is_accepted)| is_accepted.then_some(hash.to_u64()))
            .filter(|hash| conflicts.binary_search(hash).is_err())
            .collect();
        denied.sort_unstable();
        denied.dedup();
        let parts = old.parts();
        let changed = Excepting::from_parts(
            base,
            ExceptionParts {
                positives: parts.positives + parts.inserted + counts.changed,
                corrected: denied.len() as u64,
                exceptions: self.keys.len() as u64,
                resolved_conflicts: conflicts.len() as u64,
                // Every exception is rejected, whatever was inserted.
                inserted: 0,
                layer: ExceptionLayer::List(denied),
                overrides: Vec::new(),
            },
        );
        let changed = changed.map_err(|error| cannot_change(&args.change, &error))?;
        Ok((changed, counts))
    }
}
