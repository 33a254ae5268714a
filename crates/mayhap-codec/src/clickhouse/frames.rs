//! ClickHouse's compressed frames, in which an index is stored on disk: checksum, method, sizes, data.

use crate::cursor::Cursor;
use crate::format::ContainerRow;
use crate::open::{self, OpenError, Setting};
use crate::{DecodeError, Format, Limits, Problem};
use mayhap_core::foreign::city;
use std::borrow::Cow;

/// Method, compressed size, size.
const HEADER: u64 = 9;
const LZ4: u8 = 0x82;
const STORED: u8 = 0x02;

/// The decompressed contents of all frames of a file.
///
/// # Errors
/// When a frame is cut off, its checksum is wrong or its method unknown, or when all together are larger than is allowed.
pub fn decompress(bytes: &[u8], limits: Limits) -> Result<Vec<u8>, DecodeError> {
    let mut at = Cursor::new(bytes, Format::ClickHouse);
    let mut out = Vec::new();
    while at.left() > 0 {
        let sums = (at.u64_le("checksum")?, at.u64_le("checksum")?);
        let mut frame = at.clone();
        let method = at.u8("method")?;
        let packed = u64::from(at.u32_le("compressed size")?);
        let size = u64::from(at.u32_le("size")?);
        let Some(length) = packed.checked_sub(HEADER) else {
            return Err(at.value("compressed size", i128::from(packed), "9 or more"));
        };
        let data = at.take("data", length)?;
        if city::hash128(frame.take("frame", packed)?) != sums {
            return Err(at.error(Problem::Checksum));
        }
        let total = size + out.len() as u64;
        if total > limits.max_bytes {
            return Err(at.error(Problem::TooLarge {
                bytes: total,
                limit: limits.max_bytes,
            }));
        }
        match method {
            STORED if size == length => out.extend_from_slice(data),
            LZ4 => {
                // A byte of LZ4 expands to 255 at most.
                if size > 256 * (length + 1) {
                    return Err(at.value("size", i128::from(size), "what so few bytes can hold"));
                }
                let unpacked = lz4_flex::block::decompress(data, size as usize);
                match unpacked {
                    Ok(unpacked) if unpacked.len() as u64 == size => {
                        out.extend_from_slice(&unpacked);
                    }
                    _ => return Err(at.value("size", i128::from(size), "the size of the data")),
                }
            }
            other => {
                return Err(at.value("method", i128::from(other), "0x82 (LZ4) or 0x02 (stored)"));
            }
        }
    }
    Ok(out)
}

pub(crate) const CONTAINER: ContainerRow = ContainerRow {
    // The checksums of frames tell them from all other bytes.
    contents: |bytes, limits| match decompress(bytes, limits) {
        Ok(_) if bytes.is_empty() => Ok(None),
        Ok(contents) => Ok(Some(Cow::Owned(contents))),
        Err(error) if matches!(error.problem, Problem::TooLarge { .. }) => Err(error),
        Err(_) => Ok(None),
    },
    formats: &[Format::ClickHouse, Format::ClickHouseTokenbf],
    open: |contents, options| {
        let format = match options.format {
            Some(format) => format,
            None if options.rate.is_some() => Format::ClickHouse,
            None if options.probes.is_some() => Format::ClickHouseTokenbf,
            None => {
                return Err(OpenError::Missing {
                    format: Format::ClickHouse,
                    any_of: &[Setting::FalsePositiveRate, Setting::Probes],
                    definition: "bloom_filter(rate), or tokenbf_v1 or ngrambf_v1 with their hashes",
                });
            }
        };
        open::decode(contents, format, options)
    },
};
