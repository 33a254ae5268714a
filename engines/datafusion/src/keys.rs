//! The key bytes of Arrow columns. They are those of mayhap's other interfaces and of Spark, so that a filter can be used anywhere.
//!
//! | column | key bytes |
//! | --- | --- |
//! | integers | `i64`, little-endian, or as wide as the filter's key type says; `UInt64` is `u64` |
//! | text and binary of any layout | the bytes |
//! | dictionaries | those of the values |
//! | dates | days since 1970 as an integer |
//! | timestamps | microseconds since 1970 as an integer |
//! | decimals | the digits without trailing zeros as `i128`, little-endian, or `i256` if they do not fit, and the scale as `i8` |
//!
//! So `1.50` is the same key at every scale.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::compute::{cast, filter, is_not_null};
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type, i256,
};
use datafusion_common::{Result, exec_datafusion_err, exec_err, plan_err};
use mayhap::formats::{FilterError, StoredFilter};
use mayhap::{AnyFilter, KeyHash, KeyType};
use std::sync::Arc;

/// Keys that are hashed at a time.
const BATCH: usize = 512;
const MS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// What a column has, as far as key bytes go.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Integers,
    Bytes,
    Decimals,
}

fn class(column: &DataType) -> Option<Class> {
    match column {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            Some(Class::Integers)
        }
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
            Some(Class::Integers)
        }
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Some(Class::Integers),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Class::Bytes),
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => Some(Class::Bytes),
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => Some(Class::Decimals),
        DataType::Dictionary(_, values) if !matches!(**values, DataType::Dictionary(..)) => {
            class(values)
        }
        _ => None,
    }
}

/// Whether a column can have keys.
pub(crate) fn check_type(function: &str, column: &DataType) -> Result<DataType> {
    match class(column) {
        Some(_) => Ok(column.clone()),
        None if column.is_null() => Ok(DataType::Int64),
        None => {
            plan_err!("{function}: {column} cannot be a key: cast it to BIGINT, VARCHAR or BYTEA")
        }
    }
}

/// Whether Spark has such keys.
pub(crate) fn check_spark(column: &DataType) -> Result<()> {
    let values = match column {
        DataType::Dictionary(_, values) => values,
        column => column,
    };
    if class(values) == Some(Class::Bytes) || values.is_integer() {
        return Ok(());
    }
    plan_err!("bloom_filter_agg: Spark's filters have integers or text, not {column}: cast it")
}

/// What native filters say about keys of a column.
pub(crate) fn key_type(column: &DataType) -> Option<KeyType> {
    match (class(column)?, column) {
        (_, DataType::Dictionary(_, values)) => key_type(values),
        (Class::Integers, DataType::UInt64) => Some(KeyType::U64),
        (Class::Integers, _) => Some(KeyType::I64),
        (Class::Bytes, _) => Some(KeyType::Text),
        (Class::Decimals, _) => None,
    }
}

/// The keys of a column, null or not.
pub(crate) enum Keys<'a> {
    Integers {
        bytes: Vec<[u8; 8]>,
        /// Bytes that the filter's key type has.
        width: usize,
        /// Which are in the range of the key type, if not all are. The others are in no such filter.
        fits: Option<Vec<bool>>,
    },
    Slices(Vec<&'a [u8]>),
    Decimals(Vec<Decimal>),
}

/// The values of a column that are not null, without their dictionary.
pub(crate) fn present(column: &ArrayRef) -> Result<ArrayRef> {
    let column = match column.data_type() {
        DataType::Dictionary(_, values) => cast(column, values)?,
        _ => Arc::clone(column),
    };
    if column.null_count() == 0 {
        return Ok(column);
    }
    Ok(filter(&column, &is_not_null(&column)?)?)
}

impl<'a> Keys<'a> {
    /// The keys as a filter has them.
    pub(crate) fn for_filter(column: &'a ArrayRef, filter: &StoredFilter) -> Result<Self> {
        let mismatch = |key_type| {
            exec_err!(
                "might_contain: the keys of the filter are of type {key_type}, not {}: cast the column",
                column.data_type()
            )
        };
        match (filter.key_type(), class(column.data_type())) {
            (Some(key_type), Some(Class::Integers)) => match key_type.integer() {
                Some((width, signed)) => Self::integers(column, usize::from(width), Some(signed)),
                None => mismatch(key_type),
            },
            (None, _) | (Some(KeyType::Text), Some(Class::Bytes)) => Self::new(column),
            // The filter has what such text stands for.
            (Some(KeyType::Hex | KeyType::Base64 | KeyType::Uuid), Some(Class::Bytes))
                if !column.data_type().is_string() =>
            {
                Self::new(column)
            }
            (Some(key_type), _) => mismatch(key_type),
        }
    }

