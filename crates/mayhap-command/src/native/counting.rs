//! A counting Bloom filter. There is only one layout: RedisBloom has none.

use super::bloom::check_size;
use mayhap_core::plan::counting::{CountingPlan, DEFAULT_COUNTER_BITS};
use mayhap_core::{CountingBloom, HashScheme, PlanError, Scheme};

/// A counting Bloom filter.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeCounting {
    pub(crate) filter: CountingBloom,
    /// Items that were added minus those that were removed.
    pub(crate) items: u64,
}

impl NativeCounting {
    /// An empty filter.
    pub(crate) fn reserve(
        error: f64,
        capacity: u64,
        hash_scheme: HashScheme,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let plan = CountingPlan::new(capacity, error, DEFAULT_COUNTER_BITS)?;
        check_size(plan.size_bytes(), max_bytes)?;
        let scheme = Scheme::EnhancedDoubleHashing;
        Ok(Self {
            filter: CountingBloom::from_plan(plan, scheme, hash_scheme)?,
            items: 0,
        })
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(Self {
            filter: self.filter.try_clone()?,
            ..*self
        })
    }

    /// `true`: the item was definitely new.
    pub(crate) fn add(&mut self, item: &[u8]) -> bool {
        self.items = self.items.saturating_add(1);
        self.filter.insert(item)
    }

    /// Bytes of memory, its own fields included.
    pub(crate) fn size_bytes(&self) -> u64 {
        size_of::<Self>() as u64 + self.filter.size_bytes()
    }
}
