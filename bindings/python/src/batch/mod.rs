//! Many keys at once, without a Python object for each: columns of Arrow and NumPy, and packed blocks of what an iterable yields.
//!
//! `arrow.rs` and `buffer.rs` read columns, `items.rs` packs the keys of lists and other iterables, `all_keys.rs` packs all at once. A column is hashed block by block
//! without the GIL.

mod all_keys;
mod arrow;
mod buffer;
mod items;

pub(crate) use all_keys::packed_keys;
pub(crate) use arrow::ArrowBools;
pub(crate) use items::Packer;

use crate::errors::FormatError;
use crate::keys::{Encoder, Integers, Seen, Text, Width};
use arrow_array::BinaryViewArray;
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer};
use buffer::SharedBuffer;
use mayhap::{HashScheme, KeyHash};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use std::ops::Range;

/// Keys that are hashed and looked up at once: as many as the batches of the core.
pub(crate) const BLOCK: usize = 512;

/// What to do with nulls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Nulls {
    Refuse,
    /// They are in no filter, and are not added.
    Skip,
}

impl Nulls {
    pub(crate) fn parse(name: &str) -> PyResult<Self> {
        match name {
            "error" => Ok(Self::Refuse),
            "skip" => Ok(Self::Skip),
            _ => Err(PyValueError::new_err(format!(
                "nulls cannot be {name:?}: use \"error\" or \"skip\""
            ))),
        }
    }

    /// Leaves out a `None` among the items of an iterable.
    pub(crate) fn skip(self) -> PyResult<()> {
        match self {
            Self::Skip => Ok(()),
            Self::Refuse => Err(PyValueError::new_err(
                "a key is None: pass nulls=\"skip\" to leave it out",
            )),
        }
    }
}

/// What the answers look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answers {
    NumPy,
    Arrow,
    PyArrow,
    Polars,
}

/// Keys of a batch.
pub(crate) enum Batch<'py> {
    /// Columns of the same type, which can be read without the GIL.
    Columns(Vec<Column>, Answers),
    /// An iterable of Python objects. The answers are a list, or an array for an array of objects.
    Items(Bound<'py, PyAny>, Option<Answers>),
}

impl<'py> Batch<'py> {
    /// Reads the keys of an argument.
    pub(crate) fn from_object(keys: &Bound<'py, PyAny>, nulls: Nulls) -> PyResult<Self> {
        let is_one_key = keys.is_instance_of::<PyString>()
            || keys.is_instance_of::<PyBytes>()
            || keys.is_instance_of::<PyByteArray>();
        if is_one_key {
            return Err(PyTypeError::new_err(format!(
                "this is one key of type {}, not several: pass a list or an array of keys",
                keys.get_type().name()?
            )));
        }
        if let Some((columns, answers)) = arrow::columns(keys)? {
            check_nulls(&columns, nulls)?;
            return Ok(Self::Columns(columns, answers));
        }
        if let Some(column) = buffer::column(keys)? {
            let columns = vec![column];
            check_nulls(&columns, nulls)?;
            return Ok(Self::Columns(columns, Answers::NumPy));
        }
        if keys.is_instance_of::<PyMemoryView>() {
            return Err(PyTypeError::new_err(
                "this memoryview has bytes, which may be one key or many integers: pass a list of keys, or an array of integers",
            ));
        }
        let is_array = keys.hasattr(intern!(keys.py(), "dtype"))?;
        if is_array && keys.hasattr(intern!(keys.py(), "to_numpy"))? {
            // Older versions of pandas do not export Arrow data.
            return Self::from_object(&keys.call_method0(intern!(keys.py(), "to_numpy"))?, nulls);
        }
        Ok(Self::Items(
            keys.clone(),
            is_array.then_some(Answers::NumPy),
        ))
    }
}

fn check_nulls(columns: &[Column], nulls: Nulls) -> PyResult<()> {
    let count: usize = columns.iter().map(Column::null_count).sum();
    if count == 0 || nulls == Nulls::Skip {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{count} of the keys are null: pass nulls=\"skip\" to leave them out"
    )))
}

/// A column of keys.
pub(crate) struct Column {
    values: Values,
    nulls: Option<NullBuffer>,
    /// Whether the values are text, and not bytes.
    is_text: bool,
}

