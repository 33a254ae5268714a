//! RDB files of Redis and Valkey: the filters in them, by database and key.
//!
//! | bytes | what |
//! | --- | --- |
//! | 9 | `REDIS` and four digits, or `VALKEY` and three: the version |
//! | | entries: a code and what belongs to it, or the type of a value, a key, and the value |
//! | 1 | 255, the end |
//! | 8 | CRC-64 of all before, from version 5 on; 0 when it was turned off |
//!
//! Values of other types are skipped: only the lengths of most of them are read.

use super::Filter;
use super::dump::{self, CRC, MODULE, TypeId};
use super::fields::{DecodePosition, Payload};
use super::rows::{DEFAULT_RDB, dumped};
use super::value::{self, Budget, Stored, read_length, skip_fields};
use crate::cursor::Cursor;
use crate::format::ContainerRow;
use crate::map::Map;
use crate::open::{Location, OpenedFilter};
use crate::{DecodeError, Format, Limits, Problem};
use std::borrow::Cow;
use std::io;
use std::path::Path;

/// A filter in a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The number of the database.
    pub database: u64,
    /// The name of the key.
    pub key: Vec<u8>,
    /// When it expires, in milliseconds since 1970.
    pub expires: Option<i64>,
    /// The filter.
    pub filter: Filter,
}

/// The bytes of a file, mapped: an RDB file may be larger than the memory.
pub struct RdbFile(Map);

impl RdbFile {
    /// Maps a file. Do not change it in place meanwhile; engines replace theirs by a rename.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        Map::open(path).map(Self)
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// The engine that wrote the file: two types have different meanings.
#[derive(Clone, Copy, PartialEq)]
enum Engine {
    Redis,
    Valkey,
}

/// Passes every RedisBloom filter in a file to `each`, in the order of the file.
///
/// # Errors
/// When the file is damaged, has values of an unknown type, or a filter takes more memory than the limits allow.
pub fn each_filter(
    bytes: &[u8],
    limits: Limits,
    mut each: impl FnMut(Entry),
) -> Result<(), DecodeError> {
    try_each(bytes, limits, |entry| {
        each(entry);
        Ok(())
    })
}

fn try_each(
    bytes: &[u8],
    limits: Limits,
    mut each: impl FnMut(Entry) -> Result<(), Problem>,
) -> Result<(), DecodeError> {
    each_module_value(bytes, limits, |place, id, fields| {
        let Some(filter) = dump::fields_of_filter(id, fields)? else {
            return Ok(false);
        };
        let entry = Entry {
            database: place.database,
            key: place.key,
            expires: place.expires,
            filter,
        };
        each(entry).map_err(|problem| fields.error(problem))?;
        Ok(true)
    })
}

/// Where a value is in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The number of the database.
    pub database: u64,
    /// The name of the key.
    pub key: Vec<u8>,
    /// When it expires, in milliseconds since 1970.
    pub expires: Option<i64>,
}

/// Passes the values of all modules in a file to `each`, in the order of the file. `each` reads all fields and returns `true`, or reads none
/// and returns `false`.
///
/// # Errors
/// When the file is damaged or has values of an unknown type, and the errors of `each`.
pub fn each_module_value<'a>(
    bytes: &'a [u8],
    limits: Limits,
    mut each: impl FnMut(Place, TypeId, &mut Payload<'a, '_>) -> Result<bool, DecodeError>,
) -> Result<(), DecodeError> {
    let mut at = Cursor::new(bytes, Format::RedisBloomDump);
    let (engine, version) = magic(&mut at)?;
    let (mut database, mut expires) = (0, None);
    loop {
        let code = at.u8("type of an entry")?;
        match code {
            255 => break,
            254 => database = read_length(&mut at, "number of a database")?,
            253 => expires = Some(i64::from(at.u32_le("expiry")?.cast_signed()) * 1000),
            252 => expires = Some(at.u64_le("expiry")?.cast_signed()),
            0..=25 => {
                let expires = expires.take();
                let key = Stored::read(&mut at, "key")?;
                // The caller owns earlier filters: each has the whole budget.
                let mut budget = Budget::new(limits);
                if code == MODULE {
                    let place = Place {
                        database,
                        key: key.bytes(&at, &mut budget)?.into_owned(),
                        expires,
                    };
                    module_value(&mut at, &mut budget, |id, fields| each(place, id, fields))?;
                } else {
                    skip_value(&mut at, code, engine)?;
                }
            }
            _ => skip_metadata(&mut at, code)?,
        }
    }
    finish(&mut at, bytes, version)
}

