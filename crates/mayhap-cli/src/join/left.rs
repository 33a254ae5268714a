//! The left side: a filter of its keys, and the rows that an exact join needs.

use crate::error::CliError;
use crate::table::{Dialect, RowKeys, Table};
use mayhap_core::{Bloom, HashScheme, KeyHash};
use std::collections::HashMap;

/// Up to this many keys are checked against the filters of row groups.
const FEW_KEYS: usize = 10_000;
/// The number of hashes collected before duplicates are removed.
const FIRST_DEDUP: usize = 1 << 20;

/// What to keep of the left side besides its filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KeepRows {
    /// The keys while they are few.
    FewKeys,
    /// Every key.
    Keys,
    /// Every key and the other columns of its rows.
    Rows,
}

/// The rows of one key, as a linked list through [`KeptRows::next`].
struct RowChain {
    first: usize,
    last: usize,
}

/// The other columns of one row, formatted for output.
struct KeptRows {
    end: usize,
    next: Option<usize>,
}

pub(super) struct LeftSide {
    filter: Bloom,
    /// `None` if there are too many to keep.
    known: Option<HashMap<Box<[u8]>, RowChain>>,
    rows: Vec<KeptRows>,
    columns: Vec<u8>,
    hashes: Vec<KeyHash>,
}

impl LeftSide {
    /// Reads the whole side, or only rows whose keys are `wanted`. Columns are formatted in the dialect of the right side.
    pub(super) fn read(
        side: &mut Table,
        rate: f64,
        keep: KeepRows,
        dialect: Dialect,
        wanted: Option<&CommonKeys>,
    ) -> Result<Self, CliError> {
        let mut reading = LeftReader::new(keep);
        let (mut hashes, mut is_wanted) = (Vec::new(), Vec::new());
        while side.read_keys()? {
            let keys = side.keys();
            keys.hash(HashScheme::Xxh3, &mut hashes);
            is_wanted.clear();
            is_wanted.resize(keys.len(), true);
            if let Some(wanted) = wanted {
                wanted.contains_hashes(&hashes, &mut is_wanted);
            }
            for (is_wanted, key) in is_wanted.iter_mut().zip(keys.iter()) {
                *is_wanted &= key.is_some();
            }
            reading.keep_hashes(&hashes, &is_wanted);
            reading.keep_keys(keys, &is_wanted);
            if keep == KeepRows::Rows {
                reading.keep_columns(side, dialect, &is_wanted)?;
            }
        }
        reading.finish(rate)
    }

    /// Which keys may be on this side.
    pub(super) fn ask(&mut self, keys: &RowKeys, found: &mut Vec<bool>) {
        keys.hash(HashScheme::Xxh3, &mut self.hashes);
        found.clear();
        found.resize(keys.len(), false);
        self.filter.contains_hashes(&self.hashes, found);
        for (found, key) in found.iter_mut().zip(keys.iter()) {
            *found &= key.is_some();
        }
    }

    /// Removes false matches and counts them; all keys must have been kept.
    pub(super) fn correct(&self, keys: &RowKeys, found: &mut [bool]) -> u64 {
        let mut wrong = 0;
        let passed = found.iter_mut().zip(keys.iter());
        for (found, key) in passed.filter(|(found, _)| **found) {
            *found = key.is_some_and(|key| self.row_chain(key).is_some());
            wrong += u64::from(!*found);
        }
        wrong
    }

    /// The other columns of every row with this key, each with a leading delimiter.
    pub(super) fn columns_of(&self, key: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut next = self.row_chain(key).map(|chain| chain.first);
        std::iter::from_fn(move || {
            let number = next?;
            let row = self.rows.get(number)?;
            next = row.next;
            let begin = match number {
                0 => 0,
                later => self.rows[later - 1].end,
            };
            self.columns.get(begin..row.end)
        })
    }

    /// The keys of the other side that may be here too.
    pub(super) fn common(&mut self, side: &mut Table, rate: f64) -> Result<CommonKeys, CliError> {
        let mut reading = LeftReader::new(KeepRows::FewKeys);
        let mut found = Vec::new();
        while side.read_keys()? {
            self.ask(side.keys(), &mut found);
            reading.keep_hashes(&self.hashes, &found);
        }
        let filter = reading.filter(rate)?;
        Ok(CommonKeys {
            filter,
            hashes: reading.hashes,
        })
    }

