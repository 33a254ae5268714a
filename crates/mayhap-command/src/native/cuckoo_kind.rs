//! The filter of a cuckoo key: of fixed size or a chain of tables, or one that grows in place.

use super::growing_set;
use mayhap_core::{Cuckoo, Full, GrowingCuckoo, HashScheme, KeyHash, PlanError, Stats};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum CuckooKind {
    /// Of fixed size, or a chain of tables, the first of them for the reserved capacity.
    Tables(Cuckoo),
    /// For an unknown number of items.
    Growing(GrowingCuckoo),
}

/// The same expression for either filter.
macro_rules! either {
    ($kind:expr, $filter:ident => $result:expr) => {
        match $kind {
            CuckooKind::Tables($filter) => $result,
            CuckooKind::Growing($filter) => $result,
        }
    };
}

impl CuckooKind {
    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(match self {
            Self::Tables(filter) => Self::Tables(filter.try_clone()?),
            Self::Growing(filter) => Self::Growing(filter.try_clone()?),
        })
    }

    pub(crate) fn grows(&self) -> bool {
        match self {
            Self::Tables(filter) => filter.growth().is_some(),
            Self::Growing(_) => true,
        }
    }

    pub(crate) fn scheme(&self) -> HashScheme {
        either!(self, filter => filter.scheme())
    }

    pub(crate) fn hash(&self, item: &[u8]) -> KeyHash {
        either!(self, filter => filter.hash(item))
    }

    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        either!(self, filter => filter.contains(item))
    }

    pub(crate) fn contains_each(&self, items: &[&[u8]], found: &mut [bool]) {
        either!(self, filter => filter.contains_each(items, found));
    }

    pub(crate) fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        either!(self, filter => filter.contains_hashes(hashes, found));
    }

    pub(crate) fn count_hash(&self, hash: KeyHash) -> u64 {
        either!(self, filter => filter.count_hash(hash))
    }

    /// Adds a copy, or with `if_absent` only if the filter does not seem to contain it; then `Ok(false)` if it does.
    pub(crate) fn add(
        &mut self,
        hash: KeyHash,
        if_absent: bool,
        max_bytes: u64,
    ) -> Result<bool, Full> {
        match self {
            Self::Growing(filter) if if_absent => {
                filter.insert_hash_if_absent_within(hash, max_bytes)
            }
            Self::Growing(filter) => filter.try_insert_hash_within(hash, max_bytes).map(|_| true),
            Self::Tables(filter) if if_absent && filter.contains_hash(hash) => Ok(false),
            Self::Tables(filter) => filter.try_insert_hash_within(hash, max_bytes).map(|_| true),
        }
    }

    pub(crate) fn remove(&mut self, item: &[u8]) -> bool {
        either!(self, filter => filter.remove(item))
    }

    pub(crate) fn is_empty(&self) -> bool {
        either!(self, filter => filter.is_empty())
    }

    pub(crate) fn estimated_keys(&self) -> u64 {
        either!(self, filter => filter.estimated_keys())
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        either!(self, filter => filter.size_bytes())
    }

    pub(crate) fn stats(&self) -> Stats {
        either!(self, filter => filter.stats())
    }

    /// The number of tables that hold items, at least 1.
    pub(crate) fn tables(&self) -> u64 {
        match self {
            Self::Tables(filter) if filter.growth().is_none() => 1,
            Self::Tables(filter) => filter.tables().count() as u64,
            Self::Growing(filter) => filter.keys_in_tables().len() as u64,
        }
    }

    /// The cells of the first table, or the capacity of one that grows.
    pub(crate) fn cells(&self) -> u64 {
        match self {
            Self::Tables(filter) => filter.tables().next().map_or(0, |(plan, _)| plan.cells()),
            Self::Growing(filter) => growing_set::capacity(filter),
        }
    }
}