pub(crate) const CONTAINER: ContainerRow = ContainerRow {
    contents: |bytes, _| Ok(bytes.starts_with(b"REDIS").then_some(Cow::Borrowed(bytes))),
    formats: &[
        Format::RedisBloomDump,
        Format::RedisBloom,
        Format::RedisBloomCuckoo,
    ],
    open: |bytes, options| {
        let entries = filters(bytes, options.limits)?.into_iter();
        let opened = entries.map(|entry| OpenedFilter {
            location: Location {
                key: Some(entry.key),
                ..Location::default()
            },
            filter: dumped(entry.filter, Some(DEFAULT_RDB)),
        });
        Ok(opened.collect())
    },
};

/// All RedisBloom filters in a file.
///
/// # Errors
/// As [`each_filter`], and when all of them together take more memory than the limits allow.
pub fn filters(bytes: &[u8], limits: Limits) -> Result<Vec<Entry>, DecodeError> {
    let (mut entries, mut taken) = (Vec::new(), 0_u64);
    try_each(bytes, limits, |entry| {
        taken = taken.saturating_add(entry.size_bytes());
        if taken > limits.max_bytes {
            return Err(Problem::TooLarge {
                bytes: taken,
                limit: limits.max_bytes,
            });
        }
        entries.push(entry);
        Ok(())
    })?;
    Ok(entries)
}

/// Memory of a layer or table besides its bits, including spare capacity of the vector.
const PART_BYTES: u64 = 1024;

impl Entry {
    fn size_bytes(&self) -> u64 {
        let (parts, bytes) = match &self.filter {
            Filter::Bloom(filter) => (filter.info().layers, filter.info().size_bytes),
            Filter::Cuckoo(filter) => (filter.info().tables, filter.info().size_bytes),
        };
        PART_BYTES * parts + bytes + self.key.len() as u64
    }
}

fn magic(at: &mut Cursor<'_>) -> Result<(Engine, u64), DecodeError> {
    let magic = at.take("magic", 9)?;
    let (engine, digits) = if let Some(digits) = magic.strip_prefix(b"REDIS") {
        (Engine::Redis, digits)
    } else if let Some(digits) = magic.strip_prefix(b"VALKEY") {
        (Engine::Valkey, digits)
    } else {
        let found = i128::from(magic[0]);
        return Err(at.value("first letter", found, "that of REDIS or VALKEY"));
    };
    let mut version = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return Err(at.value("version", i128::from(digit), "decimal digits"));
        }
        version = 10 * version + u64::from(digit - b'0');
    }
    Ok((engine, version))
}

/// Passes on the fields of a module's value, and skips them if they are not read.
fn module_value<'a>(
    at: &mut Cursor<'a>,
    budget: &mut Budget,
    read: impl FnOnce(TypeId, &mut Payload<'a, '_>) -> Result<bool, DecodeError>,
) -> Result<(), DecodeError> {
    let id = TypeId::from_number(read_length(at, "type of the module")?);
    if read(id, &mut Payload { at, budget })? {
        value::end(at)
    } else {
        skip_fields(at)
    }
}

/// Skips metadata between values.
fn skip_metadata(at: &mut Cursor<'_>, code: u8) -> Result<(), DecodeError> {
    match code {
        // A cluster slot: its number, its keys and those that expire.
        244 => skip_lengths(at, 3),
        245 => skip_strings(at, 1),
        247 => {
            read_length(at, "type of the module")?;
            skip_fields(at)
        }
        248 => skip_lengths(at, 1),
        249 => at.take("frequency of use", 1).map(drop),
        250 => skip_strings(at, 2),
        251 => skip_lengths(at, 2),
        _ => {
            let accepted =
                "0 to 25, 244, 245 or 247 to 255: what Redis writes up to version 12 of its files";
            Err(at.value("type of an entry", i128::from(code), accepted))
        }
    }
}

