//! Batches of a filter whose kind is known only at run time.

use super::AnyFilter;
use crate::{KeyHash, OperationError};

impl AnyFilter {
    /// [`try_insert_hash`](Self::try_insert_hash) for many hashes. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Errors
    /// If one is rejected. Those before it have been inserted; it and those after it have not.
    pub fn insert_hashes(&mut self, hashes: &[KeyHash]) -> Result<(), OperationError> {
        match self {
            Self::Bloom(filter) => filter.insert_hashes(hashes),
            Self::Counting(filter) => filter.insert_hashes(hashes),
            Self::Growing(filter) => filter.insert_hashes(hashes),
            Self::Window(filter) => filter.insert_hashes(hashes, filter.newest()),
            Self::Cuckoo(filter) => filter
                .try_insert_hashes(hashes)
                .map_err(OperationError::Full)?,
            Self::GrowingCuckoo(filter) => filter
                .try_insert_hashes(hashes)
                .map_err(OperationError::Full)?,
            Self::CountingCuckoo(filter) => filter
                .try_insert_hashes(hashes)
                .map_err(OperationError::Full)?,
            Self::WindowCuckoo(filter) => filter
                .try_insert_hashes(hashes, filter.newest())
                .map_err(OperationError::Full)?,
            Self::Classic(_)
            | Self::Fuse(_)
            | Self::Ribbon(_)
            | Self::Retouched(_)
            | Self::Excepting(_) => {
                for &hash in hashes {
                    self.try_insert_hash(hash)?;
                }
            }
        }
        Ok(())
    }

    /// The same; `is_new` says for each what [`try_insert_hash`](Self::try_insert_hash) would have returned.
    ///
    /// # Errors
    /// As [`insert_hashes`](Self::insert_hashes); `is_new` is then written for the inserted hashes.
    ///
    /// # Panics
    /// If `hashes` and `is_new` differ in length.
    pub fn insert_hashes_reporting_new(
        &mut self,
        hashes: &[KeyHash],
        is_new: &mut [bool],
    ) -> Result<(), OperationError> {
        assert_eq!(
            hashes.len(),
            is_new.len(),
            "one place in `is_new` for every hash"
        );
        match self {
            Self::Bloom(filter) => filter.insert_hashes_reporting_new(hashes, is_new),
            Self::Growing(filter) => filter.insert_hashes_reporting_new(hashes, is_new),
            Self::Classic(_)
            | Self::Counting(_)
            | Self::Window(_)
            | Self::Cuckoo(_)
            | Self::Fuse(_)
            | Self::Ribbon(_)
            | Self::Retouched(_)
            | Self::GrowingCuckoo(_)
            | Self::CountingCuckoo(_)
            | Self::WindowCuckoo(_)
            | Self::Excepting(_) => {
                for (&hash, is_new) in hashes.iter().zip(is_new) {
                    *is_new = self.try_insert_hash(hash)?;
                }
            }
        }
        Ok(())
    }
}
