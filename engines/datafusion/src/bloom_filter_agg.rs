//! `bloom_filter_agg(key [, expected [, rate [, format]]])`.

use crate::arguments::{NAMES, Shape};
use crate::bloom_filter_merge::{Union, filter_state};
use crate::filter_bytes::FILTER;
use crate::keys::{self, Keys};
use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, FieldRef};
use datafusion_common::{Result, ScalarValue, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct BloomFilterAgg {
    signature: Signature,
}

impl BloomFilterAgg {
    pub(crate) fn new() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable)
                .with_parameter_names(NAMES.to_vec())
                .expect("a signature of our own may have any names"),
        }
    }
}

impl AggregateUDFImpl for BloomFilterAgg {
    fn name(&self) -> &'static str {
        "bloom_filter_agg"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        let Some(key) = arguments.first().filter(|_| arguments.len() <= NAMES.len()) else {
            return plan_err!(
                "use bloom_filter_agg(key [, expected [, rate [, format => 'spark']]])"
            );
        };
        let mut types = arguments.to_vec();
        types[0] = keys::check_type(self.name(), key)?;
        Ok(types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(FILTER)
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(filter_state(&arguments))
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Collected {
            shape: Shape::from_arguments(&arguments)?,
            key: arguments.expr_fields[0].data_type().clone(),
            union: Union::new("bloom_filter_agg"),
        }))
    }
}

/// The keys so far.
#[derive(Debug)]
struct Collected {
    shape: Shape,
    key: DataType,
    /// None before the first key: many groups of a partition may have none.
    union: Union,
}

impl Accumulator for Collected {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let keys = keys::present(&values[0])?;
        if keys.is_empty() {
            return Ok(());
        }
        let filter = match &mut self.union.filter {
            Some(filter) => filter,
            none => {
                self.union.bytes = self.shape.bytes();
                none.insert(self.shape.create(&self.key)?)
            }
        };
        Keys::new(&keys)?.insert_into(filter)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.union.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.union.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.union.evaluate()
    }

    fn size(&self) -> usize {
        size_of_val(self) - size_of_val(&self.union) + self.union.size()
    }
}