/// Skips a value that is not a module's.
fn skip_value(at: &mut Cursor<'_>, kind: u8, engine: Engine) -> Result<(), DecodeError> {
    match (kind, engine) {
        // A string, or a structure that is stored as one: zipmap, ziplist, intset, listpack.
        (0 | 9..=13 | 16 | 17 | 20, _) | (23, Engine::Redis) => skip_strings(at, 1),
        // Lists, sets, and lists of ziplists.
        (1 | 2 | 14, _) => repeat(at, |at| skip_strings(at, 1)),
        (3, _) => repeat(at, |at| {
            skip_strings(at, 1)?;
            skip_printed_score(at)
        }),
        (4, _) => repeat(at, |at| skip_strings(at, 2)),
        (5, _) => repeat(at, |at| {
            skip_strings(at, 1)?;
            at.take("score", 8).map(drop)
        }),
        (18, _) => repeat(at, |at| {
            skip_lengths(at, 1)?;
            skip_strings(at, 1)
        }),
        (15 | 19 | 21, _) => skip_stream(at, kind),
        // Hashes whose fields expire.
        (22, Engine::Valkey) => repeat(at, |at| {
            skip_strings(at, 2)?;
            at.take("expiry of a field", 8).map(drop)
        }),
        (22 | 24, Engine::Redis) => {
            if kind == 24 {
                at.take("first expiry", 8)?;
            }
            repeat(at, |at| {
                skip_lengths(at, 1)?;
                skip_strings(at, 2)
            })
        }
        (25, Engine::Redis) => {
            at.take("first expiry", 8)?;
            skip_strings(at, 1)
        }
        _ => {
            let accepted =
                "one that Redis writes up to version 12 of its files, or Valkey up to version 80";
            Err(at.value("type of a value", i128::from(kind), accepted))
        }
    }
}

/// Skips a stream: listpacks by their first id, its counters, and its consumer groups with their pending entries.
fn skip_stream(at: &mut Cursor<'_>, kind: u8) -> Result<(), DecodeError> {
    let (second, third) = (kind >= 19, kind >= 21);
    repeat(at, |at| skip_strings(at, 2))?;
    skip_lengths(at, if second { 8 } else { 3 })?;
    repeat(at, |at| {
        skip_strings(at, 1)?;
        skip_lengths(at, if second { 3 } else { 2 })?;
        repeat(at, |at| {
            at.take("id and time of a delivery", 16 + 8)?;
            skip_lengths(at, 1)
        })?;
        repeat(at, |at| {
            skip_strings(at, 1)?;
            at.take("times of a consumer", if third { 16 } else { 8 })?;
            repeat(at, |at| at.take("id of a delivery", 16).map(drop))
        })
    })
}

/// Repeats as often as a length states. Every repetition consumes at least one byte, which bounds the loop.
fn repeat(
    at: &mut Cursor<'_>,
    mut each: impl FnMut(&mut Cursor<'_>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    for _ in 0..read_length(at, "number of elements")? {
        each(at)?;
    }
    Ok(())
}

fn skip_strings(at: &mut Cursor<'_>, count: u32) -> Result<(), DecodeError> {
    for _ in 0..count {
        Stored::read(at, "string")?;
    }
    Ok(())
}

fn skip_lengths(at: &mut Cursor<'_>, count: u32) -> Result<(), DecodeError> {
    for _ in 0..count {
        read_length(at, "number")?;
    }
    Ok(())
}

/// Old files have decimal scores after a length byte, whose three highest values stand for special numbers.
fn skip_printed_score(at: &mut Cursor<'_>) -> Result<(), DecodeError> {
    match at.u8("length of a score")? {
        253.. => Ok(()),
        digits => at.take("score", u64::from(digits)).map(drop),
    }
}

/// Checks the checksum, and that nothing follows it.
fn finish(at: &mut Cursor<'_>, bytes: &[u8], version: u64) -> Result<(), DecodeError> {
    if version >= 5 {
        let summed = bytes.len() - at.left() as usize;
        let sum = at.u64_le("checksum")?;
        if sum != 0 && sum != CRC.checksum(&bytes[..summed]) {
            return Err(at.error(Problem::Checksum));
        }
    }
    at.finish()
}