/// The values of a column, in the layouts that need no copy.
pub(crate) enum Values {
    Integers(IntegerValues),
    Short(OffsetBuffer<i32>, Buffer),
    Long(OffsetBuffer<i64>, Buffer),
    Views(BinaryViewArray),
    /// Values of the same length, and how many there are.
    Fixed {
        bytes: Buffer,
        width: usize,
        count: usize,
    },
    /// Keys that were encoded already: the ends of each.
    Packed {
        bytes: Vec<u8>,
        ends: Vec<usize>,
    },
    /// Indices into other values. Those of nulls are 0.
    Dictionary(Vec<u32>, Box<Values>),
}

/// Integers of one of eight types.
pub(crate) enum IntegerValues {
    I8(IntegerSlice<i8>),
    I16(IntegerSlice<i16>),
    I32(IntegerSlice<i32>),
    I64(IntegerSlice<i64>),
    U8(IntegerSlice<u8>),
    U16(IntegerSlice<u16>),
    U32(IntegerSlice<u32>),
    U64(IntegerSlice<u64>),
}

/// Where integers are: in Arrow's memory, in a buffer of another library, or copied.
pub(crate) enum IntegerSlice<T: ArrowNativeType> {
    Arrow(arrow_buffer::ScalarBuffer<T>),
    Shared(SharedBuffer<T>),
    Copied(Vec<T>),
}

/// Calls a macro body with the slice of integers, whatever its type.
macro_rules! with_integers {
    ($values:expr, $slice:ident => $body:expr) => {
        match $values {
            IntegerValues::I8($slice) => $body,
            IntegerValues::I16($slice) => $body,
            IntegerValues::I32($slice) => $body,
            IntegerValues::I64($slice) => $body,
            IntegerValues::U8($slice) => $body,
            IntegerValues::U16($slice) => $body,
            IntegerValues::U32($slice) => $body,
            IntegerValues::U64($slice) => $body,
        }
    };
}

impl<T: ArrowNativeType + pyo3::buffer::Element> IntegerSlice<T> {
    fn len(&self) -> usize {
        match self {
            Self::Arrow(values) => values.len(),
            Self::Shared(values) => values.len(),
            Self::Copied(values) => values.len(),
        }
    }

    /// Copies some values to the beginning of `block`.
    fn copy_block(&self, range: Range<usize>, block: &mut [T]) {
        let block = &mut block[..range.len()];
        match self {
            Self::Arrow(values) => block.copy_from_slice(&values[range]),
            Self::Shared(values) => values.copy_to(range, block),
            Self::Copied(values) => block.copy_from_slice(&values[range]),
        }
    }
}

impl IntegerValues {
    fn len(&self) -> usize {
        with_integers!(self, slice => slice.len())
    }

    /// The values of a range, extended to 64 bits with their sign.
    fn widen(&self, range: Range<usize>, wide: &mut [u64; BLOCK]) {
        macro_rules! widen {
            ($slice:expr, $type:ty, $through:ty) => {{
                let mut block = [0 as $type; BLOCK];
                $slice.copy_block(range.clone(), &mut block);
                for (wide, value) in wide.iter_mut().zip(&block[..range.len()]) {
                    *wide = <$through>::from(*value) as u64;
                }
            }};
        }
        match self {
            Self::I8(slice) => widen!(slice, i8, i64),
            Self::I16(slice) => widen!(slice, i16, i64),
            Self::I32(slice) => widen!(slice, i32, i64),
            Self::I64(slice) => widen!(slice, i64, i64),
            Self::U8(slice) => widen!(slice, u8, u64),
            Self::U16(slice) => widen!(slice, u16, u64),
            Self::U32(slice) => widen!(slice, u32, u64),
            Self::U64(slice) => slice.copy_block(range, wide),
        }
    }

    fn is_signed(&self) -> bool {
        matches!(
            self,
            Self::I8(_) | Self::I16(_) | Self::I32(_) | Self::I64(_)
        )
    }

    /// The range of the type.
    fn type_range(&self) -> (i128, i128) {
        match self {
            Self::I8(_) => (i8::MIN.into(), i8::MAX.into()),
            Self::I16(_) => (i16::MIN.into(), i16::MAX.into()),
            Self::I32(_) => (i32::MIN.into(), i32::MAX.into()),
            Self::I64(_) => (i64::MIN.into(), i64::MAX.into()),
            Self::U8(_) => (0, u8::MAX.into()),
            Self::U16(_) => (0, u16::MAX.into()),
            Self::U32(_) => (0, u32::MAX.into()),
            Self::U64(_) => (0, u64::MAX.into()),
        }
    }

