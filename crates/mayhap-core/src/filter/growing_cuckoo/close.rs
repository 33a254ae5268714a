//! A `GrowingCuckoo` that gets no more keys, as a static filter: smaller, and built without the keys.
//!
//! The slices are known, so the static filter is one of slices, and a lookup turns a hash into its slices first (`SliceLengths`). Two
//! keys look alike if their slices are equal, or by chance in the static filter: both rates add up.

use super::GrowingCuckoo;
use crate::filter::static_filter::{BuildStatic, StaticFilter};
use crate::probe::slice_lengths::SliceLengths;
use crate::{Fuse, KeyHash, PlanError, Ribbon};
use alloc::boxed::Box;

impl GrowingCuckoo {
    /// The same keys in a [`Ribbon`], the smallest filter, which cannot grow. `false_positive_rate` is the rate of the result; it must be
    /// higher than [`estimated_rate`](Self::estimated_rate), which no filter of these slices can be below.
    ///
    /// ```
    /// # use mayhap_core as mayhap;
    /// let mut seen = mayhap::GrowingCuckoo::with_maximum(100_000, 0.01)?;
    /// for user in 0..50_000_u32 {
    ///     seen.try_insert(user)?;
    /// }
    /// let closed = seen.to_ribbon(0.01)?;
    /// assert!(closed.contains(77_u32) && closed.size_bytes() < seen.size_bytes() * 2 / 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the rate is not higher than that, or not below 1, or there is not enough memory.
    pub fn to_ribbon(&self, false_positive_rate: f64) -> Result<Ribbon, PlanError> {
        self.to_static(false_positive_rate)
    }

    /// The same keys in a [`Fuse`], the fastest filter, which cannot grow; see [`to_ribbon`](Self::to_ribbon).
    ///
    /// # Errors
    /// As `to_ribbon`.
    pub fn to_fuse(&self, false_positive_rate: f64) -> Result<Fuse, PlanError> {
        self.to_static(false_positive_rate)
    }

    fn to_static<T: BuildStatic>(
        &self,
        false_positive_rate: f64,
    ) -> Result<StaticFilter<T>, PlanError> {
        let lengths = SliceLengths::new(
            self.tables[0].plan.slice_bits,
            self.tables.len() as u32,
            self.estimated_rate(),
        )?;
        let own_rate = lengths.share_of(false_positive_rate)?;
        let slices = Slices {
            filter: self,
            lengths,
        };
        let mut closed = StaticFilter::from_slices(slices, lengths, own_rate, self.scheme)?;
        closed.set_key_type(self.key_type);
        Ok(closed)
    }
}

/// All slices of a filter, each with the number of its table, copies included.
#[derive(Clone, Copy)]
struct Slices<'f> {
    filter: &'f GrowingCuckoo,
    lengths: SliceLengths,
}

struct SliceIterator<'f> {
    slices: Box<dyn Iterator<Item = KeyHash> + 'f>,
    left: usize,
}

impl<'f> IntoIterator for Slices<'f> {
    type Item = KeyHash;
    type IntoIter = SliceIterator<'f>;

    fn into_iter(self) -> SliceIterator<'f> {
        let tables = &self.filter.tables;
        let slices = (0..).zip(tables).flat_map(move |(number, table)| {
            let slices = table.slices.slices();
            slices.map(move |stored| self.lengths.numbered(stored.slice, number))
        });
        SliceIterator {
            slices: Box::new(slices),
            left: tables.iter().map(|table| table.slices.keys()).sum::<u64>() as usize,
        }
    }
}

impl Iterator for SliceIterator<'_> {
    type Item = KeyHash;

    fn next(&mut self) -> Option<KeyHash> {
        let next = self.slices.next();
        self.left -= usize::from(next.is_some());
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for SliceIterator<'_> {}
