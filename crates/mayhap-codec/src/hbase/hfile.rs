//! HFiles of versions 2 and 3: the trailer leads to the blocks that are loaded when a file is opened, and these to the chunks.

use super::block::{Block, Codec, HEADER_BYTES};
use super::meta::{Comparator, Meta};
use super::protobuf::{Field, each_field};
use super::{BloomType, Compound, bloom_type, decode, hash_type, is_delete_family};
use crate::cursor::Cursor;
use crate::format::ContainerRow;
use crate::open::{OpenError, OpenOptions, OpenedFilter, check_count, single};
use crate::{DecodeError, Format, Limits, ParameterError, Parameters, Problem, StoredFilter};
use std::borrow::Cow;

const TRAILER_MAGIC: &[u8; 8] = b"TRABLK\"$";
const FILE_INFO_MAGIC: &[u8; 8] = b"FILEINF2";
const GENERAL_MAGIC: &[u8; 8] = b"BLMFMET2";
const DELETE_FAMILY_MAGIC: &[u8; 8] = b"DFBLMET2";
const CHUNK_MAGIC: &[u8; 8] = b"BLMFBLK2";
const FILE_INFO_START: &[u8] = b"PBUF";

/// Bytes of the trailers of versions 1, 2 and 3.
const TRAILER_BYTES: [usize; 3] = [60, 212, 4096];
const VERSION_BYTES: usize = 4;
/// Before this minor version of 2, trailers are not protocol buffers, and blocks of 2.0 have no checksums.
const MIN_MINOR_OF_2: u8 = 2;

/// An HFile.
#[derive(Clone)]
pub struct HFile<'a> {
    bytes: &'a [u8],
    version: (u32, u8),
    codec: Codec,
    load_on_open: u64,
    /// Where the trailer begins.
    end: u64,
    cells: Option<u64>,
    limits: Limits,
}

/// What is loaded when a file is opened.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadOnOpen<'a> {
    /// The type of the general filter; `None` without one.
    pub bloom_type: Option<BloomType>,
    /// The last key of the general filter.
    pub last_bloom_key: Option<Vec<u8>>,
    /// The metadata of the general filter.
    pub general: Option<Cow<'a, [u8]>>,
    /// The metadata of the filter of rows that have a marker that deletes a family.
    pub delete_family: Option<Cow<'a, [u8]>>,
}

impl<'a> HFile<'a> {
    /// Reads the trailer.
    ///
    /// # Errors
    /// When the file is not an HFile of version 2 or 3, or is compressed or encrypted in a way that is not supported.
    pub fn open(bytes: &'a [u8], limits: Limits) -> Result<Self, DecodeError> {
        let at = Cursor::new(bytes, Format::HBase);
        let Some((major, minor, start)) = trailer(bytes) else {
            return Err(at.value("trailer", 0, "that of an HFile of version 2 or 3"));
        };
        let mut at = Cursor::new(bytes, Format::HBase);
        at.take("data", start as u64)?;
        if major == 1 || (major == 2 && minor < MIN_MINOR_OF_2) {
            let version = i128::from(major) * 1000 + i128::from(minor);
            let accepted =
                "2002 or more, which is version 2.2: compact the table with a newer HBase";
            return Err(at.value("version", version, accepted));
        }
        at.take("magic number", TRAILER_MAGIC.len() as u64)?;
        let length = at.varint("length of the trailer")?;
        let mut message = at.part("trailer", length)?;
        let (mut load_on_open, mut codec, mut cells, mut is_encrypted) = (None, 2, None, false);
        each_field(&mut message, |number, field| {
            match (number, field) {
                (2, Field::Number(offset)) => load_on_open = Some(offset),
                (7, Field::Number(count)) => cells = Some(count),
                (12, Field::Number(number)) => codec = number,
                (13, _) => is_encrypted = true,
                (_, Field::Number(_) | Field::Bytes(_) | Field::Other) => {}
            }
            Ok(())
        })?;
        if is_encrypted {
            return Err(at.value(
                "encryption key",
                1,
                "none: encrypted HFiles are not supported",
            ));
        }
        let codec = match codec {
            1 => Codec::Gzip,
            2 => Codec::None,
            other => {
                let accepted = "1 (GZ) or 2 (NONE): files of other codecs are not supported";
                return Err(at.value("compression codec", i128::from(other), accepted));
            }
        };
        let Some(load_on_open) = load_on_open else {
            return Err(at.value("load-on-open offset", 0, "given in the trailer"));
        };
        Ok(Self {
            bytes,
            version: (major, minor),
            codec,
            load_on_open,
            end: start as u64,
            cells,
            limits,
        })
    }

