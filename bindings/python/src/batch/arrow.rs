//! Arrow's C data interface, through the capsules of `__arrow_c_array__` and `__arrow_c_stream__`.
//!
//! Unsafe code: the capsules' structs are taken over, as the interface defines.

#![expect(
    unsafe_code,
    reason = "the structs of the C data interface are pointers"
)]

use super::{Answers, Column, IntegerSlice, IntegerValues, Values, check_offsets};
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, make_array};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &std::ffi::CStr = c"arrow_schema";
const ARRAY: &std::ffi::CStr = c"arrow_array";
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// The columns of an object that exports Arrow data, and what its answers look like.
pub(super) fn columns(object: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<Column>, Answers)>> {
    // Interned, here and elsewhere: the caches of Python keep the names that they see, and a new string each time would fill them.
    let array = intern!(object.py(), "__arrow_c_array__");
    let stream = intern!(object.py(), "__arrow_c_stream__");
    let arrays = if object.hasattr(array)? {
        vec![import_array(&object.call_method0(array)?)?]
    } else if object.hasattr(stream)? {
        import_stream(&object.call_method0(stream)?)?
    } else {
        return Ok(None);
    };
    let answers = answers(object)?;
    let column = |array| column(array, answers, None);
    let columns: PyResult<Vec<Column>> = arrays.iter().map(column).collect();
    Ok(Some((columns?, answers)))
}

/// Answers are of the library that the keys are of.
fn answers(object: &Bound<'_, PyAny>) -> PyResult<Answers> {
    let module = object.get_type().module()?;
    let module = module.to_str()?;
    let library = module.split('.').next().unwrap_or(module);
    Ok(match library {
        "pyarrow" => Answers::PyArrow,
        "polars" => Answers::Polars,
        // Its masks are NumPy arrays.
        "pandas" => Answers::NumPy,
        _ => Answers::Arrow,
    })
}

fn arrow_error(error: ArrowError) -> PyErr {
    match error {
        ArrowError::NotYetImplemented(_) => {
            PyTypeError::new_err(format!("keys cannot be of this Arrow type: {error}"))
        }
        error => {
            // A producer in Python adds its traceback.
            let message = error.to_string();
            let first = message.lines().next().unwrap_or_default();
            PyValueError::new_err(format!("the Arrow data cannot be read: {first}"))
        }
    }
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &std::ffi::CStr) -> PyResult<*mut T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    Ok(capsule.pointer_checked(Some(name))?.as_ptr().cast())
}

fn import_array(capsules: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = capsules.extract()?;
    let (schema, array) = (pointer(&schema, SCHEMA)?, pointer(&array, ARRAY)?);
    // SAFETY: capsules of these names have these structs. Taking a struct over marks the one in the capsule as released.
    let (schema, array) = unsafe {
        (
            FFI_ArrowSchema::from_raw(schema),
            FFI_ArrowArray::from_raw(array),
        )
    };
    // Somebody else took them over: what they point to may be gone.
    if schema.release().is_none() || array.is_released() {
        return Err(PyValueError::new_err(
            "the Arrow data was used before: export it again",
        ));
    }
    // SAFETY: both are as the interface defines, and were not released.
    let data = unsafe { from_ffi(array, &schema) };
    Ok(make_array(data.map_err(arrow_error)?))
}

fn import_stream(capsule: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let py = capsule.py();
    // SAFETY: as above.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer(capsule, STREAM)?) };
    // Producers take the GIL if they need it, and some wait for threads of their own that do: those that read files of Python.
    let reader = py.detach(|| ArrayStreamReader::try_new(stream));
    let mut reader = reader.map_err(arrow_error)?;
    let arrays = py.detach(|| {
        reader
            .by_ref()
            .collect::<Result<Vec<ArrayRef>, ArrowError>>()
    });
    arrays.map_err(arrow_error)
}

