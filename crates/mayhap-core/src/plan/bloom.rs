//! The size of a `Bloom`: lines of 512 bits, one or two per key, with `bits_per_line` bits per key in each (see
//! `probe/blocked.rs`).
//!
//! With one line per key the rate is exact for an ideal hash, not an approximation for large filters. A key misses given bits of a line, one in each
//! word of a set S, with probability q(S) = mean over the eight rows of (63/64)^|S ∩ row|; it hits the line with probability 1/L.
//! So after n keys all of S is still zero with probability (1 - (1 - q(S))/L)^n, and by inclusion and exclusion the bits of an
//! absent key's row R are all set with probability
//!
//! ```text
//! f = sum over S in R of (-1)^|S| (1 - (1 - q(S))/L)^n
//! ```
//!
//! which is the Poisson mixture over the keys in a line, summed in closed form. For two lines per key it is f squared, times a
//! correction for the few keys that share both lines with the absent key (`shared_keys_factor`), which is an approximation.

use super::{check_capacity, check_collisions, check_rate, collision_rate};
use crate::PlanError;
use crate::probe::blocked::PATTERNS;
use core::fmt;

/// From this rate on a key has one line. Below, it has two: one line would need 6 % more space and, at 0.01 %, 19 %.
const ONE_LINE_FROM: f64 = 0.003;

/// 2^40 lines are 64 TiB: more than any machine holds, and far from every overflow below.
const MAX_LINES: u64 = 1 << 40;

/// 2^48 keys in 2^40 lines have 2 bits each: no rate below 40 % would be possible.
const MAX_CAPACITY: u64 = 1 << 48;

const LINE_BITS: u64 = 512;

/// The number of lines that each key has bits in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinesPerKey {
    /// One cache line per lookup: the fastest.
    One,
    /// Two lines per lookup: the smallest, by 3 % at 1 % and by 16 % at 0.01 %.
    Two,
}

/// The shape of a [`Bloom`](crate::Bloom): how large it is and how many bits each key sets.
///
/// ```
/// # use mayhap_core as mayhap;
/// let plan = mayhap::plan::BloomPlan::new(1_000_000, 0.01)?;
/// assert!(plan.bits_per_key() < 10.3);
/// assert!(plan.rate_at(2_000_000) > 0.05); // past its capacity
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BloomPlan {
    capacity: u64,
    false_positive_rate: f64,
    /// Lines in the filter, or in each half if a key has two lines.
    line_range: u64,
    bits_per_line: u8,
    lines_per_key: LinesPerKey,
}

impl BloomPlan {
    /// The plan for `capacity` keys at a false-positive rate: one line per key from 0.3 % on, two below. Rounds up to whole
    /// lines, so that a filter with `capacity` keys keeps the rate.
    ///
    /// # Errors
    /// If the capacity is 0 or too large for any machine, or the rate is not between 0 and 1 or too strict for 64-bit hashes.
    pub fn new(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        if false_positive_rate >= ONE_LINE_FROM {
            return Self::with_lines_per_key(capacity, false_positive_rate, LinesPerKey::One);
        }
        let two = Self::with_lines_per_key(capacity, false_positive_rate, LinesPerKey::Two)?;
        match Self::with_lines_per_key(capacity, false_positive_rate, LinesPerKey::One) {
            Ok(one) if one.lines() <= two.lines() => Ok(one),
            _ => Ok(two),
        }
    }

