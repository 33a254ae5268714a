//! `bloom_filter_merge(filter)`, which is also how partial states of `bloom_filter_agg` are merged.

use crate::filter_bytes::{self, FILTER};
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Result, ScalarValue, exec_datafusion_err, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use mayhap::formats::StoredFilter;
use std::sync::Arc;

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct BloomFilterMerge {
    signature: Signature,
}

impl BloomFilterMerge {
    pub(crate) fn new() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable)
                .with_parameter_names(vec!["filter"])
                .expect("a signature of our own may have any names"),
        }
    }
}

impl AggregateUDFImpl for BloomFilterMerge {
    fn name(&self) -> &'static str {
        "bloom_filter_merge"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        let [filter] = arguments else {
            return plan_err!("use bloom_filter_merge(filter)");
        };
        Ok(vec![filter_bytes::check_type(self.name(), filter)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(FILTER)
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(filter_state(&arguments))
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Union::new("bloom_filter_merge")))
    }
}

/// The state of both aggregates: a filter.
pub(crate) fn filter_state(arguments: &StateFieldsArgs) -> Vec<FieldRef> {
    let name = format!("{}[filter]", arguments.name);
    vec![Arc::new(Field::new(name, FILTER, true))]
}

/// The union of filters.
#[derive(Debug)]
pub(crate) struct Union {
    function: &'static str,
    pub(crate) filter: Option<StoredFilter>,
    /// The size of the filter.
    pub(crate) bytes: usize,
}

impl Union {
    pub(crate) fn new(function: &'static str) -> Self {
        Self {
            function,
            filter: None,
            bytes: 0,
        }
    }
}

impl Accumulator for Union {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let filters = &values[0];
        for bytes in (0..filters.len()).filter_map(|row| filter_bytes::row(filters, row)) {
            let other = filter_bytes::decode(self.function, bytes)?;
            match &mut self.filter {
                None => {
                    self.filter = Some(other);
                    self.bytes = bytes.len();
                }
                Some(filter) => filter.union_with(&other).map_err(|error| {
                    exec_datafusion_err!(
                        "{}: these filters cannot be merged: {error}",
                        self.function
                    )
                })?,
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let bytes = self.filter.as_ref().map(StoredFilter::encode).transpose();
        let bytes = bytes.map_err(|error| exec_datafusion_err!("{}: {error}", self.function))?;
        Ok(ScalarValue::BinaryView(bytes))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.bytes
    }
}
