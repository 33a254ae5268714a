//! DUMP payloads: a value as RDB files have it, and a trailer.
//!
//! | bytes | what |
//! | --- | --- |
//! | 1 | type of the value, 7: a module's |
//! | 9 | id of the module's type, with the version of its encoding in the lowest ten bits |
//! | | its fields, each with a tag before it |
//! | 1 | 0, the end of the fields |
//! | 2, 8 | the version of RDB, and CRC-64 of all that comes before, little-endian |
//!
//! The current encodings, version 4, are written. An engine rejects versions of RDB that are newer than its own: Redis 7.0 has 10,
//! Redis 8.0 has 12, Valkey 9.1 has 80.

use super::bloom::MAX_LAYERS;
use super::fields::{DecodePosition, Payload, Sink, Source};
use super::layer::{Layer, Shape};
use super::value::{self, Budget};
use super::{Bloom, Cuckoo, Filter, cuckoo};
use crate::crc_table::CrcTable;
use crate::cursor::Cursor;
use crate::{DecodeError, Format, Limits, Problem};
use crc::{CRC_64_REDIS, Crc};
use mayhap_core::ClassicCuckoo;

/// The type of a module's value.
pub(super) const MODULE: u8 = 7;
pub(super) const TRAILER: usize = 10;

/// The version of the encodings that are written, and the last that is read.
const ENCODING: u16 = 4;
const VERSION_MASK: u64 = 0x3ff;
const BLOOM: &[u8; 9] = b"MBbloom--";
const CUCKOO: &[u8; 9] = b"MBbloomCF";

pub(super) const CRC: Crc<u64, CrcTable> = Crc::<u64, CrcTable>::new(&CRC_64_REDIS);

/// The version of RDB in a payload's trailer.
pub fn rdb_version(payload: &[u8]) -> Option<u16> {
    let trailer = payload.last_chunk::<TRAILER>()?;
    Some(u16::from_le_bytes([trailer[0], trailer[1]]))
}

/// The same payload for engines with this version of RDB. The values of modules are written in the same way since version 9.
pub fn with_rdb_version(mut payload: Vec<u8>, rdb: u16) -> Vec<u8> {
    payload.truncate(payload.len().saturating_sub(TRAILER));
    append_trailer(payload, rdb)
}

/// Reads a DUMP of a filter of either family, in any version of its encoding.
///
/// # Errors
/// When it is something else, its checksum is wrong, or it takes more memory than the limits allow.
pub fn decode(payload: &[u8], limits: Limits) -> Result<Filter, DecodeError> {
    read(payload, limits, |id, fields| Filter::load(id, fields))
}

/// The type of a module's value, and the version of its encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeId(u64);

impl TypeId {
    /// The id of a type with that name.
    pub const fn new(name: &[u8; 9], version: u16) -> Self {
        Self(value::type_id(name, version as u64 & VERSION_MASK))
    }

    /// The id with this number.
    pub(super) const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// The nine characters of its name.
    pub fn name(self) -> String {
        value::type_name(self.0)
    }

    /// Whether the type has this name, whatever the version.
    pub const fn is(self, name: &[u8; 9]) -> bool {
        self.0 & !VERSION_MASK == value::type_id(name, 0)
    }

    /// The version of the encoding.
    pub const fn version(self) -> u64 {
        self.0 & VERSION_MASK
    }

    /// The error for a type that no filter has.
    pub fn refused(self, at: &impl DecodePosition, accepted: &'static str) -> DecodeError {
        at.value("type of the module", i128::from(self.0), accepted)
    }
}

/// Reads a DUMP of a module's value, whose fields `load` reads.
///
/// # Errors
/// When it is something else, its checksum is wrong, it takes more memory than the limits allow, or `load` fails.
pub fn read<'a, T>(
    payload: &'a [u8],
    limits: Limits,
    load: impl FnOnce(TypeId, &mut Payload<'a, '_>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    let (id, mut at) = open(payload)?;
    let budget = &mut Budget::new(limits);
    let mut fields = Payload {
        at: &mut at,
        budget,
    };
    let loaded = load(id, &mut fields)?;
    value::end(&mut at)?;
    at.finish()?;
    Ok(loaded)
}

