//! RedisBloom's Bloom filter: a chain of layers, each for more keys at half the rate of the one before.
//!
//! A SCANDUMP, little-endian and packed: a header, then the bits of all layers, concatenated.
//!
//! | bytes | header | bytes | each layer in it |
//! | --- | --- | --- | --- |
//! | 8 | keys | 8 | bytes of bits |
//! | 4 | layers | 8 | bits |
//! | 4 | options | 8 | keys |
//! | 4 | growth | 8, 8 | error, bits per entry: doubles |
//! | | | 4, 8, 1 | hashes, capacity, n2 |

use super::fields::DecodePosition;
use super::layer::{Layer, Shape};
use super::{ChunkError, MAX_CHUNK, text};
use crate::cursor::Cursor;
use crate::{DecodeError, Format, Limits, Problem};
use mayhap_core::{ClassicBloom, Full, HashPair, PlanError};

/// Bits are not rounded up to a power of two.
pub(super) const OPTION_NO_ROUNDING: u32 = 1;
/// The capacity was given as the logarithm of the number of bits.
pub(super) const OPTION_CAPACITY_IS_BITS: u32 = 2;
/// Keys are hashed to 64 bits.
pub(super) const OPTION_64_BIT: u32 = 4;
const OPTION_NON_SCALING: u32 = 8;
const ALL_OPTIONS: u32 = 15;

const HEADER: u64 = 20;
const LAYER_HEADER: u64 = 53;

/// Each layer has half the rate of the previous one; the rate of a further layer would be 0.
pub(super) const MAX_LAYERS: u64 = 1100;

/// Higher rates are replaced by this one.
const MAX_RATE: f64 = 0.25;

/// RedisBloom's Bloom filter, identical to the byte: `BF.*` on one key.
///
/// ```
/// use mayhap_codec::redis::Bloom;
/// let mut filter = Bloom::reserve(0.01, 100, Some(2))?;
/// assert_eq!(filter.try_insert(b"a"), Ok(true));
/// assert!(filter.contains(b"a"));
/// # Ok::<(), mayhap_core::PlanError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Bloom {
    pub(super) items: u64,
    options: u32,
    growth: u32,
    /// Never empty; the newest last.
    pub(super) layers: Vec<Layer>,
}

/// What `BF.INFO` reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BloomInfo {
    /// The capacity of all layers.
    pub capacity: u64,
    /// Bytes, as RedisBloom counts them.
    pub size_bytes: u64,
    /// Layers.
    pub layers: u64,
    /// Inserts that reported a new key.
    pub items: u64,
    /// How many times as large each layer is; `None` when the filter does not grow.
    pub expansion: Option<u32>,
}

impl Bloom {
    /// The rate, the capacity and the expansion of filters that an insert creates.
    pub const DEFAULTS: (f64, u64, u32) = (0.01, 100, 2);

    /// An empty filter as `BF.RESERVE` creates it; without an expansion, or with one of 0, it does not grow. Rates above 0.25 become
    /// 0.25.
    ///
    /// # Errors
    /// When the rate is not between 0 and 1, the capacity is 0, or there is not enough memory.
    pub fn reserve(error: f64, capacity: u64, expansion: Option<u32>) -> Result<Self, PlanError> {
        Self::reserve_within(error, capacity, expansion, u64::MAX)
    }

    /// The same with a memory limit.
    ///
    /// # Errors
    /// As there, and [`PlanError::OutOfMemory`] when it would take more than `max_bytes`.
    pub fn reserve_within(
        error: f64,
        capacity: u64,
        expansion: Option<u32>,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let growth = expansion.unwrap_or(Self::DEFAULTS.2);
        let is_fixed = matches!(expansion, None | Some(0));
        Self::new(error, capacity, growth, is_fixed, max_bytes)
    }

    /// A filter that does not grow but stores an expansion, as `BF.INSERT` with `EXPANSION 4 NONSCALING` creates it.
    ///
    /// # Errors
    /// As [`reserve_within`](Self::reserve_within).
    pub fn reserve_fixed_within(
        error: f64,
        capacity: u64,
        expansion: u32,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        Self::new(error, capacity, expansion, true, max_bytes)
    }

