//! A filter of several chunks: a key is looked up in the last chunk whose first key is not after it.

use super::meta::{Comparator, Meta};
use super::{BloomType, Filter, HashType, compact, create, row_column_key};
use crate::filter::{Description, Detail, ForeignFilter, other_hash};
use crate::{EncodeError, Format, KeyReader, StoredFilter};
use mayhap_core::plan::hbase::ChunkPlan;
use mayhap_core::{ClassicBloom, Kind, PlanError, Stats};
use std::cmp::Ordering;

/// A filter of an HFile.
#[derive(Clone, PartialEq, Debug)]
pub struct Compound {
    bloom_type: BloomType,
    comparator: Comparator,
    hash: HashType,
    keys: i64,
    max_keys: i64,
    /// By their first keys.
    chunks: Vec<(Vec<u8>, Filter)>,
    /// The last key of the file, which a Get compares first.
    last_key: Option<Vec<u8>>,
    /// An HFile without cells holds nothing.
    is_empty_file: bool,
}

impl Compound {
    pub(super) fn new(
        meta: Meta,
        comparator: Comparator,
        bloom_type: BloomType,
        filters: Vec<Filter>,
        last_key: Option<Vec<u8>>,
        is_empty_file: bool,
    ) -> Self {
        let first_keys = meta.chunks.into_iter().map(|chunk| chunk.first_key);
        Self {
            bloom_type,
            comparator,
            hash: meta.hash,
            keys: meta.keys,
            max_keys: meta.max_keys,
            chunks: first_keys.zip(filters).collect(),
            last_key,
            is_empty_file,
        }
    }

    /// What it has keys for.
    pub fn bloom_type(&self) -> BloomType {
        self.bloom_type
    }

    /// The hash function.
    pub fn hash_type(&self) -> HashType {
        self.hash
    }

    /// The number of chunks.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// `CompoundBloomFilter.contains`. `false` is certain: the key was never added. `true` is probable. A key of a filter of
    /// rows and columns is a [`row_column_key`]; a row is cut to the prefix that the filter has.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        let key = self.cut(key.as_ref());
        let order = |first: &[u8]| self.comparator.compare(first, key);
        if order(key).is_none() {
            // What is no cell was never added.
            return false;
        }
        let is_not_after = |(first, _): &(Vec<u8>, Filter)| order(first) != Some(Ordering::Greater);
        let after = self.chunks.partition_point(is_not_after);
        let Some(chunk) = after.checked_sub(1) else {
            return false;
        };
        self.chunks[chunk].1.contains(key)
    }

    /// What a Get asks before it reads the file, `StoreFileReader.passesBloomFilter`: as [`contains`](Self::contains), and no key
    /// after the last one passes. A row and a column also pass if the row may have a marker that deletes a family, which is a
    /// cell without a qualifier. `qualifier` matters to a filter of rows and columns only.
    pub fn passes(&self, row: &[u8], qualifier: &[u8]) -> bool {
        if self.is_empty_file {
            return false;
        }
        let is_after_last = |key: &[u8]| {
            let last = self.last_key.as_deref();
            last.is_some_and(|last| self.comparator.compare(key, last) == Some(Ordering::Greater))
        };
        match self.bloom_type {
            BloomType::Row | BloomType::RowPrefix { .. } => {
                !is_after_last(self.cut(row)) && self.contains(row)
            }
            BloomType::RowColumn => {
                let keys = [row_column_key(row, qualifier), row_column_key(row, &[])];
                let [Some(cell), Some(marker)] = keys else {
                    return false;
                };
                if is_after_last(&cell) && is_after_last(&marker) {
                    return false;
                }
                self.contains(&cell) || self.contains(&marker)
            }
        }
    }

    fn cut<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        match self.bloom_type {
            BloomType::RowPrefix { length } => &key[..key.len().min(length as usize)],
            BloomType::Row | BloomType::RowColumn => key,
        }
    }

    fn blooms(&self) -> impl Iterator<Item = &ClassicBloom> {
        self.chunks.iter().filter_map(|(_, filter)| match filter {
            Filter::Everything => None,
            Filter::Bloom(filter) => Some(filter),
        })
    }
}

impl ForeignFilter for Compound {
    fn format(&self) -> Format {
        Format::HBase
    }

    fn contains(&self, key: &[u8]) -> bool {
        Self::contains(self, key)
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        Err(EncodeError {
            format: Format::HBase,
            reason: "it is spread over an HFile, and HFiles are only read",
        })
    }

