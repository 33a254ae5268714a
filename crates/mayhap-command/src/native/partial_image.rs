//! Copying a filter in chunks whose cells cannot be loaded one chunk at a time, because the contents of one cell determine where others
//! may be. SCANDUMP replies with a header and then with the image in chunks; LOADCHUNK collects these and decodes them at the end.

use crate::{Limits, Slot, image};
use mayhap_codec::redis::{ChunkError, MAX_CHUNK};
use mayhap_core::{PlanError, zeroed_bytes};
use std::borrow::Cow;

/// The part of a filter's image that LOADCHUNK has received.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PartialImage {
    pub(crate) total: u64,
    /// Fewer than the total.
    pub(crate) bytes: Vec<u8>,
}

impl PartialImage {
    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        let mut bytes = zeroed_bytes(self.bytes.len() as u64)?;
        bytes.copy_from_slice(&self.bytes);
        let total = self.total;
        Ok(Self { total, bytes })
    }

    /// Receives the next chunk. After the last one, the result is the decoded image. An error changes nothing.
    pub(super) fn receive(
        &mut self,
        position: i64,
        chunk: &[u8],
        limits: Limits,
    ) -> Result<Option<Slot>, ChunkError> {
        let length = chunk.len() as u64;
        let outside = ChunkError::Outside {
            iterator: position,
            length,
        };
        let end = u64::try_from(position)
            .ok()
            .and_then(|end| end.checked_sub(1));
        let expected = (self.bytes.len() as u64).checked_add(length);
        if length == 0 || end != expected || end.is_none_or(|end| end > self.total) {
            return Err(outside);
        }
        if end < Some(self.total) {
            let reserved = self.bytes.try_reserve(chunk.len());
            reserved.map_err(|_| outside)?;
            self.bytes.extend_from_slice(chunk);
            return Ok(None);
        }
        let mut image = Vec::new();
        image
            .try_reserve_exact(self.bytes.len() + chunk.len())
            .map_err(|_| outside)?;
        image.extend_from_slice(&self.bytes);
        image.extend_from_slice(chunk);
        let slot = image::decode(&image, limits);
        slot.map(Some).map_err(|_| outside)
    }
}

/// The chunk of an image that begins at a position, counted from 1, and the position after it.
pub(super) fn scan(image: &[Cow<'_, [u8]>], position: i64) -> Option<(i64, Vec<u8>)> {
    let mut start = usize::try_from(position).ok()?.checked_sub(1)?;
    let mut chunk = Vec::new();
    for part in image {
        // Skip what lies before the chunk.
        let rest = part.get(start..).unwrap_or_default();
        start = start.saturating_sub(part.len());
        let room = MAX_CHUNK as usize - chunk.len();
        chunk.extend_from_slice(&rest[..rest.len().min(room)]);
    }
    let next = position.checked_add(i64::try_from(chunk.len()).ok()?)?;
    (!chunk.is_empty()).then_some((next, chunk))
}
