//! LevelDB's filter block: a filter for every 2 KiB of a table's data, found by the offset of a data block.

use super::{Filter, build, decode, may_match};
use crate::cursor::Cursor;
use crate::{DecodeError, Format};
use mayhap_core::PlanError;

/// A filter covers the data blocks that begin within 2^11 bytes.
const BASE_LG: u8 = 11;

/// A filter block. Its filters are decoded on demand.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterBlock {
    bytes: Vec<u8>,
    /// Where the offsets of the filters begin, which is where the filters end.
    array: usize,
    count: usize,
    base_lg: u8,
}

impl FilterBlock {
    /// Reads a filter block, without the trailer that every block has.
    ///
    /// # Errors
    /// When the offsets do not fit the block.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut at = Cursor::new(bytes, Format::LevelDb);
        let Some(tail) = bytes.len().checked_sub(5) else {
            return Err(at.value("length", bytes.len() as i128, "5 or more"));
        };
        at.take("filters and offsets", tail as u64)?;
        let array = at.u32_le("place of the offsets")? as usize;
        let base_lg = at.u8("base")?;
        if array > tail || !(tail - array).is_multiple_of(4) {
            return Err(at.value(
                "place of the offsets",
                array as i128,
                "a place before the end, in steps of four",
            ));
        }
        if base_lg >= 64 {
            return Err(at.value("base", i128::from(base_lg), "less than 64"));
        }
        let block = Self {
            bytes: bytes.to_vec(),
            array,
            count: (tail - array) / 4,
            base_lg,
        };
        for number in 0..block.count {
            let (from, to) = block.span(number);
            if from > to || to > array {
                return Err(at.value(
                    "offset of a filter",
                    from as i128,
                    "offsets that rise, before the array",
                ));
            }
        }
        Ok(block)
    }

    /// How many filters there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn span(&self, number: usize) -> (usize, usize) {
        let offset = |number: usize| {
            let at = self.array + 4 * number;
            // The offset of the array follows the last offset, and is the end of the last filter.
            let bytes = self.bytes.get(at..).and_then(|bytes| bytes.first_chunk());
            bytes.map_or(self.array, |bytes| u32::from_le_bytes(*bytes) as usize)
        };
        (offset(number), offset(number + 1))
    }

    /// Filter number `number`.
    ///
    /// # Errors
    /// When there is not enough memory.
    ///
    /// # Panics
    /// When there is no such filter.
    pub fn filter(&self, number: usize) -> Result<Filter, DecodeError> {
        assert!(number < self.count, "filter {number} of {}", self.count);
        let (from, to) = self.span(number);
        decode(&self.bytes[from..to])
    }

    /// Whether the data block at `block_offset` may contain the key. As in LevelDB, the answer is yes without a filter, and no for an empty
    /// filter.
    pub fn contains(&self, block_offset: u64, key: impl AsRef<[u8]>) -> bool {
        let number = usize::try_from(block_offset >> self.base_lg).unwrap_or(usize::MAX);
        if number >= self.count {
            return true;
        }
        let (from, to) = self.span(number);
        may_match(&self.bytes[from..to], key.as_ref())
    }

    /// The bytes.
    pub fn encode(&self) -> &[u8] {
        &self.bytes
    }
}

/// Builds a filter block while a table is written: for each data block, its start and then its keys.
#[derive(Clone, Debug)]
pub struct FilterBlockBuilder {
    bits_per_key: u32,
    keys: Vec<Vec<u8>>,
    filters: Vec<u8>,
    offsets: Vec<u32>,
}

impl FilterBlockBuilder {
    /// For a policy with that many bits per key.
    pub fn new(bits_per_key: u32) -> Self {
        Self {
            bits_per_key,
            keys: Vec::new(),
            filters: Vec::new(),
            offsets: Vec::new(),
        }
    }

    /// Starts a data block at `offset`, which must not decrease.
    ///
    /// # Errors
    /// When the offset goes back, or the filters grow past 4 GiB.
    pub fn start_block(&mut self, offset: u64) -> Result<(), PlanError> {
        let number = offset >> BASE_LG;
        if number < self.offsets.len() as u64 || number > u64::from(u32::MAX) {
            return Err(PlanError::InvalidInteger {
                field: "offset",
                value: offset,
                accepted: "an offset past those before, below 2^43",
            });
        }
        while number > self.offsets.len() as u64 {
            self.end_filter()?;
        }
        Ok(())
    }

    /// Adds a key of the current data block.
    pub fn add_key(&mut self, key: impl AsRef<[u8]>) {
        self.keys.push(key.as_ref().to_vec());
    }

    fn end_filter(&mut self) -> Result<(), PlanError> {
        let offset = u32::try_from(self.filters.len()).map_err(|_| PlanError::InvalidInteger {
            field: "size_bytes",
            value: self.filters.len() as u64,
            accepted: "filters of less than 4 GiB in all",
        })?;
        self.offsets.push(offset);
        if self.keys.is_empty() {
            return Ok(());
        }
        let filter = build(self.keys.drain(..), self.bits_per_key)?;
        self.filters.extend_from_slice(&filter);
        Ok(())
    }

    /// The filter block.
    ///
    /// # Errors
    /// When the filters are past 4 GiB.
    pub fn finish(mut self) -> Result<Vec<u8>, PlanError> {
        if !self.keys.is_empty() {
            self.end_filter()?;
        }
        let array = self.filters.len() as u32;
        let mut out = self.filters;
        for offset in self.offsets.iter().chain([&array]) {
            out.extend_from_slice(&offset.to_le_bytes());
        }
        out.push(BASE_LG);
        Ok(out)
    }
}
