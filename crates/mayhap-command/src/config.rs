//! Settings, under RedisBloom's names.

use crate::parse;
use mayhap_codec::redis::{Bloom, Cuckoo};
use std::ops::RangeInclusive;

/// The largest capacity of a new filter, and the largest value of such settings.
pub(crate) const MAX_CAPACITY: i64 = 1 << 30;
/// The largest expansion factor.
pub(crate) const MAX_EXPANSION: i64 = 32_768;
/// Higher error rates are reduced to this one.
pub(crate) const MAX_ERROR_RATE: f64 = 0.25;

/// The layout of new filters. Existing filters keep theirs, and every command accepts both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layout {
    /// Keyed hash, blocked lines, and growth with fewer bits.
    #[default]
    Native,
    /// Byte-exact with RedisBloom.
    RedisBloom,
}

impl Layout {
    fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::RedisBloom => "redisbloom",
        }
    }
}

/// The settings: defaults of new filters, and limits.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// `mayhap-layout`.
    pub layout: Layout,
    /// `bf-error-rate`.
    pub bf_error_rate: f64,
    /// `bf-initial-size`.
    pub bf_initial_size: u64,
    /// `bf-expansion-factor`; 0 does not grow.
    pub bf_expansion: u32,
    /// `cf-bucket-size`.
    pub cf_bucket_size: u8,
    /// `cf-initial-size`.
    pub cf_initial_size: u64,
    /// `cf-max-iterations`.
    pub cf_max_iterations: u16,
    /// `cf-expansion-factor`; 0 does not grow.
    pub cf_expansion: u16,
    /// `cf-max-expansions`.
    pub cf_max_expansions: u64,
    /// `mayhap-max-filter-bytes`: the memory that one filter may take.
    pub max_filter_bytes: u64,
    /// Whether commands come from a log: what succeeded once is not rejected because a setting has changed.
    pub replays: bool,
}

impl Default for Config {
    fn default() -> Self {
        let (rate, size, expansion) = Bloom::DEFAULTS;
        let (cf_size, bucket, iterations, cf_expansion) = Cuckoo::DEFAULTS;
        Self {
            layout: Layout::default(),
            bf_error_rate: rate,
            bf_initial_size: size,
            bf_expansion: expansion,
            cf_bucket_size: bucket,
            cf_initial_size: cf_size,
            cf_max_iterations: iterations,
            cf_expansion,
            cf_max_expansions: 32,
            // A filter has to fit into one record of a log, whose length has 32 bits.
            max_filter_bytes: (4 << 30) - (16 << 20),
            replays: false,
        }
    }
}

/// The names of all settings. Those without `mayhap-` are accepted with it too, and all of them with `mayhap.`.
pub const NAMES: [&str; 10] = [
    "bf-error-rate",
    "bf-initial-size",
    "bf-expansion-factor",
    "cf-bucket-size",
    "cf-initial-size",
    "cf-max-iterations",
    "cf-expansion-factor",
    "cf-max-expansions",
    "mayhap-layout",
    "mayhap-max-filter-bytes",
];

/// The name of a setting in lower case, without its prefix.
fn without_prefix(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("mayhap") {
        Some(rest) if rest.starts_with(['.', '-']) => rest[1..].to_owned(),
        _ => name,
    }
}

impl Config {
    /// Settings for replaying a log: nothing that succeeded before is rejected.
    pub fn for_replay() -> Self {
        Self::default().replaying()
    }

    /// These settings for commands from a log or a primary: nothing that succeeded there is rejected. The defaults of new filters stay, for
    /// primaries that do not send them.
    #[must_use]
    pub fn replaying(&self) -> Self {
        Self {
            cf_max_expansions: 65_536,
            max_filter_bytes: u64::MAX,
            replays: true,
            ..self.clone()
        }
    }

    /// The smallest capacity that `CF.INSERT` accepts.
    pub(crate) fn min_cuckoo_capacity(&self) -> i64 {
        if self.replays {
            2
        } else {
            2 * i64::from(self.cf_bucket_size)
        }
    }

    /// A cuckoo filter with this many tables rejects new items.
    pub(crate) fn max_cuckoo_tables(&self) -> u64 {
        if self.replays {
            u64::MAX
        } else {
            self.cf_max_expansions
        }
    }

    /// The value of a setting, as `CONFIG GET` reports it.
    pub fn get(&self, name: &str) -> Option<String> {
        Some(match without_prefix(name).as_str() {
            "layout" => self.layout.name().to_owned(),
            "max-filter-bytes" => self.max_filter_bytes.to_string(),
            "bf-error-rate" => self.bf_error_rate.to_string(),
            "bf-initial-size" => self.bf_initial_size.to_string(),
            "bf-expansion-factor" => self.bf_expansion.to_string(),
            "cf-bucket-size" => self.cf_bucket_size.to_string(),
            "cf-initial-size" => self.cf_initial_size.to_string(),
            "cf-max-iterations" => self.cf_max_iterations.to_string(),
            "cf-expansion-factor" => self.cf_expansion.to_string(),
            "cf-max-expansions" => self.cf_max_expansions.to_string(),
            _ => return None,
        })
    }

    /// Changes a setting; existing filters keep their parameters.
    ///
    /// # Errors
    /// A message if there is no such setting, or the value is invalid.
    pub fn set(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        let setting = without_prefix(name);
        let invalid = || format!("Invalid value for `{name}`");
        if setting == "layout" {
            self.layout = [Layout::Native, Layout::RedisBloom]
                .into_iter()
                .find(|layout| parse::is(value, layout.name()))
                .ok_or_else(invalid)?;
            return Ok(());
        }
        if setting == "bf-error-rate" {
            let rate = parse::number(value).ok_or_else(invalid)?;
            if !(rate > 0.0 && rate < 1.0) {
                return Err(format!(
                    "Value for `{name}` must be in the range (0.000000, 1.000000)"
                ));
            }
            self.bf_error_rate = rate.min(MAX_ERROR_RATE);
            return Ok(());
        }
        let number = parse::integer(value).ok_or_else(invalid)?;
        let within = |range: RangeInclusive<i64>| {
            let (min, max) = (*range.start(), *range.end());
            if range.contains(&number) {
                Ok(number)
            } else {
                Err(format!(
                    "Value for `{name}` must be in the range [{min}, {max}]"
                ))
            }
        };
        match setting.as_str() {
            "max-filter-bytes" => self.max_filter_bytes = within(1..=i64::MAX)? as u64,
            "bf-initial-size" => self.bf_initial_size = within(1..=MAX_CAPACITY)? as u64,
            "bf-expansion-factor" => self.bf_expansion = within(0..=MAX_EXPANSION)? as u32,
            "cf-bucket-size" => {
                let max = 255.min(self.cf_initial_size / 2).cast_signed();
                self.cf_bucket_size = within(1..=max)? as u8;
            }
            "cf-initial-size" => {
                let min = 2 * i64::from(self.cf_bucket_size);
                self.cf_initial_size = within(min..=MAX_CAPACITY)? as u64;
            }
            "cf-max-iterations" => self.cf_max_iterations = within(1..=65_535)? as u16,
            "cf-expansion-factor" => self.cf_expansion = within(0..=MAX_EXPANSION)? as u16,
            "cf-max-expansions" => self.cf_max_expansions = within(1..=65_536)? as u64,
            _ => return Err(format!("Unknown setting `{name}`")),
        }
        Ok(())
    }
}
