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
//! Written are the current encodings, version 4. An engine refuses versions of RDB that are newer than its own: Redis 7.0 has 10,
//! Redis 8.0 has 12, Valkey 9.1 has 80.

use super::bloom::MOST_LAYERS;
use super::layer::{Layer, Shape};
use super::value::{self, Budget};
use super::{Bloom, Cuckoo, Filter, cuckoo};
use crate::cursor::Cursor;
use crate::{DecodeError, Format, Limits, Problem};
use crc::{CRC_64_REDIS, Crc, Table};
use mayhap::ClassicCuckoo;
use std::borrow::Cow;

/// The type of a module's value.
pub(super) const MODULE: u8 = 7;
pub(super) const TRAILER: usize = 10;

/// The version of the encodings that are written, and the last that is read.
const ENCODING: u64 = 4;
const VERSION_MASK: u64 = 0x3ff;
const BLOOM: u64 = value::type_id(b"MBbloom--", 0);
const CUCKOO: u64 = value::type_id(b"MBbloomCF", 0);

pub(super) const CRC: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

/// The version of RDB in a payload's trailer.
pub fn rdb_version(payload: &[u8]) -> Option<u16> {
    let trailer = payload.last_chunk::<TRAILER>()?;
    Some(u16::from_le_bytes([trailer[0], trailer[1]]))
}

/// Reads what DUMP answered for a filter of either family, in any version of its encoding.
///
/// # Errors
/// When it is something else, its checksum is wrong, or it takes more memory than the limits allow.
pub fn decode(payload: &[u8], limits: Limits) -> Result<Filter, DecodeError> {
    let (id, mut at) = open(payload)?;
    let Some(filter) = filter(&mut at, id, &mut Budget::new(limits))? else {
        let accepted = "that of MBbloom-- or MBbloomCF";
        return Err(at.value("type of the module", i128::from(id), accepted));
    };
    at.finish()?;
    Ok(filter)
}

/// A module's value that is one string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleString<'a> {
    /// Of its type.
    pub name: &'static [u8; 9],
    /// Of its encoding.
    pub version: u16,
    /// Unpacked.
    pub bytes: Cow<'a, [u8]>,
}

/// The value that is one string of a module's; `None` when the payload holds another
/// type than those of these names.
///
/// # Errors
/// When it is no payload, its checksum is wrong, or the string takes more memory than the limits allow.
pub fn string_of<'a>(
    payload: &'a [u8],
    names: &[&'static [u8; 9]],
    limits: Limits,
) -> Result<Option<ModuleString<'a>>, DecodeError> {
    let (id, mut at) = open(payload)?;
    let is_named = |name: &&&'static [u8; 9]| id & !VERSION_MASK == value::type_id(name, 0);
    let Some(&name) = names.iter().find(is_named) else {
        return Ok(None);
    };
    let bytes = value::string(&mut at, "value", &mut Budget::new(limits))?;
    value::end(&mut at)?;
    at.finish()?;
    Ok(Some(ModuleString {
        name,
        version: (id & VERSION_MASK) as u16,
        bytes,
    }))
}

/// What DUMP answers for a value that is one string of a module's, in an engine of this version of RDB.
pub fn of_string(name: &[u8; 9], version: u16, bytes: &[u8], rdb: u16) -> Vec<u8> {
    let mut out = vec![MODULE];
    let version = u64::from(version) & VERSION_MASK;
    value::put_length(&mut out, value::type_id(name, version));
    value::put_string(&mut out, bytes);
    trail(out, rdb)
}

/// The id of a module's value, its checksum verified, and its fields.
fn open(payload: &[u8]) -> Result<(u64, Cursor<'_>), DecodeError> {
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
    Ok((id, at))
}

/// The fields of a value whose type has this id, up to their end; `None`, and nothing is read, when it is no filter's.
pub(super) fn filter(
    at: &mut Cursor<'_>,
    id: u64,
    budget: &mut Budget,
) -> Result<Option<Filter>, DecodeError> {
    let (family, version) = (id & !VERSION_MASK, id & VERSION_MASK);
    if family != BLOOM && family != CUCKOO {
        return Ok(None);
    }
    if version > ENCODING {
        return Err(at.value("version of the encoding", i128::from(version), "0 to 4"));
    }
    let filter = if family == BLOOM {
        Filter::Bloom(read_bloom(at, version, budget)?)
    } else {
        Filter::Cuckoo(read_cuckoo(at, version, budget)?)
    };
    value::end(at)?;
    Ok(Some(filter))
}

fn read_bloom(
    at: &mut Cursor<'_>,
    version: u64,
    budget: &mut Budget,
) -> Result<Bloom, DecodeError> {
    let items = value::unsigned(at, "items")?;
    let count = value::unsigned(at, "layers")?;
    if !(1..=MOST_LAYERS).contains(&count) {
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
        layers.push(read_layer(at, version, options, budget)?);
    }
    Ok(Bloom::from_parts(items, options, growth, layers))
}

