//! The constant arguments of `bloom_filter_agg`: they fix the shape of the filter.

use crate::keys;
use arrow::datatypes::{DataType, Schema};
use arrow::record_batch::RecordBatch;
use datafusion_common::{Result, ScalarValue, plan_datafusion_err, plan_err};
use datafusion_expr::ColumnarValue;
use datafusion_expr::function::AccumulatorArgs;
use mayhap::formats::{Format, StoredFilter, spark};
use mayhap::plan::BloomPlan;
use mayhap::{AnyFilter, Bloom, HashScheme};
use std::sync::Arc;

/// Spark's default.
const EXPECTED: u64 = 1_000_000;
/// Spark's default.
const SPARK_BITS: u64 = 8 * 1024 * 1024;
const RATE: f64 = 0.01;
/// A mistyped number must not take all memory. Spark's own limit is 8 MiB.
const MAX_BYTES: usize = 1 << 30;

/// The names, for `name => value`.
pub(crate) const NAMES: [&str; 4] = ["key", "expected", "rate", "format"];

/// An empty filter of the shape that the arguments ask for.
#[derive(Debug)]
pub(crate) struct Shape {
    kind: Kind,
    bytes: usize,
}

#[derive(Debug)]
enum Kind {
    Native(BloomPlan),
    Spark {
        items: u64,
        bits: u64,
        version: spark::Version,
    },
}

impl Shape {
    pub(crate) fn from_arguments(arguments: &AccumulatorArgs) -> Result<Self> {
        let constant = |index: usize| {
            arguments
                .exprs
                .get(index)
                .map(|expression| {
                    let empty = RecordBatch::new_empty(Arc::new(Schema::empty()));
                    match expression.evaluate(&empty) {
                        Ok(ColumnarValue::Scalar(value)) if !value.is_null() => Ok(value),
                        _ => plan_err!("bloom_filter_agg: {} must be a constant", NAMES[index]),
                    }
                })
                .transpose()
        };
        let (expected, size, format) = (constant(1)?, constant(2)?, constant(3)?);
        let key = arguments.expr_fields[0].data_type();
        let expected = expected.map_or(Ok(EXPECTED), |value| count(&value, NAMES[1]))?;
        let version = match format.as_ref().and_then(ScalarValue::try_as_str).flatten() {
            None | Some("native") => {
                let rate = size.map_or(Ok(RATE), |value| rate(&value))?;
                return Self::new(Kind::Native(
                    BloomPlan::new(expected, rate).map_err(refused)?,
                ));
            }
            Some("spark") => spark::Version::One,
            Some("spark-v2") => spark::Version::Two { seed: 0 },
            Some(other) => {
                return plan_err!(
                    "bloom_filter_agg: unknown format {other:?}: use 'native', 'spark' or 'spark-v2'"
                );
            }
        };
        keys::check_spark(key)?;
        let bits = size.map_or(Ok(SPARK_BITS), |value| {
            count(
                &value,
                "the number of bits, the third argument of Spark's filters,",
            )
        })?;
        let items = expected;
        Self::new(Kind::Spark {
            items,
            bits,
            version,
        })
    }

    fn new(kind: Kind) -> Result<Self> {
        let bits = match kind {
            Kind::Native(plan) => plan.size_bits(),
            Kind::Spark { bits, .. } => bits,
        };
        match usize::try_from(bits.div_ceil(8)) {
            Ok(bytes) if bytes <= MAX_BYTES => Ok(Self { kind, bytes }),
            _ => plan_err!(
                "bloom_filter_agg: a filter of {bits} bits is larger than 1 GiB: expect fewer keys, or accept a higher rate"
            ),
        }
    }

    /// The size of a filter.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// An empty filter. Native filters say what their keys are.
    pub(crate) fn create(&self, key: &DataType) -> Result<StoredFilter> {
        Ok(match self.kind {
            Kind::Native(plan) => {
                let mut filter = Bloom::from_plan(plan, HashScheme::Xxh3).map_err(refused)?;
                filter.set_key_type(keys::key_type(key));
                StoredFilter::Native(AnyFilter::Bloom(filter))
            }
            Kind::Spark {
                items,
                bits,
                version,
            } => StoredFilter::Bits {
                format: Format::Spark,
                filter: spark::with_bits(items, bits, version).map_err(refused)?,
            },
        })
    }
}

fn refused(error: mayhap::PlanError) -> datafusion_common::DataFusionError {
    plan_datafusion_err!("bloom_filter_agg: {error}")
}

fn count(value: &ScalarValue, name: &str) -> Result<u64> {
    match value.cast_to(&DataType::UInt64) {
        Ok(ScalarValue::UInt64(Some(count))) if count > 0 => Ok(count),
        _ => plan_err!("bloom_filter_agg: {name} must be a whole number above 0, not {value}"),
    }
}

fn rate(value: &ScalarValue) -> Result<f64> {
    match value.cast_to(&DataType::Float64) {
        Ok(ScalarValue::Float64(Some(rate))) if rate > 0.0 && rate < 1.0 => Ok(rate),
        _ => plan_err!(
            "bloom_filter_agg: rate must be between 0 and 1, not {value}; Spark's number of bits needs format => 'spark'"
        ),
    }
}