    pub(crate) fn new(column: &'a ArrayRef) -> Result<Self> {
        let slices = |keys: &mut dyn Iterator<Item = &'a [u8]>| Ok(Self::Slices(keys.collect()));
        let rows = 0..column.len();
        // Values below nulls are keys as well: the caller does not use their answers.
        match column.data_type() {
            DataType::Utf8 => {
                let column = column.as_string::<i32>();
                slices(&mut rows.map(|row| column.value(row).as_bytes()))
            }
            DataType::LargeUtf8 => {
                let column = column.as_string::<i64>();
                slices(&mut rows.map(|row| column.value(row).as_bytes()))
            }
            DataType::Utf8View => {
                let column = column.as_string_view();
                slices(&mut rows.map(|row| column.value(row).as_bytes()))
            }
            DataType::Binary => {
                let column = column.as_binary::<i32>();
                slices(&mut rows.map(|row| column.value(row)))
            }
            DataType::LargeBinary => {
                let column = column.as_binary::<i64>();
                slices(&mut rows.map(|row| column.value(row)))
            }
            DataType::BinaryView => {
                let column = column.as_binary_view();
                slices(&mut rows.map(|row| column.value(row)))
            }
            DataType::FixedSizeBinary(_) => {
                let column = column.as_fixed_size_binary();
                slices(&mut rows.map(|row| column.value(row)))
            }
            &DataType::Decimal32(_, scale) => {
                let values = column.as_primitive::<Decimal32Type>().values();
                Ok(decimals(
                    values
                        .iter()
                        .map(|&value| Decimal::new(value.into(), scale)),
                ))
            }
            &DataType::Decimal64(_, scale) => {
                let values = column.as_primitive::<Decimal64Type>().values();
                Ok(decimals(
                    values
                        .iter()
                        .map(|&value| Decimal::new(value.into(), scale)),
                ))
            }
            &DataType::Decimal128(_, scale) => {
                let values = column.as_primitive::<Decimal128Type>().values();
                Ok(decimals(
                    values.iter().map(|&value| Decimal::new(value, scale)),
                ))
            }
            &DataType::Decimal256(_, scale) => {
                let values = column.as_primitive::<Decimal256Type>().values();
                Ok(decimals(
                    values.iter().map(|&value| Decimal::wide(value, scale)),
                ))
            }
            _ => Self::integers(column, 8, None),
        }
    }

