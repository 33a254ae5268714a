//! HBase's Bloom filters: chunks, which are bits and nothing else, their metadata, and the HFiles that hold both.
//!
//! | file | what it answers |
//! | --- | --- |
//! | `mod.rs` | How is a chunk sized, read and written? Which bytes are hashed for a cell? |
//! | `meta.rs` | What does a filter's metadata say about its chunks? |
//! | `compound.rs` | Which chunk is asked about a key? How is a filter of several chunks written? |
//! | `hfile.rs`, `block.rs`, `protobuf.rs` | Where in an HFile are they? |

mod block;
mod compound;
pub mod hfile;
mod meta;
mod protobuf;

pub use compound::{Compound, CompoundWriter, WrittenChunk};
pub use hfile::HFile;
pub use meta::{ChunkPlace, Comparator, Meta};

use crate::bits;
use crate::cursor::Cursor;
use crate::filter::{Constant, bits_from_native};
use crate::format::{Detection, FormatRow, Parameter};
use crate::keys::Encoding;
use crate::open::single;
use crate::{
    BuildError, BuildOptions, DecodeError, EncodeError, FilterBuilder, Format, KeyReader,
    OpenError, OpenOptions, OpenedFilter, ParameterError, Parameters, Setting, StoredFilter,
};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::plan::hbase::ChunkPlan;
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};

/// HBase counts bits in 32 bits.
const MAX_BYTES: u64 = (1 << 28) - 1;

/// The hash function, `hbase.hash.type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashType {
    /// Jenkins' lookup3, number 0.
    Jenkins,
    /// MurmurHash2 with signed tail bytes, number 1: the default.
    Murmur,
    /// MurmurHash3, number 2.
    Murmur3,
}

impl HashType {
    /// The hash type of a number, if there is one.
    pub const fn from_number(number: i32) -> Option<Self> {
        match number {
            0 => Some(Self::Jenkins),
            1 => Some(Self::Murmur),
            2 => Some(Self::Murmur3),
            _ => None,
        }
    }

    /// Its number.
    pub const fn number(self) -> i32 {
        match self {
            Self::Jenkins => 0,
            Self::Murmur => 1,
            Self::Murmur3 => 2,
        }
    }

    /// How keys become bits.
    pub const fn scheme(self) -> Scheme {
        match self {
            Self::Jenkins => Scheme::HBaseJenkins,
            Self::Murmur => Scheme::HBaseMurmur,
            Self::Murmur3 => Scheme::HBaseMurmur3,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Jenkins => "jenkins",
            Self::Murmur => "murmur",
            Self::Murmur3 => "murmur3",
        }
    }
}

/// What a filter has keys for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BloomType {
    /// Rows.
    Row,
    /// Rows and qualifiers together: [`row_column_key`].
    RowColumn,
    /// The first bytes of rows.
    RowPrefix {
        /// How many.
        length: u32,
    },
}

impl BloomType {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::RowColumn => "rowcol",
            Self::RowPrefix { .. } => "rowprefix",
        }
    }
}

/// What follows the qualifier in the key of a cell: the newest time, and the type that sorts first.
const KEY_END: [u8; 9] = [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];

/// The key of a row and a qualifier. `None` if the row has more than 65,535 bytes, which HBase does not have.
pub fn row_column_key(row: &[u8], qualifier: &[u8]) -> Option<Vec<u8>> {
    let length = u16::try_from(row.len()).ok()?;
    Some([&length.to_be_bytes(), row, &[0], qualifier, &KEY_END].concat())
}

/// The row and the qualifier of such a key.
fn row_and_qualifier(key: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = key.split_first_chunk()?;
    let (row, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
    let (&family_length, rest) = rest.split_first()?;
    let (_family, rest) = rest.split_at_checked(family_length.into())?;
    let (qualifier, _) = rest.split_last_chunk::<{ KEY_END.len() }>()?;
    Some((row, qualifier))
}

/// A decoded chunk.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// There are no probes: every key may be in it.
    Everything,
    /// Bits.
    Bloom(ClassicBloom),
}

