//! The set of seen lines: a growing filter or a window.

use super::{BYTES_PER_KEY, INITIAL_CAPACITY, RATE, UniqArgs};
use crate::build::random_key;
use crate::error::CliError;
use crate::filter_files::{OpenArgs, key_type, read};
use crate::human_format;
use mayhap_codec::{KeyType, OpenedFilter, StoredFilter, native};
use mayhap_core::plan::{GrowingPlan, WindowCuckooPlan, WindowPlan};
use mayhap_core::{
    AnyFilter, GrowingBloom, HashScheme, KeyHash, PlanError, Timestamp, WindowBloom, WindowCuckoo,
};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many lines are looked up before the first is inserted.
const CHUNK: usize = 128;

/// A growing filter, or a window.
pub(super) struct SeenKeys(AnyFilter);

impl SeenKeys {
    /// The state, or a new filter. An empty file is a new state.
    pub(super) fn open(args: &UniqArgs) -> Result<Self, CliError> {
        let has_state = |path: &&PathBuf| match fs::metadata(path) {
            Ok(found) => !found.is_file() || found.len() > 0,
            Err(_) => false,
        };
        match args.state.as_ref().filter(has_state) {
            Some(path) => Self::from_state(args, path),
            None => Self::new(args),
        }
    }

    fn new(args: &UniqArgs) -> Result<Self, CliError> {
        // A quarter of the lines if they are as long as URLs; two more layers have room for all of them.
        let guess = args.input.size().map_or(0, |bytes| bytes / BYTES_PER_KEY);
        let capacity = args.capacity.unwrap_or(guess.max(INITIAL_CAPACITY));
        let rate = args.fpr.unwrap_or(RATE);
        let scheme = if args.keyed {
            HashScheme::Sip13(random_key()?)
        } else {
            HashScheme::Xxh3
        };
        let filter: AnyFilter = match args.window {
            Some(window) => new_window(capacity, rate, window, scheme)?,
            None => GrowingBloom::from_plan(GrowingPlan::new(capacity, rate)?, scheme)?.into(),
        };
        let key_type = args.key_type.unwrap_or_default();
        Ok(Self(filter.with_key_type(key_type)))
    }

    fn from_state(args: &UniqArgs, path: &Path) -> Result<Self, CliError> {
        let refuse = |said: &str| {
            Err(CliError::message(format!(
                "{} {said}, or give --state another file",
                path.display()
            )))
        };
        let bytes = read(path)?;
        if !bytes.starts_with(&native::MAGIC) {
            return refuse("is not a state: move it away, and uniq creates one");
        }
        let mut found = OpenArgs::default().open_bytes(path, &bytes)?;
        let Some(OpenedFilter {
            filter: StoredFilter::Native(filter),
            ..
        }) = found.pop()
        else {
            return refuse("is not a state: move it away, and uniq creates one");
        };
        if !filter.accepts_key_bytes() {
            return refuse("was made by `for_hashes`, and cannot be asked by key: move it away");
        }
        // States without a key type are older, and of text.
        let stored = filter.key_type().unwrap_or_default();
        key_type(path, Some(stored), args.key_type)?;
        let asked = filter.stats().false_positive_rate.unwrap_or(0.0);
        if args
            .fpr
            .is_some_and(|rate| rate.to_bits() != asked.to_bits())
        {
            return refuse(&format!("has a rate of {asked:e}: leave --fpr out"));
        }
        if args.keyed && !is_keyed(&filter) {
            return refuse("was made without a secret key: leave --keyed out");
        }
        match (&filter, args.window) {
            (AnyFilter::Growing(_), None) => {}
            (AnyFilter::Window(_) | AnyFilter::WindowCuckoo(_), window) => {
                let (own, parts) = window_ms(&filter);
                // A window consists of whole milliseconds for each of its parts.
                let is_other = |window: Duration| own.abs_diff(window.as_millis()) >= parts;
                if window.is_some_and(is_other) {
                    return refuse(&format!(
                        "remembers for {} seconds: leave --window out",
                        own / 1000
                    ));
                }
            }
            (AnyFilter::Growing(_), Some(_)) => {
                return refuse("forgets nothing: leave --window out");
            }
            (other, _) => {
                return refuse(&format!(
                    "is a {} filter, and a state is a growing or a window filter: create it with uniq",
                    other.kind()
                ));
            }
        }
        report_ignored_capacity(args, path, &filter);
        Ok(Self(filter))
    }

