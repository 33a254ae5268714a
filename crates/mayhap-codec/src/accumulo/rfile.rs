//! RFiles (`.rf`), which are BCFiles: an index at the end names their meta blocks, and `data:acu_bloom` is the filter.

use crate::cursor::Cursor;
use crate::format::ContainerRow;
use crate::open::{OpenError, OpenOptions, OpenedFilter, single};
use crate::{DecodeError, Format, Limits, StoredFilter, inflate};
use std::borrow::Cow;

const MAGIC: [u8; 16] = [
    0xd1, 0x11, 0xd3, 0x68, 0x91, 0xb5, 0xd7, 0xb6, 0x39, 0xdf, 0x41, 0x40, 0x92, 0xba, 0xe1, 0x50,
];
const BLOOM: &[u8] = b"data:acu_bloom";
/// What a file that is not encrypted has in the place of its cryptography.
const NO_CRYPTOGRAPHY: &[u8] = b"U+1F47B";

/// The content of the block `acu_bloom`, if the file has one.
///
/// # Errors
/// When the file is not an RFile of version 1 or 3, is encrypted, or the block is damaged or compressed in another way than by zlib.
pub fn acu_bloom(bytes: &[u8], limits: Limits) -> Result<Option<Cow<'_, [u8]>>, DecodeError> {
    let mut at = meta_index(bytes)?;
    let count = vlong(&mut at, "number of meta blocks")?;
    for _ in 0..count {
        let name = text(&mut at, "name of a meta block")?;
        let codec = text(&mut at, "codec of a meta block")?;
        let offset = vlong(&mut at, "offset of a meta block")?;
        let size = vlong(&mut at, "size of a meta block")?;
        let raw_size = vlong(&mut at, "raw size of a meta block")?;
        if name != BLOOM {
            continue;
        }
        let mut block = Cursor::new(bytes, Format::Accumulo);
        block.take("data before a block", offset)?;
        let start = block.clone();
        let data = block.take("block", size)?;
        return match codec {
            b"none" if size == raw_size => Ok(Some(Cow::Borrowed(data))),
            b"gz" => {
                inflate::zlib(&start, data, raw_size, limits).map(|data| Some(Cow::Owned(data)))
            }
            other => {
                let accepted =
                    "gz, or none with equal sizes: files of other codecs are not supported";
                Err(start.value("codec of a block", other.len() as i128, accepted))
            }
        };
    }
    Ok(None)
}

/// The index of the meta blocks, which the last bytes of the file lead to.
fn meta_index(bytes: &[u8]) -> Result<Cursor<'_>, DecodeError> {
    let at = Cursor::new(bytes, Format::Accumulo);
    let Some(body) = bytes.strip_suffix(&MAGIC) else {
        return Err(at.value("magic number", 0, "that of an RFile"));
    };
    let Some((body, &[a, b, _, _])) = body.split_last_chunk::<4>() else {
        return Err(at.value("length", bytes.len() as i128, "that of an RFile"));
    };
    let major = i16::from_be_bytes([a, b]);
    let offsets: usize = match major {
        1 => 1,
        3 => 2,
        other => {
            let accepted = "1 (Accumulo 1) or 3 (Accumulo 2)";
            return Err(at.value("version of the file", i128::from(other), accepted));
        }
    };
    let Some(start) = body.len().checked_sub(8 * offsets) else {
        return Err(at.value("length", bytes.len() as i128, "that of an RFile"));
    };
    let mut trailer = Cursor::new(&body[start..], Format::Accumulo);
    let index = trailer.u64_be("offset of the meta index")?;
    let seek = |offset| {
        let mut at = Cursor::new(body, Format::Accumulo);
        at.take("data before a block", offset)?;
        Ok(at)
    };
    if major == 3 {
        let mut at: Cursor<'_> = seek(trailer.u64_be("offset of the cryptography")?)?;
        let length = at.u32_be("length of the cryptography")?;
        let name = at.take("cryptography", u64::from(length))?;
        if name != NO_CRYPTOGRAPHY {
            let accepted = "none: encrypted RFiles are not supported";
            return Err(at.value("cryptography", i128::from(length), accepted));
        }
    }
    seek(index)
}

fn text<'a>(at: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], DecodeError> {
    let length = vlong(at, what)?;
    at.take(what, length)
}

/// A variable-length number of `TFile`, which is not negative here. It is not Hadoop's other one.
fn vlong(at: &mut Cursor<'_>, what: &'static str) -> Result<u64, DecodeError> {
    let first = i64::from(at.u8(what)?.cast_signed());
    // The first byte holds the highest bits, or says how many bytes follow.
    let (high, more) = match first {
        -32.. => (first, 0),
        -72..=-33 => (first + 52, 1),
        -104..=-73 => (first + 88, 2),
        -120..=-105 => (first + 112, 3),
        ..=-121 => (0, first + 129),
    };
    let mut number = high;
    for place in 0..more {
        let byte = at.u8(what)?;
        number = if first <= -121 && place == 0 {
            i64::from(byte.cast_signed())
        } else {
            number << 8 | i64::from(byte)
        };
    }
    u64::try_from(number).map_err(|_| at.value(what, i128::from(number), "not negative"))
}

pub(crate) const CONTAINER: ContainerRow = ContainerRow {
    contents: |bytes, _| Ok(bytes.ends_with(&MAGIC).then_some(Cow::Borrowed(bytes))),
    formats: &[Format::Accumulo],
    open,
};

fn open(bytes: &[u8], options: &OpenOptions) -> Result<Vec<OpenedFilter>, OpenError> {
    crate::Parameters::new(Format::Accumulo, &options.parameters)?;
    let Some(block) = acu_bloom(bytes, options.limits)? else {
        return Ok(Vec::new());
    };
    let filter = super::decode(&block)?;
    Ok(single(StoredFilter::foreign(filter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_tfiles() {
        for (bytes, number) in [
            (&[0][..], 0),
            (&[127], 127),
            // -52 and -33 begin numbers of two bytes.
            (&[0xcc, 200], 200),
            (&[0xdf, 255], 19 * 256 + 255),
            (&[0xa8, 0x12, 0x34], 0x1234),
            (&[0x90, 1, 2, 3], 0x01_0203),
            (&[0x84, 0x7f, 0, 0, 0, 1], 0x7f_0000_0001),
            (
                &[0x88, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                0,
            ),
        ] {
            let mut at = Cursor::new(bytes, Format::Accumulo);
            let read = vlong(&mut at, "number");
            if number == 0 && bytes.len() > 1 {
                // -120 begins a number of four bytes, which is negative here.
                assert!(read.is_err(), "{bytes:x?}");
            } else {
                assert_eq!(read, Ok(number), "{bytes:x?}");
            }
        }
        for bytes in [
            &[0xff][..],
            &[0xe0],
            &[0xcb, 0],
            &[0x80, 0xff],
            &[0xcc],
            &[],
        ] {
            let mut at = Cursor::new(bytes, Format::Accumulo);
            assert!(vlong(&mut at, "number").is_err(), "{bytes:x?}");
        }
    }
}
