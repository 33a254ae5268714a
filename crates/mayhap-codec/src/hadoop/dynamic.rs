//! `DynamicBloomFilter`: rows of one shape; keys go into the last row until it is full.
//!
//! | bytes | after the header |
//! | --- | --- |
//! | 4 | keys per row, `nr` |
//! | 4 | keys in the last row, `currentNbRecord` |
//! | 4 | number of rows, at least 1 |
//! | | each row as a whole `BloomFilter`, header included |

use super::{
    HASH, HadoopError, HadoopHeader, HashType, bloom, check_key, hash_type, put_int, shape,
};
use crate::cursor::Cursor;
use crate::filter::{Description, Detail, FilterError, ForeignFilter, other_hash, same_type};
use crate::format::{Detection, FormatRow, Parameter};
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    ParameterError, Parameters, StoredFilter,
};
use mayhap_core::{ClassicBloom, PlanError};

/// Rows of filters. Duplicate keys are counted.
#[derive(Clone, PartialEq, Debug)]
pub struct Dynamic {
    /// The words of all rows but the last, concatenated: a file may have millions of rows of one bit, and the smallest filter takes two
    /// hundred bytes.
    earlier: Vec<u64>,
    last: ClassicBloom,
    keys_a_row: i32,
    keys_in_last: i32,
}

/// An empty filter as `new DynamicBloomFilter(vectorSize, nbHash, hashType, nr)` creates it: one row. When `keys_a_row` is not
/// above 0, every key gets a row of its own, as in Hadoop.
///
/// # Errors
/// When there are no bits or more than 2^31 - 1, no hash functions or more than 4096, or there is not enough memory.
pub fn create(
    vector_size: u32,
    hash_functions: u32,
    hash_type: HashType,
    keys_a_row: i32,
) -> Result<Dynamic, PlanError> {
    Ok(Dynamic {
        earlier: Vec::new(),
        last: bloom::create(vector_size, hash_functions, hash_type)?,
        keys_a_row,
        keys_in_last: 0,
    })
}

impl Dynamic {
    /// Inserts a key into the last row, or into a new one if the last is full.
    ///
    /// # Errors
    /// When the key is empty, or there is no memory for a row; the filter is unchanged then.
    pub fn add(&mut self, key: impl AsRef<[u8]>) -> Result<(), HadoopError> {
        check_key(key.as_ref())?;
        if self.keys_in_last >= self.keys_a_row {
            self.begin_row()?;
        }
        self.last.insert(key.as_ref());
        self.keys_in_last += 1;
        Ok(())
    }

    fn begin_row(&mut self) -> Result<(), PlanError> {
        let words = self.words_a_row();
        if self.earlier.try_reserve(words).is_err() {
            let size_bytes = 8 * (self.earlier.len() + words) as u64;
            return Err(PlanError::OutOfMemory { size_bytes });
        }
        self.earlier.extend(self.last.words());
        self.last.clear();
        self.keys_in_last = 0;
        Ok(())
    }