    fn new(
        error: f64,
        capacity: u64,
        growth: u32,
        is_fixed: bool,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let capped = if error > MAX_RATE && error < 1.0 {
            MAX_RATE
        } else {
            error
        };
        let options = OPTION_NO_ROUNDING | OPTION_64_BIT;
        // The sum of the rates of all layers stays below the requested one.
        let (error, options) = match is_fixed {
            true => (capped, options | OPTION_NON_SCALING),
            false if capped < 1.0 => (capped / 2.0, options),
            false => (capped, options),
        };
        let shape = Shape::planned(capacity, error, options)?;
        if shape.bytes > max_bytes {
            let size_bytes = shape.bytes;
            return Err(PlanError::OutOfMemory { size_bytes });
        }
        Ok(Self {
            items: 0,
            options,
            growth,
            layers: vec![Layer::empty(shape, 0, options)?],
        })
    }

    /// `Ok(true)`: the key was definitely new. `Ok(false)`: it, or keys that set the same bits, were inserted before.
    ///
    /// # Errors
    /// [`Full::Table`] when the filter is full and does not grow, [`Full::Memory`] when it cannot grow. The filter is unchanged then.
    pub fn try_insert(&mut self, key: &[u8]) -> Result<bool, Full> {
        self.try_insert_within(key, u64::MAX)
    }

    /// The same with a memory limit.
    ///
    /// # Errors
    /// As there, and [`Full::Memory`] when it must grow and would take more than `max_bytes` then.
    pub fn try_insert_within(&mut self, key: &[u8], max_bytes: u64) -> Result<bool, Full> {
        let pair = self.pair(key);
        if self.contains_pair(pair) {
            return Ok(false);
        }
        if self.newest().is_full() {
            self.grow(max_bytes)?;
        }
        let new = self.newest_mut().insert(pair);
        self.items = self.items.saturating_add(u64::from(new));
        Ok(new)
    }

    /// `BF.MADD`: a result for each key, in order. If the filter cannot grow, the first key that does not fit ends the batch: later keys
    /// have no result, even those that are in. If growing fails, later keys are still tried.
    pub fn try_insert_each(
        &mut self,
        keys: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Vec<Result<bool, Full>> {
        let mut answers = Vec::new();
        for key in keys {
            let answer = self.try_insert(key.as_ref());
            answers.push(answer);
            if matches!(answer, Err(Full::Table { .. })) {
                break;
            }
        }
        answers
    }

    /// How many more keys fit before the filter grows, or is full.
    pub fn keys_until_growth(&self) -> u64 {
        let newest = self.newest();
        newest.shape.capacity.saturating_sub(newest.items)
    }

    /// Whether [`union_with`](Self::union_with) accepts the other.
    ///
    /// # Errors
    /// As there.
    pub fn check_union(&self, other: &Self) -> Result<(), UnionError> {
        if self.options != other.options {
            return Err(UnionError::Differ("options"));
        }
        if self.growth != other.growth {
            return Err(UnionError::Differ("expansion"));
        }
        let mut layers = self.layers.iter().zip(&other.layers);
        layers
            .try_for_each(|(ours, theirs)| ours.shape.same_as(&theirs.shape))
            .map_err(UnionError::Differ)
    }

    /// Merges the other filter into this one, layer by layer; layers that only the other has are copied.
    ///
    /// # Errors
    /// When they differ, or there is not enough memory for the copied layers. The filter is unchanged then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), UnionError> {
        self.check_union(other)?;
        let common = self.layers.len().min(other.layers.len());
        let theirs = try_clone_layers(&other.layers[common..]).map_err(UnionError::Memory)?;
        for (ours, theirs) in self.layers.iter_mut().zip(&other.layers) {
            ours.union_with(theirs);
        }
        self.layers.extend(theirs);
        self.items = self
            .layers
            .iter()
            .map(|layer| layer.items)
            .fold(0, u64::saturating_add);
        Ok(())
    }

