//! `might_contain(filter, key)`.

use crate::filter_bytes;
use crate::keys::{self, Keys};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::compute::{cast, take};
use arrow::datatypes::DataType;
use datafusion_common::{Result, ScalarValue, plan_err};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use mayhap::formats::StoredFilter;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// Filters that are kept between batches. Queries rarely use more at a time.
const KEPT: usize = 8;
/// Their bytes. The newest filter is kept even if it is larger.
const KEPT_BYTES: usize = 256 << 20;

#[derive(Debug)]
pub(crate) struct MightContain {
    signature: Signature,
    /// A constant filter is passed with each batch of rows, and decoded once. The newest is last.
    kept: Mutex<Vec<Arc<Kept>>>,
}

#[derive(Debug)]
struct Kept {
    bytes: Vec<u8>,
    filter: StoredFilter,
}

// What is kept changes no result.
impl PartialEq for MightContain {
    fn eq(&self, other: &Self) -> bool {
        self.signature == other.signature
    }
}

impl Eq for MightContain {}

impl Hash for MightContain {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.signature.hash(state);
    }
}

impl MightContain {
    pub(crate) fn new() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable)
                .with_parameter_names(vec!["filter", "key"])
                .expect("a signature of our own may have any names"),
            kept: Mutex::default(),
        }
    }

    fn open(&self, bytes: &[u8]) -> Result<Arc<Kept>> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Other threads do not wait while the bytes are compared.
        let kept = lock().clone();
        let opened = match kept.iter().rfind(|one| one.bytes == bytes) {
            Some(found) => Arc::clone(found),
            None => Arc::new(Kept {
                filter: filter_bytes::decode(self.name(), bytes)?,
                bytes: bytes.to_vec(),
            }),
        };
        let mut kept = lock();
        kept.retain(|one| !Arc::ptr_eq(one, &opened));
        let size = |kept: &[Arc<Kept>]| kept.iter().map(|one| one.bytes.len()).sum::<usize>();
        while kept.len() >= KEPT
            || (!kept.is_empty() && size(&kept).saturating_add(bytes.len()) > KEPT_BYTES)
        {
            kept.remove(0);
        }
        kept.push(Arc::clone(&opened));
        Ok(opened)
    }

    /// One filter for all keys.
    fn one_filter(&self, filter: &[u8], keys: &ArrayRef) -> Result<BooleanArray> {
        let opened = self.open(filter)?;
        contains(&opened.filter, keys)
    }

    /// A filter for each row. Neighbours that have the same filter are looked up together.
    fn column_of_filters(&self, filters: &dyn Array, keys: &ArrayRef) -> Result<BooleanArray> {
        let mut found = BooleanBufferBuilder::new(keys.len());
        let mut valid = BooleanBufferBuilder::new(keys.len());
        let mut start = 0;
        while start < keys.len() {
            let filter = filter_bytes::row(filters, start);
            let same = |row: &usize| same_filter(filter, filter_bytes::row(filters, *row));
            let rows = 1 + (start + 1..keys.len()).take_while(same).count();
            match filter {
                None => {
                    found.append_n(rows, false);
                    valid.append_n(rows, false);
                }
                Some(filter) => {
                    let answers = self.one_filter(filter, &keys.slice(start, rows))?;
                    found.append_buffer(answers.values());
                    match answers.nulls() {
                        Some(nulls) => valid.append_buffer(nulls.inner()),
                        None => valid.append_n(rows, true),
                    }
                }
            }
            start += rows;
        }
        Ok(BooleanArray::new(
            found.finish(),
            Some(NullBuffer::new(valid.finish())),
        ))
    }
}

/// Repeated views of one filter have the same address, so that its bytes need not be compared.
fn same_filter(one: Option<&[u8]>, other: Option<&[u8]>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one.len() == other.len() && (std::ptr::eq(one, other) || one == other)
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

fn contains(filter: &StoredFilter, keys: &ArrayRef) -> Result<BooleanArray> {
    if let Some(dictionary) = keys.as_any_dictionary_opt() {
        if dictionary.values().len() > dictionary.len() {
            return contains(filter, &cast(keys, dictionary.values().data_type())?);
        }
        // Each value is looked up once.
        let answers = contains(filter, dictionary.values())?;
        return Ok(take(&answers, dictionary.keys(), None)?
            .as_boolean()
            .clone());
    }
    let mut found = vec![false; keys.len()];
    Keys::for_filter(keys, filter)?.contained_in(filter, &mut found);
    Ok(BooleanArray::new(
        BooleanBuffer::from(found),
        keys.logical_nulls(),
    ))
}

impl ScalarUDFImpl for MightContain {
    fn name(&self) -> &'static str {
        "might_contain"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        let [filter, key] = arguments else {
            return plan_err!("use might_contain(filter, key)");
        };
        Ok(vec![
            filter_bytes::check_type(self.name(), filter)?,
            keys::check_type(self.name(), key)?,
        ])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let [filter, key] = <[ColumnarValue; 2]>::try_from(arguments.args).map_err(|_| {
            datafusion_common::exec_datafusion_err!("might_contain: two arguments are needed")
        })?;
        let constant = match (&filter, &key) {
            (ColumnarValue::Scalar(_), ColumnarValue::Scalar(_)) => Some(1),
            _ => None,
        };
        let keys = key.into_array(constant.unwrap_or(rows))?;
        let answers = match &filter {
            ColumnarValue::Scalar(filter) => match filter_of(filter) {
                Some(filter) => self.one_filter(filter, &keys)?,
                None => BooleanArray::new_null(keys.len()),
            },
            ColumnarValue::Array(filters) => self.column_of_filters(filters, &keys)?,
        };
        Ok(match constant {
            Some(_) => ColumnarValue::Scalar(ScalarValue::try_from_array(&answers, 0)?),
            None => ColumnarValue::Array(Arc::new(answers)),
        })
    }
}

fn filter_of(value: &ScalarValue) -> Option<&[u8]> {
    match value {
        ScalarValue::Binary(bytes)
        | ScalarValue::LargeBinary(bytes)
        | ScalarValue::BinaryView(bytes) => bytes.as_deref(),
        _ => None,
    }
}