    fn describe(&self) -> Description {
        let known = |number: i64| u64::try_from(number).ok();
        let mut description = Description::layers(Format::HBase, self.blooms());
        // A key is looked up in one chunk: nearly all have the same shape, so larger ones have more keys.
        let bits = |chunk: &ClassicBloom| chunk.plan().bits as f64;
        let all: f64 = self.blooms().map(bits).sum();
        let rates = self
            .blooms()
            .map(|chunk| chunk.estimated_rate() * bits(chunk));
        let has_bits = self.blooms().count() == self.chunks.len();
        let rate = match (self.chunks.is_empty(), has_bits) {
            (true, _) => 0.0,
            (false, true) => (rates.sum::<f64>() / all).clamp(0.0, 1.0),
            (false, false) => 1.0,
        };
        description.stats = Stats {
            kind: Kind::Classic,
            capacity: known(self.max_keys),
            estimated_rate: Some(rate),
            ..description.stats
        };
        let text = |text: &str| Detail::Text(text.to_owned());
        description.details = vec![
            ("chunks", Detail::Number(self.chunks.len() as u64)),
            ("keys_added", Detail::Number(known(self.keys).unwrap_or(0))),
            ("bloom_type", text(self.bloom_type.name())),
            ("hash", text(self.hash.name())),
        ];
        if let BloomType::RowPrefix { length } = self.bloom_type {
            let length = Detail::Number(u64::from(length));
            description.details.push(("prefix_length", length));
        }
        description
    }

    fn key_reader(&self, reader: KeyReader) -> KeyReader {
        match self.bloom_type {
            BloomType::RowColumn => reader.row_and_column(),
            BloomType::Row | BloomType::RowPrefix { .. } => reader,
        }
    }

    fn bits(&self) -> Option<&ClassicBloom> {
        match self.chunks.as_slice() {
            [(_, Filter::Bloom(filter))] => Some(filter),
            _ => None,
        }
    }

    fn convert(mut self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        let refuse = |reason| EncodeError { format: to, reason };
        match (to, self.chunks.pop(), self.chunks.is_empty()) {
            (Format::Mayhap, _, _) if matches!(self.bloom_type, BloomType::RowPrefix { .. }) => {
                Err(refuse(
                    "its keys are prefixes of rows, and whole rows would not be found",
                ))
            }
            (Format::Mayhap, Some((_, Filter::Bloom(filter))), true) => {
                Ok(StoredFilter::Native(filter.into()))
            }
            (Format::Mayhap, Some((_, Filter::Everything)) | None, true) => {
                Err(refuse("it has no bits"))
            }
            (Format::Mayhap, _, _) => Err(refuse(
                "it has several chunks, which share the keys between them: only a filter of one chunk can be converted",
            )),
            (other, _, _) => Err(other_hash(other)),
        }
    }
}

/// Writes the chunks of a filter as the writer of an HFile does. Keys come in their order; one that equals the key before it is
/// not added again.
#[derive(Clone, Debug)]
pub struct CompoundWriter {
    plan: ChunkPlan,
    hash: HashType,
    chunks: Vec<WrittenChunk>,
    last_key: Option<Vec<u8>>,
}

/// A chunk that was written.
#[derive(Clone, PartialEq, Debug)]
pub struct WrittenChunk {
    /// The first key in it.
    pub first_key: Vec<u8>,
    /// Its bits.
    pub filter: ClassicBloom,
    /// Keys that were added.
    pub keys: u64,
    /// Its shape.
    pub plan: ChunkPlan,
}

impl CompoundWriter {
    /// Of chunks of that shape.
    pub fn new(plan: ChunkPlan, hash: HashType) -> Self {
        Self {
            plan,
            hash,
            chunks: Vec::new(),
            last_key: None,
        }
    }

    /// Adds a key that is not before the keys so far.
    ///
    /// # Errors
    /// When there is no memory for another chunk.
    pub fn push(&mut self, key: &[u8]) -> Result<(), PlanError> {
        if self.last_key.as_deref() == Some(key) {
            return Ok(());
        }
        let is_full = |chunk: &WrittenChunk| chunk.keys >= chunk.plan.max_keys;
        if self.chunks.last().is_none_or(is_full) {
            self.chunks.push(WrittenChunk {
                first_key: key.to_vec(),
                filter: create(&self.plan, self.hash)?,
                keys: 0,
                plan: self.plan,
            });
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.filter.insert(key);
            chunk.keys += 1;
        }
        self.last_key = Some(key.to_vec());
        Ok(())
    }

    /// The last key.
    pub fn last_key(&self) -> Option<&[u8]> {
        self.last_key.as_deref()
    }

    /// The chunks; the last one is folded.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn finish(mut self) -> Result<Vec<WrittenChunk>, PlanError> {
        if let Some(last) = self.chunks.last_mut() {
            let (filter, plan) = compact(&last.filter, &last.plan, last.keys)?;
            (last.filter, last.plan) = (filter, plan);
        }
        Ok(self.chunks)
    }
}
