//! A column of a row group, read in batches and only where rows are selected.

use super::keys::RowKeys;
use super::parquet_value::{ValueType, write_f32, write_f64, write_int96};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};

pub(crate) struct RowGroupColumn {
    reader: ColumnReader,
    value_type: ValueType,
    /// A value with a lower definition level is null.
    full_level: i16,
    /// Rows to skip before the next read; pages that contain nothing else are not decompressed.
    owed: usize,
}

impl RowGroupColumn {
    pub(crate) fn new(reader: ColumnReader, value_type: ValueType, full_level: i16) -> Self {
        Self {
            reader,
            value_type,
            full_level,
            owed: 0,
        }
    }

    pub(crate) fn skip(&mut self, rows: usize) {
        self.owed += rows;
    }

    /// The values of the next rows as text; rows that are not selected are null.
    pub(crate) fn read(
        &mut self,
        rows: usize,
        chosen: impl Fn(usize) -> bool,
        texts: &mut RowKeys,
    ) -> Result<()> {
        texts.clear();
        let (value_type, full, owed) = (self.value_type, self.full_level, self.owed);
        self.owed = 0;
        let span = ValueRange { rows, owed, full };
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => {
                span.read(reader, chosen, texts, |&v, out| {
                    out.extend_from_slice(if v { b"true" } else { b"false" });
                })
            }
            ColumnReader::Int32ColumnReader(reader) => {
                span.read(reader, chosen, texts, |&v, out| {
                    value_type.write_i32(v, out);
                })
            }
            ColumnReader::Int64ColumnReader(reader) => {
                span.read(reader, chosen, texts, |&v, out| {
                    value_type.write_i64(v, out);
                })
            }
            ColumnReader::Int96ColumnReader(reader) => {
                span.read(reader, chosen, texts, write_int96)
            }
            ColumnReader::FloatColumnReader(reader) => {
                span.read(reader, chosen, texts, |&v, out| write_f32(v, out))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                span.read(reader, chosen, texts, |&v, out| write_f64(v, out))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                span.read(reader, chosen, texts, |v, out| {
                    value_type.write_bytes(v.data(), out);
                })
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                span.read(reader, chosen, texts, |v, out| {
                    value_type.write_bytes(v.data(), out);
                })
            }
        }
    }
}

/// A range of rows, after those to skip.
struct ValueRange {
    rows: usize,
    owed: usize,
    full: i16,
}

impl ValueRange {
    fn read<T: DataType>(
        &self,
        reader: &mut ColumnReaderImpl<T>,
        chosen: impl Fn(usize) -> bool,
        texts: &mut RowKeys,
        write: impl Fn(&T::T, &mut Vec<u8>),
    ) -> Result<()> {
        let skipped = reader.skip_records(self.owed)?;
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let (records, ..) = reader.read_records(self.rows, Some(&mut levels), None, &mut values)?;
        if skipped < self.owed || records < self.rows {
            return Err(ParquetError::General(
                "a column has fewer values than its row group has rows".into(),
            ));
        }
        let mut values = values.iter();
        for row in 0..self.rows {
            let is_null = self.full > 0 && levels.get(row).is_none_or(|&level| level < self.full);
            let value = if is_null { None } else { values.next() };
            match value {
                Some(value) if chosen(row) => texts.push_with(|out| write(value, out)),
                _ => texts.push_null(),
            }
        }
        Ok(())
    }
}