    /// The same with a given number of lines per key.
    ///
    /// # Errors
    /// As [`BloomPlan::new`].
    pub fn with_lines_per_key(
        capacity: u64,
        false_positive_rate: f64,
        lines_per_key: LinesPerKey,
    ) -> Result<Self, PlanError> {
        #[cfg(test)]
        super::next_part::plan_count::add();
        check_capacity(capacity)?;
        check_rate(false_positive_rate)?;
        if capacity > MAX_CAPACITY {
            return Err(PlanError::InvalidInteger {
                field: "capacity",
                value: capacity,
                accepted: "at most 2^48 keys",
            });
        }
        check_collisions(capacity, false_positive_rate)?;
        let sized = |words| {
            let mut plan = Self {
                capacity,
                false_positive_rate,
                line_range: 1,
                bits_per_line: words,
                lines_per_key,
            };
            plan.line_range = plan.min_line_range()?;
            Some(plan)
        };
        // Among equally large ones, the one with the lowest rate.
        let better = |a: &Self, b: &Self| {
            a.lines()
                .cmp(&b.lines())
                .then(a.rate_at(capacity).total_cmp(&b.rate_at(capacity)))
        };
        (1..=8)
            .filter_map(sized)
            .min_by(better)
            .ok_or(PlanError::InvalidInteger {
                field: "capacity",
                value: capacity,
                accepted: "a capacity whose filter stays below 64 TiB at this rate",
            })
    }

    /// The plan of a filter that exists already, for example in a file: nothing is computed, and impossible values are rejected.
    ///
    /// # Errors
    /// If the capacity is 0 or above 2^60, the rate is not between 0 and 1, a key does not have 1 to 8 bits per line, or the
    /// number of lines is 0, more than 2^40 for each line of a key, or odd with two lines per key.
    pub fn from_shape(
        capacity: u64,
        false_positive_rate: f64,
        lines: u64,
        words: u8,
        lines_per_key: LinesPerKey,
    ) -> Result<Self, PlanError> {
        check_capacity(capacity)?;
        check_rate(false_positive_rate)?;
        let check = |holds, field, value, accepted| {
            let refused = PlanError::InvalidInteger {
                field,
                value,
                accepted,
            };
            if holds { Ok(()) } else { Err(refused) }
        };
        check(capacity <= 1 << 60, "capacity", capacity, "at most 2^60")?;
        let bits = u64::from(words);
        check(
            (1..=8).contains(&words),
            "bits per key in a line",
            bits,
            "1 to 8",
        )?;
        let each = u64::from(lines_per_key.count());
        let line_range = lines / each;
        check(
            lines.is_multiple_of(each) && (1..=MAX_LINES).contains(&line_range),
            "lines",
            lines,
            "1 to 2^40 for each line of a key",
        )?;
        Ok(Self {
            capacity,
            false_positive_rate,
            line_range,
            bits_per_line: words,
            lines_per_key,
        })
    }

