//! Accumulo's `acu_bloom` block: the class that makes keys, and rows of bits that fill one after the other. It is like Hadoop's
//! `DynamicBloomFilter`, with the same hashes, but counts and writes its rows differently.
//!
//! | file | what it answers |
//! | --- | --- |
//! | `mod.rs` | Which row takes a key, and which keys are in? |
//! | `stream.rs` | How is a block read and written? |
//! | `rfile.rs` | Where in an RFile is it? |

mod rfile;
mod stream;

pub(crate) use rfile::CONTAINER;
pub use rfile::acu_bloom;
pub use stream::{decode, encode};

use crate::filter::{Description, Detail, FilterError, ForeignFilter, other_hash};
use crate::format::{Detection, FormatRow, Parameter};
use crate::hadoop::HashType;
use crate::open::single;
use crate::{
    BuildError, BuildOptions, EncodeError, FilterBuilder, Format, KeyReader, ParameterError,
    Parameters, StoredFilter,
};
use mayhap_core::foreign::{lookup3, murmur2};
use mayhap_core::plan::accumulo;
use mayhap_core::plan::classic::{self, ClassicPlan, MAX_PROBES};
use mayhap_core::{ClassicBloom, HashScheme, Kind, PlanError, Scheme, Stats};

/// Which parts of a cell are a key, joined with nothing between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Functor {
    /// The row.
    Row,
    /// Row and column family.
    ColumnFamily,
    /// Row, column family and qualifier.
    ColumnQualifier,
}

impl Functor {
    const ALL: [Self; 3] = [Self::Row, Self::ColumnFamily, Self::ColumnQualifier];

    /// The key of a cell.
    pub fn key(self, row: &[u8], family: &[u8], qualifier: &[u8]) -> Vec<u8> {
        match self {
            Self::Row => row.to_vec(),
            Self::ColumnFamily => [row, family].concat(),
            Self::ColumnQualifier => [row, family, qualifier].concat(),
        }
    }

    /// The name of the class.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Row => "org.apache.accumulo.core.file.keyfunctor.RowFunctor",
            Self::ColumnFamily => "org.apache.accumulo.core.file.keyfunctor.ColumnFamilyFunctor",
            Self::ColumnQualifier => {
                "org.apache.accumulo.core.file.keyfunctor.ColumnQualifierFunctor"
            }
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::ColumnFamily => "family",
            Self::ColumnQualifier => "qualifier",
        }
    }
}

/// What all rows have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    probes: u32,
    hash: HashType,
    vector_size: u32,
}

impl Shape {
    fn words(self) -> usize {
        self.vector_size.div_ceil(64) as usize
    }

    const fn scheme(self) -> Scheme {
        match self.hash {
            HashType::Jenkins => Scheme::HadoopJenkins,
            HashType::Murmur => Scheme::HadoopMurmur,
        }
    }

    /// The walk of `Scheme::HadoopMurmur` and `HadoopJenkins`. A row may have fewer words than bits, so there is no filter of the
    /// core's to ask for it, and a file cannot make one be allocated.
    fn positions(self, key: &[u8]) -> Vec<u64> {
        let hash = match self.hash {
            HashType::Jenkins => lookup3::hash,
            HashType::Murmur => murmur2::hadoop,
        };
        let mut seed = 0;
        let position = |_| {
            seed = hash(key, seed);
            u64::from(seed.cast_signed().unsigned_abs() % self.vector_size)
        };
        (0..self.probes).map(position).collect()
    }
}

/// Rows of bits.
#[derive(Clone, PartialEq, Debug)]
pub struct Filter {
    functor: Functor,
    shape: Shape,
    /// A row may end before its last bits: those are not set.
    rows: Vec<Vec<u64>>,
    keys_a_row: i32,
    keys_in_last: i32,
}

/// An empty filter for rows of `keys_a_row` keys at a rate, as Accumulo makes it for `table.bloom.size` and
/// `table.bloom.error.rate`.
///
/// # Errors
/// When the rate is not between 0 and 1, or a row would be too large.
pub fn create(
    functor: Functor,
    hash: HashType,
    keys_a_row: i32,
    rate: f64,
) -> Result<Filter, PlanError> {
    let keys = u64::try_from(keys_a_row).unwrap_or(0);
    let vector_size = accumulo::vector_size(keys, rate)?;
    with_shape(functor, hash, keys_a_row, vector_size, accumulo::PROBES)
}

