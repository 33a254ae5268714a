//! Checked reads from untrusted bytes: nothing is read past the end, and a length is used only if there are as many bytes.

use crate::{DecodeError, Format, Problem};

/// A position in the bytes of a file.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    format: Format,
}

macro_rules! numbers {
    ($($name:ident: $type:ty = $from:ident),* $(,)?) => {
        $(pub(crate) fn $name(&mut self, what: &'static str) -> Result<$type, DecodeError> {
            Ok(<$type>::$from(self.array(what)?))
        })*
    };
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], format: Format) -> Self {
        Self {
            bytes,
            at: 0,
            format,
        }
    }

    numbers! {
        u8: u8 = from_le_bytes,
        u32_le: u32 = from_le_bytes,
        u64_le: u64 = from_le_bytes,
        f64_le: f64 = from_le_bytes,
        u16_le: u16 = from_le_bytes,
        i32_be: i32 = from_be_bytes,
        f64_be: f64 = from_be_bytes,
        u32_be: u32 = from_be_bytes,
        u64_be: u64 = from_be_bytes,
        i64_be: i64 = from_be_bytes,
        u16_be: u16 = from_be_bytes,
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let left = &self.bytes[self.at..];
        let Some(array) = left.first_chunk() else {
            let (needed, left) = (N as u64, left.len() as u64);
            return Err(self.error(Problem::Cut { what, needed, left }));
        };
        self.at += N;
        Ok(*array)
    }

    /// The next `count` bytes.
    pub(crate) fn take(&mut self, what: &'static str, count: u64) -> Result<&'a [u8], DecodeError> {
        self.check_left(what, count)?;
        let taken = &self.bytes[self.at..self.at + count as usize];
        self.at += count as usize;
        Ok(taken)
    }

    /// A cursor over the next `count` bytes, whose offsets are those of the whole.
    pub(crate) fn part(&mut self, what: &'static str, count: u64) -> Result<Self, DecodeError> {
        let at = self.at;
        self.take(what, count)?;
        Ok(Self {
            bytes: &self.bytes[..self.at],
            at,
            format: self.format,
        })
    }

    /// An error if fewer bytes are left, before anything is allocated for them.
    pub(crate) fn check_left(&self, what: &'static str, needed: u64) -> Result<(), DecodeError> {
        let left = self.left();
        if needed > left {
            return Err(self.error(Problem::Cut { what, needed, left }));
        }
        Ok(())
    }

    /// A LEB128 number: groups of seven bits, the lowest first.
    pub(crate) fn varint(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8(what)?;
            let group = u64::from(byte & 0x7f);
            if group << shift >> shift != group {
                return Err(self.value(what, i128::from(byte), "a number of 64 bits"));
            }
            number |= group << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.value(what, i128::from(number), "a number of at most ten bytes"))
    }

    pub(crate) fn left(&self) -> u64 {
        (self.bytes.len() - self.at) as u64
    }

    /// An error if bytes are left.
    pub(crate) fn finish(&self) -> Result<(), DecodeError> {
        match self.left() {
            0 => Ok(()),
            bytes => Err(self.error(Problem::Trailing { bytes })),
        }
    }

    pub(crate) fn value(
        &self,
        field: &'static str,
        value: i128,
        accepted: &'static str,
    ) -> DecodeError {
        self.error(Problem::Value {
            field,
            value,
            accepted,
        })
    }

    pub(crate) fn error(&self, problem: Problem) -> DecodeError {
        DecodeError {
            format: self.format,
            offset: self.at as u64,
            problem,
        }
    }
}
