//! Buffers of integers and of fixed-width text: NumPy arrays, `array.array`, memoryviews.
//!
//! Unsafe code: integers of a buffer are read without the GIL. Everything else that the buffer protocol promises, PyO3 has checked.

#![expect(unsafe_code, reason = "buffers are read without the GIL")]

use super::{Column, IntegerSlice, IntegerValues, Values};
use crate::keys::is_byte_format;
use arrow_buffer::{Buffer, NullBuffer};
use pyo3::buffer::{Element, ElementType, PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use std::ops::Range;

/// A contiguous buffer that stays where it is while it is held: the protocol forbids its owner to move or free it.
pub(crate) struct SharedBuffer<T> {
    start: *const T,
    len: usize,
    /// Releases the buffer; it attaches to the interpreter for that.
    _owner: PyBuffer<T>,
}

// SAFETY: the memory belongs to the buffer, which is held and which PyO3 releases on any thread.
unsafe impl<T> Send for SharedBuffer<T> {}
// SAFETY: it is only read.
unsafe impl<T> Sync for SharedBuffer<T> {}

impl<T: Element> SharedBuffer<T> {
    fn new(buffer: PyBuffer<T>) -> Self {
        Self {
            start: buffer.buf_ptr().cast(),
            len: buffer.item_count(),
            _owner: buffer,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Copies some values to `block`, which has as many places.
    pub(super) fn copy_to(&self, range: Range<usize>, block: &mut [T]) {
        assert!(range.end <= self.len && range.len() == block.len());
        if block.is_empty() {
            return;
        }
        // SAFETY: the range is within the buffer, which is contiguous, aligned for `T` and alive. If another thread of the caller's writes to
        // it meanwhile, the integers are old or new ones; every pattern of bits is one.
        unsafe {
            let from = self.start.add(range.start);
            std::ptr::copy_nonoverlapping(from, block.as_mut_ptr(), block.len());
        }
    }
}

/// A column of what the object exports, if it is a buffer of keys.
pub(super) fn column(object: &Bound<'_, PyAny>) -> PyResult<Option<Column>> {
    let Ok(buffer) = PyUntypedBuffer::get(object) else {
        return not_a_buffer(object);
    };
    let format = buffer.format().to_owned();
    if object.is_instance_of::<PyMemoryView>() && is_byte_format(&format) {
        return Ok(None);
    }
    if buffer.dimensions() != 1 {
        return Err(PyValueError::new_err(format!(
            "the array has {} dimensions and keys have one: pass array.ravel()",
            buffer.dimensions()
        )));
    }
    if let Some(letter @ (b's' | b'w')) = format.to_bytes().last().copied() {
        return fixed_text(object, &format.to_string_lossy(), letter).map(Some);
    }
    let is_swapped = cfg!(target_endian = "little") && format.to_bytes().starts_with(b">");
    if is_swapped && buffer.item_size() > 1 {
        return Err(PyTypeError::new_err(
            "the array has another byte order than this machine: pass array.astype(array.dtype.newbyteorder(\"=\"))",
        ));
    }
    let buffer = aligned(object, buffer)?;
    let (py, count) = (object.py(), buffer.item_count());
    Ok(Some(Column::new(
        Values::Integers(match ElementType::from_format(&format) {
            ElementType::SignedInteger { bytes: 1 } => IntegerValues::I8(slice(py, buffer)?),
            ElementType::SignedInteger { bytes: 2 } => IntegerValues::I16(slice(py, buffer)?),
            ElementType::SignedInteger { bytes: 4 } => IntegerValues::I32(slice(py, buffer)?),
            ElementType::SignedInteger { bytes: 8 } => IntegerValues::I64(slice(py, buffer)?),
            ElementType::UnsignedInteger { bytes: 1 } => IntegerValues::U8(slice(py, buffer)?),
            ElementType::UnsignedInteger { bytes: 2 } => IntegerValues::U16(slice(py, buffer)?),
            ElementType::UnsignedInteger { bytes: 4 } => IntegerValues::U32(slice(py, buffer)?),
            ElementType::UnsignedInteger { bytes: 8 } => IntegerValues::U64(slice(py, buffer)?),
            // Python objects, which are keys one by one.
            _ if format.to_bytes() == b"O" => return Ok(None),
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "an array of format {:?} has no keys: pass an array of integers, of fixed-width text or bytes, or of objects",
                    format.to_string_lossy()
                )));
            }
        }),
        masked(object, count)?,
        false,
    )))
}

