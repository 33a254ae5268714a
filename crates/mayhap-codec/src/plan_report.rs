//! Which filter to choose for some keys, and how large it will be: the object of `mayhap plan --json`, Python's `plan` and others.
//!
//! The core does the arithmetic; this file computes whichever of keys, rate and memory is not given, and collects the figures.

use mayhap_core::plan::cost::{BestRate, LookupCosts};
use mayhap_core::plan::{BloomPlan, KindChoice, Requirements, size_bytes};
use mayhap_core::{Kind, PlanError};
use serde_json::{Value, json};
use std::fmt;

/// What a filter is needed for. Two of keys, rate and memory are needed, or keys and costs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PlanRequest {
    /// The number of keys.
    pub keys: Option<u64>,
    /// The false-positive rate.
    pub false_positive_rate: Option<f64>,
    /// The maximum size in bytes.
    pub memory: Option<u64>,
    /// What the filter must support.
    pub requirements: Requirements,
    /// What lookups cost.
    pub costs: CostRequest,
}

/// Costs of lookups, in any unit. The first three need each other.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CostRequest {
    /// The cost of a lookup that the filter answers.
    pub skip: Option<f64>,
    /// The cost of a lookup that passes the filter.
    pub lookup: Option<f64>,
    /// The share of lookups for keys that are present.
    pub present: Option<f64>,
    /// The cost of a GiB of memory for the period of the lookups.
    pub gib: Option<f64>,
    /// Lookups in that period; a million if absent.
    pub lookups: Option<u64>,
}

/// Why there is no plan.
#[derive(Clone, PartialEq, Debug)]
pub enum PlanRequestError {
    /// Fewer than two of keys, rate and memory are given.
    Incomplete {
        /// How many are.
        given: usize,
    },
    /// Some costs are given, and others that they need are not.
    Costs,
    /// No suitable filter fits into the memory.
    TooLarge {
        /// The smallest one's kind.
        kind: Kind,
        /// Its size.
        size_bytes: u64,
        /// The memory.
        memory: u64,
        /// The lowest rate that fits.
        strictest: Option<f64>,
    },
    /// The keys, the rate or the requirements cannot be planned.
    Plan(PlanError),
}