/// An empty filter with rows of a given shape.
///
/// # Errors
/// When there are no bits or more than 2^31 - 1, no hash functions or more than 4096, or there is not enough memory.
pub fn with_shape(
    functor: Functor,
    hash: HashType,
    keys_a_row: i32,
    vector_size: u32,
    hash_functions: u32,
) -> Result<Filter, PlanError> {
    ClassicPlan::with_bits_and_probes(u64::from(vector_size), hash_functions)?;
    if i32::try_from(vector_size).is_err() {
        return Err(PlanError::InvalidInteger {
            field: "vector size",
            value: u64::from(vector_size),
            accepted: "1 to 2^31 - 1",
        });
    }
    let shape = Shape {
        probes: hash_functions,
        hash,
        vector_size,
    };
    let mut filter = Filter {
        functor,
        shape,
        rows: Vec::new(),
        keys_a_row,
        keys_in_last: 0,
    };
    filter.begin_row()?;
    Ok(filter)
}

impl Filter {
    /// Inserts a key into the last row, or into a new one if the last is full. `true`: a bit was set. Only such keys are counted,
    /// so a row can take more than it was made for. An empty key is not added.
    ///
    /// # Errors
    /// When there is no memory for a row, or the file had no row, or one that ends before its last bits.
    pub fn add(&mut self, key: impl AsRef<[u8]>) -> Result<bool, FilterError> {
        let key = key.as_ref();
        if key.is_empty() {
            return Ok(false);
        }
        let is_whole = |row: &Vec<u64>| row.len() == self.shape.words();
        if !self.rows.last().is_some_and(is_whole) {
            return Err(FilterError::Unsupported {
                format: Format::Accumulo,
                reason: "whose last row is missing or cut off takes no keys: build a new filter from all keys",
            });
        }
        if self.keys_in_last >= self.keys_a_row && self.begin_row().is_err() {
            return Err(FilterError::Unsupported {
                format: Format::Accumulo,
                reason: "has no memory for another row",
            });
        }
        let mut is_changed = false;
        if let Some(row) = self.rows.last_mut() {
            for at in self.shape.positions(key) {
                let (word, bit) = (&mut row[(at / 64) as usize], 1 << (at % 64));
                is_changed |= *word & bit == 0;
                *word |= bit;
            }
        }
        self.keys_in_last = self.keys_in_last.saturating_add(i32::from(is_changed));
        Ok(is_changed)
    }

    fn begin_row(&mut self) -> Result<(), PlanError> {
        let words = self.shape.words();
        let mut row = ClassicBloom::reserve_words(words as u64)?;
        row.resize(words, 0);
        self.rows.push(row);
        self.keys_in_last = 0;
        Ok(())
    }

    /// `membershipTest`: whether a row contains the key. `false` is certain, `true` is probable. Every filter may contain the
    /// empty key.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        let key = key.as_ref();
        if key.is_empty() {
            return true;
        }
        let positions = self.shape.positions(key);
        let has = |row: &[u64], at: u64| {
            let word = row.get((at / 64) as usize);
            word.is_some_and(|word| word >> (at % 64) & 1 == 1)
        };
        let mut rows = self.rows.iter();
        rows.any(|row| positions.iter().all(|&at| has(row, at)))
    }

    /// Which parts of a cell are a key.
    pub fn functor(&self) -> Functor {
        self.functor
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// `currentNbRecord`: how many keys changed the last row.
    pub fn keys_in_last(&self) -> i32 {
        self.keys_in_last
    }
}

impl ForeignFilter for Filter {
    fn format(&self) -> Format {
        Format::Accumulo
    }

    fn contains(&self, key: &[u8]) -> bool {
        Self::contains(self, key)
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        let was_in = Self::contains(self, key);
        Ok(self.add(key)? && !was_in)
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        encode(self)
    }

    fn describe(&self) -> Description {
        let row_bits = u64::from(self.shape.vector_size);
        let set_bits = |row: &Vec<u64>| {
            let set = row.iter().map(|word| u64::from(word.count_ones()));
            set.sum::<u64>().min(row_bits)
        };
        let (mut set, mut keys, mut no) = (0, 0.0, 1.0);
        for row in &self.rows {
            let set_here = set_bits(row);
            set += set_here;
            keys += classic::estimated_keys(row_bits, self.shape.probes, set_here);
            no *= 1.0 - classic::rate_from_set_bits(row_bits, self.shape.probes, set_here);
        }
        let rows = self.rows.len() as u64;
        let bits = row_bits * rows;
        let stats = Stats {
            bits: Some(bits),
            probes: Some(self.shape.probes),
            fill: crate::filter::share(set, bits),
            estimated_keys: keys.is_finite().then_some(keys.round() as u64),
            estimated_rate: Some(1.0 - no),
            layers: rows,
            ..Stats::new(Kind::Growing, bits.div_ceil(8))
        };
        let number = |number| Detail::Number(u64::try_from(number).unwrap_or(0));
        let mut description = Description::new(Format::Accumulo, stats);
        description.details.extend([
            ("layers", Detail::Number(rows)),
            ("walk", Detail::Text(format!("{:?}", self.shape.scheme()))),
            ("functor", Detail::Text(self.functor.name().to_owned())),
            ("keys_a_row", number(self.keys_a_row)),
            ("keys_in_last_row", number(self.keys_in_last)),
        ]);
        description
    }