/// The buffer, or that of a copy if its integers are at odd addresses: fields of packed records are.
fn aligned(object: &Bound<'_, PyAny>, buffer: PyUntypedBuffer) -> PyResult<PyUntypedBuffer> {
    let is_aligned = buffer.buf_ptr().addr().is_multiple_of(buffer.item_size());
    if is_aligned || !object.hasattr(intern!(object.py(), "dtype"))? {
        return Ok(buffer);
    }
    PyUntypedBuffer::get(&object.call_method0(intern!(object.py(), "copy"))?)
}

/// Where a masked array of NumPy has no key.
fn masked(object: &Bound<'_, PyAny>, count: usize) -> PyResult<Option<NullBuffer>> {
    let py = object.py();
    if !object.hasattr(intern!(py, "_mask"))? || !object.hasattr(intern!(py, "dtype"))? {
        return Ok(None);
    }
    let masked = py.import("numpy.ma")?;
    let mask = masked.call_method1("getmaskarray", (object,))?;
    let mask = mask.call_method0(intern!(py, "tobytes"))?;
    let mask = mask.cast::<pyo3::types::PyBytes>()?.as_bytes();
    if mask.len() != count {
        return Err(PyValueError::new_err(
            "the array and its mask have different lengths",
        ));
    }
    Ok(Some(mask.iter().map(|&is_masked| is_masked == 0).collect()))
}

/// Dates and times of NumPy are not buffers, and their objects would be wrong keys.
fn not_a_buffer(object: &Bound<'_, PyAny>) -> PyResult<Option<Column>> {
    let Some(dtype) = object.getattr_opt(intern!(object.py(), "dtype"))? else {
        return Ok(None);
    };
    let kind = dtype.getattr_opt(intern!(dtype.py(), "kind"))?;
    let is_time = kind.is_some_and(|kind| {
        let kind = kind.extract::<String>();
        kind.is_ok_and(|kind| kind == "M" || kind == "m")
    });
    if is_time {
        return Err(PyTypeError::new_err(
            "an array of dates or times has no keys: pass array.astype(\"int64\"), and use the same unit everywhere",
        ));
    }
    Ok(None)
}

/// Contiguous integers stay where they are; others are copied.
fn slice<T: Element + arrow_buffer::ArrowNativeType>(
    py: Python<'_>,
    buffer: PyUntypedBuffer,
) -> PyResult<IntegerSlice<T>> {
    let buffer = buffer.into_typed::<T>()?;
    if buffer.is_c_contiguous() {
        return Ok(IntegerSlice::Shared(SharedBuffer::new(buffer)));
    }
    Ok(IntegerSlice::Copied(buffer.to_vec(py)?))
}

/// NumPy's `S` and `U` arrays: padded with zeros, which are not part of the keys, as NumPy's own comparisons treat them.
fn fixed_text(object: &Bound<'_, PyAny>, format: &str, letter: u8) -> PyResult<Column> {
    let bytes = object.call_method0(intern!(object.py(), "tobytes"))?;
    let bytes = bytes.cast::<pyo3::types::PyBytes>()?.as_bytes();
    let count = object.len()?;
    let width = bytes.len().checked_div(count).unwrap_or(0);
    let (mut packed, mut ends) = (Vec::new(), Vec::with_capacity(count));
    for at in 0..count {
        let value = &bytes[at * width..(at + 1) * width];
        if letter == b's' {
            let end = value.iter().rposition(|&byte| byte != 0);
            packed.extend(&value[..end.map_or(0, |end| end + 1)]);
        } else {
            push_text(value, format.starts_with('>'), &mut packed)?;
        }
        ends.push(packed.len() as i64);
    }
    let mut offsets = vec![0];
    offsets.append(&mut ends);
    let offsets = arrow_buffer::OffsetBuffer::new(offsets.into());
    let values = Values::Long(offsets, Buffer::from_vec(packed));
    Ok(Column::new(values, masked(object, count)?, letter == b'w'))
}

/// UTF-32 with padding, as UTF-8.
fn push_text(value: &[u8], is_big_endian: bool, packed: &mut Vec<u8>) -> PyResult<()> {
    let (points, _) = value.as_chunks::<4>();
    let points = points.iter().map(|&point| {
        if is_big_endian {
            u32::from_be_bytes(point)
        } else {
            u32::from_le_bytes(point)
        }
    });
    let points: Vec<u32> = points.collect();
    let end = points.iter().rposition(|&point| point != 0);
    for &point in &points[..end.map_or(0, |end| end + 1)] {
        let point = char::from_u32(point).ok_or_else(|| {
            PyValueError::new_err(format!(
                "a text has the surrogate U+{point:04X}, which UTF-8 cannot encode: pass bytes"
            ))
        })?;
        packed.extend(point.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(())
}
