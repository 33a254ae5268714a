//! The set of seen lines: a growing filter or a window.

use super::{BYTES_PER_KEY, INITIAL_CAPACITY, RATE, UniqArgs};
use crate::build::{now, random_key};
use crate::error::CliError;
use crate::filter_files::{OpenArgs, read};
use mayhap_codec::{OpenedFilter, StoredFilter, native};
use mayhap_core::plan::{GrowingPlan, WindowPlan};
use mayhap_core::{AnyFilter, GrowingBloom, HashScheme, KeyHash, WindowBloom};
use std::path::Path;

pub(super) enum SeenKeys {
    Growing(GrowingBloom),
    Window(WindowBloom),
}

impl SeenKeys {
    /// The state, or a new filter.
    pub(super) fn open(args: &UniqArgs) -> Result<Self, CliError> {
        match &args.state {
            Some(path) if path.exists() => Self::from_state(args, path),
            _ => Self::new(args),
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
        Ok(match args.window {
            Some(window) => Self::Window(WindowBloom::from_plan(
                WindowPlan::new(capacity, rate, window)?,
                scheme,
                now(),
            )?),
            None => Self::Growing(GrowingBloom::from_plan(
                GrowingPlan::new(capacity, rate)?,
                scheme,
            )?),
        })
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
            return refuse("is no state: move it away, and uniq makes one");
        }
        let mut found = OpenArgs::default().open_bytes(path, &bytes)?;
        let Some(OpenedFilter {
            filter: StoredFilter::Native(filter),
            ..
        }) = found.pop()
        else {
            return refuse("is no state: move it away, and uniq makes one");
        };
        if !filter.accepts_key_bytes() {
            return refuse("was made by `for_hashes` and knows no keys: move it away");
        }
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
        match (filter, args.window) {
            (AnyFilter::Growing(filter), None) => Ok(Self::Growing(filter)),
            (AnyFilter::Window(filter), window) => {
                let own = u128::from(filter.plan().window_ms());
                match window {
                    Some(window) if window.as_millis() != own => refuse(&format!(
                        "remembers for {} seconds: leave --window out",
                        own / 1000
                    )),
                    _ => Ok(Self::Window(filter)),
                }
            }
            (AnyFilter::Growing(_), Some(_)) => refuse("forgets nothing: leave --window out"),
            (other, _) => refuse(&format!(
                "is a {} filter, and a state is a growing or a window one: make it with uniq",
                other.kind()
            )),
        }
    }

    /// The hash scheme.
    pub(super) fn scheme(&self) -> HashScheme {
        match self {
            Self::Growing(filter) => filter.scheme(),
            Self::Window(filter) => filter.scheme(),
        }
    }

    /// Inserts the lines and reports which are new, each only the first time.
    pub(super) fn insert(&mut self, hashes: &[KeyHash], is_new: &mut Vec<bool>) {
        is_new.resize(hashes.len(), false);
        match self {
            Self::Growing(filter) => filter.insert_hashes_reporting_new(hashes, is_new),
            Self::Window(filter) => {
                let now = now();
                filter.contains_hashes(hashes, now, is_new);
                for (&hash, is_new) in hashes.iter().zip(is_new) {
                    let was_in = std::mem::take(is_new);
                    // Seeing a line again refreshes it.
                    *is_new = filter.insert_hash(hash, now) && !was_in;
                }
            }
        }
    }

    /// The current rate.
    pub(super) fn rate(&self) -> f64 {
        match self {
            Self::Growing(filter) => filter.estimated_rate(),
            Self::Window(filter) => filter.estimated_rate(filter.newest()),
        }
    }

    pub(super) fn into_filter(self) -> AnyFilter {
        match self {
            Self::Growing(filter) => filter.into(),
            Self::Window(filter) => filter.into(),
        }
    }
}

fn is_keyed(filter: &AnyFilter) -> bool {
    let scheme = match filter {
        AnyFilter::Growing(filter) => filter.scheme(),
        AnyFilter::Window(filter) => filter.scheme(),
        _ => return false,
    };
    matches!(scheme, HashScheme::Sip13(_))
}