    /// `membershipTest`: whether a row contains the key. `false` is certain, `true` is probable.
    ///
    /// # Errors
    /// When the key is empty.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool, HadoopError> {
        let key = key.as_ref();
        check_key(key)?;
        if self.last.contains(key) {
            return Ok(true);
        }
        // Hashing is expensive: once for all rows.
        let positions: Vec<u64> = self.last.positions_of(key).collect();
        let mut rows = self.earlier.chunks_exact(self.words_a_row());
        Ok(rows.any(|row| {
            let has = |&at: &u64| row[(at / 64) as usize] >> (at % 64) & 1 == 1;
            positions.iter().all(has)
        }))
    }

    /// Row by row, keeps the bits that are set in both. The number of keys in the last row stays, in all these operations.
    ///
    /// # Errors
    /// When the two differ in vector size, number of hash functions, keys a row or number of rows; the filter is unchanged then.
    /// Like Hadoop, this does not compare their hash functions.
    pub fn and(&mut self, other: &Self) -> Result<(), HadoopError> {
        self.check_same_shape(other)?;
        bloom::and(&mut self.last, &other.last)?;
        self.join_earlier(other, |ours, theirs| *ours &= theirs);
        Ok(())
    }

    /// Row by row, sets the bits that are set in the other.
    ///
    /// # Errors
    /// As [`Dynamic::and`].
    pub fn or(&mut self, other: &Self) -> Result<(), HadoopError> {
        self.check_same_shape(other)?;
        bloom::or(&mut self.last, &other.last)?;
        self.join_earlier(other, |ours, theirs| *ours |= theirs);
        Ok(())
    }

    /// Row by row, keeps the bits that are set in exactly one of the two.
    ///
    /// # Errors
    /// As [`Dynamic::and`].
    pub fn xor(&mut self, other: &Self) -> Result<(), HadoopError> {
        self.check_same_shape(other)?;
        bloom::xor(&mut self.last, &other.last)?;
        self.join_earlier(other, |ours, theirs| *ours ^= theirs);
        Ok(())
    }

    /// Inverts every bit of every row.
    pub fn not(&mut self) {
        bloom::not(&mut self.last);
        let words = self.words_a_row();
        for row in self.earlier.chunks_exact_mut(words) {
            bloom::invert(row, self.last.plan().bits);
        }
    }

    fn join_earlier(&mut self, other: &Self, join: fn(&mut u64, u64)) {
        for (ours, &theirs) in self.earlier.iter_mut().zip(&other.earlier) {
            join(ours, theirs);
        }
    }

    fn check_same_shape(&self, other: &Self) -> Result<(), HadoopError> {
        bloom::check_same_shape(self.last.plan(), other.last.plan())?;
        let number = |nr: i32| u64::from(nr.cast_unsigned());
        let (ours, theirs) = (number(self.keys_a_row), number(other.keys_a_row));
        bloom::same("keys a row", ours, theirs)?;
        bloom::same("rows", self.rows(), other.rows())?;
        Ok(())
    }

    fn words_a_row(&self) -> usize {
        self.last.plan().bits.div_ceil(64) as usize
    }

    /// How many rows there are, at least 1.
    pub fn rows(&self) -> u64 {
        (self.earlier.len() / self.words_a_row()) as u64 + 1
    }

    /// A row, from 0 on, by itself.
    pub fn row(&self, number: u64) -> Option<ClassicBloom> {
        let mut rows = self.earlier.chunks_exact(self.words_a_row());
        let earlier = rows.len() as u64;
        if number == earlier {
            return Some(self.last.clone());
        }
        let row = rows.nth(usize::try_from(number).ok()?)?;
        Some(bloom::with_words(&self.last, row.to_vec()))
    }

    /// `nr`: how many keys a row takes.
    pub fn keys_a_row(&self) -> i32 {
        self.keys_a_row
    }

    /// `currentNbRecord`: how many keys went into the last row.
    pub fn keys_in_last(&self) -> i32 {
        self.keys_in_last
    }
}

/// Reads the output of `write`.
///
/// # Errors
/// When it is not such a stream, there is no row, or a row differs in shape from the whole.
pub fn decode(bytes: &[u8]) -> Result<Dynamic, DecodeError> {
    let mut at = Cursor::new(bytes, Format::HadoopDynamic);
    let header = HadoopHeader::read(&mut at)?;
    let keys_a_row = at.i32_be("keys a row")?;
    let keys_in_last = at.i32_be("keys in the last row")?;
    let rows = at.i32_be("number of rows")?;
    let Some(rows) = u64::try_from(rows).ok().filter(|&rows| rows > 0) else {
        return Err(at.value("number of rows", i128::from(rows), "1 to 2^31 - 1"));
    };
    // At most 2^31 rows of 2^28 bytes.
    let row_bytes = u64::from(header.vector_size).div_ceil(8);
    at.check_left("rows", rows * (HadoopHeader::LEAST_BYTES + row_bytes))?;
    let mut earlier = Vec::with_capacity(((rows - 1) * row_bytes.div_ceil(8)) as usize);
    for _ in 1..rows {
        earlier.extend(read_row(&mut at, header)?.words());
    }
    let last = read_row(&mut at, header)?;
    at.finish()?;
    Ok(Dynamic {
        earlier,
        last,
        keys_a_row,
        keys_in_last,
    })
}

