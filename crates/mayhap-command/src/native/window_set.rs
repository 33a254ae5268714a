//! The set of a key of `BF.WINDOW`: a `WindowCuckoo`. Keys of older versions have a ring of Bloom filters.

use super::bloom::check_size;
use super::partial_image::PartialImage;
use crate::bf::BatchAdded;
use mayhap_codec::redis::six_digits;
use mayhap_core::plan::WindowCuckooPlan;
use mayhap_core::{Full, HashScheme, KeyHash, PlanError, Timestamp, WindowCuckoo};
use std::time::Duration;

/// How many items are looked up before the first is inserted.
const CHUNK: usize = 128;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct WindowSet {
    pub(crate) filter: WindowCuckoo,
    pub(crate) loading: Option<PartialImage>,
}

impl WindowSet {
    /// An empty set; `None` if the rate is so strict that 64-bit hashes could not keep it. A ring of Bloom filters can.
    pub(super) fn reserve(
        capacity: u64,
        error: f64,
        window: Duration,
        (scheme, now): (HashScheme, Timestamp),
        max_bytes: u64,
    ) -> Result<Option<Self>, PlanError> {
        let Ok(plan) = WindowCuckooPlan::new(capacity, error, window) else {
            return Ok(None);
        };
        check_size(plan.size_bytes(), max_bytes)?;
        let filter = WindowCuckoo::from_plan(plan, scheme, now)?;
        Ok(Some(Self {
            filter,
            loading: None,
        }))
    }

    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        let loading = self.loading.as_ref().map(PartialImage::try_clone);
        Ok(Self {
            filter: self.filter.try_clone()?,
            loading: loading.transpose()?,
        })
    }

    /// `Ok(true)`: the item was definitely new. An error leaves the filter unchanged.
    pub(super) fn add(
        &mut self,
        hash: KeyHash,
        now: Timestamp,
        max_bytes: u64,
    ) -> Result<bool, Full> {
        let new = self.filter.try_insert_hash_within(hash, now, max_bytes)?;
        // Loading the rest of an image would drop the item.
        self.loading = None;
        Ok(new)
    }

    pub(super) fn add_each(
        &mut self,
        items: &[&[u8]],
        now: Timestamp,
        max_bytes: u64,
    ) -> BatchAdded {
        let mut added = BatchAdded::for_items(items.len());
        let scheme = self.filter.scheme();
        let mut hashes = [KeyHash::from_u64(0); CHUNK];
        let mut found = [false; CHUNK];
        for items in items.chunks(CHUNK) {
            for (hash, item) in hashes.iter_mut().zip(items) {
                *hash = scheme.hash(item);
            }
            let hashes = &hashes[..items.len()];
            // A batch lookup prefetches the cells for the inserts that follow.
            self.filter
                .contains_hashes(hashes, now, &mut found[..items.len()]);
            for &hash in hashes {
                added.push(self.add(hash, now, max_bytes));
            }
        }
        added
    }

    /// Bytes of memory, its own fields included.
    pub(super) fn size_bytes(&self) -> u64 {
        let loading = self.loading.as_ref();
        let loading = loading.map_or(0, |image| image.bytes.len() as u64);
        size_of::<Self>() as u64 + self.filter.size_bytes() + loading
    }

    /// The lines of `BF.DEBUG`: one per table, and one per epoch.
    pub(super) fn debug_lines(&self) -> Vec<String> {
        let plan = self.filter.plan();
        let tables = self.filter.tables().map(|table| {
            let bytes = table.moved.len() + table.cells.len();
            format!(
                "bytes:{bytes} bits:{} hashes:2 hashwidth:64 capacity:{} ratio:{}",
                8 * bytes,
                plan.keys_per_window(),
                six_digits(plan.false_positive_rate())
            )
        });
        let epochs = self.filter.keys_in_epochs(self.filter.newest());
        let epochs = epochs.map(|(epoch, keys)| format!("epoch:{epoch} size:{keys}"));
        tables.chain(epochs).collect()
    }
}
