//! Filters in columns: native bytes or Spark's, which differ in their first byte.

use arrow::array::{Array, AsArray};
use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_datafusion_err, plan_err};
use mayhap::formats::{Format, Limits, StoredFilter, native, spark};

/// The type of filters that the functions return. Joins and repartitioning repeat a view without copying the filter.
pub(crate) const FILTER: DataType = DataType::BinaryView;

/// Whether a column can have filters.
pub(crate) fn check_type(function: &str, filter: &DataType) -> Result<DataType> {
    match filter {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Ok(filter.clone()),
        DataType::Null => Ok(FILTER),
        other => plan_err!("{function}: a filter is binary, not {other}"),
    }
}

/// The bytes of a row, if it is not null.
pub(crate) fn row(filters: &dyn Array, row: usize) -> Option<&[u8]> {
    if filters.is_null(row) {
        return None;
    }
    Some(match filters.data_type() {
        DataType::Binary => filters.as_binary::<i32>().value(row),
        DataType::LargeBinary => filters.as_binary::<i64>().value(row),
        _ => filters.as_binary_view().value(row),
    })
}

pub(crate) fn decode(function: &str, bytes: &[u8]) -> Result<StoredFilter> {
    let filter = if matches!(bytes, [0, 0, 0, 1 | 2, ..]) {
        spark::decode(bytes).map(|filter| StoredFilter::Bits {
            format: Format::Spark,
            filter,
        })
    } else {
        native::decode(bytes, Limits::default()).map(StoredFilter::Native)
    };
    let filter = filter.map_err(|error| {
        exec_datafusion_err!("{function}: this is not a filter of mayhap or Spark: {error}")
    })?;
    filter
        .check_keys()
        .map_err(|error| exec_datafusion_err!("{function}: {error}"))?;
    Ok(filter)
}
