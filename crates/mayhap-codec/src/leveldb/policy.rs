//! LevelDB's `FilterPolicy`: what creates the filters of a database, and looks keys up in them.

use super::{build, may_match, ribbon_block};
use mayhap_core::PlanError;
use mayhap_core::plan::{RibbonBlockPrecision, leveldb::rate};

/// The name of LevelDB's own policy.
const BUILTIN_NAME: &str = "leveldb.BuiltinBloomFilter2";

/// Bits per key that policies accept.
const BITS_PER_KEY: std::ops::RangeInclusive<u32> = 1..=100;

/// A filter policy. LevelDB uses a filter only with the policy whose name the table contains, and passes user keys to it.
///
/// ```
/// use mayhap_codec::leveldb::Policy;
/// let policy = Policy::ribbon(10)?;
/// let filter = policy.create_filter([&b"apple"[..], b"pear"].into_iter());
/// assert!(policy.key_may_match(b"pear", &filter));
/// # Ok::<(), mayhap_core::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Policy(PolicyKind);

#[derive(Clone, Copy, PartialEq, Debug)]
enum PolicyKind {
    Bloom { bits_per_key: u32 },
    Ribbon { bits_per_key: u32 },
    RibbonPrecision(RibbonBlockPrecision),
}

impl Policy {
    /// The built-in policy: its name and its bytes.
    ///
    /// # Errors
    /// When there are not 1 to 100 bits per key.
    pub fn bloom(bits_per_key: u32) -> Result<Self, PlanError> {
        let bits_per_key = checked(bits_per_key)?;
        Ok(Self(PolicyKind::Bloom { bits_per_key }))
    }

    /// Ribbon blocks with the rate that the built-in policy has with that many bits per key.
    ///
    /// # Errors
    /// As [`Policy::bloom`].
    pub fn ribbon(bits_per_key: u32) -> Result<Self, PlanError> {
        let bits_per_key = checked(bits_per_key)?;
        Ok(Self(PolicyKind::Ribbon { bits_per_key }))
    }

    /// Ribbon blocks with a false-positive rate. Below 2^-23 it is 2^-23.
    ///
    /// # Errors
    /// When the rate is not between 0 and 1.
    pub fn ribbon_with_rate(false_positive_rate: f64) -> Result<Self, PlanError> {
        let precision = RibbonBlockPrecision::for_rate(false_positive_rate)?;
        Ok(Self(PolicyKind::RibbonPrecision(precision)))
    }

    /// The name that databases store.
    pub fn name(&self) -> &'static str {
        match self.0 {
            PolicyKind::Bloom { .. } => BUILTIN_NAME,
            PolicyKind::Ribbon { .. } | PolicyKind::RibbonPrecision(_) => ribbon_block::NAME,
        }
    }

    /// The filter of a block's keys, which may repeat. Without memory for it, one that matches every key.
    pub fn create_filter<'k>(&self, keys: impl ExactSizeIterator<Item = &'k [u8]>) -> Vec<u8> {
        let filter = match self.0 {
            PolicyKind::Bloom { bits_per_key } => build(keys, bits_per_key),
            PolicyKind::Ribbon { bits_per_key } => ribbon_block::build(keys, |keys| {
                // The rate of valid bits per key is valid.
                RibbonBlockPrecision::for_rate(rate(keys, bits_per_key))
                    .unwrap_or(RibbonBlockPrecision::MAX)
            }),
            PolicyKind::RibbonPrecision(precision) => ribbon_block::build(keys, |_| precision),
        };
        filter.unwrap_or_else(|_| self.match_all().to_vec())
    }

    /// A filter that matches every key.
    pub fn match_all(&self) -> &'static [u8] {
        match self.0 {
            // More probes than there can be.
            PolicyKind::Bloom { .. } => &[0, 0xff],
            PolicyKind::Ribbon { .. } | PolicyKind::RibbonPrecision(_) => {
                &[ribbon_block::EVERYTHING]
            }
        }
    }

    /// Whether a filter may contain a key: `false` is certain. All bytes are valid filters; what the policy does not understand matches
    /// every key.
    #[inline]
    pub fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        match self.0 {
            PolicyKind::Bloom { .. } => may_match(filter, key),
            PolicyKind::Ribbon { .. } | PolicyKind::RibbonPrecision(_) => {
                ribbon_block::may_match(filter, key)
            }
        }
    }
}

fn checked(bits_per_key: u32) -> Result<u32, PlanError> {
    if BITS_PER_KEY.contains(&bits_per_key) {
        return Ok(bits_per_key);
    }
    Err(PlanError::InvalidInteger {
        field: "bits_per_key",
        value: bits_per_key.into(),
        accepted: "1 to 100",
    })
}