    /// A copy, or an error if there is not enough memory.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(Self {
            layers: try_clone_layers(&self.layers)?,
            ..*self
        })
    }

    /// Whether [`from_header`](Self::from_header) accepts the header. RedisBloom checks less of a DUMP, which may contain values that no
    /// SCANDUMP has.
    pub fn is_scannable(&self) -> bool {
        let header = self.header();
        let mut at = Cursor::new(&header, Format::RedisBloom);
        BloomHeader::read(&mut at).is_ok()
    }

    fn grow(&mut self, max_bytes: u64) -> Result<(), Full> {
        if self.options & OPTION_NON_SCALING != 0 {
            return Err(Full::Table {
                keys: self.items,
                capacity: self.info().capacity,
            });
        }
        let newest = self.newest().shape;
        let capacity = newest.capacity.saturating_mul(u64::from(self.growth));
        let held: u64 = self.layers.iter().map(|layer| layer.shape.bytes).sum();
        let layer = Shape::planned(capacity, newest.error / 2.0, self.options).and_then(|shape| {
            let size_bytes = held.saturating_add(shape.bytes);
            if size_bytes > max_bytes {
                return Err(PlanError::OutOfMemory { size_bytes });
            }
            if shape.scheme(self.options) != newest.scheme(self.options) {
                return Err(PlanError::OutOfMemory { size_bytes });
            }
            Layer::empty(shape, 0, self.options)
        });
        let no_memory = |error| Full::Memory {
            size_bytes: match error {
                PlanError::OutOfMemory { size_bytes } => size_bytes,
                _ => u64::MAX,
            },
        };
        self.layers.push(layer.map_err(no_memory)?);
        Ok(())
    }

    fn newest(&self) -> &Layer {
        self.layers.last().expect("a chain has a layer")
    }

    fn newest_mut(&mut self) -> &mut Layer {
        self.layers.last_mut().expect("a chain has a layer")
    }

    /// `false` is certain: the key was never inserted. `true` is probable.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.contains_pair(self.pair(key))
    }

    fn contains_pair(&self, pair: HashPair) -> bool {
        let mut layers = self.layers.iter().rev();
        layers.any(|layer| layer.filter().contains_pair(pair))
    }

    /// The hashes of a key, which are the same for all layers.
    pub(super) fn pair(&self, key: &[u8]) -> HashPair {
        let pair = self.newest().filter().hash_pair(key);
        pair.expect("layers are of RedisBloom's schemes")
    }

    /// The filters of the layers, the oldest first.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = &ClassicBloom> {
        self.layers.iter().map(Layer::filter)
    }

    /// The requested rate of all layers together.
    pub fn error(&self) -> f64 {
        let first = self.layers.first().map_or(0.0, |layer| layer.shape.error);
        requested_rate(first, self.options)
    }

    /// What `BF.INFO` reports.
    pub fn info(&self) -> BloomInfo {
        let sum = |of: fn(&Shape) -> u64| -> u64 {
            let shapes = self.layers.iter().map(|layer| of(&layer.shape));
            shapes.fold(0, u64::saturating_add)
        };
        BloomInfo {
            capacity: sum(|shape| shape.capacity),
            size_bytes: 32 + 64 * self.layers.len() as u64 + sum(|shape| shape.bytes),
            layers: self.layers.len() as u64,
            items: self.items,
            expansion: (self.options & OPTION_NON_SCALING == 0).then_some(self.growth),
        }
    }

    /// The lines of `BF.DEBUG`.
    pub fn debug_lines(&self) -> Vec<String> {
        let width = if self.options & OPTION_64_BIT != 0 {
            64
        } else {
            32
        };
        let layers = self.layers.iter().map(|layer| {
            let shape = &layer.shape;
            format!(
                "bytes:{} bits:{} hashes:{} hashwidth:{width} capacity:{} size:{} ratio:{}",
                shape.bytes,
                shape.bits,
                shape.hashes,
                shape.capacity,
                layer.items,
                text::six_digits(shape.error)
            )
        });
        std::iter::once(format!("size:{}", self.items))
            .chain(layers)
            .collect()
    }

    /// The reply of `BF.SCANDUMP` to an iterator, with the next iterator: the header for 0, then bits. `None` at the end, and for invalid
    /// iterators.
    pub fn scan(&self, iterator: i64) -> Option<(i64, Vec<u8>)> {
        if iterator == 0 {
            return Some((1, self.header()));
        }
        let mut start = u64::try_from(iterator).ok()? - 1;
        let layer = self.layers.iter().find(|layer| {
            let inside = start < layer.shape.bytes;
            if !inside {
                start -= layer.shape.bytes;
            }
            inside
        })?;
        let end = layer.shape.bytes.min(start + MAX_CHUNK);
        let mut chunk = Vec::new();
        layer.write(start, end, &mut chunk);
        Some((iterator.checked_add((end - start).cast_signed())?, chunk))
    }

    /// Loads a chunk of bits, of any length, as `BF.LOADCHUNK` does: `iterator` is the one that SCANDUMP returned with it.
    ///
    /// # Errors
    /// When that is outside the filter, or the chunk extends past the end of a layer. The filter is unchanged then.
    pub fn load_chunk(&mut self, iterator: i64, chunk: &[u8]) -> Result<(), ChunkError> {
        let length = chunk.len() as u64;
        let end = u64::try_from(iterator)
            .ok()
            .filter(|&end| end > 0 && end >= length);
        let end = end.ok_or(ChunkError::Iterator { iterator, length })?;
        let outside = ChunkError::Outside { iterator, length };
        let mut start = (end - length).checked_sub(1).ok_or(outside)?;
        for layer in &mut self.layers {
            let bytes = layer.shape.bytes;
            if start >= bytes {
                start -= bytes;
            } else if length > bytes - start {
                return Err(ChunkError::TooLong {
                    length,
                    left: bytes - start,
                });
            } else {
                return layer.overwrite(start, chunk).map_err(|_| outside);
            }
        }
        Err(outside)
    }

    /// The header of a SCANDUMP.
    pub fn header(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&self.items.to_le_bytes());
        for word in [self.layers.len() as u32, self.options, self.growth] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        for layer in &self.layers {
            let shape = &layer.shape;
            for long in [shape.bytes, shape.bits, layer.items] {
                out.extend_from_slice(&long.to_le_bytes());
            }
            out.extend_from_slice(&shape.error.to_le_bytes());
            out.extend_from_slice(&shape.bits_per_entry.to_le_bytes());
            out.extend_from_slice(&shape.hashes.to_le_bytes());
            out.extend_from_slice(&shape.capacity.to_le_bytes());
            out.push(shape.n2);
        }
        out
    }

    /// The header at the beginning of a SCANDUMP, if it is complete.
    pub fn header_in(bytes: &[u8]) -> Option<&[u8]> {
        let layers = bytes.get(8..12)?.try_into().ok()?;
        let layers = u64::from(u32::from_le_bytes(layers));
        let length = HEADER + layers.checked_mul(LAYER_HEADER)?;
        bytes.get(..usize::try_from(length).ok()?)
    }

    /// The bytes of each layer in a SCANDUMP, the oldest first.
    pub fn layer_bytes(&self) -> impl Iterator<Item = u64> {
        self.layers.iter().map(|layer| layer.shape.bytes)
    }

    /// The empty filter that a header describes: `BF.LOADCHUNK` with the iterator 1.
    ///
    /// # Errors
    /// When it is not a header, or announces more bytes than the limits allow.
    pub fn from_header(bytes: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        let mut at = Cursor::new(bytes, Format::RedisBloom);
        let header = BloomHeader::read(&mut at)?;
        at.finish()?;
        let announced = header.bytes(&at)?;
        if announced > limits.max_bytes {
            return Err(at.error(Problem::TooLarge {
                bytes: announced,
                limit: limits.max_bytes,
            }));
        }
        header.build(&at, |shape, items, options| {
            Layer::empty(*shape, items, options)
        })
    }

    /// A filter from decoded parts. A key is hashed once for all layers, so they must have the same hash.
    pub(super) fn from_parts(
        at: &impl DecodePosition,
        (items, options, growth): (u64, u32, u32),
        layers: Vec<Layer>,
    ) -> Result<Self, DecodeError> {
        let is_other =
            |pair: &[Layer]| pair[0].shape.scheme(options) != pair[1].shape.scheme(options);
        if let Some(pair) = layers.windows(2).find(|pair| is_other(pair)) {
            let n2 = i128::from(pair[1].shape.n2);
            return Err(at.value("n2", n2, "above 31 in all layers, or in none"));
        }
        Ok(Self {
            items,
            options,
            growth,
            layers,
        })
    }

    /// Items, options, growth and layers.
    pub(super) fn parts(&self) -> (u64, u32, u32, &[Layer]) {
        (self.items, self.options, self.growth, &self.layers)
    }
}