/// The column of an array; `outer` are nulls of the tables that it is in.
fn column(array: &ArrayRef, answers: Answers, outer: Option<&NullBuffer>) -> PyResult<Column> {
    // A table: its only column has the keys.
    if let DataType::Struct(fields) = array.data_type() {
        let [_] = fields.as_ref() else {
            let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            return Err(PyTypeError::new_err(format!(
                "the data has {} columns ({}): select the one with the keys",
                names.len(),
                names.join(", ")
            )));
        };
        let table = array.as_struct();
        let nulls = NullBuffer::union(table.nulls(), outer);
        return column(table.column(0), answers, nulls.as_ref());
    }
    // Polars has no such type: it exports the addresses of Python objects.
    if answers == Answers::Polars && matches!(array.data_type(), DataType::FixedSizeBinary(_)) {
        return Err(PyTypeError::new_err(
            "a Polars column of Python objects has no keys: cast it to integers or text, or pass series.to_list()",
        ));
    }
    let is_text = match array.data_type() {
        DataType::Dictionary(_, values) => is_text(values),
        other => is_text(other),
    };
    let nulls = match array.data_type() {
        DataType::Null => Some(NullBuffer::new_null(array.len())),
        _ => array.logical_nulls(),
    };
    let nulls = NullBuffer::union(nulls.as_ref(), outer);
    Ok(Column::new(values(array)?, nulls, is_text))
}

fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

fn values(array: &ArrayRef) -> PyResult<Values> {
    macro_rules! integers {
        ($type:ty, $variant:ident) => {
            Values::Integers(IntegerValues::$variant(integers::<$type>(array)))
        };
    }
    Ok(match array.data_type() {
        DataType::Int8 => integers!(Int8Type, I8),
        DataType::Int16 => integers!(Int16Type, I16),
        DataType::Int32 => integers!(Int32Type, I32),
        DataType::Int64 => integers!(Int64Type, I64),
        DataType::UInt8 => integers!(UInt8Type, U8),
        DataType::UInt16 => integers!(UInt16Type, U16),
        DataType::UInt32 => integers!(UInt32Type, U32),
        DataType::UInt64 => integers!(UInt64Type, U64),
        DataType::Utf8 => {
            let (offsets, bytes, _) = array.as_string::<i32>().clone().into_parts();
            short(offsets, bytes)?
        }
        DataType::LargeUtf8 => {
            let (offsets, bytes, _) = array.as_string::<i64>().clone().into_parts();
            long(offsets, bytes)?
        }
        DataType::Binary => {
            let (offsets, bytes, _) = array.as_binary::<i32>().clone().into_parts();
            short(offsets, bytes)?
        }
        DataType::LargeBinary => {
            let (offsets, bytes, _) = array.as_binary::<i64>().clone().into_parts();
            long(offsets, bytes)?
        }
        DataType::Utf8View => Values::Views(array.as_string_view().clone().to_binary_view()),
        DataType::BinaryView => Values::Views(array.as_binary_view().clone()),
        DataType::FixedSizeBinary(width) => {
            let width = usize::try_from(*width).unwrap_or(0);
            let values = array.as_fixed_size_binary();
            if values.values().len() < width * values.len() {
                return Err(PyValueError::new_err(
                    "the Arrow array is damaged: it has too few bytes",
                ));
            }
            Values::Fixed {
                bytes: values.values().clone(),
                width,
                count: values.len(),
            }
        }
        DataType::Dictionary(keys, _) => dictionary(array, keys)?,
        // All are null.
        DataType::Null => Values::Fixed {
            bytes: arrow_buffer::Buffer::default(),
            width: 0,
            count: array.len(),
        },
        other => return Err(no_keys(other)),
    })
}

fn no_keys(data_type: &DataType) -> PyErr {
    let advice = match data_type {
        DataType::Date32
        | DataType::Date64
        | DataType::Timestamp(..)
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Duration(_) => "cast it to int64, and use the same unit everywhere",
        DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) => {
            "cast it to integers or text"
        }
        _ => "cast it to integers, text or binary",
    };
    PyTypeError::new_err(format!(
        "an Arrow array of type {data_type} has no keys: {advice}"
    ))
}