impl fmt::Display for PlanRequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { given } => write!(
                f,
                "a plan needs two of keys, fpr and memory, and got {given}: give two, and it computes the third"
            ),
            Self::Costs => f.write_str(
                "costs need each other: give cost_skip, cost_lookup and present, and cost_gib to find the best rate",
            ),
            Self::TooLarge {
                kind,
                size_bytes,
                memory,
                strictest,
            } => {
                write!(
                    f,
                    "the smallest suitable filter, a {kind} filter, needs {size_bytes} bytes and memory allows {memory}: use more memory or fewer keys"
                )?;
                match strictest {
                    Some(rate) => write!(f, ", or a rate of {rate}, which fits"),
                    None => Ok(()),
                }
            }
            Self::Plan(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PlanRequestError {}

impl From<PlanError> for PlanRequestError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl PlanRequest {
    /// The recommendation.
    ///
    /// ```
    /// use mayhap_codec::PlanRequest;
    /// let request = PlanRequest { keys: Some(1_000_000), memory: Some(1 << 20), ..PlanRequest::default() };
    /// let report = request.report()?;
    /// assert!(report.false_positive_rate < 0.02);
    /// println!("{}", report.to_json()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When too little is given, or no filter fits.
    pub fn report(&self) -> Result<PlanReport, PlanRequestError> {
        let needs = &self.requirements;
        let costs = self.costs.costs()?;
        let best = match (&costs, self.keys) {
            (Some(costs), Some(keys)) => costs.best(keys)?,
            _ => None,
        };
        let (keys, rate) = match (self.keys, self.false_positive_rate, self.memory) {
            (Some(keys), Some(rate), _) => (keys, rate),
            // The best rate, if costs are given and no rate.
            (Some(keys), None, None) if best.is_some() => {
                (keys, best.map_or(0.0, |best| best.false_positive_rate))
            }
            (Some(keys), None, Some(memory)) => (keys, needs.strictest_within(memory, keys)?),
            (None, Some(rate), Some(memory)) => (needs.largest_within(memory, rate)?, rate),
            (keys, rate, memory) => {
                let given = [keys.is_some(), rate.is_some(), memory.is_some()];
                return Err(PlanRequestError::Incomplete {
                    given: given.iter().filter(|given| **given).count(),
                });
            }
        };
        let mut choices = needs.choices(keys, rate)?;
        let at = match self.memory {
            None => 0,
            Some(memory) => choices
                .iter()
                .position(|choice| choice.size_bytes <= memory)
                .ok_or_else(|| {
                    too_large(&choices, memory, needs.strictest_within(memory, keys).ok())
                })?,
        };
        let best = choices.remove(at);
        Ok(PlanReport {
            keys,
            false_positive_rate: rate,
            memory: self.memory,
            exceptions: needs.exceptions,
            costs,
            best,
            others: choices,
        })
    }
}

fn too_large(choices: &[KindChoice], memory: u64, strictest: Option<f64>) -> PlanRequestError {
    let smallest = choices.iter().min_by_key(|choice| choice.size_bytes);
    let (kind, size_bytes) =
        smallest.map_or((Kind::Bloom, 0), |choice| (choice.kind, choice.size_bytes));
    PlanRequestError::TooLarge {
        kind,
        size_bytes,
        memory,
        strictest,
    }
}

/// The recommendation, and the alternatives.
#[derive(Clone, PartialEq, Debug)]
pub struct PlanReport {
    /// The number of keys, given or computed.
    pub keys: u64,
    /// The rate, given or computed.
    pub false_positive_rate: f64,
    /// The maximum size, if it was given.
    pub memory: Option<u64>,
    /// The number of known keys that must never be false positives.
    pub exceptions: u64,
    /// The costs, if they were given.
    pub costs: Option<PlanCosts>,
    /// The recommended kind.
    pub best: KindChoice,
    /// Other suitable kinds.
    pub others: Vec<KindChoice>,
}

impl PlanReport {
    /// Bits per key of a choice.
    pub fn bits_per_key(&self, choice: &KindChoice) -> f64 {
        choice.size_bytes as f64 * 8.0 / self.keys as f64
    }

    /// The information-theoretic limit.
    pub fn limit_bits_per_key(&self) -> f64 {
        // Of libm, like all of the core: the same digits on every platform, WebAssembly included.
        -libm::log2(self.false_positive_rate)
    }

    /// The plan of the recommended filter, if that is a `Bloom`.
    pub fn bloom(&self) -> Option<BloomPlan> {
        let plan = BloomPlan::new(self.keys, self.false_positive_rate).ok();
        plan.filter(|_| self.best.kind == Kind::Bloom)
    }

    /// The rate at capacity, at 1.5 times and at twice the capacity.
    pub fn rates(plan: &BloomPlan) -> [f64; 3] {
        let keys = plan.capacity();
        [keys, keys.saturating_add(keys / 2), keys.saturating_mul(2)].map(|keys| plan.rate_at(keys))
    }

    /// The object of `mayhap plan --json`.
    ///
    /// # Errors
    /// When the costs have no best rate.
    pub fn to_json(&self) -> Result<Value, PlanError> {
        let mut figures = json!({
            "kind": self.best.kind.name(),
            "why": self.best.why,
            "keys": self.keys,
            "false_positive_rate": self.false_positive_rate,
            "memory_bytes": self.memory,
            "size_bytes": self.best.size_bytes,
            "bits_per_key": self.bits_per_key(&self.best),
            "limit_bits_per_key": self.limit_bits_per_key(),
            "alternatives": self.others.iter().map(|other| json!({
                "kind": other.kind.name(),
                "why": other.why,
                "size_bytes": other.size_bytes,
                "bits_per_key": self.bits_per_key(other),
            })).collect::<Vec<_>>(),
        });
        if self.exceptions > 0 {
            figures["exceptions"] = self.exceptions.into();
            figures["exception_bytes"] = self.best.exception_bytes.into();
        }
        if let Some(plan) = self.bloom() {
            let [full, half_more, twice] = Self::rates(&plan);
            figures["lines"] = plan.lines().into();
            figures["lines_per_key"] = plan.lines_per_key().count().into();
            figures["bits_set_per_key"] = plan.probes().into();
            figures["rate_at_capacity"] = full.into();
            figures["rate_at_1_5x_capacity"] = half_more.into();
            figures["rate_at_2x_capacity"] = twice.into();
        }
        if let Some(costs) = &self.costs {
            figures["cost"] = costs.to_json(self.keys, self.false_positive_rate)?;
        }
        Ok(figures)
    }
}

/// Rates from one to another, evenly spaced on a logarithmic scale, as the axes of charts have them.
pub fn rate_steps((from, to): (f64, f64), steps: u32) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |step| from * libm::pow(to / from, f64::from(step) / f64::from(steps)))
}