    /// Integers of a width, in the range of signed or unsigned ones if that is known.
    fn integers(column: &ArrayRef, width: usize, signed: Option<bool>) -> Result<Self> {
        match column.data_type() {
            DataType::Int8 => Ok(integers::<Int8Type>(column, width, signed, i128::from)),
            DataType::Int16 => Ok(integers::<Int16Type>(column, width, signed, i128::from)),
            DataType::Int32 => Ok(integers::<Int32Type>(column, width, signed, i128::from)),
            DataType::Int64 => Ok(integers::<Int64Type>(column, width, signed, i128::from)),
            DataType::UInt8 => Ok(integers::<UInt8Type>(column, width, signed, i128::from)),
            DataType::UInt16 => Ok(integers::<UInt16Type>(column, width, signed, i128::from)),
            DataType::UInt32 => Ok(integers::<UInt32Type>(column, width, signed, i128::from)),
            DataType::UInt64 => Ok(integers::<UInt64Type>(column, width, signed, i128::from)),
            DataType::Date32 => Ok(integers::<Date32Type>(column, width, signed, i128::from)),
            DataType::Date64 => Ok(integers::<Date64Type>(column, width, signed, |ms| {
                ms.div_euclid(MS_PER_DAY).into()
            })),
            DataType::Timestamp(unit, _) => Ok(match unit {
                TimeUnit::Second => integers::<TimestampSecondType>(column, width, signed, |s| {
                    i128::from(s) * 1_000_000
                }),
                TimeUnit::Millisecond => {
                    integers::<TimestampMillisecondType>(column, width, signed, |ms| {
                        i128::from(ms) * 1000
                    })
                }
                TimeUnit::Microsecond => {
                    integers::<TimestampMicrosecondType>(column, width, signed, i128::from)
                }
                TimeUnit::Nanosecond => {
                    integers::<TimestampNanosecondType>(column, width, signed, |ns| {
                        ns.div_euclid(1000).into()
                    })
                }
            }),
            other => {
                exec_err!("mayhap: {other} cannot be a key: cast it to BIGINT, VARCHAR or BYTEA")
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Integers { bytes, .. } => bytes.len(),
            Self::Slices(slices) => slices.len(),
            Self::Decimals(decimals) => decimals.len(),
        }
    }

    /// Calls a function with the position of the first and the bytes of up to `BATCH` keys, until all were seen.
    fn for_each_batch<E>(
        &self,
        mut call: impl FnMut(usize, &[&[u8]]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut batch: [&[u8]; BATCH] = [&[]; BATCH];
        for start in (0..self.len()).step_by(BATCH) {
            let rows = start..self.len().min(start + BATCH);
            let keys = &mut batch[..rows.len()];
            match self {
                Self::Integers { bytes, width, .. } => {
                    for (slot, key) in keys.iter_mut().zip(&bytes[rows]) {
                        *slot = &key[..*width];
                    }
                }
                Self::Slices(slices) => keys.copy_from_slice(&slices[rows]),
                Self::Decimals(decimals) => {
                    for (slot, key) in keys.iter_mut().zip(&decimals[rows]) {
                        *slot = key.bytes();
                    }
                }
            }
            call(start, keys)?;
        }
        Ok(())
    }

    /// Which keys may be in a filter.
    pub(crate) fn contained_in(&self, filter: &StoredFilter, found: &mut [bool]) {
        let _: Result<(), std::convert::Infallible> = self.for_each_batch(|start, keys| {
            filter.contains_each(keys, &mut found[start..start + keys.len()]);
            Ok(())
        });
        if let Self::Integers {
            fits: Some(fits), ..
        } = self
        {
            for (found, fits) in found.iter_mut().zip(fits) {
                *found &= fits;
            }
        }
    }

    /// Inserts all keys.
    pub(crate) fn insert_into(&self, filter: &mut StoredFilter) -> Result<()> {
        let inserted = match filter {
            StoredFilter::Native(AnyFilter::Bloom(filter)) => {
                let mut hashes = Vec::with_capacity(BATCH);
                self.for_each_batch(|_, keys| {
                    hashes.clear();
                    hashes.extend(keys.iter().map(|&key| -> KeyHash { filter.hash(key) }));
                    filter.insert_hashes(&hashes);
                    Ok(())
                })
            }
            filter => self.for_each_batch(|_, keys| -> Result<(), FilterError> {
                for key in keys {
                    filter.insert(key)?;
                }
                Ok(())
            }),
        };
        inserted.map_err(|error| exec_datafusion_err!("bloom_filter_agg: {error}"))
    }
}

fn integers<T: ArrowPrimitiveType>(
    column: &ArrayRef,
    width: usize,
    signed: Option<bool>,
    value: impl Fn(T::Native) -> i128,
) -> Keys<'static> {
    let column: &PrimitiveArray<T> = column.as_primitive();
    let bits = 8 * width;
    let range = match signed {
        Some(true) => -(1_i128 << (bits - 1))..=(1_i128 << (bits - 1)) - 1,
        Some(false) => 0..=(1_i128 << bits) - 1,
        None => i128::MIN..=i128::MAX,
    };
    let values = || column.values().iter().map(|&native| value(native));
    let all_fit = values().all(|value| range.contains(&value));
    Keys::Integers {
        // The low bytes are the same for signed and unsigned integers.
        bytes: values().map(low_bytes).collect(),
        width,
        fits: (!all_fit).then(|| values().map(|value| range.contains(&value)).collect()),
    }
}

fn low_bytes(value: i128) -> [u8; 8] {
    let mut low = [0; 8];
    low.copy_from_slice(&value.to_le_bytes()[..8]);
    low
}

fn decimals<'a>(keys: impl Iterator<Item = Decimal>) -> Keys<'a> {
    Keys::Decimals(keys.collect())
}

/// The key of a decimal.
pub(crate) struct Decimal {
    bytes: [u8; 33],
    length: u8,
}

impl Decimal {
    fn new(mut digits: i128, mut scale: i8) -> Self {
        if digits == 0 {
            scale = 0;
        }
        while digits != 0 && digits % 10 == 0 {
            digits /= 10;
            scale = scale.saturating_sub(1);
        }
        Self::from_parts(&digits.to_le_bytes(), scale)
    }

    fn wide(mut digits: i256, mut scale: i8) -> Self {
        let ten = i256::from_i128(10);
        while digits.to_i128().is_none() && digits.wrapping_rem(ten) == i256::ZERO {
            digits = digits.wrapping_div(ten);
            scale = scale.saturating_sub(1);
        }
        match digits.to_i128() {
            Some(digits) => Self::new(digits, scale),
            None => Self::from_parts(&digits.to_le_bytes(), scale),
        }
    }

    fn from_parts(digits: &[u8], scale: i8) -> Self {
        let mut bytes = [0; 33];
        bytes[..digits.len()].copy_from_slice(digits);
        bytes[digits.len()] = scale.to_le_bytes()[0];
        Self {
            bytes,
            length: if digits.len() == 16 { 17 } else { 33 },
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}