/// Why two filters could not be merged. They are unchanged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum UnionError {
    /// The name of what differs.
    Differ(&'static str),
    /// There is not enough memory for the layers that only the other has.
    Memory(PlanError),
}

fn try_clone_layers(layers: &[Layer]) -> Result<Vec<Layer>, PlanError> {
    layers.iter().map(Layer::try_clone).collect()
}

/// Reads the header and the chunks of a SCANDUMP, concatenated.
///
/// # Errors
/// When they are something else.
pub fn decode(bytes: &[u8]) -> Result<Bloom, DecodeError> {
    let mut at = Cursor::new(bytes, Format::RedisBloom);
    let header = BloomHeader::read(&mut at)?;
    let announced = header.bytes(&at)?;
    let mut bits = at.take("bits of the layers", announced)?;
    at.finish()?;
    header.build(&at, |shape, items, options| {
        let (own, rest) = bits.split_at(shape.bytes as usize);
        bits = rest;
        Layer::from_bytes(*shape, items, options, own)
    })
}

/// The header and the chunks of a SCANDUMP, concatenated.
pub fn encode(filter: &Bloom) -> Vec<u8> {
    let mut out = filter.header();
    for layer in &filter.layers {
        layer.write(0, layer.shape.bytes, &mut out);
    }
    out
}