    /// The smallest range of lines that keeps the rate at capacity, if there is one.
    fn min_line_range(&self) -> Option<u64> {
        let keeps = |line_range| {
            Self {
                line_range,
                ..*self
            }
            .rate_at(self.capacity)
                <= self.false_positive_rate
        };
        // Starts near the textbook size and widens: a bisection over all 2^40 sizes would take three times as long.
        let bits = super::classic::bits(self.capacity, self.false_positive_rate).ok()?;
        let guess = (bits / LINE_BITS / u64::from(self.lines_per_key.count())).max(1);
        let mut high = guess;
        while !keeps(high) {
            high = high.checked_mul(2).filter(|&high| high <= MAX_LINES)?;
        }
        let mut low = if high == guess { 0 } else { high / 2 };
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if keeps(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }

    /// The expected false-positive rate with `keys` distinct keys.
    pub fn rate_at(&self, keys: u64) -> f64 {
        let one = self.line_rate(keys);
        let rate = match self.lines_per_key {
            LinesPerKey::One => one,
            LinesPerKey::Two => one * one * self.shared_keys_factor(keys as f64),
        };
        (rate + collision_rate(keys)).min(1.0)
    }

    /// The probability that all bits of an absent key are set in one line: f above.
    fn line_rate(&self, keys: u64) -> f64 {
        let line_range = self.line_range as f64;
        let keys = keys as f64;
        let mut rate = 0.0;
        RateTerms::for_bits_per_line(self.bits_per_line).for_each(|sign, missed| {
            rate += sign * libm::exp(keys * libm::log1p(-missed / line_range));
        });
        rate.clamp(0.0, 1.0)
    }

    /// The correction to f squared: keys that share both lines with an absent key set the same bits in both, so "set in the
    /// first" and "set in the second" are not independent. For one word, with fill x and on average s such keys, both bits are
    /// set with probability x^2 + (1-x)^2 (e^(s/64 · bits/8) - 1).
    ///
    /// That takes words as independent. At capacity it is within 2 % of the mean rate of filters at 1e-3, and 5 % at 1e-5.
    /// It is too low where few keys have strict rates: by 15 % for 100 keys at 1e-7, 22 % for 300 at 1e-9, 63 % for 300 at 1e-12.
    fn shared_keys_factor(&self, keys: f64) -> f64 {
        let line_range = self.line_range as f64;
        let bit = f64::from(self.bits_per_line) / LINE_BITS as f64;
        let zero = libm::exp(keys * libm::log1p(-bit / line_range));
        if zero >= 1.0 {
            return 1.0;
        }
        let odds = zero / (1.0 - zero);
        let shared = libm::expm1(keys / (line_range * line_range) * bit);
        libm::pow(1.0 + odds * odds * shared, f64::from(self.bits_per_line))
    }

    /// How much higher the false-positive rate is than if the bits of a key's first line said nothing about those of its second:
    /// the probability that an absent key shares both lines with a key, times how much that raises its probability of being
    /// found. In a word that both use, the key has its bit or others do in both lines; in a word that the key does not use,
    /// others do.
    ///
    /// With 4097 lines or more in each half, a rate with this is within 1 % above 1e-8, and 3 % after a fold of an odd number of
    /// lines. Below 1e-9 it can be half of the true one.
    pub(crate) fn shared_key_excess(&self, set_bits: u64) -> f64 {
        let keys = self.keys_for_set_bits(set_bits);
        if !keys.is_finite() {
            return 0.0;
        }
        let fill = set_bits as f64 / self.size_bits() as f64;
        let others = fill * fill;
        let shared = others + (1.0 - fill) * (1.0 - fill) / 64.0;
        let pattern = PATTERNS[usize::from(self.bits_per_line) - 1];
        let by_row = (0..8).map(|row| {
            let used = (pattern & pattern.rotate_left(row)).count_ones();
            let unused = u32::from(self.bits_per_line) - used;
            libm::pow(shared, f64::from(used)) * libm::pow(others, f64::from(unused))
        });
        let found = by_row.sum::<f64>() / 8.0;
        let without = libm::pow(others, f64::from(self.bits_per_line));
        let line_range = self.line_range as f64;
        // Rounding can give slightly negative values if nearly all bits are set.
        keys / (line_range * line_range) * (found - without).max(0.0)
    }

    /// The relative variance of the rate between filters of this plan with different keys, `keys` of them: in some, a few lines
    /// are fuller than in others. A measured rate deviates from [`rate_at`] by its square root. Overestimates by a factor of two
    /// at most.
    ///
    /// [`rate_at`]: BloomPlan::rate_at
    pub fn relative_variance_at(&self, keys: u64) -> f64 {
        let line_range = self.line_range as f64;
        let load = keys as f64 / line_range;
        let one = self.line_rate(keys);
        if one <= 0.0 {
            return 0.0;
        }
        // Between lines: the mean of f(j)^2 over the Poisson number j of keys in a line, and the slope of f. The lines share
        // exactly `keys` keys, so an excess in one line is missing in another, and only the curvature of f matters.
        let (mut square, mut slope) = (0.0, 0.0);
        RateTerms::for_bits_per_line(self.bits_per_line).for_each(|sign, missed| {
            slope -= sign * missed * libm::exp(-load * missed);
            RateTerms::for_bits_per_line(self.bits_per_line).for_each(
                |other_sign, other_missed| {
                    let both = missed + other_missed - missed * other_missed;
                    square += sign * other_sign * libm::exp(-load * both);
                },
            );
        });
        // Within a line: how many different bits the keys of one word hit (the variance of occupancy). An absent key's row uses a
        // word with probability bits/8, so that of the eight words only bits^2/8 matter.
        let a = load * f64::from(self.bits_per_line) / LINE_BITS as f64;
        let zero = libm::exp(-a);
        let occupancy = zero * (1.0 - (1.0 + a) * zero) / (64.0 * (1.0 - zero) * (1.0 - zero));
        let relative_slope = slope / one;
        let line = square / (one * one)
            * libm::pow(
                1.0 + occupancy,
                f64::from(self.bits_per_line) * f64::from(self.bits_per_line) / 8.0,
            )
            - 1.0
            - load * relative_slope * relative_slope;
        // Rounding can give slightly negative values for few keys.
        line.max(0.0) * f64::from(self.lines_per_key.count()) / line_range
    }

    /// The maximum number of keys for which a filter of this shape keeps `rate`; rounds down.
    fn capacity_at(&self, rate: f64) -> u64 {
        let mut high = self.capacity.max(1);
        while self.rate_at(high) <= rate && high < 1 << 60 {
            high *= 2;
        }
        let mut low = 0;
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if self.rate_at(middle) <= rate {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The plan of this filter after `fold`: half the lines (rounded up), the same rate, and the capacity for which it is still
    /// kept. `None` if it cannot be halved, or not one key would fit.
    pub fn halved(&self) -> Option<Self> {
        if self.line_range < 2 {
            return None;
        }
        let mut half = Self {
            line_range: self.line_range.div_ceil(2),
            ..*self
        };
        half.capacity = half.capacity_at(self.false_positive_rate);
        (half.capacity > 0).then_some(half)
    }

    /// The standard error of the estimated number of keys, near `keys` keys.
    pub(crate) fn estimate_error(&self, keys: f64) -> f64 {
        let (bits, probes) = (self.size_bits() as f64, f64::from(self.probes()));
        let a = probes * keys / bits;
        libm::sqrt((bits * (libm::expm1(a) - a)).max(0.0)) / probes
    }

    /// Whether this many set bits mean more keys than the capacity, by more than three standard errors.
    pub(crate) fn is_over_capacity(&self, set_bits: u64) -> bool {
        self.is_sample_over_capacity(set_bits, 1)
    }

    /// The same if the number of set bits is an estimate from one of `stride` lines.
    pub(crate) fn is_sample_over_capacity(&self, set_bits: u64, stride: u64) -> bool {
        let capacity = self.capacity as f64;
        // A sample of 1/n of the lines has sqrt(n) times the error, and up to twice that because keys spread unevenly over lines.
        let sampling = match stride {
            1 => 1.0,
            _ => 2.0 * libm::sqrt(stride as f64),
        };
        let error = self.estimate_error(capacity) * sampling;
        self.keys_for_set_bits(set_bits) > capacity + 3.0 * error
    }

    /// The most likely number of keys for this many set bits; infinite if all are set.
    pub(crate) fn keys_for_set_bits(&self, set_bits: u64) -> f64 {
        let fill = set_bits as f64 / self.size_bits() as f64;
        let touched = f64::from(self.bits_per_line) / (LINE_BITS as f64 * self.line_range as f64);
        libm::log1p(-fill) / libm::log1p(-touched)
    }

    /// The number of keys that the plan is for.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The requested rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }

    /// Lines of 64 bytes in the filter.
    pub fn lines(&self) -> u64 {
        self.line_range * u64::from(self.lines_per_key.count())
    }

    /// The number of lines from which a key's first line, and its second, is chosen.
    pub(crate) fn line_range(&self) -> u64 {
        self.line_range
    }

    /// Bits that a key sets in each of its lines.
    pub fn bits_per_line(&self) -> u8 {
        self.bits_per_line
    }

    /// One line per key, or two.
    pub fn lines_per_key(&self) -> LinesPerKey {
        self.lines_per_key
    }

    /// Bits that a key sets, in all its lines.
    pub fn probes(&self) -> u32 {
        u32::from(self.bits_per_line) * self.lines_per_key.count()
    }

    /// Bits of memory.
    pub fn size_bits(&self) -> u64 {
        self.lines() * LINE_BITS
    }

    /// Bytes of memory.
    pub fn size_bytes(&self) -> u64 {
        self.size_bits() / 8
    }

    /// Bits of memory per key, at capacity.
    pub fn bits_per_key(&self) -> f64 {
        self.size_bits() as f64 / self.capacity as f64
    }
}

impl LinesPerKey {
    /// From the number of lines: 1 or 2.
    pub const fn from_count(count: u64) -> Option<Self> {
        match count {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            _ => None,
        }
    }

    /// 1 or 2.
    pub const fn count(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

impl fmt::Display for BloomPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} keys at {}: {} lines of 64 bytes, {} bits a key in {} of them",
            self.capacity,
            self.false_positive_rate,
            self.lines(),
            self.probes(),
            match self.lines_per_key {
                LinesPerKey::One => "one",
                LinesPerKey::Two => "two",
            }
        )
    }
}

/// The terms of the inclusion and exclusion for one pattern; equal ones are combined.
struct RateTerms {
    len: usize,
    /// The number of sets S with this term, with the sign of (-1)^|S|.
    sign: [i32; MAX_TERMS],
    /// In how many rows S has 0, 1, .. 8 words, which determines q(S).
    meets: [[u8; 9]; MAX_TERMS],
}

const MAX_TERMS: usize = 48;

static TERMS: [RateTerms; 8] = {
    let mut all = [const {
        RateTerms {
            len: 0,
            sign: [0; MAX_TERMS],
            meets: [[0; 9]; MAX_TERMS],
        }
    }; 8];
    let mut k = 0;
    while k < 8 {
        all[k] = RateTerms::collect(PATTERNS[k]);
        k += 1;
    }
    all
};

impl RateTerms {
    fn for_bits_per_line(words: u8) -> &'static Self {
        &TERMS[usize::from(words) - 1]
    }

