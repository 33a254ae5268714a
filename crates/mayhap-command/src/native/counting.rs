//! The filter of a counting key. There is only one layout: RedisBloom has none.

use super::bloom::check_size;
use super::growing_set;
use mayhap_core::plan::GrowingCuckooPlan;
use mayhap_core::plan::counting::{CountingPlan, DEFAULT_COUNTER_BITS};
use mayhap_core::{CountingBloom, CountingCuckoo, Full, HashScheme, PlanError, Saturated, Scheme};
use mayhap_core::{KeyHash, Stats};

/// A counting filter.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeCounting {
    pub(crate) filter: CountingKind,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum CountingKind {
    /// Of keys that older versions created, and of rates that are too strict for the other kind.
    Bloom {
        filter: CountingBloom,
        /// Items that were added minus those that were removed.
        items: u64,
    },
    Cuckoo(CountingCuckoo),
}

/// What `CBF.INFO` reports besides the size.
pub(crate) struct CountingInfo {
    pub(crate) capacity: u64,
    pub(crate) items: u64,
    pub(crate) error_rate: f64,
    pub(crate) max_count: u64,
    pub(crate) saturated_counters: u64,
}

/// The largest count of a counting cuckoo filter.
const MAX_COUNT: u64 = 1 << 40;

/// An empty filter with memory for its capacity.
pub(crate) fn counting_with_memory(
    plan: GrowingCuckooPlan,
    scheme: HashScheme,
) -> Result<CountingCuckoo, PlanError> {
    let mut filter = CountingCuckoo::from_plan(plan, scheme)?;
    let capacity = plan.capacity();
    filter
        .reserve(capacity)
        .map_err(|_| PlanError::OutOfMemory {
            size_bytes: plan.counting_size_and_tables_at(capacity).0,
        })?;
    Ok(filter)
}

impl NativeCounting {
    /// An empty filter.
    pub(crate) fn reserve(
        error: f64,
        capacity: u64,
        scheme: HashScheme,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        if let Some(plan) = growing_set::plan(capacity, error) {
            check_size(plan.counting_size_and_tables_at(capacity).0, max_bytes)?;
            let filter = CountingKind::Cuckoo(counting_with_memory(plan, scheme)?);
            return Ok(Self { filter });
        }
        let plan = CountingPlan::new(capacity, error, DEFAULT_COUNTER_BITS)?;
        check_size(plan.size_bytes(), max_bytes)?;
        let filter = CountingBloom::from_plan(plan, Scheme::EnhancedDoubleHashing, scheme)?;
        Ok(Self {
            filter: CountingKind::Bloom { filter, items: 0 },
        })
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let filter = match &self.filter {
            CountingKind::Bloom { filter, items } => CountingKind::Bloom {
                filter: filter.try_clone()?,
                items: *items,
            },
            CountingKind::Cuckoo(filter) => CountingKind::Cuckoo(filter.try_clone()?),
        };
        Ok(Self { filter })
    }

    /// `Ok(true)`: the item was definitely new. An error leaves the filter unchanged.
    pub(crate) fn add(&mut self, item: &[u8], max_bytes: u64) -> Result<bool, Full> {
        match &mut self.filter {
            CountingKind::Bloom { filter, items } => {
                *items = items.saturating_add(1);
                Ok(filter.insert(item))
            }
            CountingKind::Cuckoo(filter) => {
                let hash: KeyHash = filter.hash(item);
                filter.try_insert_hash_within(hash, max_bytes)
            }
        }
    }

    /// `true`: the item was there, and one addition of it is undone.
    pub(crate) fn remove(&mut self, item: &[u8]) -> Result<bool, Saturated> {
        match &mut self.filter {
            CountingKind::Bloom { filter, items } => {
                let is_removed = filter.remove(item)?;
                *items = items.saturating_sub(u64::from(is_removed));
                Ok(is_removed)
            }
            CountingKind::Cuckoo(filter) => Ok(filter.remove(item)),
        }
    }

    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        match &self.filter {
            CountingKind::Bloom { filter, .. } => filter.contains(item),
            CountingKind::Cuckoo(filter) => filter.contains(item),
        }
    }

    pub(crate) fn contains_each(&self, items: &[&[u8]], found: &mut [bool]) {
        match &self.filter {
            CountingKind::Bloom { filter, .. } => filter.contains_each(items, found),
            CountingKind::Cuckoo(filter) => filter.contains_each(items, found),
        }
    }

    pub(crate) fn estimated_count(&self, item: &[u8]) -> u64 {
        match &self.filter {
            CountingKind::Bloom { filter, .. } => filter.estimated_count(item),
            CountingKind::Cuckoo(filter) => filter.estimated_count(item),
        }
    }

    /// Whether adding items may take memory.
    pub(crate) fn grows(&self) -> bool {
        matches!(self.filter, CountingKind::Cuckoo(_))
    }

    pub(crate) fn info(&self) -> CountingInfo {
        match &self.filter {
            CountingKind::Bloom { filter, items } => CountingInfo {
                capacity: filter.capacity(),
                items: *items,
                error_rate: filter.false_positive_rate(),
                max_count: filter.plan().max_count().into(),
                saturated_counters: filter.saturated_counters(),
            },
            CountingKind::Cuckoo(filter) => {
                let requested = filter.plan().capacity();
                let is_within = filter.distinct_keys() <= requested;
                CountingInfo {
                    capacity: if is_within {
                        requested
                    } else {
                        filter.capacity()
                    },
                    items: filter.estimated_keys(),
                    error_rate: filter.false_positive_rate(),
                    max_count: MAX_COUNT,
                    saturated_counters: 0,
                }
            }
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        match &self.filter {
            CountingKind::Bloom { filter, .. } => filter.stats(),
            CountingKind::Cuckoo(filter) => filter.stats(),
        }
    }

    /// Bytes of memory, its own fields included.
    pub(crate) fn size_bytes(&self) -> u64 {
        let filter_bytes = match &self.filter {
            CountingKind::Bloom { filter, .. } => filter.size_bytes(),
            CountingKind::Cuckoo(filter) => filter.size_bytes(),
        };
        size_of::<Self>() as u64 + filter_bytes
    }
}
