//! `Stats`: what a filter reports about itself. The field names are those of `info --json`, INFO, `/metrics` and the bindings.

use crate::Kind;
use core::fmt;

/// What a filter is, how full it is, and which false-positive rate it has now. `Display` is one line for people.
///
/// Every native filter knows all values but `bits`, `probes` and `fill`, which some kinds do not have. Formats of other systems
/// store less: what cannot be known is `None`.
///
/// ```
/// # use mayhap_core as mayhap;
/// let mut seen = mayhap::Bloom::new(1000, 0.01)?;
/// seen.extend(0..1500_u32);
/// let stats = seen.stats();
/// assert!(stats.is_over_capacity && stats.estimated_rate > Some(0.01));
/// println!("{stats}");
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stats {
    /// The kind; for the format of another system, the most similar one.
    pub kind: Kind,
    /// Keys that the filter was planned for, or that its present layers were planned for if it grows.
    pub capacity: Option<u64>,
    /// Addressable positions (bits or counters) of a classic layout; the bits of memory of other kinds.
    pub bits: Option<u64>,
    /// Positions per key.
    pub probes: Option<u32>,
    /// Bytes of memory.
    pub size_bytes: u64,
    /// The share of bits that are set, of counters that are not zero, or of cells in use.
    pub fill: Option<f64>,
    /// The estimated number of keys; `None` if every bit is set, because then there may be any number.
    pub estimated_keys: Option<u64>,
    /// The false-positive rate that was requested.
    pub false_positive_rate: Option<f64>,
    /// The false-positive rate now, from the fill.
    pub estimated_rate: Option<f64>,
    /// Whether the filter holds more keys than it was planned for.
    pub is_over_capacity: bool,
    /// How many more keys fit before the filter is over capacity; `None` if there is no limit.
    pub keys_until_full: Option<u64>,
    /// Layers, or tables, that a lookup checks; 1 unless the filter grows or has a window.
    pub layers: u64,
}

impl Stats {
    /// The stats of a filter of one layer about which only the size is known.
    pub fn new(kind: Kind, size_bytes: u64) -> Self {
        Self {
            kind,
            capacity: None,
            bits: None,
            probes: None,
            size_bytes,
            fill: None,
            estimated_keys: None,
            false_positive_rate: None,
            estimated_rate: None,
            is_over_capacity: false,
            keys_until_full: None,
            layers: 1,
        }
    }
}

/// `part / whole`, if there is a whole.
pub(crate) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A count whose largest value stands for "any number".
pub(crate) fn known(count: u64) -> Option<u64> {
    (count < u64::MAX).then_some(count)
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.kind)?;
        match self.estimated_keys {
            Some(keys) => write!(f, "about {keys} keys")?,
            None => f.write_str("an unknown number of keys")?,
        }
        if let Some(capacity) = self.capacity {
            write!(f, " of {capacity}")?;
        }
        if let Some(rate) = self.estimated_rate {
            write!(f, ", false-positive rate {rate:.3e} now")?;
        }
        if let Some(rate) = self.false_positive_rate {
            write!(f, ", {rate:.3e} requested")?;
        }
        write!(f, ", {} bytes", self.size_bytes)?;
        if self.is_over_capacity {
            f.write_str(", over capacity")?;
        }
        Ok(())
    }
}