/// The DUMP of a module's value, whose fields `save` writes, for engines with this version of RDB.
pub fn write(id: TypeId, rdb: u16, save: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = vec![MODULE];
    value::put_length(&mut out, id.0);
    save(&mut out);
    value::put_length(&mut out, value::END);
    append_trailer(out, rdb)
}

/// The id of a module's value, its checksum verified, and its fields.
fn open(payload: &[u8]) -> Result<(TypeId, Cursor<'_>), DecodeError> {
    let mut at = Cursor::new(payload, Format::RedisBloomDump);
    let Some(body) = payload.len().checked_sub(TRAILER) else {
        return Err(at.error(Problem::Cut {
            what: "trailer",
            needed: TRAILER as u64,
            left: payload.len() as u64,
        }));
    };
    let (summed, sum) = payload.split_at(payload.len() - 8);
    let kind = at.u8("type of the value")?;
    if kind != MODULE {
        let accepted = "7, a module's: other values are no filters";
        return Err(at.value("type of the value", i128::from(kind), accepted));
    }
    if CRC.checksum(summed).to_le_bytes() != sum {
        return Err(at.error(Problem::Checksum));
    }
    let mut at = Cursor::new(&payload[..body], Format::RedisBloomDump);
    at.u8("type of the value")?;
    let id = value::read_length(&mut at, "type of the module")?;
    Ok((TypeId(id), at))
}

/// The filter in the fields of a value of this type; `None`, and nothing is read, when it is no filter.
pub(super) fn fields_of_filter(
    id: TypeId,
    fields: &mut Payload<'_, '_>,
) -> Result<Option<Filter>, DecodeError> {
    if !id.is(BLOOM) && !id.is(CUCKOO) {
        return Ok(None);
    }
    Filter::load(id, fields).map(Some)
}

fn read_bloom(at: &mut impl Source, version: u64) -> Result<Bloom, DecodeError> {
    let items = at.unsigned("items")?;
    let count = at.unsigned("layers")?;
    if !(1..=MAX_LAYERS).contains(&count) {
        return Err(at.value("layers", i128::from(count), "1 to 1100"));
    }
    let options = match version {
        0 | 1 => 0,
        _ => word(at, "options")?,
    };
    let growth = match version {
        0..4 => 2,
        _ => word(at, "growth")?,
    };
    let mut layers = Vec::new();
    for _ in 0..count {
        layers.push(read_layer(at, version, options)?);
    }
    Bloom::from_parts(at, (items, options, growth), layers)
}

fn read_layer(at: &mut impl Source, version: u64, options: u32) -> Result<Layer, DecodeError> {
    let capacity = at.unsigned("capacity")?;
    let error = at.double("error")?;
    let hashes = word(at, "hashes")?;
    let bits_per_entry = at.double("bits per entry")?;
    let (bits, n2) = if version == 0 {
        ((capacity as f64 * bits_per_entry) as u64, 0)
    } else {
        (at.unsigned("bits")?, at.unsigned("n2")?)
    };
    let bytes = at.string("bits of a layer")?;
    let shape = Shape {
        bytes: bytes.len() as u64,
        bits,
        error,
        bits_per_entry,
        hashes,
        capacity,
        n2: u8::try_from(n2).unwrap_or(u8::MAX),
    };
    shape.check(at)?;
    let items = at.unsigned("items of a layer")?;
    Layer::from_bytes(shape, items, options, &bytes).map_err(|error| at.error(Problem::Plan(error)))
}

fn word(at: &mut impl Source, what: &'static str) -> Result<u32, DecodeError> {
    let number = at.unsigned(what)?;
    u32::try_from(number).map_err(|_| at.value(what, i128::from(number), "a number of 32 bits"))
}

