//! Writes and reads the fields of an image, eight bytes each.

use super::{MAGIC, VERSION};
use mayhap_codec::{DecodeError, Format, Limits, Problem};
use mayhap_core::plan::{BloomPlan, GrowingPlan, LinesPerKey};
use mayhap_core::{Bloom, HashScheme, PlanError, SipKey, zeroed_bytes};
use std::borrow::Cow;

pub(super) struct FieldWriter {
    out: Vec<u8>,
}

impl FieldWriter {
    pub(super) fn new(kind: u8, with_bits: bool) -> Self {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&[VERSION, kind, u8::from(with_bits), 0, 0, 0, 0, 0]);
        Self { out }
    }

    pub(super) fn number(&mut self, number: u64) {
        self.out.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn rate(&mut self, rate: f64) {
        self.number(rate.to_bits());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    pub(super) fn scheme(&mut self, scheme: HashScheme) {
        self.number(scheme.id().into());
        let key = match scheme {
            HashScheme::Sip13(key) => key.to_bytes(),
            _ => [0; 16],
        };
        self.bytes(&key);
    }

    pub(super) fn bloom_plan(&mut self, plan: &BloomPlan) {
        self.number(plan.capacity());
        self.rate(plan.false_positive_rate());
        self.number(plan.lines());
        self.number(plan.bits_per_line().into());
        self.number(plan.lines_per_key().count().into());
    }

    /// The maximum is 0 if there is none.
    pub(super) fn growing_plan(&mut self, plan: &GrowingPlan) {
        self.number(plan.capacity());
        self.number(plan.maximum().unwrap_or(0));
        self.rate(plan.false_positive_rate());
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }
}

/// Reads the next bytes of an image into a buffer.
pub(super) type More<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), DecodeError>;

/// An image whose first bytes are in memory: all fields, but maybe not all bits.
pub(super) struct FieldReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The length of the image, and a function that reads the bytes that are not in memory.
    rest: Option<(u64, More<'a>)>,
}

impl<'a> FieldReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            rest: None,
        }
    }

    /// `bytes` are the first bytes of an image of this length.
    pub(super) fn with_rest(bytes: &'a [u8], length: u64, more: More<'a>) -> Self {
        let rest = Some((length, more));
        Self { bytes, at: 0, rest }
    }

    fn left(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub(super) fn error(&self, problem: Problem) -> DecodeError {
        DecodeError {
            format: Format::Mayhap,
            offset: self.at as u64,
            problem,
        }
    }

    pub(super) fn wrong(
        &self,
        field: &'static str,
        value: u64,
        accepted: &'static str,
    ) -> DecodeError {
        self.error(Problem::Value {
            field,
            value: value.into(),
            accepted,
        })
    }

    pub(super) fn plan_error(&self, error: PlanError) -> DecodeError {
        self.error(Problem::Plan(error))
    }

    pub(super) fn take(&mut self, what: &'static str, count: u64) -> Result<&'a [u8], DecodeError> {
        let left = self.left();
        let taken = usize::try_from(count)
            .ok()
            .and_then(|count| left.get(..count));
        let Some(taken) = taken else {
            return Err(self.error(Problem::Cut {
                what,
                needed: count,
                left: left.len() as u64,
            }));
        };
        self.at += taken.len();
        Ok(taken)
    }

    pub(super) fn number(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        let bytes = self.take(what, 8)?;
        let bytes = bytes.try_into().unwrap_or_default();
        Ok(u64::from_le_bytes(bytes))
    }

    /// A field with a type smaller than eight bytes.
    pub(super) fn small<T: TryFrom<u64>>(
        &mut self,
        what: &'static str,
        accepted: &'static str,
    ) -> Result<T, DecodeError> {
        let number = self.number(what)?;
        T::try_from(number).map_err(|_| self.wrong(what, number, accepted))
    }

    pub(super) fn flag(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        match self.number(what)? {
            0 => Ok(false),
            1 => Ok(true),
            number => Err(self.wrong(what, number, "0 or 1")),
        }
    }

    pub(super) fn rate(&mut self, what: &'static str) -> Result<f64, DecodeError> {
        Ok(f64::from_bits(self.number(what)?))
    }

    /// A number of pairs, and the pairs.
    pub(super) fn pairs(&mut self, what: &'static str) -> Result<Vec<(u64, u64)>, DecodeError> {
        let count = self.number(what)?;
        let bytes = self.take(what, count.saturating_mul(16))?;
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(word).collect();
        let pairs = words.as_chunks().0.iter();
        Ok(pairs.map(|&[first, second]| (first, second)).collect())
    }

    /// A scheme that hashes key bytes.
    pub(super) fn scheme(&mut self) -> Result<HashScheme, DecodeError> {
        let id = self.number("hash scheme")?;
        let key: [u8; 16] = self.take("hash key", 16)?.try_into().unwrap_or_default();
        match id {
            1 if key == [0; 16] => Ok(HashScheme::Xxh3),
            2 => Ok(HashScheme::Sip13(SipKey::new(key))),
            _ => Err(self.wrong("hash scheme", id, "1 without a key, or 2 with one")),
        }
    }

    pub(super) fn bloom_plan(&mut self) -> Result<BloomPlan, DecodeError> {
        let capacity = self.number("capacity")?;
        let rate = self.rate("rate")?;
        let lines = self.number("lines")?;
        let words = self.small("bits per key in a line", "1 to 8")?;
        let count = self.number("lines a key")?;
        let Some(lines_per_key) = LinesPerKey::from_count(count) else {
            return Err(self.wrong("lines a key", count, "1 or 2"));
        };
        BloomPlan::from_shape(capacity, rate, lines, words, lines_per_key)
            .map_err(|error| self.plan_error(error))
    }

    pub(super) fn growing_plan(&mut self) -> Result<GrowingPlan, DecodeError> {
        let capacity = self.number("capacity")?;
        let maximum = Some(self.number("maximum")?).filter(|&maximum| maximum != 0);
        let rate = self.rate("rate")?;
        GrowingPlan::from_shape(capacity, maximum, rate).map_err(|error| self.plan_error(error))
    }

    /// The bits of a filter of this size, or none. The rest of the image must have exactly this size.
    pub(super) fn bits(
        &mut self,
        has_bits: bool,
        size_bytes: u64,
        limits: Limits,
    ) -> Result<PartBits<'a>, DecodeError> {
        self.check(size_bytes, limits)?;
        if !has_bits {
            return Ok(PartBits::None);
        }
        let Some((length, more)) = self.rest.take() else {
            return Ok(PartBits::Here(self.take("bits", size_bytes)?));
        };
        let left = length.saturating_sub(self.at as u64);
        if size_bytes > left {
            return Err(self.error(Problem::Cut {
                what: "bits",
                needed: size_bytes,
                left,
            }));
        }
        if size_bytes < left {
            let bytes = left - size_bytes;
            return Err(self.error(Problem::Trailing { bytes }));
        }
        let begin = self.left();
        self.at = self.bytes.len();
        Ok(PartBits::Coming { begin, more })
    }

    fn check(&self, size_bytes: u64, limits: Limits) -> Result<(), DecodeError> {
        if size_bytes > limits.max_bytes {
            return Err(self.error(Problem::TooLarge {
                bytes: size_bytes,
                limit: limits.max_bytes,
            }));
        }
        Ok(())
    }

    /// All remaining bytes.
    pub(super) fn rest_within(&mut self, limits: Limits) -> Result<&'a [u8], DecodeError> {
        let count = self.left().len() as u64;
        self.check(count, limits)?;
        self.take("filter", count)
    }

    pub(super) fn finish(&self) -> Result<(), DecodeError> {
        match self.left().len() as u64 {
            0 => Ok(()),
            bytes => Err(self.error(Problem::Trailing { bytes })),
        }
    }
}

