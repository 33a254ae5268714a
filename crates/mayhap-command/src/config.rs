//! Settings, by the names that RedisBloom gave them.

use crate::words;
use mayhap_codec::redis::{Bloom, Cuckoo};
use std::ops::RangeInclusive;

/// Most keys that a filter is made for, and most that a setting takes.
pub(crate) const MAX_CAPACITY: i64 = 1 << 30;
/// The largest growth.
pub(crate) const MAX_EXPANSION: i64 = 32_768;
/// Rates above this are taken for it.
pub(crate) const LAXEST_RATE: f64 = 0.25;

/// How new filters are laid out. Those that are there keep theirs, and every command takes both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layout {
    /// Keyed hashes, cache lines, and growth that takes fewer bits.
    #[default]
    Native,
    /// As RedisBloom has it, to the byte.
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

/// What filters are made like when a command does not say.
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
    /// `mayhap-max-filter-bytes`: what one filter may take.
    pub max_filter_bytes: u64,
    /// Whether commands come from a log: what was done once is not refused because a setting has changed since.
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
            // A filter and what goes with it is one record of a log, whose length has 32 bits.
            max_filter_bytes: (4 << 30) - (16 << 20),
            replays: false,
        }
    }
}

/// The names of all settings. Those without `mayhap-` are known with it too, and all of them with `mayhap.`.
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

/// The name of a setting in lower case, without what may stand before it.
fn plain(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("mayhap") {
        Some(rest) if rest.starts_with(['.', '-']) => rest[1..].to_owned(),
        _ => name,
    }
}

impl Config {
    /// For commands that come from a log: nothing that was done there is refused here.
    pub fn for_replay() -> Self {
        Self::default().replaying()
    }

    /// These settings for commands that come from a log or a primary: nothing that was done there is refused here. How filters are
    /// made is still as set, for primaries that do not tell it.
    #[must_use]
    pub fn replaying(&self) -> Self {
        Self {
            cf_max_expansions: 65_536,
            max_filter_bytes: u64::MAX,
            replays: true,
            ..self.clone()
        }
    }

    /// The smallest capacity that `CF.INSERT` takes.
    pub(crate) fn least_cuckoo_capacity(&self) -> i64 {
        if self.replays {
            2
        } else {
            2 * i64::from(self.cf_bucket_size)
        }
    }

    /// How many tables a cuckoo filter may have for a command to add to it.
    pub(crate) fn max_cuckoo_tables(&self) -> u64 {
        if self.replays {
            u64::MAX
        } else {
            self.cf_max_expansions
        }
    }

    /// The value of a setting, as `CONFIG GET` answers it.
    pub fn get(&self, name: &str) -> Option<String> {
        Some(match plain(name).as_str() {
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

    /// Changes a setting; filters that are there keep what they were made with.
    ///
    /// # Errors
    /// The words of the error when there is no such setting, or it cannot have this value.
    pub fn set(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        let setting = plain(name);
        let invalid = || format!("Invalid value for `{name}`");
        if setting == "layout" {
            self.layout = [Layout::Native, Layout::RedisBloom]
                .into_iter()
                .find(|layout| words::is(value, layout.name()))
                .ok_or_else(invalid)?;
            return Ok(());
        }
        if setting == "bf-error-rate" {
            let rate = words::number(value).ok_or_else(invalid)?;
            if !(rate > 0.0 && rate < 1.0) {
                return Err(format!(
                    "Value for `{name}` must be in the range (0.000000, 1.000000)"
                ));
            }
            self.bf_error_rate = rate.min(LAXEST_RATE);
            return Ok(());
        }
        let number = words::integer(value).ok_or_else(invalid)?;
        let within = |range: RangeInclusive<i64>| {
            let (least, most) = (*range.start(), *range.end());
            if range.contains(&number) {
                Ok(number)
            } else {
                Err(format!(
                    "Value for `{name}` must be in the range [{least}, {most}]"
                ))
            }
        };
        match setting.as_str() {
            "max-filter-bytes" => self.max_filter_bytes = within(1..=i64::MAX)? as u64,
            "bf-initial-size" => self.bf_initial_size = within(1..=MAX_CAPACITY)? as u64,
            "bf-expansion-factor" => self.bf_expansion = within(0..=MAX_EXPANSION)? as u32,
            "cf-bucket-size" => {
                let most = 255.min(self.cf_initial_size / 2).cast_signed();
                self.cf_bucket_size = within(1..=most)? as u8;
            }
            "cf-initial-size" => {
                let least = 2 * i64::from(self.cf_bucket_size);
                self.cf_initial_size = within(least..=MAX_CAPACITY)? as u64;
            }
            "cf-max-iterations" => self.cf_max_iterations = within(1..=65_535)? as u16,
            "cf-expansion-factor" => self.cf_expansion = within(0..=MAX_EXPANSION)? as u16,
            "cf-max-expansions" => self.cf_max_expansions = within(1..=65_536)? as u64,
            _ => return Err(format!("Unknown setting `{name}`")),
        }
        Ok(())
    }
}