    /// The major and the minor version.
    pub fn version(&self) -> (u32, u8) {
        self.version
    }

    /// The blocks with the file info and the metadata of the filters.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn load_on_open(&self) -> Result<LoadOnOpen<'a>, DecodeError> {
        let mut loaded = LoadOnOpen {
            bloom_type: None,
            last_bloom_key: None,
            general: None,
            delete_family: None,
        };
        let mut offset = self.load_on_open;
        while offset + HEADER_BYTES <= self.end {
            let (magic, end) = Block::skip(self.bytes, offset)?;
            let read = || Block::read(self.bytes, offset, self.codec, self.limits);
            match &magic {
                FILE_INFO_MAGIC => read_file_info(&read()?.data, &mut loaded)?,
                GENERAL_MAGIC => loaded.general = Some(read()?.data),
                DELETE_FAMILY_MAGIC => loaded.delete_family = Some(read()?.data),
                _ => {}
            }
            offset = end;
        }
        Ok(loaded)
    }

    /// The bits of a chunk.
    ///
    /// # Errors
    /// When there is no chunk at the offset, or it is damaged.
    pub fn chunk(&self, offset: u64) -> Result<Cow<'a, [u8]>, DecodeError> {
        Ok(self.chunk_block(offset)?.data)
    }

    fn chunk_block(&self, offset: u64) -> Result<Block<'a>, DecodeError> {
        let block = Block::read(self.bytes, offset, self.codec, self.limits)?;
        if block.magic != *CHUNK_MAGIC {
            let at = Cursor::new(self.bytes, Format::HBase);
            let value = i128::from(u64::from_be_bytes(block.magic));
            return Err(at.value("magic number of a chunk", value, "BLMFBLK2"));
        }
        Ok(block)
    }

    /// The filter of rows, or of rows and columns, if the file has one.
    ///
    /// # Errors
    /// When its blocks are damaged.
    pub fn general(&self) -> Result<Option<Compound>, DecodeError> {
        let loaded = self.load_on_open()?;
        let (Some(meta), Some(bloom_type)) = (&loaded.general, loaded.bloom_type) else {
            return Ok(None);
        };
        self.compound(meta, bloom_type, loaded.last_bloom_key)
            .map(Some)
    }

    /// The filter of rows with a marker that deletes a family, if the file has one.
    ///
    /// # Errors
    /// As [`general`](Self::general).
    pub fn delete_family(&self) -> Result<Option<Compound>, DecodeError> {
        let loaded = self.load_on_open()?;
        let meta = loaded.delete_family.as_deref();
        meta.map(|meta| self.compound(meta, BloomType::Row, None))
            .transpose()
    }

    fn compound(
        &self,
        meta: &[u8],
        bloom_type: BloomType,
        last_key: Option<Vec<u8>>,
    ) -> Result<Compound, DecodeError> {
        let at = Cursor::new(meta, Format::HBase);
        let meta = Meta::decode(meta)?;
        let Some(comparator) = Comparator::from_class(&meta.comparator) else {
            return Err(at.value("comparator", 0, "a class that is known"));
        };
        check_count(Format::HBase, meta.chunks.len(), self.bytes, self.limits)?;
        let probes = u32::try_from(meta.probes).unwrap_or(0);
        let (mut filters, mut end, mut total) = (Vec::new(), 0, 0_u64);
        let mut before: Option<&[u8]> = None;
        for place in &meta.chunks {
            // A small file could otherwise list one chunk many times.
            if place.offset < end {
                let accepted = "after the chunks before it";
                return Err(at.value("offset of a chunk", place.offset.into(), accepted));
            }
            let first_key = &place.first_key;
            let order = before.map_or_else(
                || comparator.compare(first_key, first_key),
                |before| comparator.compare(before, first_key),
            );
            if order.is_none_or(std::cmp::Ordering::is_gt) {
                let accepted = "a key that is not before the chunk before";
                return Err(at.value("first key of a chunk", first_key.len() as i128, accepted));
            }
            before = Some(first_key);
            let Block {
                data, end: next, ..
            } = self.chunk_block(place.offset)?;
            end = next;
            total += data.len() as u64;
            if total > self.limits.max_bytes {
                return Err(at.error(Problem::TooLarge {
                    bytes: total,
                    limit: self.limits.max_bytes,
                }));
            }
            filters.push(decode(&data, probes, meta.hash)?);
        }
        let is_empty_file = self.cells == Some(0);
        Ok(Compound::new(
            meta,
            comparator,
            bloom_type,
            filters,
            last_key,
            is_empty_file,
        ))
    }
}

