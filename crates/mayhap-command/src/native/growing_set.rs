//! The set of a Bloom key that grows: a `GrowingCuckoo` whose keys are neither counted nor removed.

use super::bloom::check_size;
use super::partial_image::PartialImage;
use crate::bf::BatchAdded;
use crate::config::MAX_CAPACITY;
use mayhap_codec::redis::six_digits;
use mayhap_core::plan::GrowingCuckooPlan;
use mayhap_core::{Full, GrowingCuckoo, HashScheme, KeyHash, Mismatch, PlanError};

/// How many items are looked up before the first is inserted.
const CHUNK: usize = 128;

/// An empty filter that grows in place, with memory for `capacity` items; `None` if the rate is so strict that 64-bit hashes could not
/// keep it for as many items as a command can reserve. A chain of tables can.
pub(super) fn create(
    capacity: u64,
    error: f64,
    scheme: HashScheme,
    max_bytes: u64,
) -> Result<Option<GrowingCuckoo>, PlanError> {
    let Some(plan) = plan(capacity, error) else {
        return Ok(None);
    };
    check_size(plan.size_and_tables_at(capacity).0, max_bytes)?;
    with_memory(plan, scheme).map(Some)
}

/// The plan of a filter that grows in place; `None` if the rate is too strict, as above.
pub(super) fn plan(capacity: u64, error: f64) -> Option<GrowingCuckooPlan> {
    let plan = GrowingCuckooPlan::new(capacity, error).ok()?;
    (plan.max_keys() >= MAX_CAPACITY.cast_unsigned()).then_some(plan)
}

/// An empty filter with memory for its capacity.
pub(crate) fn with_memory(
    plan: GrowingCuckooPlan,
    scheme: HashScheme,
) -> Result<GrowingCuckoo, PlanError> {
    let mut filter = GrowingCuckoo::from_plan(plan, scheme)?;
    let capacity = plan.capacity();
    filter
        .reserve(capacity)
        .map_err(|_| PlanError::OutOfMemory {
            size_bytes: plan.size_and_tables_at(capacity).0,
        })?;
    Ok(filter)
}

/// The capacity that `INFO` reports: the requested one, and beyond it the number of items that the tables are for.
pub(super) fn capacity(filter: &GrowingCuckoo) -> u64 {
    let requested = filter.plan().capacity();
    if filter.estimated_keys() <= requested {
        requested
    } else {
        filter.capacity()
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct GrowingSet {
    pub(crate) filter: GrowingCuckoo,
    pub(crate) loading: Option<PartialImage>,
}

impl GrowingSet {
    pub(crate) fn new(mut filter: GrowingCuckoo, loading: Option<PartialImage>) -> Self {
        filter.set_is_set(true);
        Self { filter, loading }
    }

    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        let loading = self.loading.as_ref().map(PartialImage::try_clone);
        Ok(Self {
            filter: self.filter.try_clone()?,
            loading: loading.transpose()?,
        })
    }

    /// `Ok(true)`: the item was definitely new. An error leaves the filter unchanged.
    pub(super) fn add(&mut self, hash: KeyHash, max_bytes: u64) -> Result<bool, Full> {
        let new = self.filter.insert_hash_if_absent_within(hash, max_bytes)?;
        if new {
            // Loading the rest of an image would drop the item.
            self.loading = None;
        }
        Ok(new)
    }

    pub(super) fn add_each(&mut self, items: &[&[u8]], max_bytes: u64) -> BatchAdded {
        let mut added = BatchAdded::for_items(items.len());
        let scheme = self.filter.scheme();
        let mut hashes = [KeyHash::from_u64(0); CHUNK];
        let mut found = [false; CHUNK];
        for items in items.chunks(CHUNK) {
            for (hash, item) in hashes.iter_mut().zip(items) {
                *hash = scheme.hash(item);
            }
            let (hashes, found) = (&hashes[..items.len()], &mut found[..items.len()]);
            // A batch lookup finds items that were sent before, and prefetches the cells for the inserts that follow.
            self.filter.contains_hashes(hashes, found);
            for (&hash, &is_found) in hashes.iter().zip(&*found) {
                let result = if is_found {
                    Ok(false)
                } else {
                    self.add(hash, max_bytes)
                };
                added.push(result);
            }
        }
        added
    }

    pub(super) fn size_bytes(&self) -> u64 {
        let loading = self.loading.as_ref();
        let loading = loading.map_or(0, |image| image.bytes.len() as u64);
        self.filter.size_bytes() + loading
    }

    /// This set and others in one. It is built beside this one, and may be larger than all of them: items that are in several were
    /// reserved for several times.
    pub(super) fn union_of<'s>(
        &self,
        others: impl Iterator<Item = &'s Self> + Clone,
        max_bytes: u64,
    ) -> Result<Self, Mismatch> {
        let check = |size_bytes: u64| {
            if size_bytes > max_bytes {
                return Err(Mismatch::Memory { size_bytes });
            }
            Ok(())
        };
        let keys = others.clone().map(|other| other.filter.estimated_keys());
        let keys = keys.fold(self.filter.estimated_keys(), u64::saturating_add);
        check(self.filter.plan().size_and_tables_at(keys).0)?;
        let no_memory = |_| Mismatch::Memory {
            size_bytes: self.filter.size_bytes(),
        };
        let mut union = self.filter.try_clone().map_err(no_memory)?;
        for other in others {
            union.union_with(&other.filter)?;
            check(union.size_bytes())?;
        }
        Ok(Self {
            filter: union,
            loading: None,
        })
    }

    /// The lines of `BF.DEBUG`, one per table.
    pub(super) fn debug_lines(&self) -> impl Iterator<Item = String> {
        let tables = self.filter.tables().zip(self.filter.keys_in_tables());
        tables.map(|(table, keys)| {
            let slices = table.slices;
            let bytes = slices.moved.len() + slices.cells.len();
            let rate = table.capacity as f64 / f64::from(slices.slice_bits).exp2();
            format!(
                "bytes:{bytes} bits:{} hashes:2 hashwidth:64 capacity:{} size:{keys} ratio:{}",
                8 * bytes,
                table.capacity,
                six_digits(rate)
            )
        })
    }
}