fn read_cuckoo(at: &mut impl Source, version: u64) -> Result<Cuckoo, DecodeError> {
    let count = at.unsigned("tables")?;
    let buckets = at.unsigned("buckets")?;
    let items = at.unsigned("items")?;
    let (deleted, plan) = if version < 4 {
        let (_, bucket_size, moves, expansion) = Cuckoo::DEFAULTS;
        let (moves, expansion) = (u64::from(moves), u64::from(expansion));
        let plan = cuckoo::plan(at, buckets, u64::from(bucket_size), moves, expansion)?;
        (0, plan)
    } else {
        let deleted = at.unsigned("deleted items")?;
        let bucket_size = at.unsigned("bucket size")?;
        let moves = at.unsigned("most iterations")?;
        let expansion = at.unsigned("expansion")?;
        (
            deleted,
            cuckoo::plan(at, buckets, bucket_size, moves, expansion)?,
        )
    };
    let count = cuckoo::check_tables(at, count, plan.expansion())?;
    let mut tables = Vec::new();
    for number in 0..count {
        if version >= 4 {
            let buckets = at.unsigned("buckets of a table")?;
            if plan.buckets_of(number) != Ok(buckets) {
                let accepted = "those of the first table times expansion^number";
                return Err(at.value("buckets of a table", i128::from(buckets), accepted));
            }
        }
        tables.push(at.string("table")?.into());
    }
    ClassicCuckoo::from_parts(plan, tables, items, deleted)
        .map(Cuckoo::from_filter)
        .map_err(|error| at.error(Problem::Plan(error)))
}

impl Filter {
    /// The DUMP for engines with this version of RDB.
    pub fn dump(&self, rdb: u16) -> Vec<u8> {
        match self {
            Self::Bloom(filter) => filter.dump(rdb),
            Self::Cuckoo(filter) => filter.dump(rdb),
        }
    }

    /// Reads the fields of a value of this type, in any version of its encoding.
    ///
    /// # Errors
    /// When the type is no filter's or newer, or the fields are not those of one.
    pub fn load(id: TypeId, at: &mut impl Source) -> Result<Self, DecodeError> {
        let version = id.version();
        let is_bloom = id.is(BLOOM);
        if !is_bloom && !id.is(CUCKOO) {
            return Err(id.refused(at, "that of MBbloom-- or MBbloomCF"));
        }
        if version > ENCODING.into() {
            return Err(at.value("version of the encoding", i128::from(version), "0 to 4"));
        }
        Ok(if is_bloom {
            Self::Bloom(read_bloom(at, version)?)
        } else {
            Self::Cuckoo(read_cuckoo(at, version)?)
        })
    }
}

impl Bloom {
    /// The DUMP for engines with this version of RDB: Redis 7.0 and later read 10.
    pub fn dump(&self, rdb: u16) -> Vec<u8> {
        write(Self::TYPE, rdb, |out| self.save(out))
    }

    /// The type of such values, and the encoding that is written.
    pub const TYPE: TypeId = TypeId::new(BLOOM, ENCODING);

    /// Writes the fields of the value.
    pub fn save(&self, out: &mut impl Sink) {
        let (items, options, growth, layers) = self.parts();
        for count in [items, layers.len() as u64, options.into(), growth.into()] {
            out.unsigned(count);
        }
        for layer in layers {
            let shape = &layer.shape;
            out.unsigned(shape.capacity);
            out.double(shape.error);
            out.unsigned(shape.hashes.into());
            out.double(shape.bits_per_entry);
            out.unsigned(shape.bits);
            out.unsigned(shape.n2.into());
            out.string(&layer.bytes());
            out.unsigned(layer.items);
        }
    }
}

impl Cuckoo {
    /// The DUMP for engines with this version of RDB: Redis 7.0 and later read 10.
    pub fn dump(&self, rdb: u16) -> Vec<u8> {
        write(Self::TYPE, rdb, |out| self.save(out))
    }

    /// The type of such values, and the encoding that is written.
    pub const TYPE: TypeId = TypeId::new(CUCKOO, ENCODING);

    /// Writes the fields of the value.
    pub fn save(&self, out: &mut impl Sink) {
        let info = self.info();
        let counts = [
            info.tables,
            info.buckets,
            info.items,
            info.deleted,
            info.bucket_size.into(),
            info.max_iterations.into(),
            info.expansion.into(),
        ];
        for count in counts {
            out.unsigned(count);
        }
        for table in self.filter().tables() {
            out.unsigned(table.len() as u64 / u64::from(info.bucket_size));
            out.string(table);
        }
    }
}

/// Appends version and checksum.
pub(super) fn append_trailer(mut out: Vec<u8>, rdb: u16) -> Vec<u8> {
    out.extend_from_slice(&rdb.to_le_bytes());
    let sum = CRC.checksum(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}