impl Filter {
    /// `BloomFilterUtil.contains`. `false` is certain, `true` is probable.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        match self {
            Self::Everything => true,
            Self::Bloom(filter) => filter.contains(key.as_ref()),
        }
    }
}

/// An empty chunk of that shape.
///
/// # Errors
/// When there is not enough memory.
pub fn create(plan: &ChunkPlan, hash: HashType) -> Result<ClassicBloom, PlanError> {
    let plan = ClassicPlan {
        capacity: plan.max_keys.max(1),
        ..ClassicPlan::with_bits_and_probes(8 * plan.bytes, plan.probes)?
    };
    ClassicBloom::from_plan(plan, hash.scheme(), HashScheme::Caller)
}

/// `compactBloom`: halves a chunk of that many keys while it is more than half empty. No key is lost.
///
/// # Errors
/// When there is not enough memory.
pub fn compact(
    chunk: &ClassicBloom,
    plan: &ChunkPlan,
    keys: u64,
) -> Result<(ClassicBloom, ChunkPlan), PlanError> {
    let folded = plan.folded(keys);
    let bytes = chunk.bytes();
    let bytes = &bytes[..plan.bytes as usize];
    let mut first = bytes[..folded.bytes as usize].to_vec();
    for piece in bytes.chunks_exact(first.len()).skip(1) {
        for (byte, other) in first.iter_mut().zip(piece) {
            *byte |= other;
        }
    }
    let shape = ClassicPlan {
        capacity: folded.max_keys.max(1),
        ..ClassicPlan::with_bits_and_probes(8 * folded.bytes, folded.probes)?
    };
    let (scheme, hash_scheme) = (chunk.scheme(), chunk.hash_scheme());
    let words = bits::from_bytes(&first);
    let chunk = ClassicBloom::from_words(shape, scheme, hash_scheme, words)?;
    Ok((chunk, folded))
}

/// Reads a chunk, whose number of probes and hash are in the filter's metadata.
///
/// # Errors
/// When it has no bytes or too many, or there are more than 4096 probes.
pub fn decode(bytes: &[u8], probes: u32, hash: HashType) -> Result<Filter, DecodeError> {
    let at = Cursor::new(bytes, Format::HBase);
    let length = bytes.len() as u64;
    if !(1..=MAX_BYTES).contains(&length) {
        return Err(at.value("length", i128::from(length), "1 to 2^28 - 1 bytes"));
    }
    if probes == 0 {
        return Ok(Filter::Everything);
    }
    let words = bits::from_bytes(bytes);
    bits::filter(&at, 8 * length, probes, hash.scheme(), words).map(Filter::Bloom)
}

/// The bytes of a chunk.
///
/// # Errors
/// When the filter's keys are not hashed as HBase's are, or its bits are not whole bytes.
pub fn encode(filter: &ClassicBloom) -> Result<Vec<u8>, EncodeError> {
    let refuse = |reason| EncodeError {
        format: Format::HBase,
        reason,
    };
    let bits = filter.plan().bits;
    if !is_own(filter.scheme()) {
        return Err(refuse(crate::OTHER_HASH));
    }
    if !bits.is_multiple_of(8) || bits / 8 > MAX_BYTES {
        return Err(refuse("its bits are not 1 to 2^28 - 1 whole bytes"));
    }
    let mut out = Vec::with_capacity(filter.size_bytes() as usize);
    bits::to_bytes(filter.words(), bits / 8, &mut out);
    Ok(out)
}

fn is_own(scheme: Scheme) -> bool {
    matches!(
        scheme,
        Scheme::HBaseJenkins | Scheme::HBaseMurmur | Scheme::HBaseMurmur3
    )
}