    /// Whether the type has integers that a filter does not take.
    fn exceeds(&self, width: Width) -> bool {
        let (min, max) = self.type_range();
        min < width.min || max > width.max
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Short(offsets, _) => offsets.len() - 1,
            Self::Long(offsets, _) => offsets.len() - 1,
            Self::Views(values) => arrow_array::Array::len(values),
            Self::Fixed { count, .. } => *count,
            Self::Packed { ends, .. } => ends.len(),
            Self::Dictionary(indices, _) => indices.len(),
        }
    }

    /// The integers among the values, of a dictionary too.
    fn integers(&self) -> Option<&IntegerValues> {
        match self {
            Self::Integers(values) => Some(values),
            Self::Dictionary(_, values) => values.integers(),
            _ => None,
        }
    }

    /// The bytes of value number `at`; not for integers.
    fn bytes(&self, at: usize) -> &[u8] {
        match self {
            Self::Integers(_) => &[],
            Self::Short(offsets, bytes) => &bytes[offsets[at] as usize..offsets[at + 1] as usize],
            Self::Long(offsets, bytes) => &bytes[offsets[at] as usize..offsets[at + 1] as usize],
            Self::Views(values) => values.value(at),
            Self::Fixed { bytes, width, .. } => &bytes[at * width..(at + 1) * width],
            Self::Packed { bytes, ends } => {
                let start = if at == 0 { 0 } else { ends[at - 1] };
                &bytes[start..ends[at]]
            }
            Self::Dictionary(indices, values) => values.bytes(indices[at] as usize),
        }
    }

    /// Integers of a range, extended to 64 bits.
    fn wide(&self, range: Range<usize>, wide: &mut [u64; BLOCK]) {
        match self {
            Self::Integers(values) => values.widen(range, wide),
            Self::Dictionary(indices, values) => {
                for (place, at) in wide.iter_mut().zip(&indices[range]) {
                    let mut one = [0; BLOCK];
                    let at = *at as usize;
                    values.wide(at..at + 1, &mut one);
                    *place = one[0];
                }
            }
            _ => {}
        }
    }

    /// The hashes of a range of byte values. One loop for each layout that is common.
    fn hash(&self, range: Range<usize>, scheme: HashScheme, hashes: &mut [KeyHash]) {
        match self {
            Self::Short(offsets, bytes) => {
                let keys = offsets[range.start..=range.end].windows(2);
                let key = |ends: &[i32]| &bytes[ends[0] as usize..ends[1] as usize];
                scheme.hash_each(keys.map(key), hashes);
            }
            Self::Long(offsets, bytes) => {
                let keys = offsets[range.start..=range.end].windows(2);
                let key = |ends: &[i64]| &bytes[ends[0] as usize..ends[1] as usize];
                scheme.hash_each(keys.map(key), hashes);
            }
            _ => {
                scheme.hash_each(range.map(|at| self.bytes(at)), hashes);
            }
        }
    }
}

impl Column {
    pub(crate) fn new(values: Values, nulls: Option<NullBuffer>, is_text: bool) -> Self {
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        Self {
            values,
            nulls,
            is_text,
        }
    }

    /// Keys that were encoded already.
    pub(crate) fn packed(bytes: Vec<u8>, ends: Vec<usize>) -> Self {
        Self::new(Values::Packed { bytes, ends }, None, false)
    }

    /// The encoded keys of this column, with its nulls.
    fn replaced_by(&self, bytes: Vec<u8>, ends: Vec<usize>) -> Self {
        Self::new(Values::Packed { bytes, ends }, self.nulls.clone(), false)
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    fn null_count(&self) -> usize {
        self.nulls.as_ref().map_or(0, NullBuffer::null_count)
    }

    pub(crate) fn is_null(&self, at: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(at))
    }

    pub(crate) fn has_nulls(&self) -> bool {
        self.nulls.is_some()
    }