const BITS_PER_GIB: f64 = (8_u64 << 30) as f64;
/// Lookups per period if none are given.
const LOOKUPS: u64 = 1_000_000;

/// The cost model of a filter in front of something slow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlanCosts {
    /// What a lookup costs.
    pub lookups: LookupCosts,
    /// Lookups in a period.
    pub count: u64,
    /// The cost of a GiB of memory for the period.
    pub gib_cost: Option<f64>,
}

impl CostRequest {
    /// `None` if no cost is given; an error if some are missing.
    fn costs(&self) -> Result<Option<PlanCosts>, PlanRequestError> {
        match (self.skip, self.lookup, self.present) {
            (None, None, None) if self.gib.is_none() && self.lookups.is_none() => Ok(None),
            (Some(skip), Some(lookup), Some(present)) => Ok(Some(PlanCosts {
                lookups: LookupCosts::new(skip, lookup, present)?,
                count: self.lookups.unwrap_or(LOOKUPS),
                gib_cost: self.gib,
            })),
            _ => Err(PlanRequestError::Costs),
        }
    }
}

impl PlanCosts {
    /// The rate with the lowest total cost of lookups and memory for a Bloom filter.
    ///
    /// # Errors
    /// When the costs have none.
    pub fn best(&self, keys: u64) -> Result<Option<BestRate>, PlanError> {
        let Some(gib_cost) = self.gib_cost else {
            return Ok(None);
        };
        let bits = |rate| Self::bits_per_key(keys, rate);
        let best = self
            .lookups
            .best_rate_with(keys, self.count as f64, gib_cost, bits)?;
        Ok(Some(best))
    }

    /// The cost of a Bloom filter's memory, per lookup; 0 if memory has no price.
    pub fn memory_cost(&self, keys: u64, rate: f64) -> f64 {
        let gib = keys as f64 * Self::bits_per_key(keys, rate) / BITS_PER_GIB;
        gib * self.gib_cost.unwrap_or(0.0) / self.count as f64
    }

    /// Bits per key of a Bloom filter.
    pub fn bits_per_key(keys: u64, rate: f64) -> f64 {
        size_bytes(Kind::Bloom, keys, rate)
            .map_or(f64::INFINITY, |bytes| 8.0 * bytes as f64 / keys as f64)
    }

    fn to_json(self, keys: u64, rate: f64) -> Result<Value, PlanError> {
        let lookups = &self.lookups;
        let best = self.best(keys)?.map(|best| {
            json!({
                "false_positive_rate": best.false_positive_rate,
                "lookup_cost": best.lookup_cost,
                "memory_cost": best.memory_cost,
                "saved": best.saved,
            })
        });
        Ok(json!({
            "lookups": self.count,
            "filter": lookups.filter_cost(rate),
            "exact": lookups.exact_cost(),
            "none": lookups.no_filter_cost(),
            "delta": lookups.extra_cost(rate),
            "skipped_share": lookups.skipped_share(rate),
            "wasted_share": lookups.wasted_share(rate),
            "saved_per_million": lookups.saved_per_million(rate),
            "best": best,
        }))
    }
}