    /// Calls `each` with the signed count of a term and its 1 - q(S).
    fn for_each(&self, mut each: impl FnMut(f64, f64)) {
        for term in 0..self.len {
            let mut missed = 0.0;
            let mut stay = 1.0;
            for rows in self.meets[term] {
                missed += f64::from(rows) / 8.0 * (1.0 - stay);
                stay *= 63.0 / 64.0;
            }
            each(f64::from(self.sign[term]), missed);
        }
    }

    const fn collect(pattern: u8) -> Self {
        let mut terms = Self {
            len: 0,
            sign: [0; MAX_TERMS],
            meets: [[0; 9]; MAX_TERMS],
        };
        let mut set: u16 = 0;
        while set < 256 {
            let words = set as u8;
            if words & !pattern == 0 {
                let sign = if words.count_ones().is_multiple_of(2) {
                    1
                } else {
                    -1
                };
                terms.add(sign, &meets(words, pattern));
            }
            set += 1;
        }
        terms
    }

    const fn add(&mut self, sign: i32, meets: &[u8; 9]) {
        let mut at = 0;
        while at < self.len && !same(&self.meets[at], meets) {
            at += 1;
        }
        if at == self.len {
            self.meets[at] = *meets;
            self.len += 1;
        }
        self.sign[at] += sign;
    }
}

const fn meets(words: u8, pattern: u8) -> [u8; 9] {
    let mut counts = [0; 9];
    let mut row = 0;
    while row < 8 {
        counts[(words & pattern.rotate_left(row)).count_ones() as usize] += 1;
        row += 1;
    }
    counts
}

const fn same(a: &[u8; 9], b: &[u8; 9]) -> bool {
    let mut at = 0;
    while at < 9 {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}