/// The major and the minor version, and where the trailer begins.
fn trailer(bytes: &[u8]) -> Option<(u32, u8, usize)> {
    let [minor, a, b, c] = *bytes.last_chunk::<VERSION_BYTES>()?;
    let major = u32::from_be_bytes([0, a, b, c]);
    let index = (major as usize).checked_sub(1)?;
    let start = bytes.len().checked_sub(*TRAILER_BYTES.get(index)?)?;
    bytes[start..]
        .starts_with(TRAILER_MAGIC)
        .then_some((major, minor, start))
}

/// Names and values.
fn read_file_info(data: &[u8], loaded: &mut LoadOnOpen<'_>) -> Result<(), DecodeError> {
    let mut at = Cursor::new(data, Format::HBase);
    let start = at.take("file info", FILE_INFO_START.len() as u64)?;
    if start != FILE_INFO_START {
        return Err(at.value(
            "file info",
            i128::from(start[0]),
            "PBUF and a protocol buffer",
        ));
    }
    let length = at.varint("length of the file info")?;
    let mut message = at.part("file info", length)?;
    let (mut type_name, mut parameter) = (None, None);
    each_field(&mut message, |number, field| {
        let (1, Field::Bytes(entry)) = (number, field) else {
            return Ok(());
        };
        let (mut name, mut value) = (&[][..], &[][..]);
        each_field(&mut Cursor::new(entry, Format::HBase), |number, field| {
            match (number, field) {
                (1, Field::Bytes(bytes)) => name = bytes,
                (2, Field::Bytes(bytes)) => value = bytes,
                (_, Field::Number(_) | Field::Bytes(_) | Field::Other) => {}
            }
            Ok(())
        })?;
        match name {
            b"BLOOM_FILTER_TYPE" => type_name = Some(value),
            b"BLOOM_FILTER_PARAM" => parameter = Some(value),
            b"LAST_BLOOM_KEY" => loaded.last_bloom_key = Some(value.to_vec()),
            _ => {}
        }
        Ok(())
    })?;
    let length = parameter.and_then(|value| <[u8; 4]>::try_from(value).ok());
    let length = length.map(u32::from_be_bytes);
    loaded.bloom_type = match (type_name, length) {
        (None | Some(b"NONE"), _) => None,
        (Some(b"ROW"), _) => Some(BloomType::Row),
        (Some(b"ROWCOL"), _) => Some(BloomType::RowColumn),
        (Some(b"ROWPREFIX_FIXED_LENGTH"), Some(length @ 1..)) => {
            Some(BloomType::RowPrefix { length })
        }
        (Some(other), _) => {
            let accepted = "ROW, ROWCOL, or ROWPREFIX_FIXED_LENGTH with a length";
            return Err(at.value("type of the filter", other.len() as i128, accepted));
        }
    };
    Ok(())
}

pub(crate) const CONTAINER: ContainerRow = ContainerRow {
    contents: |bytes, _| Ok(trailer(bytes).map(|_| Cow::Borrowed(bytes))),
    formats: &[Format::HBase],
    open,
};

/// The general filter, or that of deleted families if the parameters ask for it.
fn open(bytes: &[u8], options: &OpenOptions) -> Result<Vec<OpenedFilter>, OpenError> {
    let parameters = Parameters::new(Format::HBase, &options.parameters)?;
    let file = HFile::open(bytes, options.limits)?;
    let filter = if is_delete_family(&parameters)? {
        file.delete_family()?
    } else {
        file.general()?
    };
    let Some(filter) = filter else {
        return Ok(Vec::new());
    };
    check_agreement(&parameters, &filter)?;
    Ok(single(StoredFilter::foreign(filter)))
}

/// Parameters are for chunks by themselves. In a file they may repeat what it says.
fn check_agreement(parameters: &Parameters, filter: &Compound) -> Result<(), ParameterError> {
    let refuse = |name: &str, value: &str, stored: &str| {
        Err(ParameterError::Value {
            name: name.to_owned(),
            value: value.to_owned(),
            expected: format!("{stored}, as the file says: leave out the parameter"),
        })
    };
    let (hash, bloom) = (filter.hash_type(), filter.bloom_type());
    match (hash_type(parameters)?, bloom_type(parameters)?) {
        (Some(given), _) if given != hash => refuse("hash", given.name(), hash.name()),
        (_, Some(given)) if given != bloom => refuse("type", given.name(), bloom.name()),
        _ => Ok(()),
    }
}