fn read_row(at: &mut Cursor<'_>, whole: HadoopHeader) -> Result<ClassicBloom, DecodeError> {
    let row = HadoopHeader::read(at)?;
    let type_of = |header: HadoopHeader| u32::from(header.hash_type.number());
    for (field, of_row, of_whole) in [
        (
            "hash functions of a row",
            row.hash_functions,
            whole.hash_functions,
        ),
        ("hash type of a row", type_of(row), type_of(whole)),
        ("vector size of a row", row.vector_size, whole.vector_size),
    ] {
        if of_row != of_whole {
            return Err(at.value(field, i128::from(of_row), "that of the whole"));
        }
    }
    bloom::read_bits(at, row)
}

/// The output of `write`.
///
/// # Errors
/// When there are more than 2^31 - 1 rows.
pub fn encode(filter: &Dynamic) -> Result<Vec<u8>, EncodeError> {
    let last = &filter.last;
    let header = HadoopHeader::for_filter(Format::HadoopDynamic, last.plan(), last.scheme())?;
    let rows = i32::try_from(filter.rows()).map_err(|_| EncodeError {
        format: Format::HadoopDynamic,
        reason: "it has more than 2^31 - 1 rows",
    })?;
    let row_bytes = HadoopHeader::MAX_BYTES + 8 * filter.words_a_row();
    let mut out = Vec::with_capacity(32 + rows as usize * row_bytes);
    header.write(&mut out);
    put_int(filter.keys_a_row, &mut out);
    put_int(filter.keys_in_last, &mut out);
    put_int(rows, &mut out);
    for row in filter.earlier.chunks_exact(filter.words_a_row()) {
        bloom::write(header, row.iter().copied(), &mut out);
    }
    bloom::write(header, last.words(), &mut out);
    Ok(out)
}

impl ForeignFilter for Dynamic {
    fn format(&self) -> Format {
        Format::HadoopDynamic
    }

    fn contains(&self, key: &[u8]) -> bool {
        Self::contains(self, key).unwrap_or(false)
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        let was_in = Self::contains(self, key)?;
        self.add(key)?;
        Ok(!was_in)
    }

    fn union_with(&mut self, other: &dyn ForeignFilter) -> Result<(), FilterError> {
        Ok(self.or(same_type(other)?)?)
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        encode(self)
    }

    fn describe(&self) -> Description {
        let rows = (0..self.rows()).filter_map(|row| self.row(row));
        let mut description = Description::layers(Format::HadoopDynamic, rows);
        let number = |number| Detail::Number(u64::try_from(number).unwrap_or(0));
        description.details.extend([
            ("keys_a_row", number(self.keys_a_row)),
            ("keys_in_last_row", number(self.keys_in_last)),
        ]);
        description
    }

    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        match to {
            Format::Mayhap => Err(EncodeError {
                format: to,
                reason: crate::LAYERS,
            }),
            other => Err(other_hash(other)),
        }
    }
}

pub(crate) const ROW: FormatRow = FormatRow {
    name: "hadoop-dynamic",
    description: "Hadoop's DynamicBloomFilter.write",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| decode(bytes).map(StoredFilter::foreign)),
    decode: |bytes, _, _| Ok(single(StoredFilter::foreign(decode(bytes)?))),
    encode_bits: None,
    from_native: |_| Err(other_hash(Format::HadoopDynamic)),
    required_count: BuildOptions::count_keys_without_shape,
    create: crate::format::unless_wasm(create_from),
    parameters: &[
        HASH,
        Parameter {
            name: "nr",
            values: "keys a row, 1 to 2^31 - 1",
        },
    ],
    check_parameters: |parameters| {
        hash_type(parameters)?;
        keys_per_row(parameters).map(drop)
    },
    key_reader: KeyReader::own_width,
};

fn keys_per_row(parameters: &Parameters) -> Result<Option<i32>, ParameterError> {
    parameters.number("nr", |&nr| nr > 0)
}

/// The options are those of a row: it takes that many keys.
fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let row = keys_per_row(&options.parameters)?;
    let keys = row.map_or(keys, |row| u64::from(row.unsigned_abs())).max(1);
    let (vector_size, probes) = shape(options, keys)?;
    let hash = hash_type(&options.parameters)?;
    let row = row.unwrap_or_else(|| i32::try_from(keys).unwrap_or(i32::MAX));
    Ok(StoredFilter::foreign(create(vector_size, probes, hash, row)?).into())
}