    fn row_chain(&self, key: &[u8]) -> Option<&RowChain> {
        self.known.as_ref()?.get(key)
    }

    /// All keys, if they are few.
    pub(super) fn few_keys(&self) -> Option<impl Iterator<Item = &[u8]>> {
        let known = self.known.as_ref()?;
        (known.len() <= FEW_KEYS).then(|| known.keys().map(Box::as_ref))
    }

    /// The fraction of other keys that pass the filter.
    pub(super) fn rate(&self) -> f64 {
        self.filter.estimated_rate()
    }
}

/// The keys of the right side that passed the filter of the left side, as hashes.
pub(super) struct CommonKeys {
    filter: Bloom,
    /// Sorted hashes. A second filter would not do: its keys have passed the first filter, so its false positives are not
    /// independent, and more rows pass than expected.
    hashes: Vec<KeyHash>,
}

impl CommonKeys {
    fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        self.filter.contains_hashes(hashes, found);
        for (found, hash) in found.iter_mut().zip(hashes) {
            *found = *found && self.hashes.binary_search(hash).is_ok();
        }
    }
}

struct LeftReader {
    keep: KeepRows,
    hashes: Vec<KeyHash>,
    dedup_at: usize,
    known: Option<HashMap<Box<[u8]>, RowChain>>,
    rows: Vec<KeptRows>,
    columns: Vec<u8>,
}

impl LeftReader {
    fn new(keep: KeepRows) -> Self {
        Self {
            keep,
            hashes: Vec::new(),
            dedup_at: FIRST_DEDUP,
            known: Some(HashMap::new()),
            rows: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// The filter is sized by distinct keys: a side that repeats a few keys must not take memory for each row.
    fn keep_hashes(&mut self, hashes: &[KeyHash], is_wanted: &[bool]) {
        let wanted = hashes.iter().zip(is_wanted);
        let wanted = wanted.filter_map(|(&hash, &is_wanted)| is_wanted.then_some(hash));
        self.hashes.extend(wanted);
        if self.hashes.len() >= self.dedup_at {
            self.hashes.sort_unstable();
            self.hashes.dedup();
            self.dedup_at = (2 * self.hashes.len()).max(FIRST_DEDUP);
        }
    }

    fn keep_keys(&mut self, keys: &RowKeys, is_wanted: &[bool]) {
        let wanted = keys.iter().zip(is_wanted);
        for key in wanted.filter_map(|(key, &is_wanted)| key.filter(|_| is_wanted)) {
            let row = self.rows.len();
            if self.keep == KeepRows::Rows {
                self.rows.push(KeptRows { end: 0, next: None });
            }
            let Some(known) = &mut self.known else {
                continue;
            };
            match known.get_mut(key) {
                Some(chain) => {
                    if let Some(last) = self.rows.get_mut(chain.last) {
                        last.next = Some(row);
                    }
                    chain.last = row;
                }
                None => {
                    known.insert(
                        key.into(),
                        RowChain {
                            first: row,
                            last: row,
                        },
                    );
                }
            }
            if self.keep == KeepRows::FewKeys && known.len() > FEW_KEYS {
                self.known = None;
            }
        }
    }

    /// The columns of the rows that were added last.
    fn keep_columns(
        &mut self,
        side: &mut Table,
        dialect: Dialect,
        is_wanted: &[bool],
    ) -> Result<(), CliError> {
        let (rows, columns) = (&mut self.rows, &mut self.columns);
        let kept = is_wanted.iter().filter(|&&is_wanted| is_wanted).count();
        let mut at = rows.len() - kept;
        side.each_others(is_wanted, |fields| {
            for field in fields {
                columns.push(dialect.delimiter);
                dialect.write_field(field, columns);
            }
            if let Some(row) = rows.get_mut(at) {
                row.end = columns.len();
            }
            at += 1;
            Ok(())
        })
    }

    fn filter(&mut self, rate: f64) -> Result<Bloom, CliError> {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        let mut filter = Bloom::new(self.hashes.len().max(1), rate)?;
        filter.insert_hashes(&self.hashes);
        Ok(filter)
    }

    fn finish(mut self, rate: f64) -> Result<LeftSide, CliError> {
        let filter = self.filter(rate)?;
        Ok(LeftSide {
            filter,
            known: self.known,
            rows: self.rows,
            columns: self.columns,
            hashes: Vec::new(),
        })
    }
}