pub(crate) const ROW: FormatRow = FormatRow {
    name: "hbase",
    description: "HBase's Bloom chunk, by itself or in an HFile",
    has_checksum: false,
    detection: Detection::Candidate(|bytes| (1..=MAX_BYTES).contains(&(bytes.len() as u64))),
    decode: open,
    encode_bits: Some(encode),
    from_native: |filter| bits_from_native(Format::HBase, filter, is_own),
    required_count: BuildOptions::count_keys_without_shape,
    create: crate::format::unless_wasm(create_from),
    parameters: &[
        Parameter {
            name: "hash",
            values: "jenkins, murmur or murmur3",
        },
        Parameter {
            name: "type",
            values: "row or rowcol",
        },
        Parameter {
            name: "filter",
            values: "general or delete_family",
        },
    ],
    check_parameters: |parameters| {
        hash_type(parameters)?;
        bloom_type(parameters)?;
        is_delete_family(parameters).map(drop)
    },
    key_reader: |key_type, parameters| {
        let encoding = match bloom_type(parameters)? {
            Some(BloomType::RowColumn) => Encoding::RowColumn,
            Some(BloomType::Row | BloomType::RowPrefix { .. }) | None => Encoding::BigEndian,
        };
        Ok(KeyReader::with_encoding(encoding, key_type))
    },
};

fn hash_type(parameters: &Parameters) -> Result<Option<HashType>, ParameterError> {
    let types = [HashType::Jenkins, HashType::Murmur, HashType::Murmur3];
    parameters.choose("hash", &types.map(|hash| (hash.name(), hash)))
}

fn bloom_type(parameters: &Parameters) -> Result<Option<BloomType>, ParameterError> {
    let types = [BloomType::Row, BloomType::RowColumn];
    parameters.choose("type", &types.map(|bloom| (bloom.name(), bloom)))
}

fn is_delete_family(parameters: &Parameters) -> Result<bool, ParameterError> {
    let words = [("general", false), ("delete_family", true)];
    Ok(parameters.choose("filter", &words)?.unwrap_or(false))
}

/// A chunk by itself.
fn open(
    bytes: &[u8],
    options: &OpenOptions,
    parameters: &Parameters,
) -> Result<Vec<OpenedFilter>, OpenError> {
    let Some(probes) = options.probes else {
        return Err(OpenError::Missing {
            format: Format::HBase,
            any_of: &[Setting::Probes],
            definition: "the filter's metadata, which is in its HFile",
        });
    };
    let hash = hash_type(parameters)?.unwrap_or(HashType::Murmur);
    let format = Format::HBase;
    Ok(single(match decode(bytes, probes, hash)? {
        Filter::Everything => StoredFilter::foreign(Constant {
            format,
            answer: true,
        }),
        Filter::Bloom(filter) => StoredFilter::Bits { format, filter },
    }))
}

/// A chunk of a given size has the probes that HBase gives it; otherwise it is sized by its keys.
fn create_from(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let hash = hash_type(&options.parameters)?.unwrap_or(HashType::Murmur);
    let plan = match (options.bits, options.probes) {
        (Some(bits), Some(probes)) => ChunkPlan {
            bytes: bits.div_ceil(8),
            probes,
            max_keys: keys,
        },
        (Some(bits), None) => ChunkPlan::by_size(bits.div_ceil(8), options.rate(), 0)?,
        (None, probes) => {
            let plan = ChunkPlan::by_keys(keys.max(1), options.rate(), 0)?;
            ChunkPlan {
                probes: probes.unwrap_or(plan.probes),
                ..plan
            }
        }
    };
    if plan.bytes > MAX_BYTES {
        return Err(BuildError::Plan(PlanError::InvalidInteger {
            field: "bits",
            value: 8 * plan.bytes,
            accepted: "less than 2^31: a chunk of HBase's has no more",
        }));
    }
    Ok(StoredFilter::Bits {
        format: Format::HBase,
        filter: create(&plan, hash)?,
    }
    .into())
}