/// What a header says about a layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayerInfo {
    /// Bytes of its bits.
    pub size_bytes: u64,
    /// Bits that keys can set.
    pub bits: u64,
    /// Bits per key.
    pub probes: u32,
    /// Items that were added to it.
    pub items: u64,
}

/// The requested rate of all layers, and the layers, of the header of a SCANDUMP. Allocates no bits.
///
/// # Errors
/// When it is no header.
pub fn header_info(header: &[u8]) -> Result<(f64, Vec<LayerInfo>), DecodeError> {
    let mut at = Cursor::new(header, Format::RedisBloom);
    let header = BloomHeader::read(&mut at)?;
    at.finish()?;
    let layers = header.layers.iter().map(|(shape, items)| LayerInfo {
        size_bytes: shape.bytes,
        bits: match shape.n2 {
            0 => shape.bits,
            power => 1 << power,
        },
        probes: shape.hashes,
        items: *items,
    });
    let layers: Vec<_> = layers.collect();
    let first = header.layers.first().map_or(0.0, |(shape, _)| shape.error);
    Ok((requested_rate(first, header.options), layers))
}

/// The requested rate of all layers together, from that of the first.
fn requested_rate(first: f64, options: u32) -> f64 {
    if options & OPTION_NON_SCALING != 0 || first >= 1.0 {
        first
    } else {
        2.0 * first
    }
}

/// A header that was read and checked.
struct BloomHeader {
    items: u64,
    options: u32,
    growth: u32,
    layers: Vec<(Shape, u64)>,
}

impl BloomHeader {
    fn read(at: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        if at.left() < HEADER {
            return Err(at.error(Problem::Cut {
                what: "header",
                needed: HEADER,
                left: at.left(),
            }));
        }
        let (items, count) = (at.u64_le("items")?, u64::from(at.u32_le("layers")?));
        let (options, growth) = (at.u32_le("options")?, at.u32_le("growth")?);
        if !(1..=MAX_LAYERS).contains(&count) {
            return Err(at.value("layers", i128::from(count), "1 to 1100"));
        }
        if options & !ALL_OPTIONS != 0 {
            return Err(at.value("options", i128::from(options), "a sum of 1, 2, 4 and 8"));
        }
        let heads = at.take("headers of the layers", count * LAYER_HEADER)?;
        let mut heads = Cursor::new(heads, Format::RedisBloom);
        let (mut layers, mut sum) = (Vec::with_capacity(count as usize), Some(0_u64));
        for _ in 0..count {
            let (bytes, bits) = (heads.u64_le("bytes")?, heads.u64_le("bits")?);
            let layer_items = heads.u64_le("items of a layer")?;
            let shape = Shape {
                bytes,
                bits,
                error: heads.f64_le("error")?,
                bits_per_entry: heads.f64_le("bits per entry")?,
                hashes: heads.u32_le("hashes")?,
                capacity: heads.u64_le("capacity")?,
                n2: heads.u8("n2")?,
            };
            shape.check(at)?;
            sum = sum.and_then(|sum| sum.checked_add(layer_items));
            layers.push((shape, layer_items));
        }
        if sum != Some(items) {
            return Err(at.value("items", i128::from(items), "the sum of those of the layers"));
        }
        Ok(Self {
            items,
            options,
            growth,
            layers,
        })
    }

    /// Bytes of all layers.
    fn bytes(&self, at: &Cursor<'_>) -> Result<u64, DecodeError> {
        let mut layers = self.layers.iter();
        let sum = layers.try_fold(0_u64, |sum, (shape, _)| sum.checked_add(shape.bytes));
        sum.ok_or_else(|| {
            at.value(
                "bytes of all layers",
                i128::from(u64::MAX),
                "fewer than 2^64",
            )
        })
    }

    fn build(
        self,
        at: &Cursor<'_>,
        mut layer: impl FnMut(&Shape, u64, u32) -> Result<Layer, PlanError>,
    ) -> Result<Bloom, DecodeError> {
        let layers = self.layers.iter();
        let layers = layers.map(|(shape, items)| layer(shape, *items, self.options));
        let layers = layers
            .collect::<Result<_, _>>()
            .map_err(|error| at.error(Problem::Plan(error)))?;
        Bloom::from_parts(at, (self.items, self.options, self.growth), layers)
    }
}