fn integers<T: ArrowPrimitiveType>(array: &ArrayRef) -> IntegerSlice<T::Native> {
    IntegerSlice::Arrow(array.as_primitive::<T>().values().clone())
}

fn short(offsets: OffsetBuffer<i32>, bytes: arrow_buffer::Buffer) -> PyResult<Values> {
    check_offsets(&offsets, bytes.len())?;
    Ok(Values::Short(offsets, bytes))
}

fn long(offsets: OffsetBuffer<i64>, bytes: arrow_buffer::Buffer) -> PyResult<Values> {
    check_offsets(&offsets, bytes.len())?;
    Ok(Values::Long(offsets, bytes))
}

fn dictionary(array: &ArrayRef, keys: &DataType) -> PyResult<Values> {
    fn of<K: ArrowDictionaryKeyType>(array: &ArrayRef) -> PyResult<Values> {
        let array = array.as_dictionary::<K>();
        let values = values(array.values())?;
        let indices: &ScalarBuffer<K::Native> = array.keys().values();
        let mut places = Vec::with_capacity(indices.len());
        for (at, index) in indices.iter().enumerate() {
            // The index of a null may be anything.
            let place = if array.is_null(at) {
                0
            } else {
                index.as_usize()
            };
            if place >= values.len() && !array.is_null(at) {
                return Err(PyValueError::new_err(
                    "the Arrow array is damaged: an index is beyond its dictionary",
                ));
            }
            places.push(place as u32);
        }
        // Without values all are null, and nulls are not read.
        if values.len() == 0 {
            return Ok(Values::Fixed {
                bytes: arrow_buffer::Buffer::default(),
                width: 0,
                count: places.len(),
            });
        }
        Ok(Values::Dictionary(places, Box::new(values)))
    }
    match keys {
        DataType::Int8 => of::<Int8Type>(array),
        DataType::Int16 => of::<Int16Type>(array),
        DataType::Int32 => of::<Int32Type>(array),
        DataType::Int64 => of::<Int64Type>(array),
        DataType::UInt8 => of::<UInt8Type>(array),
        DataType::UInt16 => of::<UInt16Type>(array),
        DataType::UInt32 => of::<UInt32Type>(array),
        DataType::UInt64 => of::<UInt64Type>(array),
        other => Err(no_keys(other)),
    }
}

/// An Arrow array of booleans. Pass it to any library that reads Arrow data, or use it as a sequence.
#[pyclass(frozen, module = "mayhap", name = "BooleanArray", sequence)]
pub(crate) struct ArrowBools(BooleanArray);

impl ArrowBools {
    pub(crate) fn new(answers: &[bool]) -> Self {
        Self(BooleanArray::new(BooleanBuffer::from(answers), None))
    }
}

#[pymethods]
impl ArrowBools {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<bool> {
        let at = if index < 0 {
            self.0.len().checked_add_signed(index)
        } else {
            usize::try_from(index).ok()
        };
        match at.filter(|at| *at < self.0.len()) {
            Some(at) => Ok(self.0.value(at)),
            None => Err(PyIndexError::new_err("index out of range")),
        }
    }

    /// The answers as a list.
    fn to_pylist(&self) -> Vec<bool> {
        self.0.values().iter().collect()
    }

    fn __repr__(&self) -> String {
        let set = self.0.true_count();
        format!(
            "<mayhap.BooleanArray: {} answers, {set} true>",
            self.0.len()
        )
    }

    /// The array as a pair of capsules, for libraries that read Arrow data.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // A request is only a wish, and booleans have one layout.
        drop(requested_schema);
        let (array, schema) = to_ffi(&self.0.to_data()).map_err(arrow_error)?;
        let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
        let array = PyCapsule::new_with_value(py, array, ARRAY)?;
        PyTuple::new(py, [schema, array])
    }
}