    /// Blocks of at most `BLOCK` keys.
    pub(crate) fn blocks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let end = range.end;
        range
            .step_by(BLOCK)
            .map(move |start| start..end.min(start + BLOCK))
    }

    /// Checks that all keys can be encoded. Returns another column if a system encodes them in its own way, and which keys there are.
    pub(crate) fn prepare(&self, encoder: &Encoder) -> PyResult<(Option<Self>, Seen)> {
        if matches!(self.values, Values::Packed { .. }) || self.len() == self.null_count() {
            return Ok((None, Seen::default()));
        }
        let Some(integers) = self.values.integers() else {
            return self.prepare_bytes(encoder);
        };
        match &encoder.integers {
            Integers::Width(width) => {
                let seen = self.check_range(integers, *width)?;
                Ok((None, seen))
            }
            Integers::Read => {
                let is_signed = integers.is_signed();
                let read = |bits: u64| encoder.read_integer(&digits(bits, is_signed));
                self.encode_integers(read)
            }
            Integers::Unknown | Integers::Refused => Err(encoder.no_integers()),
        }
    }

    /// The same for a lookup, which need not know what the keys are: if all integers of the type are in the range, they are not read.
    pub(crate) fn prepare_lookup(&self, encoder: &Encoder) -> PyResult<Option<Self>> {
        if let (Some(integers), Integers::Width(width)) =
            (self.values.integers(), &encoder.integers)
            && !integers.exceeds(*width)
        {
            return Ok(None);
        }
        Ok(self.prepare(encoder)?.0)
    }

    /// Whether single values can be keys although the column cannot be prepared: some digits are numbers, and some numbers are in a range.
    pub(crate) fn may_have_keys_of(&self, encoder: &Encoder) -> bool {
        match self.values.integers() {
            Some(_) => encoder.integers == Integers::Read,
            None => !self.is_text || encoder.text != Text::Refused,
        }
    }

    /// The bytes of one key of a filter of another system, if it is one.
    pub(crate) fn key(&self, at: usize, encoder: &Encoder) -> Option<Vec<u8>> {
        if self.is_null(at) {
            return None;
        }
        let key = match self.values.integers() {
            Some(integers) => {
                let mut wide = [0; BLOCK];
                self.values.wide(at..at + 1, &mut wide);
                encoder.read_integer(&digits(wide[0], integers.is_signed()))
            }
            None if self.is_text => encoder.read_text(self.values.bytes(at)),
            None => encoder.read_bytes(self.values.bytes(at)),
        };
        key.ok()
    }

    fn prepare_bytes(&self, encoder: &Encoder) -> PyResult<(Option<Self>, Seen)> {
        let is_verbatim = if self.is_text {
            encoder.text == Text::Verbatim
        } else {
            encoder.has_verbatim_bytes()
        };
        if is_verbatim {
            return Ok((None, Seen::TEXT));
        }
        if encoder.text == Text::Refused && self.is_text {
            return Err(encoder.no_text());
        }
        let (mut packed, mut ends) = (Vec::new(), Vec::new());
        for at in 0..self.len() {
            if !self.is_null(at) {
                let bytes = self.values.bytes(at);
                packed.extend(if self.is_text {
                    encoder.read_text(bytes)?
                } else {
                    encoder.read_bytes(bytes)?
                });
            }
            ends.push(packed.len());
        }
        Ok((Some(self.replaced_by(packed, ends)), Seen::TEXT))
    }

    fn encode_integers(
        &self,
        read: impl Fn(u64) -> PyResult<Vec<u8>>,
    ) -> PyResult<(Option<Self>, Seen)> {
        let (mut packed, mut ends) = (Vec::new(), Vec::new());
        let mut wide = [0; BLOCK];
        for range in Self::blocks(0..self.len()) {
            self.values.wide(range.clone(), &mut wide);
            for (at, &value) in range.zip(&wide) {
                if !self.is_null(at) {
                    packed.extend(read(value)?);
                }
                ends.push(packed.len());
            }
        }
        Ok((Some(self.replaced_by(packed, ends)), Seen::INTEGER))
    }

    /// Checks that all integers are in the range, and returns which there are.
    fn check_range(&self, integers: &IntegerValues, width: Width) -> PyResult<Seen> {
        let (min, max) = integers.type_range();
        let needs_check = integers.exceeds(width);
        // Types that have no integers of these kinds need not be searched for them.
        if !needs_check && min >= 0 && max <= i64::MAX.into() {
            return Ok(Seen::INTEGER);
        }
        let (mut seen, mut wide) = (Seen::INTEGER, [0_u64; BLOCK]);
        let is_signed = integers.is_signed();
        for range in Self::blocks(0..self.len()) {
            self.values.wide(range.clone(), &mut wide);
            // The sign bit of an integer tells the kinds apart.
            let any = wide[..range.len()].iter().fold(0, |any, value| any | value);
            let has_top_bit = any.cast_signed() < 0;
            if has_top_bit && !self.has_nulls() {
                seen = seen.with(if is_signed {
                    Seen::NEGATIVE
                } else {
                    Seen::LARGE
                });
            }
            if !needs_check && !self.has_nulls() {
                continue;
            }
            for (at, &bits) in range.zip(&wide) {
                let value = if is_signed {
                    i128::from(bits.cast_signed())
                } else {
                    i128::from(bits)
                };
                if self.is_null(at) {
                    continue;
                }
                if bits.cast_signed() < 0 {
                    seen = seen.with(if is_signed {
                        Seen::NEGATIVE
                    } else {
                        Seen::LARGE
                    });
                }
                if !(width.min..=width.max).contains(&value) {
                    return Err(width.overflow(value));
                }
            }
        }
        Ok(seen)
    }

    /// The hashes of a block, those of nulls included.
    pub(crate) fn hash(
        &self,
        range: Range<usize>,
        width: u8,
        scheme: HashScheme,
        hashes: &mut [KeyHash; BLOCK],
    ) {
        if self.values.integers().is_none() {
            self.values.hash(range, scheme, hashes);
            return;
        }
        let mut wide = [0; BLOCK];
        self.values.wide(range.clone(), &mut wide);
        let keys = wide[..range.len()].iter();
        match width {
            1 => scheme.hash_each(keys.map(|&key| key as u8), hashes),
            2 => scheme.hash_each(keys.map(|&key| key as u16), hashes),
            4 => scheme.hash_each(keys.map(|&key| key as u32), hashes),
            _ => scheme.hash_each(keys, hashes),
        };
    }

    /// Calls a function with the bytes of each key that is not null.
    pub(crate) fn for_each_key(
        &self,
        encoder: &Encoder,
        mut call: impl FnMut(&[u8]),
    ) -> PyResult<()> {
        let (other, _) = self.prepare(encoder)?;
        let column = other.as_ref().unwrap_or(self);
        for range in Self::blocks(0..column.len()) {
            let mut scratch = [[0; 8]; BLOCK];
            let keys = column.keys(range.clone(), encoder.width(), &mut scratch);
            for (at, key) in range.zip(keys) {
                if !column.is_null(at) {
                    call(key);
                }
            }
        }
        Ok(())
    }

    /// The bytes of a block's keys, those of nulls included. Integers are written to `scratch`.
    pub(crate) fn keys<'k>(
        &'k self,
        range: Range<usize>,
        width: u8,
        scratch: &'k mut [[u8; 8]; BLOCK],
    ) -> Vec<&'k [u8]> {
        if self.values.integers().is_none() {
            return range.map(|at| self.values.bytes(at)).collect();
        }
        let mut wide = [0; BLOCK];
        self.values.wide(range.clone(), &mut wide);
        for (bytes, value) in scratch.iter_mut().zip(&wide) {
            *bytes = value.to_le_bytes();
        }
        let keys = scratch[..range.len()].iter();
        keys.map(|bytes| &bytes[..width.into()]).collect()
    }
}

/// An integer that was extended to 64 bits, in decimal digits.
fn digits(bits: u64, is_signed: bool) -> String {
    if is_signed {
        bits.cast_signed().to_string()
    } else {
        bits.to_string()
    }
}

/// Offsets that another library claims to be in order.
fn check_offsets<O: Copy + PartialOrd + Into<i64>>(offsets: &[O], bytes: usize) -> PyResult<()> {
    let last = offsets.last().map_or(0, |last| (*last).into());
    let first = offsets.first().map_or(0, |first| (*first).into());
    if first >= 0 && last as usize <= bytes && offsets.is_sorted() {
        return Ok(());
    }
    Err(FormatError::new_err(
        "the Arrow array is damaged: its offsets are not in order",
    ))
}