    /// What the lines are.
    pub(super) fn key_type(&self) -> KeyType {
        self.0.key_type().unwrap_or_default()
    }

    /// The hash scheme.
    pub(super) fn scheme(&self) -> HashScheme {
        self.0.scheme()
    }

    /// Inserts the lines and reports which are new, each only the first time. Returns whether the filter may have changed.
    pub(super) fn insert(&mut self, hashes: &[KeyHash], is_new: &mut Vec<bool>) -> bool {
        is_new.clear();
        is_new.resize(hashes.len(), false);
        match &mut self.0 {
            AnyFilter::Growing(filter) => {
                filter.insert_hashes_reporting_new(hashes, is_new);
                is_new.contains(&true)
            }
            AnyFilter::Window(filter) => {
                let now = Timestamp::now();
                filter.contains_hashes(hashes, now, is_new);
                for (&hash, is_new) in hashes.iter().zip(is_new) {
                    let was_in = std::mem::take(is_new);
                    // Seeing a line again refreshes it.
                    *is_new = filter.insert_hash(hash, now) && !was_in;
                }
                !hashes.is_empty()
            }
            AnyFilter::WindowCuckoo(filter) => {
                let now = Timestamp::now();
                for (hashes, is_new) in hashes.chunks(CHUNK).zip(is_new.chunks_mut(CHUNK)) {
                    // A batch lookup prefetches the cells for the inserts that follow.
                    filter.contains_hashes(hashes, now, is_new);
                    for (&hash, is_new) in hashes.iter().zip(is_new) {
                        let was_in = std::mem::take(is_new);
                        // Seeing a line again refreshes it. A line for which there is no memory is printed again.
                        *is_new = filter.try_insert_hash(hash, now).unwrap_or(!was_in);
                    }
                }
                !hashes.is_empty()
            }
            // Neither `new` nor `from_state` makes one.
            other => {
                for (&hash, is_new) in hashes.iter().zip(is_new) {
                    *is_new = other.try_insert_hash(hash).unwrap_or(true);
                }
                true
            }
        }
    }

    /// The current rate.
    pub(super) fn rate(&self) -> f64 {
        self.0.stats().estimated_rate.unwrap_or(0.0)
    }

    pub(super) fn filter(&self) -> &AnyFilter {
        &self.0
    }
}

/// A window for this many lines.
fn new_window(
    capacity: u64,
    rate: f64,
    window: Duration,
    scheme: HashScheme,
) -> Result<AnyFilter, PlanError> {
    let now = Timestamp::now();
    if let Ok(plan) = WindowCuckooPlan::new(capacity, rate, window) {
        return Ok(WindowCuckoo::from_plan(plan, scheme, now)?.into());
    }
    // A ring of Bloom filters keeps stricter rates.
    let plan = WindowPlan::new(capacity, rate, window)?;
    Ok(WindowBloom::from_plan(plan, scheme, now)?.into())
}

/// The length of a window, and in how many parts it is divided.
fn window_ms(filter: &AnyFilter) -> (u128, u128) {
    match filter {
        AnyFilter::Window(filter) => (filter.plan().window_ms().into(), 1),
        AnyFilter::WindowCuckoo(filter) => {
            let plan = filter.plan();
            (plan.window_ms().into(), plan.epochs().into())
        }
        _ => (0, 1),
    }
}

/// A state keeps the size that it was made with.
fn report_ignored_capacity(args: &UniqArgs, path: &Path, filter: &AnyFilter) {
    let own = match filter {
        AnyFilter::Growing(filter) => filter.plan().capacity(),
        other => other.stats().capacity.unwrap_or(0),
    };
    if !args.quiet && args.capacity.is_some_and(|given| given != own) {
        // Without stderr, nothing can be reported.
        let _ = writeln!(
            io::stderr(),
            "mayhap: --capacity is ignored: {} exists and was made for {} keys",
            path.display(),
            human_format::with_thousands_separators(own)
        );
    }
}

fn is_keyed(filter: &AnyFilter) -> bool {
    matches!(filter.scheme(), HashScheme::Sip13(_))
}