fn read_layer(
    at: &mut Cursor<'_>,
    version: u64,
    options: u32,
    budget: &mut Budget,
) -> Result<Layer, DecodeError> {
    let capacity = value::unsigned(at, "capacity")?;
    let error = value::double(at, "error")?;
    let hashes = word(at, "hashes")?;
    let bits_per_entry = value::double(at, "bits per entry")?;
    let (bits, n2) = if version == 0 {
        ((capacity as f64 * bits_per_entry) as u64, 0)
    } else {
        (value::unsigned(at, "bits")?, value::unsigned(at, "n2")?)
    };
    let bytes = value::string(at, "bits of a layer", budget)?;
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
    let items = value::unsigned(at, "items of a layer")?;
    Layer::from_bytes(shape, items, options, &bytes).map_err(|error| at.error(Problem::Plan(error)))
}

fn word(at: &mut Cursor<'_>, what: &'static str) -> Result<u32, DecodeError> {
    let number = value::unsigned(at, what)?;
    u32::try_from(number).map_err(|_| at.value(what, i128::from(number), "a number of 32 bits"))
}

fn read_cuckoo(
    at: &mut Cursor<'_>,
    version: u64,
    budget: &mut Budget,
) -> Result<Cuckoo, DecodeError> {
    let count = value::unsigned(at, "tables")?;
    let buckets = value::unsigned(at, "buckets")?;
    let items = value::unsigned(at, "items")?;
    let (deleted, plan) = if version < 4 {
        let (_, bucket_size, moves, expansion) = Cuckoo::DEFAULTS;
        let (moves, expansion) = (u64::from(moves), u64::from(expansion));
        let plan = cuckoo::plan(at, buckets, u64::from(bucket_size), moves, expansion)?;
        (0, plan)
    } else {
        let deleted = value::unsigned(at, "deleted items")?;
        let bucket_size = value::unsigned(at, "bucket size")?;
        let moves = value::unsigned(at, "most iterations")?;
        let expansion = value::unsigned(at, "expansion")?;
        (
            deleted,
            cuckoo::plan(at, buckets, bucket_size, moves, expansion)?,
        )
    };
    let count = cuckoo::check_tables(at, count, plan.expansion())?;
    let mut tables = Vec::new();
    for number in 0..count {
        if version >= 4 {
            let buckets = value::unsigned(at, "buckets of a table")?;
            if plan.buckets_of(number) != Ok(buckets) {
                let accepted = "those of the first table times expansion^number";
                return Err(at.value("buckets of a table", i128::from(buckets), accepted));
            }
        }
        tables.push(value::string(at, "table", budget)?.into_owned());
    }
    ClassicCuckoo::from_parts(plan, tables, items, deleted)
        .map(Cuckoo::from_filter)
        .map_err(|error| at.error(Problem::Plan(error)))
}

impl Filter {
    /// What DUMP answers, in an engine of this version of RDB.
    pub fn dump(&self, rdb: u16) -> Vec<u8> {
        match self {
            Self::Bloom(filter) => filter.dump(rdb),
            Self::Cuckoo(filter) => filter.dump(rdb),
        }
    }
}

impl Bloom {
    /// What DUMP answers, in an engine of this version of RDB: 10 is understood from Redis 7.0 on.
    pub fn dump(&self, rdb: u16) -> Vec<u8> {
        let (items, options, growth, layers) = self.parts();
        let mut out = head(BLOOM);
        let counts = [items, layers.len() as u64, options.into(), growth.into()];
        for count in counts {
            value::put_unsigned(&mut out, count);
        }
        let mut bytes = Vec::new();
        for layer in layers {
            let shape = &layer.shape;
            value::put_unsigned(&mut out, shape.capacity);
            value::put_double(&mut out, shape.error);
            value::put_unsigned(&mut out, shape.hashes.into());
            value::put_double(&mut out, shape.bits_per_entry);
            value::put_unsigned(&mut out, shape.bits);
            value::put_unsigned(&mut out, shape.n2.into());
            bytes.clear();
            layer.write(0, shape.bytes, &mut bytes);
            value::put_string(&mut out, &bytes);
            value::put_unsigned(&mut out, layer.items);
        }
        trail(out, rdb)
    }
}

impl Cuckoo {
    /// What DUMP answers, in an engine of this version of RDB: 10 is understood from Redis 7.0 on.
    pub fn dump(&self, rdb: u16) -> Vec<u8> {
        let info = self.info();
        let mut out = head(CUCKOO);
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
            value::put_unsigned(&mut out, count);
        }
        for table in self.filter().tables() {
            let buckets = table.len() as u64 / u64::from(info.bucket_size);
            value::put_unsigned(&mut out, buckets);
            value::put_string(&mut out, table);
        }
        trail(out, rdb)
    }
}

fn head(family: u64) -> Vec<u8> {
    let mut out = vec![MODULE];
    value::put_length(&mut out, family | ENCODING);
    out
}

fn trail(mut out: Vec<u8>, rdb: u16) -> Vec<u8> {
    value::put_length(&mut out, value::END);
    seal(out, rdb)
}

/// Puts version and checksum behind a value.
pub(super) fn seal(mut out: Vec<u8>, rdb: u16) -> Vec<u8> {
    out.extend_from_slice(&rdb.to_le_bytes());
    let sum = CRC.checksum(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}