    fn convert(mut self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        let refuse = |reason| EncodeError { format: to, reason };
        if to != Format::Mayhap {
            return Err(other_hash(to));
        }
        let shape = self.shape;
        let (Some(row), true) = (self.rows.pop(), self.rows.is_empty()) else {
            return Err(refuse(crate::LAYERS));
        };
        if row.len() != shape.words() {
            return Err(refuse(
                "its row is cut off: build a new filter from the keys",
            ));
        }
        ClassicPlan::with_bits_and_probes(u64::from(shape.vector_size), shape.probes)
            .and_then(|plan| {
                ClassicBloom::from_words(plan, shape.scheme(), HashScheme::Caller, row)
            })
            .map(|filter| StoredFilter::Native(filter.into()))
            .map_err(|_| refuse("bits past its last are set"))
    }
}

pub(crate) const ROW: FormatRow = FormatRow {
    name: "accumulo",
    description: "Accumulo's acu_bloom block, by itself or in an RFile (.rf)",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| {
        stream::decode_whole(bytes).map(StoredFilter::foreign)
    }),
    decode: |bytes, _, _| Ok(single(StoredFilter::foreign(decode(bytes)?))),
    encode_bits: None,
    from_native: |_| Err(other_hash(Format::Accumulo)),
    required_count: |options| match keys_per_row(&options.parameters) {
        Ok(Some(_)) => crate::RequiredCount::Nothing,
        Ok(None) | Err(_) => options.count_keys_without_shape(),
    },
    create: crate::format::unless_wasm(create_from),
    parameters: &[
        Parameter {
            name: "hash",
            values: "murmur or jenkins",
        },
        Parameter {
            name: "functor",
            values: "row, family or qualifier",
        },
        Parameter {
            name: "nr",
            values: "keys a row, 1 to 2^31 - 1",
        },
    ],
    check_parameters: |parameters| {
        hash_type(parameters)?;
        functor(parameters)?;
        keys_per_row(parameters).map(drop)
    },
    key_reader: KeyReader::big_endian,
};

fn hash_type(parameters: &Parameters) -> Result<HashType, ParameterError> {
    let words = [("murmur", HashType::Murmur), ("jenkins", HashType::Jenkins)];
    let given = parameters.choose("hash", &words)?;
    Ok(given.unwrap_or(HashType::Murmur))
}

fn functor(parameters: &Parameters) -> Result<Functor, ParameterError> {
    let words = Functor::ALL.map(|functor| (functor.name(), functor));
    let given = parameters.choose("functor", &words)?;
    Ok(given.unwrap_or(Functor::Row))
}

fn keys_per_row(parameters: &Parameters) -> Result<Option<i32>, ParameterError> {
    parameters.number("nr", |&nr| nr > 0)
}

/// The options are those of a row: it takes that many keys.
fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let (hash, functor) = (
        hash_type(&options.parameters)?,
        functor(&options.parameters)?,
    );
    let keys_a_row = keys_per_row(&options.parameters)?;
    let keys_a_row = keys_a_row.unwrap_or_else(|| i32::try_from(keys.max(1)).unwrap_or(i32::MAX));
    let probes = options.probes.unwrap_or(accumulo::PROBES);
    let bits = match options.bits {
        Some(bits) => u32::try_from(bits).map_err(|_| PlanError::InvalidInteger {
            field: "bits",
            value: bits,
            accepted: "at most 2^31 - 1",
        })?,
        None => accumulo::vector_size(u64::from(keys_a_row.unsigned_abs()), options.rate())?,
    };
    let filter = with_shape(functor, hash, keys_a_row, bits, probes)?;
    Ok(StoredFilter::foreign(filter).into())
}

/// Probes of a file. Accumulo has no limit; ours keeps lookups in forged filters fast.
fn is_accepted(probes: u32) -> bool {
    (1..=MAX_PROBES).contains(&probes)
}