/// The bits of all parts of a filter, concatenated; or none, if the parts are empty.
pub(super) enum PartBits<'a> {
    None,
    Here(&'a [u8]),
    /// The first bits, and a function that reads the others.
    Coming {
        begin: &'a [u8],
        more: More<'a>,
    },
}

/// How many bytes are read at a time.
pub(super) const STEP: usize = 1 << 20;

impl<'a> PartBits<'a> {
    /// The bits of the next part.
    pub(super) fn next(&mut self, size_bytes: u64) -> Result<Option<Cow<'a, [u8]>>, DecodeError> {
        match self {
            Self::None => Ok(None),
            Self::Here(bits) => {
                let (next, rest) = bits.split_at(bits.len().min(size_bytes as usize));
                *bits = rest;
                Ok(Some(Cow::Borrowed(next)))
            }
            Self::Coming { .. } => {
                let mut bytes = zeroed_bytes(size_bytes).map_err(no_memory)?;
                self.fill(&mut bytes)?;
                Ok(Some(Cow::Owned(bytes)))
            }
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), DecodeError> {
        let Self::Coming { begin, more } = self else {
            return Ok(());
        };
        let (first, rest) = bytes.split_at_mut(begin.len().min(bytes.len()));
        let (here, later) = begin.split_at(first.len());
        first.copy_from_slice(here);
        *begin = later;
        if rest.is_empty() { Ok(()) } else { more(rest) }
    }

    /// The next part as a Bloom filter. Bits that are not in memory yet are read into it step by step.
    pub(super) fn bloom(
        &mut self,
        at: &FieldReader<'_>,
        plan: BloomPlan,
        scheme: HashScheme,
    ) -> Result<Bloom, DecodeError> {
        let plan_error = |error| at.plan_error(error);
        match self {
            Self::None => Bloom::from_plan(plan, scheme).map_err(plan_error),
            Self::Here(_) => {
                let bytes = self.next(plan.size_bytes())?.unwrap_or_default();
                Bloom::from_bytes(plan, scheme, &bytes).map_err(plan_error)
            }
            Self::Coming { .. } => {
                let mut filter = Bloom::from_plan(plan, scheme).map_err(plan_error)?;
                let (mut step, size) = (vec![0; STEP], plan.size_bytes());
                let mut start = 0;
                while start < size {
                    let bytes = &mut step[..STEP.min((size - start) as usize)];
                    self.fill(bytes)?;
                    // Empty pages are not written, so that they take no memory.
                    if bytes.iter().any(|byte| *byte != 0) {
                        filter.overwrite(start, bytes).map_err(plan_error)?;
                    }
                    start += bytes.len() as u64;
                }
                Ok(filter)
            }
        }
    }
}

fn no_memory(error: PlanError) -> DecodeError {
    DecodeError {
        format: Format::Mayhap,
        offset: 0,
        problem: Problem::Plan(error),
    }
}
